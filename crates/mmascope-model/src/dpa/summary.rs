//! One paragraph of a unit for newcomers: what it adds, and how the result differs from the exact one. It says less than
//! [`Unit::words`] and nothing else.

use super::describe::rounded;
use super::general::{AddMul, Fused, Groups};
use super::{
    Addends, Beyond, General, GrFdpa, IntDot, IntPair, Operation, Output, Program, Signs, Source,
    Start, Unit,
};
use crate::format::{Format, Rounding};

impl Unit {
    /// What each element of D is, in two sentences. Every sum and rounding is there or said to be left out.
    #[must_use]
    pub fn summary(&self) -> [String; 2] {
        [self.element(), how(self.program(), self.signature().k)]
    }

    /// What is computed, without roundings.
    fn element(&self) -> String {
        let signature = self.signature();
        let (a, b, c, d) = (signature.a, signature.b, signature.c, signature.d);
        let numbers = match a == b {
            true => format!("two {a} numbers"),
            false => format!("{a} and {b} numbers"),
        };
        let scaled = signature.scale.map_or(String::new(), |scale| {
            format!(
                ", and each block of {} numbers has a scale in {}",
                scale.block, scale.format
            )
        });
        let program = self.program();
        let counts = program.statements.iter().any(|statement| {
            matches!(&statement.operation, Operation::Dot { algorithm, .. }
                if matches!(algorithm.general(&statement.output),
                    General::Integer(IntDot { pair: IntPair::Differ, .. })))
        });
        let signs = program.signs();
        let ends = match signs.c {
            0 => format!("in all, d in {d}; c in {c} is not read{scaled}."),
            _ => format!("and c in {c}, d in {d}{scaled}."),
        };
        if reads_twice(program) {
            let (with_c, c) = match reads_c(program) {
                true => ("c and ", format!("c in {c}")),
                false => ("", format!("c in {c} is not read")),
            };
            return format!(
                "Every element of D is made of {with_c}{} products of {numbers} as the statements below say: some values \
                 are read twice; {c}, d in {d}{scaled}.",
                signature.k
            );
        }
        let with_c = |sum: &str| equation(signs, sum);
        match (program.addends(), signature.k) {
            (Addends::Sum, _) => {
                let equation = with_c("(a + b)");
                format!("Every element of D is {equation} of {numbers} {ends}")
            }
            (Addends::Difference, _) => {
                let equation = with_c("(a - b)");
                format!("Every element of D is {equation} of {numbers} {ends}")
            }
            (Addends::Product, k) if counts => {
                format!(
                    "Every element of D is c plus the number of k, of {k}, at which a and b differ: {numbers} {ends}"
                )
            }
            (Addends::Product, 1) => {
                let equation = with_c("a·b");
                format!("Every element of D is {equation}: the product of {numbers} {ends}")
            }
            (Addends::Product, k) => {
                let equation = with_c("Σ a_k·b_k");
                format!("Every element of D is {equation}: {k} products of {numbers} {ends}")
            }
        }
    }
}

/// Whether c, or what a statement gives, is read more than once, so that the result is no plain sum.
fn reads_twice(program: &Program) -> bool {
    let mut seen = Vec::new();
    let mut read = |source: Source| {
        let is_known = source != Source::Zero && seen.contains(&source);
        seen.push(source);
        is_known
    };
    program.statements.iter().any(|it| match &it.operation {
        Operation::Dot { from, .. } => match from {
            Start::C => read(Source::C),
            Start::Statement(index) => read(Source::Statement(*index)),
            Start::Zero | Start::Product => false,
        },
        Operation::Add(one, other) => read(*one) || read(*other),
        Operation::Convert(source) | Operation::Negate(source) => read(*source),
        Operation::Join { of, .. } => of.iter().any(|source| read(*source)),
    })
}

/// Whether some statement takes c.
fn reads_c(program: &Program) -> bool {
    program.statements.iter().any(|it| match &it.operation {
        Operation::Dot { from, .. } => matches!(from, Start::C),
        Operation::Add(one, other) => [one, other].contains(&&Source::C),
        Operation::Convert(source) | Operation::Negate(source) => *source == Source::C,
        Operation::Join { of, .. } => of.contains(&Source::C),
    })
}

/// `d = c + sum` with these signs.
fn equation(signs: Signs, sum: &str) -> String {
    match (signs.products < 0, signs.c) {
        (false, 0) => format!("d = {sum}"),
        (true, 0) => format!("d = -{sum}"),
        (false, 1) => format!("d = c + {sum}"),
        (true, 1) => format!("d = c - {sum}"),
        (false, _) => format!("d = {sum} - c"),
        (true, _) => format!("d = -c - {sum}"),
    }
}

/// How the sum comes about.
fn how(program: &Program, k: usize) -> String {
    let steps: Vec<Sum> = program
        .statements
        .iter()
        .filter_map(|statement| sum(statement, k))
        .collect();
    let last = program.output();
    let [step] = &steps[..] else {
        return format!(
            "The sum is made in {} steps, each of which rounds what it gives: to {} in the end, {}. {}",
            program.statements.len(),
            last.format,
            rounded(last.rounding),
            steps.first().map_or(String::new(), |first| format!("In the first one, {}", lowered(&first.words(true))))
        )
        .trim_end()
        .to_owned();
    };
    let mut said = step.words(false);
    for statement in &program.statements {
        match statement.operation {
            Operation::Add(one, other) if one == other => {
                said.push_str(" What that gives is added to itself, with a rounding of its own.");
            }
            Operation::Add(..) => said.push_str(" c is added with a rounding of its own."),
            _ => {}
        }
    }
    let converts = program
        .statements
        .iter()
        .any(|it| matches!(it.operation, Operation::Convert(_)));
    if converts && (last.format, last.rounding) != (step.output.format, step.output.rounding) {
        said.push_str(&format!(
            " The result is rounded once more, to {}, {}.",
            last.format,
            rounded(last.rounding)
        ));
    }
    let negates = program
        .statements
        .last()
        .is_some_and(|it| matches!(it.operation, Operation::Negate(_)));
    if negates {
        said.push_str(" The sign changes after that.");
    }
    said
}

fn lowered(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters
        .next()
        .map_or(String::new(), |letter| letter.to_lowercase().to_string());
    format!("{first}{}", letters.as_str())
}

/// A run of blocks over some k.
struct Sum {
    step: General,
    output: Output,
    /// How many products it takes in.
    products: usize,
    /// Whether a value stands beside the products of the first block.
    has_c: bool,
}

fn sum(statement: &super::Statement, k: usize) -> Option<Sum> {
    let Operation::Dot {
        algorithm,
        over,
        from,
        ..
    } = &statement.operation
    else {
        return None;
    };
    Some(Sum {
        step: algorithm.general(&statement.output),
        output: statement.output,
        products: over.indices(k).len(),
        has_c: matches!(from, Start::C | Start::Statement(_)),
    })
}

impl Sum {
    /// Sentences; `is_part`: other sums follow.
    fn words(&self, is_part: bool) -> String {
        match &self.step {
            General::Fused(step) => self.fused(step),
            General::AddMul(step) => self.add_mul(step),
            General::Grouped(step) => self.grouped(step, is_part),
            General::Semi(_) => format!(
                "The product is shortened to 26 bits below its exponent, with a last bit that remembers the rest, before \
                 c is added; the sum is rounded {}. Some results differ from the fused multiply-add of IEEE 754.",
                self.to()
            ),
            General::Integer(step) => integers(step, &self.output.format),
        }
    }

    fn to(&self) -> String {
        format!(
            "to {}, {}",
            self.output.format,
            rounded(self.output.rounding)
        )
    }

    fn fused(&self, step: &Fused) -> String {
        let block = step.l as usize;
        let beside = if self.has_c { " and c" } else { "" };
        let exact = step.f.is_none()
            && step.groups.is_none_or(|groups| groups.f.is_none())
            && step.join.is_none();
        let before = before(step);
        if exact && block == 1 {
            return format!(
                "Products are added one after the other with fused multiply-adds, each rounded {}: the order of k shows \
                 in the result.{before}",
                self.to()
            );
        }
        let blocks = self.products.div_ceil(block.max(1));
        let all = match (self.products, blocks) {
            (1, _) => "The product".to_owned(),
            (count, 1) => format!("All {count} products"),
            _ => format!("{block} products at a time"),
        };
        let again = if blocks > 1 { "each sum" } else { "the sum" };
        let verb = if self.products == 1 && beside.is_empty() {
            "is"
        } else {
            "are"
        };
        if exact {
            return format!(
                "{all}{beside} {verb} added without any loss, and {again} is rounded once, {}.{before}",
                self.to()
            );
        }
        if let Some((bits, join)) = step.join {
            return format!(
                "Unlike IEEE sums: {}, {}; {again} is rounded {}.{before}",
                self.joined(step, (bits, join), &all, verb),
                self.with_c(step),
                self.to()
            );
        }
        let (what, first) = match step.groups {
            None => (format!("{all}{beside}"), String::new()),
            Some(groups) => {
                let (which, own) = groups_words(&groups, step.l);
                let first = format!(
                    "{all} {verb} taken in groups of {} ({which}), and each group is summed {own}. ",
                    groups.g
                );
                (format!("Groups{beside}"), first)
            }
        };
        let cut = cut(step.align);
        let lost = match step.f {
            Some(bits) => {
                let own = match (step.f_c, step.align_c) {
                    (f_c, align) if (f_c, align) == (step.f, step.align) || !self.has_c => {
                        String::new()
                    }
                    (Some(bits), align) => format!(" (c {} to {bits} bits)", self::cut(align)),
                    (None, _) => " (c is kept whole)".to_owned(),
                };
                let largest = match (step.c_outside_alignment && self.has_c, step.groups) {
                    (false, _) => "the largest of them",
                    (true, None) => "the largest product",
                    (true, Some(_)) => "the largest group",
                };
                format!(
                    "{what} are aligned to {largest} and {cut} to {bits} bits below its exponent{own}, so that small \
                     terms are lost"
                )
            }
            None => format!("{what} are added exactly"),
        };
        format!(
            "Unlike IEEE sums: {}; {again} is rounded {}.{before}",
            lowered(&format!("{first}{lost}")),
            self.to()
        )
    }

    /// How products, or groups of them, are joined before c comes.
    fn joined(&self, step: &Fused, (bits, join): (u32, Rounding), all: &str, verb: &str) -> String {
        let (first, what) = match step.groups {
            None => (String::new(), lowered(all)),
            Some(groups) => {
                let (which, own) = groups_words(&groups, step.l);
                let first = format!(
                    "{} {verb} taken in groups of {} ({which}), each summed {own}; ",
                    lowered(all),
                    groups.g
                );
                (first, "the groups".to_owned())
            }
        };
        format!(
            "{first}{what} are aligned to the largest of them and {} to {bits} bits below its exponent",
            cut(join)
        )
    }

    /// How a joined sum meets c.
    fn with_c(&self, step: &Fused) -> String {
        let to = |f: Option<u32>, align: Rounding| match f {
            Some(bits) => format!("{} to {bits} bits", cut(align)),
            None => "kept whole".to_owned(),
        };
        let last = step.f2.map_or(String::new(), |bits| {
            format!(", and what they give to {bits} bits of its own")
        });
        format!(
            "and their sum is {} below the larger of it and c, c {}{last}",
            to(step.f, step.align),
            to(step.f_c, step.align_c)
        )
    }

    fn add_mul(&self, step: &AddMul) -> String {
        let products = match step.terms.products {
            Some((rounding, format)) => format!(" (to {format}, {})", rounded(rounding)),
            None => String::new(),
        };
        let order = if step.sequential {
            "one after the other"
        } else {
            "in pairs"
        };
        let groups = match step.p {
            1 => "they are added one after the other".to_owned(),
            p => format!("{p} at a time are added {order}"),
        };
        let flushes = step.terms.flush_in.is_some()
            || step.flush_sums.is_some()
            || step.terms.flush_products.is_some();
        let flush = if flushes {
            " Subnormal numbers count as 0."
        } else {
            ""
        };
        format!(
            "Every product is rounded{products}, {groups}, and every sum is rounded: {}.{flush}",
            self.to()
        )
    }

    fn grouped(&self, step: &GrFdpa, is_part: bool) -> String {
        let coarse = step.f2.map_or(String::new(), |bits| {
            format!(", and once more to {bits} bits")
        });
        let result = if is_part {
            String::new()
        } else {
            format!("; the result is rounded {}", self.to())
        };
        let (f_g, f) = (step.f_g, step.f);
        if step.terms != Addends::Product {
            return format!(
                "Unlike IEEE sums: a and b are added on a grid {f_g} bits below the larger of them, then that sum and c \
                 on one {f} bits below the larger of these{coarse}{result}."
            );
        }
        let parts = match step.takes_parts() {
            true => "of each significand only a part is multiplied; ",
            false => "",
        };
        let groups = match (step.g, self.products) {
            (_, 1) => "the product is".to_owned(),
            (1, _) => "each product is".to_owned(),
            (g, _) => format!("groups of {g} products are"),
        };
        format!(
            "Unlike IEEE sums: {parts}{groups} aligned to the largest term and kept to {f_g} bits below it, then that and \
             c to {f} bits below the largest of them{coarse}{result}."
        )
    }
}

/// Which products make a group, and how it is summed.
fn groups_words(groups: &Groups, l: u32) -> (String, String) {
    let which = match (groups.strided, l / groups.g.max(1)) {
        (false, _) => "neighbours".to_owned(),
        (true, 2) => "every other one".to_owned(),
        (true, count) => format!("each {count}th one"),
    };
    let own = match groups.f {
        None => "exactly".to_owned(),
        Some(bits) => format!("on a grid {bits} bits below the largest"),
    };
    (which, own)
}

/// How terms lose their low bits.
fn cut(rounding: Rounding) -> String {
    match rounding {
        Rounding::Rz => "cut".to_owned(),
        other => format!("rounded ({})", rounded(other)),
    }
}

/// What happens to operands before they are multiplied and added.
fn before(step: &Fused) -> String {
    let mut said = String::new();
    if let Some((rounding, format)) = step.terms.products {
        said.push_str(&format!(
            " Products are rounded to {format} first, {}.",
            rounded(rounding)
        ));
    }
    if step.terms.flush_in.is_some() || step.terms.flush_products.is_some() {
        said.push_str(" Subnormal numbers count as 0.");
    }
    said
}

fn integers(step: &IntDot, format: &Format) -> String {
    let beyond = match step.beyond {
        Beyond::Wraps => "wraps around in two's complement",
        Beyond::Saturates => "becomes the nearest one that it holds",
    };
    format!("Integers are added without any loss; a sum that {format} does not hold {beyond}.")
}
