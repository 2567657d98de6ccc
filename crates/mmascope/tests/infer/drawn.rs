//! Units drawn at random from the whole model space, as settings of examples/devices/unit.c and as a
//! program of the notation.

#[path = "drawn/program.rs"]
mod program;

/// A unit.
#[derive(Clone, Debug)]
pub(crate) struct Drawn {
    pub(crate) a: &'static str,
    pub(crate) b: &'static str,
    pub(crate) d: &'static str,
    pub(crate) k: usize,
    /// Products a step.
    pub(crate) l: usize,
    pub(crate) order: Vec<usize>,
    pub(crate) place: &'static str,
    /// Steps are summed each by itself, then added.
    pub(crate) own_steps: bool,
    pub(crate) accumulators: usize,
    /// Whose k are neighbours in the order, not strided.
    pub(crate) neighbours: bool,
    /// They are added one after the other, not pairwise.
    pub(crate) in_sequence: bool,
    /// `fused`, `pairs` or `sequence`.
    pub(crate) sum: &'static str,
    pub(crate) between_format: &'static str,
    pub(crate) between: &'static str,
    pub(crate) end: &'static str,
    /// Of the sum, of operands and of c, of results: names as in the notation.
    pub(crate) step: Words,
    pub(crate) operands: Words,
    pub(crate) c: Words,
    pub(crate) output: Words,
    pub(crate) nan: Option<u64>,
}

/// NAME=VALUE words.
pub(crate) type Words = Vec<(&'static str, String)>;

/// The roundings of alignments, the likely ones first.
const ALIGNMENTS: [&str; 9] = ["rz", "rne", "rd", "ru", "ra", "rna", "rnz", "odd", "rnd"];
/// The roundings of results, the likely ones first.
const RESULTS: [&str; 11] = [
    "rz", "rne", "rd", "ru", "ra", "rna", "rnz", "odd", "rno", "rnu", "rnd",
];

/// Format, fraction bits, exponents of the smallest normal and the largest number, the word of infinity.
type Format = (&'static str, i32, i32, i32, u64);
const FORMATS: [Format; 9] = [
    ("f16", 10, -14, 15, 0x7c00),
    ("bf16", 7, -126, 127, 0x7f80),
    ("tf32", 10, -126, 127, 0x7f80_0000),
    ("f32", 23, -126, 127, 0x7f80_0000),
    ("e5m2", 2, -14, 15, 0x7c),
    ("e4m3", 3, -6, 8, 0),
    ("e3m2", 2, -2, 4, 0),
    ("e2m3", 3, 0, 2, 0),
    ("e2m1", 1, 0, 2, 0),
];

fn format(name: &str) -> Format {
    let found = FORMATS.into_iter().find(|format| format.0 == name);
    found.expect("a format")
}

/// Random numbers (SplitMix64), and how odd the unit becomes: 1 to 3 thirds of the chances given.
pub(crate) struct Dice {
    state: u64,
    thirds: usize,
}

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Self {
            state: seed.wrapping_mul(0x2545_f491_4f6c_dd1d),
            thirds: 0,
        };
        dice.thirds = 1 + dice.below(3);
        dice
    }

    fn bits(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, limit: usize) -> usize {
        (self.bits() >> 33) as usize % limit
    }

    pub(crate) fn of<T: Copy>(&mut self, values: &[T]) -> T {
        values[self.below(values.len())]
    }

    fn number(&mut self, low: i32, high: i32) -> i32 {
        low + self.below((high - low + 1) as usize) as i32
    }

    /// So many times in a hundred, and fewer for a unit that is less odd.
    fn odd(&mut self, percent: usize) -> bool {
        self.below(300) < percent * self.thirds
    }

    fn shuffle(&mut self, items: &mut [usize]) {
        for last in (1..items.len()).rev() {
            let other = self.below(last + 1);
            items.swap(last, other);
        }
    }
}

impl Drawn {
    /// The unit of a seed.
    pub(crate) fn new(seed: u64) -> Self {
        let mut dice = Dice::new(seed);
        let mut unit = Self::shape(&mut dice);
        if unit.sum == "fused" {
            unit.alignment(&mut dice);
        }
        unit.products(&mut dice);
        unit.conversions(&mut dice);
        unit.results(&mut dice);
        unit
    }

    /// Formats, order, steps, where c enters.
    fn shape(dice: &mut Dice) -> Self {
        let common = ["f16", "bf16", "f16", "bf16", "tf32", "e4m3", "e5m2"];
        let any = |dice: &mut Dice| match dice.below(10) {
            0 => dice.of(&["f32", "e3m2", "e2m3", "e2m1"]),
            _ => dice.of(&common),
        };
        let a = any(dice);
        let b = if dice.odd(20) { any(dice) } else { a };
        let d = dice.of(&["f32", "f32", "f32", "f32", "f32", "f16", "bf16"]);
        let k: usize = dice.of(&[2, 3, 4, 4, 5, 6, 8, 8, 8, 8, 12, 16, 16, 24, 32]);
        let mut accumulators = 1;
        if k.is_multiple_of(2) && dice.odd(15) {
            accumulators = if k.is_multiple_of(4) {
                dice.of(&[2, 4])
            } else {
                2
            };
        }
        let each = k / accumulators;
        let divisors: Vec<usize> = (1..=each).filter(|l| each.is_multiple_of(*l)).collect();
        let l = match dice.below(8) {
            0 | 1 => each,
            2 => 1 + dice.below(each),
            _ => dice.of(&divisors),
        };
        let steps = each.div_ceil(l);
        let own_steps = accumulators == 1 && steps > 1 && dice.odd(10);
        let places = match (accumulators, steps) {
            _ if own_steps => &["first"][..],
            (1, 1) => &["last", "absent"],
            (1, _) => &["last", "last", "after-first", "last-step", "absent"],
            _ => &["last"],
        };
        let place = if dice.odd(50) {
            dice.of(places)
        } else {
            "first"
        };
        let sum = match dice.below(6) {
            0 if place != "last-step" && !own_steps => dice.of(&["pairs", "sequence"]),
            _ => "fused",
        };
        let other = dice.of(&RESULTS);
        let end = dice.of(&["rz", "rne", "rne", other]);
        let between = if dice.odd(45) { dice.of(&RESULTS) } else { end };
        let narrow = match d {
            "f32" => ["f16", "bf16", "tf32"],
            _ => ["f32"; 3],
        };
        let between_format = if dice.odd(20) { dice.of(&narrow) } else { d };
        Self {
            a,
            b,
            d,
            k,
            l,
            order: order(k, dice),
            place,
            own_steps,
            accumulators,
            neighbours: accumulators > 1 && dice.odd(50),
            in_sequence: accumulators > 2 && dice.odd(50),
            sum,
            between_format,
            between,
            end,
            step: Words::new(),
            operands: Words::new(),
            c: Words::new(),
            output: Words::new(),
            nan: None,
        }
    }

    /// F, roundings of the alignment, floors, groups.
    fn alignment(&mut self, dice: &mut Dice) {
        let (a, b, d) = (format(self.a), format(self.b), format(self.d));
        if dice.odd(25) {
            self.step.push(("F", "exact".to_owned()));
        } else {
            let f = match dice.below(4) {
                0 => dice.number(8, 40),
                _ => dice.number(d.1, d.1 + 5),
            };
            self.step.push(("F", f.to_string()));
            if dice.odd(20) {
                let other = (f + dice.number(-6, 6)).clamp(4, 44);
                self.step.push(("Fc", other.to_string()));
            }
            let e0 = match dice.below(6) {
                0 | 1 => None,
                2 => Some(dice.number(a.2 + b.2 - 12, a.2 + b.2 + 24)),
                3 => Some(d.2),
                4 => Some(dice.number(d.2 - 30, d.2 + 10)),
                _ => Some(d.2 - d.1 + 16),
            };
            let e0 = e0.map_or("none".to_owned(), |e0| e0.to_string());
            self.step.push(("e0", e0));
            let align = if dice.odd(60) {
                dice.of(&ALIGNMENTS)
            } else {
                "rz"
            };
            self.step.push(("align", align.to_owned()));
            if dice.odd(20) {
                let other = dice.of(&ALIGNMENTS).to_owned();
                self.step.push(("align-c", other));
            }
            if dice.odd(8) {
                let sticky = dice.of(&["kept", "1", "2", "3"]);
                self.step.push(("sticky", sticky.to_owned()));
            }
            if dice.odd(8) {
                self.step.push(("grid", "products".to_owned()));
            }
        }
        let groups: Vec<usize> = (2..=self.l).filter(|g| self.l.is_multiple_of(*g)).collect();
        if !groups.is_empty() && self.k.is_multiple_of(self.l) && dice.odd(25) {
            let g = dice.of(&groups);
            self.step.push(("G", g.to_string()));
            if g < self.l && dice.odd(35) {
                self.step.push(("groups", "strided".to_owned()));
            }
            if dice.odd(70) {
                let f = dice.number(14, 34);
                self.step.push(("Fg", f.to_string()));
                let align = if dice.odd(40) {
                    dice.of(&ALIGNMENTS)
                } else {
                    "rz"
                };
                self.step.push(("align-g", align.to_owned()));
            }
            match dice.below(4) {
                0 => self.step.push(("exponent-g", "own".to_owned())),
                1 => self.step.push(("zero-g", "dropped".to_owned())),
                _ => {}
            }
        }
        if dice.odd(10) {
            let f2 = dice.number(d.1, d.1 + 10);
            self.step.push(("F2", f2.to_string()));
            let floor = if dice.odd(40) {
                dice.of(&ALIGNMENTS)
            } else {
                "rd"
            };
            self.step.push(("floor", floor.to_owned()));
        }
        if dice.odd(12) {
            let rule = dice.of(&["zero", "signed", "plus", "minus"]);
            self.step.push(("zero-times-inf", rule.to_owned()));
        }
        if dice.odd(8) {
            let rule = dice.of(&["plus", "minus"]);
            self.step.push(("inf-minus-inf", rule.to_owned()));
        }
        let reach = a.3 + b.3 + 1;
        if dice.odd(6) && reach >= 16 {
            let limit = if reach >= 128 {
                dice.of(&[127, 128, 129])
            } else {
                16
            };
            self.step.push(("product-limit", limit.to_string()));
        }
    }

    /// Products that are rounded or normalised.
    fn products(&mut self, dice: &mut Dice) {
        if self.sum == "fused" && dice.odd(8) {
            self.step.push(("products", "normalised".to_owned()));
        } else if dice.odd(20) {
            let to = dice.of(&["f32", "f32", "f16", "bf16", "tf32"]);
            let mode = dice.of(&["rne", "rne", "rz", "rna", "rd", "ru"]);
            self.step.push(("products", format!("{mode}:{to}")));
            if dice.odd(35) {
                let sign = dice.of(&["plus", "kept"]);
                self.step.push(("flush-products", sign.to_owned()));
            }
            self.step.retain(|word| word.0 != "product-limit");
        }
    }

    /// Conversions and flushes of operands and of c.
    fn conversions(&mut self, dice: &mut Dice) {
        let narrowed = |own: &str, dice: &mut Dice| {
            let bits = format(own).1;
            let narrower = ["tf32", "f16", "bf16"].into_iter();
            let narrower: Vec<&str> = narrower.filter(|to| format(to).1 < bits).collect();
            let mode = dice.of(&["rz", "rne", "rna"]);
            (!narrower.is_empty()).then(|| format!("{mode}:{}", dice.of(&narrower)))
        };
        if dice.odd(8)
            && let Some(to) = narrowed(self.a, dice)
        {
            self.operands.push(("operands", to));
        }
        if dice.odd(15) {
            let sign = dice.of(&["plus", "kept"]);
            self.operands.push(("flush-in", sign.to_owned()));
            if dice.odd(30) {
                let side = dice.of(&["a", "b"]);
                self.operands.push(("flush-of", side.to_owned()));
            }
        }
        if self.place == "absent" {
            return;
        }
        if dice.odd(15) {
            let sign = dice.of(&["plus", "kept"]);
            self.c.push(("flush-c", sign.to_owned()));
        } else if dice.odd(12)
            && let Some(to) = narrowed(self.d, dice)
        {
            self.c.push(("round-c", to));
        }
    }

    /// The rounding and the limits of sums.
    fn results(&mut self, dice: &mut Dice) {
        let rounded = self.sum != "fused";
        let overflow = match dice.odd(40) {
            true => dice.of(&["ieee", "largest", "nan", "infinity"]),
            false if rounded => "ieee",
            false => "infinity",
        };
        self.output.push(("overflow", overflow.to_owned()));
        let zero = match dice.odd(60) {
            true => dice.of(&["plus", "exact", "ieee", "minus"]),
            false if rounded => "ieee",
            false => "plus",
        };
        self.output.push(("zero", zero.to_owned()));
        if dice.odd(18) {
            let sign = dice.of(&["plus", "kept"]);
            self.output.push(("flush", sign.to_owned()));
            if !rounded && dice.odd(30) {
                self.output.push(("tininess", "before".to_owned()));
            }
        }
        if dice.odd(40) {
            let (_, _, _, _, infinity) = format(self.d);
            let fraction = (1 << format(self.d).1) - 1;
            let sign = if dice.odd(50) {
                infinity + fraction + 1
            } else {
                0
            };
            self.nan = Some(sign | infinity | 1 | dice.bits() & fraction);
        }
    }

    /// Formats and K.
    pub(crate) fn signature(&self) -> String {
        let Self { a, b, d, k, .. } = self;
        format!("a={a} b={b} c={d} d={d} k={k}")
    }

    /// The settings of unit.c.
    pub(crate) fn settings(&self) -> String {
        let Self { a, b, d, k, l, .. } = self;
        let mut text = format!("a={a} b={b} d={d} k={k} L={l}");
        let mut say = |name: &str, value: &str| text.push_str(&format!(" {name}={value}"));
        if !self.order.iter().copied().eq(0..self.k) {
            let order: Vec<String> = self.order.iter().map(ToString::to_string).collect();
            say("order", &order.join(","));
        }
        say("c", self.place);
        say("sum", self.sum);
        say("end", self.end);
        say("between", self.between);
        say("between-format", self.between_format);
        if self.own_steps {
            say("own-steps", "yes");
        }
        if self.accumulators > 1 {
            say("accumulators", &self.accumulators.to_string());
            say(
                "parts",
                if self.neighbours {
                    "neighbours"
                } else {
                    "strided"
                },
            );
            say(
                "adds",
                if self.in_sequence {
                    "sequence"
                } else {
                    "pairs"
                },
            );
        }
        let all = [&self.step, &self.operands, &self.c, &self.output];
        for (name, value) in all.into_iter().flatten() {
            match *name {
                "exponent-g" => say("own-exponent", "yes"),
                "zero-g" => say("drops-zero", "yes"),
                "tininess" => say("flush-when", value),
                name => say(name, value),
            }
        }
        if let Some(nan) = self.nan {
            say("nan", &format!("{nan:x}"));
        }
        text
    }
}

/// An order of k.
pub(crate) fn order(k: usize, dice: &mut Dice) -> Vec<usize> {
    let mut order: Vec<usize> = (0..k).collect();
    if !dice.odd(45) {
        return order;
    }
    match dice.below(4) {
        0 => order.reverse(),
        1 if k.is_multiple_of(2) => order = (0..k).map(|i| i % (k / 2) * 2 + i / (k / 2)).collect(),
        2 if k.is_multiple_of(4) => order = (0..k).map(|i| i % (k / 4) * 4 + i / (k / 4)).collect(),
        _ => dice.shuffle(&mut order),
    }
    order
}
