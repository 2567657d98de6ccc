//! What a device is asked: inputs in kinds, each aimed at some parameters of the model space.

use super::maker::{Maker, Number, fraction};
use crate::cases::Case;
use crate::dpa::{Dpa, General, Operation, Unit};
use crate::reveal::Random;

/// What an input is aimed at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// Alignment and rounding, in the middle of the range.
    Core,
    /// The same without c, all in one place of k.
    Products,
    /// A number, half of its last place, and bits far below that decide.
    Tie,
    /// Small terms: floors, subnormals, flushes.
    Tiny,
    /// Large terms: overflow.
    Huge,
    /// ∞ and NaN.
    Special,
    /// Signed zeros and sums that are or round to zero.
    Zeros,
}

impl Kind {
    pub(crate) const ALL: [Self; 7] = [
        Self::Core,
        Self::Products,
        Self::Tie,
        Self::Tiny,
        Self::Huge,
        Self::Special,
        Self::Zeros,
    ];
}

/// Distances and exponents at which candidates differ.
#[derive(Clone, Debug, Default)]
pub(crate) struct Focus {
    /// Numbers of fraction bits.
    pub(crate) bits: Vec<i32>,
    /// Floors.
    pub(crate) floors: Vec<i32>,
}

impl Focus {
    /// What a unit's parameters single out.
    pub(crate) fn of(unit: &Unit) -> Self {
        let mut focus = Self::default();
        for statement in &unit.program().statements {
            let (Operation::Dot { algorithm, .. } | Operation::Join { algorithm, .. }) =
                &statement.operation
            else {
                continue;
            };
            match *algorithm {
                Dpa::TFdpa { f, e0, .. } | Dpa::GstFdpa { f, e0, .. } => {
                    focus.bits.push(f as i32);
                    focus.floors.push(e0);
                }
                Dpa::TrFdpa { f, f2, .. } | Dpa::GtrFdpa { f, f2, .. } => {
                    focus.bits.extend([f as i32, f2 as i32]);
                }
                Dpa::General(General::Fused(fused)) => {
                    let groups = fused.groups.and_then(|groups| groups.f);
                    let bits = [fused.f, fused.f_c, fused.f2, groups];
                    focus
                        .bits
                        .extend(bits.iter().flatten().map(|&bits| bits as i32));
                    focus.floors.extend(fused.e0);
                }
                _ => {}
            }
        }
        focus
    }

    pub(crate) fn with(mut self, other: &Self) -> Self {
        self.bits.extend(&other.bits);
        self.floors.extend(&other.floors);
        self
    }
}

/// An input of a kind.
pub(crate) fn make(maker: &Maker, kind: Kind, focus: &Focus, random: &mut Random) -> Case {
    match kind {
        Kind::Core => core(maker, focus, true, random),
        Kind::Products => core(maker, focus, false, random),
        Kind::Tie => {
            let mut case = maker.blank();
            scale(maker, &mut case, false, random);
            tie(maker, focus, &mut case, random);
            case
        }
        Kind::Tiny => tiny(maker, focus, random),
        Kind::Huge => huge(maker, random),
        Kind::Special => special(maker, focus, random),
        Kind::Zeros => zeros(maker, random),
    }
}

/// A number of `from ..= to`.
fn between(from: i32, to: i32, random: &mut Random) -> i32 {
    from + random.below((to - from).max(0) as usize + 1) as i32
}

/// Some places of k: a run, scattered ones, or all.
fn places(maker: &Maker, count: usize, random: &mut Random) -> Vec<usize> {
    let k = maker.signature.k;
    let count = count.min(k);
    let mut places: Vec<usize> = match random.below(3) {
        0 => {
            let first = random.below(k - count + 1);
            (first..first + count).collect()
        }
        1 => {
            let stride = [1, 2, 4][random.below(3)];
            let first = random.below(k);
            (0..count).map(|i| (first + i * stride) % k).collect()
        }
        _ => {
            let mut all: Vec<usize> = (0..k).collect();
            random.shuffle(&mut all);
            all.truncate(count);
            all
        }
    };
    places.sort_unstable();
    places.dedup();
    random.shuffle(&mut places);
    places
}

/// Scales around an exponent, or 1.
fn scale(maker: &Maker, case: &mut Case, spread: bool, random: &mut Random) {
    let Some(range) = maker.scale else { return };
    let width = match random.below(4) {
        0 => 0,
        1 => 3,
        _ => 20,
    };
    let (low, high) = ((2 * range.normal).max(-width), (2 * range.top).min(width));
    let common = between(low, high, random);
    for block in 0..case.scale_a.len() {
        let sum = if spread {
            between(low, high, random)
        } else {
            common
        };
        maker.set_scales(case, block, sum);
        if random.below(3) == 0 {
            // A scale that is no power of two, where the format has one.
            let format = maker.signature.scale.map(|scale| scale.format);
            if let Some(format) = format.filter(|f| f.float().is_some_and(|f| f.fraction_bits > 0))
            {
                let exponent = between(range.normal.max(-3), range.top.min(3), random);
                case.scale_a[block] = Number {
                    negative: false,
                    exponent,
                    fraction: random.bits() >> 4,
                }
                .word(&format);
            }
        }
    }
}

/// Terms at chosen distances below an anchor.
fn core(maker: &Maker, focus: &Focus, with_c: bool, random: &mut Random) -> Case {
    let mut case = maker.blank();
    let spread = random.below(2) == 0;
    scale(maker, &mut case, spread, random);
    let (low, high) = maker.products();
    let high = high.min(maker.d.top - 4).min(24);
    let low = low.max(maker.d.normal - 24).max(-40).min(high);
    let anchor = between((high - 30).max(low), high, random);
    let distance = |random: &mut Random| match random.below(4) {
        0 => between(0, 3, random),
        1 => between(maker.bits - 3, maker.bits + 4, random),
        2 if !focus.bits.is_empty() => {
            focus.bits[random.below(focus.bits.len())] + between(-3, 3, random)
        }
        _ => between(0, 45, random),
    };
    let count = [1, 2, 2, 3, 3, 4, 5, 8, usize::MAX][random.below(9)];
    let places = places(maker, count, random);
    let common = distance(random);
    let same = random.below(2) == 0;
    let (sign, signs) = (random.below(2) == 0, random.below(3));
    let style = random.below(3);
    let fraction = |random: &mut Random| match style {
        0 => 0,
        _ => fraction(random),
    };
    let cancel = random.below(3) != 0;
    let anchors = [0, 1, 1, 2][random.below(4)];
    let mut large = Number {
        negative: sign,
        exponent: anchor,
        fraction: fraction(random),
    };
    for (index, &k) in places.iter().enumerate() {
        if index < anchors {
            maker.product(&mut case, k, large, 0, random);
            if cancel {
                large.negative = !large.negative;
            }
            continue;
        }
        let below = if same { common } else { distance(random) };
        let number = Number {
            negative: match signs {
                0 => sign,
                1 => !sign,
                _ => random.below(2) == 0,
            },
            exponent: anchor - below,
            fraction: fraction(random),
        };
        let other = fraction(random);
        maker.product(&mut case, k, number, other, random);
    }
    if with_c && random.below(4) != 0 {
        let number = match random.below(3) {
            // c is an anchor, perhaps the one that cancels.
            0 => large,
            1 => Number {
                exponent: anchor + between(-2, 3, random),
                fraction: fraction(random),
                ..large
            },
            _ => Number {
                negative: random.below(2) == 0,
                exponent: anchor - distance(random),
                fraction: fraction(random),
            },
        };
        maker.set_c(&mut case, number);
    }
    case
}

/// A number of the result's format, half of its last place, and something far below that decides.
fn tie(maker: &Maker, focus: &Focus, case: &mut Case, random: &mut Random) {
    let (low, high) = maker.products();
    let high = high.min(maker.d.top - 4).min(maker.c.top - 4).min(24);
    let low = low.max(maker.d.normal).max(-40).min(high);
    let anchor = between((high - 30).max(low), high, random);
    let sign = random.below(2) == 0;
    let large = Number {
        negative: sign,
        exponent: anchor,
        fraction: if random.below(2) == 0 {
            0
        } else {
            fraction(random)
        },
    };
    let places = places(maker, 16, random);
    let mut rest = places.into_iter();
    if random.below(2) == 0 {
        maker.set_c(case, large);
    } else if let Some(k) = rest.next() {
        let power = Number {
            fraction: 0,
            ..large
        };
        maker.product(case, k, power, 0, random);
    }
    // Half of the last place, or of that below a power of two.
    let half = maker.bits + 1 + between(-1, 1, random);
    let negative = sign ^ (random.below(4) != 0);
    if let Some(k) = rest.next() {
        maker.product(case, k, Number::power(negative, anchor - half), 0, random);
    }
    let far = |random: &mut Random| match focus.bits.len() {
        count if count > 0 && random.below(3) != 0 => {
            focus.bits[random.below(count)] + between(-2, 3, random)
        }
        _ => between(maker.bits, 50, random),
    };
    if random.below(2) == 0 {
        // Every bit from somewhere below the half down to somewhere.
        let (mut from, to) = (half + between(1, 3, random), far(random));
        let most = maker
            .signature
            .a
            .float()
            .map_or(0, |float| float.fraction_bits) as i32;
        for k in rest {
            let more = most.min(to - from);
            if more < 0 {
                break;
            }
            let number = Number {
                negative,
                exponent: anchor - from,
                fraction: ((1 << more) - 1) << (60 - more),
            };
            maker.product(case, k, number, 0, random);
            from += more + 1;
        }
        return;
    }
    for k in rest.take(1 + random.below(2)) {
        let number = Number {
            negative: random.below(2) == 0,
            exponent: anchor - far(random),
            fraction: fraction(random),
        };
        maker.product(case, k, number, 0, random);
    }
}

/// Terms near the bottom of the formats, or around a floor.
fn tiny(maker: &Maker, focus: &Focus, random: &mut Random) -> Case {
    let mut case = maker.blank();
    if let Some(range) = maker.scale {
        let sum = between(2 * range.normal, 0, random);
        for block in 0..case.scale_a.len() {
            let own = if random.below(3) == 0 {
                sum + between(-3, 3, random)
            } else {
                sum
            };
            maker.set_scales(&mut case, block, own.max(2 * range.normal));
        }
    }
    let lowest = maker.a.lowest + maker.b.lowest;
    let bottom = maker.d.lowest.min(maker.c.lowest);
    let reach = between(0, 50, random);
    let anchor = match random.below(5) {
        0 => maker.d.normal + between(-3, 3, random),
        1 => bottom + between(-4, 6, random),
        2 if !focus.floors.is_empty() => {
            let floor = focus.floors[random.below(focus.floors.len())];
            let bits = focus.bits.first().map_or(maker.bits, |&bits| bits);
            [
                floor + between(-2, 2, random),
                floor - bits + between(-3, 8, random),
            ][random.below(2)]
        }
        3 => lowest + reach,
        _ => between(bottom - 40, maker.d.normal + 4, random),
    };
    if maker.scale.is_none() && random.below(3) == 0 {
        borrow(maker, focus, &mut case, random);
        return case;
    }
    let anchor = if maker.scale.is_some() {
        anchor
    } else {
        anchor.max(lowest)
    };
    let count = [0, 1, 1, 2, 2, 3, 4, usize::MAX][random.below(8)];
    let places = places(maker, count, random);
    let spread = [0, 2, 6, 26][random.below(4)];
    for &k in &places {
        let number = Number {
            negative: random.below(2) == 0,
            exponent: anchor - between(0, spread, random),
            fraction: fraction(random),
        };
        let other = fraction(random);
        maker.product(&mut case, k, number, other, random);
        match random.below(8) {
            // A subnormal beside a number that lifts the product.
            0 => {
                case.a[k] = Number {
                    negative: number.negative,
                    exponent: between(maker.a.lowest, maker.a.normal - 1, random),
                    fraction: number.fraction,
                }
                .word(&maker.signature.a);
            }
            1 => {
                case.b[k] = Number {
                    negative: false,
                    exponent: between(maker.b.lowest, maker.b.normal - 1, random),
                    fraction: other,
                }
                .word(&maker.signature.b);
                case.a[k] = Number {
                    negative: number.negative,
                    exponent: between(0, maker.a.top, random),
                    fraction: number.fraction,
                }
                .word(&maker.signature.a);
            }
            _ => {}
        }
    }
    if places.is_empty() || random.below(2) == 0 {
        let exponent = match random.below(4) {
            // Anywhere down to the bottom: floors far above the format's.
            3 => between(maker.c.lowest, 0, random),
            0 => between(maker.c.lowest, maker.c.normal, random),
            1 => anchor + between(-2, spread.max(2), random),
            _ => maker.c.lowest,
        };
        let number = Number {
            negative: random.below(2) == 0,
            exponent,
            fraction: fraction(random),
        };
        maker.set_c(&mut case, number);
    }
    case
}

/// A small power of two, and far below it something that a floor may drop: of the other sign it takes
/// a whole unit from a truncated result.
fn borrow(maker: &Maker, focus: &Focus, case: &mut Case, random: &mut Random) {
    let lowest = maker.a.lowest + maker.b.lowest;
    let bottom = maker.d.lowest.max(lowest);
    let anchor = match random.below(3) {
        0 => between(bottom, maker.d.normal + 2, random),
        1 => bottom + between(-1, 3, random),
        _ => between(bottom, bottom + 40, random),
    };
    let negative = random.below(2) == 0;
    let below = |random: &mut Random| {
        let of = |values: &[i32], random: &mut Random| {
            (!values.is_empty()).then(|| values[random.below(values.len())])
        };
        let floor = of(&focus.floors, random).unwrap_or(maker.d.normal);
        let bits = of(&focus.bits, random).unwrap_or(maker.bits);
        match random.below(3) {
            0 => anchor - between(1, 60, random),
            _ => floor - bits + between(-4, 3, random),
        }
    };
    let places = places(maker, 3, random);
    let own_c = random.below(2) == 0;
    let mut rest = &places[..];
    if own_c {
        maker.set_c(case, Number::power(negative, anchor));
    } else if let Some((first, others)) = rest.split_first() {
        maker.power(case, *first, negative, anchor);
        rest = others;
    }
    for &k in &rest[..rest.len().min(1 + random.below(2))] {
        let number = Number {
            negative: negative ^ (random.below(4) != 0),
            exponent: below(random).max(lowest),
            fraction: fraction(random),
        };
        maker.product(case, k, number, 0, random);
    }
    if !own_c && random.below(3) == 0 {
        let exponent = below(random).max(maker.c.lowest);
        maker.set_c(case, Number::power(!negative, exponent));
    }
}

/// Terms near the top of the result's format.
fn huge(maker: &Maker, random: &mut Random) -> Case {
    let mut case = maker.blank();
    let (_, high) = maker.products();
    let mut top = maker.d.top.min(high);
    if let Some(range) = maker.scale {
        let sum = between(0, 2 * range.top, random).min(maker.d.top - high + 2);
        for block in 0..case.scale_a.len() {
            maker.set_scales(&mut case, block, sum.max(0));
        }
        top = maker.d.top;
    }
    let anchor = match random.below(3) {
        0 => top + between(-1, 1, random),
        1 => high + between(-2, 0, random),
        _ => top + between(-maker.bits - 3, 2, random),
    };
    let count = [1, 1, 2, 2, 3, usize::MAX][random.below(6)];
    let places = places(maker, count, random);
    let (sign, mixed) = (random.below(2) == 0, random.below(3) == 0);
    for &k in &places {
        let number = Number {
            negative: if mixed { random.below(2) == 0 } else { sign },
            exponent: anchor - between(0, 2, random),
            fraction: fraction(random),
        };
        let other = fraction(random);
        maker.product(&mut case, k, number, other, random);
    }
    if random.below(3) != 0 {
        let number = Number {
            negative: if random.below(4) == 0 { !sign } else { sign },
            exponent: maker.c.top - between(0, 2, random),
            fraction: if random.below(2) == 0 {
                (1 << 60) - 1
            } else {
                fraction(random)
            },
        };
        maker.set_c(&mut case, number);
    }
    case
}

/// ∞ and NaN among ordinary operands.
fn special(maker: &Maker, focus: &Focus, random: &mut Random) -> Case {
    let mut case = match random.below(3) {
        0 => maker.blank(),
        1 => huge(maker, random),
        _ => core(maker, focus, true, random),
    };
    let crate::dpa::Signature { a, b, c, k, .. } = maker.signature;
    let pick = |format: &crate::format::Format, random: &mut Random| {
        let negative = random.below(2) == 0;
        let nan = Maker::nan(format).map(|nan| {
            // Another payload, where there is one.
            let word = nan | (random.bits() & 1) << format.register.shift;
            let code = format.from_register(word);
            let other = format.decode(code).class == crate::format::Class::Nan;
            if other { word } else { nan }
        });
        match random.below(3) {
            0 => nan,
            _ => Maker::infinity(format, negative).or(nan),
        }
    };
    for _ in 0..1 + random.below(2) {
        let at = random.below(k);
        match random.below(4) {
            0 => case.c = pick(&c, random).unwrap_or(case.c),
            1 | 2 => {
                case.a[at] = pick(&a, random).unwrap_or(case.a[at]);
                if random.below(2) == 0 {
                    case.b[at] = Number::power(random.below(2) == 0, 0).word(&b);
                }
            }
            _ => case.b[at] = pick(&b, random).unwrap_or(case.b[at]),
        }
    }
    if let Some(scale) = maker.signature.scale
        && let Some(nan) = Maker::nan(&scale.format)
        && random.below(4) == 0
    {
        let block = random.below(case.scale_a.len());
        case.scale_a[block] = nan;
    }
    case
}

/// Sums that are zero, exactly or after rounding, with every sign.
fn zeros(maker: &Maker, random: &mut Random) -> Case {
    let mut case = maker.blank();
    let crate::dpa::Signature { a, b, c, k, .. } = maker.signature;
    let zero =
        |format: &crate::format::Format, negative: bool| format.to_register(format.zero(negative));
    let signs = random.below(3);
    let pick = |random: &mut Random| match signs {
        0 => true,
        1 => random.below(2) == 0,
        _ => random.below(4) == 0,
    };
    for at in 0..k {
        let negative = pick(random);
        case.a[at] = zero(&a, negative);
        case.b[at] = match random.below(3) {
            0 => Number::power(false, 0).word(&b),
            _ => zero(&b, signs == 1 && random.below(2) == 0),
        };
    }
    case.c = zero(
        &c,
        if signs == 0 {
            random.below(4) != 0
        } else {
            random.below(2) == 0
        },
    );
    let (low, high) = maker.products();
    match random.below(5) {
        0 | 1 => {}
        // Exact cancellation.
        2 if k > 1 => {
            let exponent = between(low.max(-20), high.min(10), random);
            let places = places(maker, 2, random);
            if let [x, y] = places[..] {
                maker.power(&mut case, x, false, exponent);
                maker.power(&mut case, y, true, exponent);
            }
        }
        3 => {
            let exponent = between(
                low.max(-10).max(maker.c.normal),
                high.min(maker.c.top),
                random,
            );
            maker.power(&mut case, random.below(k), true, exponent);
            maker.set_c(&mut case, Number::power(false, exponent));
        }
        // Far below the smallest result.
        _ => {
            let lowest = maker.a.lowest + maker.b.lowest;
            let exponent = between(lowest, (maker.d.lowest - 1).max(lowest), random);
            let at = random.below(k);
            maker.power(&mut case, at, random.below(3) != 0, exponent);
        }
    }
    case
}
