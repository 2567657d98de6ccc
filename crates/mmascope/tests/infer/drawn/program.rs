//! A drawn unit in the notation: what says that it lies in the model space.

use super::{Drawn, Words};

/// A program being written.
struct Writer<'a> {
    unit: &'a Drawn,
    statements: Vec<String>,
    /// What c is called once it is converted.
    c: &'static str,
}

fn words(all: &[&Words]) -> String {
    let words = all.iter().copied().flatten();
    let words = words.filter(|(name, value)| !(*name == "e0" && value == "none"));
    words
        .map(|(name, value)| format!(" {name}={value}"))
        .collect()
}

impl Writer<'_> {
    /// Adds a statement; gives its name.
    fn push(&mut self, operation: &str, output: &str) -> String {
        let name = format!("t{}", self.statements.len());
        self.statements
            .push(format!("{name} = {operation} -> {output}"));
        name
    }

    fn output(&self, rounding: &str, format: &str) -> String {
        let rules = self.unit.output.iter().map(|(name, value)| {
            let value = match (*name, &value[..]) {
                ("overflow", "infinity") => "inf",
                ("overflow", "largest") => "satfinite",
                ("overflow", "nan") => "nanfinite",
                (_, value) => value,
            };
            (*name, value.to_owned())
        });
        format!("{rounding} {format}{}", words(&[&rules.collect()]))
    }

    fn between(&self) -> String {
        self.output(self.unit.between, self.unit.between_format)
    }

    fn end(&self) -> String {
        self.output(self.unit.end, self.unit.d)
    }

    /// What a chain begins with where c takes no part.
    fn nothing(&self) -> &'static str {
        // Not +0, which would take the sign of negative zeros.
        "product"
    }

    fn step(&self, takes_c: bool) -> String {
        let unit = self.unit;
        let mut own = vec![&unit.step, &unit.operands];
        if takes_c {
            own.push(&unit.c);
        }
        match unit.sum {
            "fused" => format!("fused L={}{}", unit.l, words(&own)),
            sum => {
                let adds = if sum == "sequence" {
                    " adds=sequential"
                } else {
                    ""
                };
                // A product is a result as well.
                let flush = unit.output.iter().find(|word| word.0 == "flush");
                let flush = flush.filter(|_| unit.step.is_empty());
                let flush =
                    flush.map_or(String::new(), |word| format!(" flush-products={}", word.1));
                format!("add-mul P={}{adds}{}{flush}", unit.l, words(&own))
            }
        }
    }

    fn over(list: &[usize]) -> String {
        let list: Vec<String> = list.iter().map(ToString::to_string).collect();
        format!("over k={}", list.join(","))
    }

    fn dot(&mut self, list: &[usize], from: &str, output: &str) -> String {
        let step = self.step(from == "c");
        self.push(&format!("{step} {} from {from}", Self::over(list)), output)
    }

    /// Steps of which the last may end in another way.
    fn chain(&mut self, list: &[usize], from: &str) -> String {
        let (between, end) = (self.between(), self.end());
        let head = (list.len() - 1) / self.unit.l * self.unit.l;
        if head == 0 || between == end {
            return self.dot(list, from, &end);
        }
        let sum = self.dot(&list[..head], from, &between);
        self.dot(&list[head..], &sum, &end)
    }

    /// c where it is added by itself.
    fn c_apart(&mut self) {
        let format = self.unit.d;
        let output = match self.unit.c.first() {
            None => return,
            Some(("flush-c", sign)) => format!("rne {format} flush={sign}"),
            Some((_, to)) => to.replace(':', " "),
        };
        self.push("convert c", &output);
        self.c = "t0";
    }
}

impl Drawn {
    /// The program.
    pub(crate) fn program(&self) -> String {
        let mut writer = Writer {
            unit: self,
            statements: Vec::new(),
            c: "c",
        };
        let (between, end) = (writer.between(), writer.end());
        let nothing = writer.nothing();
        let added = self.own_steps || ["last", "after-first"].contains(&self.place);
        if added {
            writer.c_apart();
        }
        let c = writer.c;
        let order = &self.order[..];
        if self.accumulators > 1 {
            let each = self.k / self.accumulators;
            let mut sums: Vec<String> = Vec::new();
            for part in 0..self.accumulators {
                let own: Vec<usize> = match self.neighbours {
                    true => order[part * each..(part + 1) * each].to_vec(),
                    false => order
                        .iter()
                        .skip(part)
                        .step_by(self.accumulators)
                        .copied()
                        .collect(),
                };
                let from = if part == 0 && self.place == "first" {
                    "c"
                } else {
                    nothing
                };
                sums.push(writer.dot(&own, from, &between));
            }
            while sums.len() > 1 {
                if self.in_sequence {
                    let sum = writer.push(&format!("add {} {}", sums[0], sums[1]), &end);
                    sums.splice(..2, [sum]);
                } else {
                    let pairs = sums.chunks(2);
                    let pairs = pairs
                        .map(|pair| writer.push(&format!("add {} {}", pair[0], pair[1]), &end));
                    sums = pairs.collect();
                }
            }
            if self.place == "last" {
                writer.push(&format!("add {c} {}", sums[0]), &end);
            }
        } else if self.own_steps {
            let mut sum = c.to_owned();
            let count = order.len().div_ceil(self.l);
            for (index, block) in order.chunks(self.l).enumerate() {
                let own = writer.dot(block, nothing, &between);
                let output = if index + 1 == count { &end } else { &between };
                sum = writer.push(&format!("add {sum} {own}"), output);
            }
        } else {
            match self.place {
                "first" => writer.chain(order, "c"),
                "absent" => writer.chain(order, nothing),
                "last" => {
                    let sum = writer.dot(order, nothing, &between);
                    writer.push(&format!("add {c} {sum}"), &end)
                }
                "after-first" => {
                    let (first, rest) = order.split_at(self.l);
                    let sum = writer.dot(first, nothing, &between);
                    let sum = writer.push(&format!("add {c} {sum}"), &between);
                    writer.chain(rest, &sum)
                }
                _ => {
                    let head = (order.len() - 1) / self.l * self.l;
                    let sum = writer.dot(&order[..head], nothing, &between);
                    let step = writer.step(true);
                    let over = Writer::over(&order[head..]);
                    writer.push(&format!("join {step} {over} of c {sum}"), &end)
                }
            };
        }
        let mut statements = writer.statements;
        if let Some(last) = statements.last_mut() {
            let (_, operation) = last.split_once('=').expect("a name");
            *last = format!("d ={operation}");
            if let Some(nan) = self.nan {
                last.push_str(&format!(
                    " nan={nan:0width$x}",
                    width = if self.d == "f32" { 8 } else { 4 }
                ));
            }
        }
        statements.join(" ; ")
    }
}
