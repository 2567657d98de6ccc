//! Turns summation orders into programs: from a tree that masks show, or the usual orders where they show none.

use super::canonical_form;
use crate::dpa::{
    AddMul, Codes, Dpa, FmaChain, Fused, General, Groups, Nan, Operation, Output, Program, Reading,
    Select, Signature, Source, Start, Statement, Tininess, ZeroSign,
};
use crate::format::{Overflow, Rounding};
use crate::tree::Tree;

/// The arithmetic of nodes with products.
#[allow(clippy::large_enum_variant)] // copied freely, and few
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// Truncated or exact sums.
    Fused(Fused),
    /// Rounded products and additions.
    Rounded,
    /// Fused multiply-adds, which begin with this where c takes no part.
    Chain(Start),
}

impl Step {
    /// The start of a sum in which c takes no part: its first products, whose sign of zero stays.
    fn nothing(self) -> Start {
        match self {
            Self::Fused(_) | Self::Rounded => Start::Product,
            Self::Chain(nothing) => nothing,
        }
    }

    /// Whether a sum of more than two terms is no step of this kind.
    fn is_rounded(self) -> bool {
        !matches!(self, Self::Fused(_))
    }

    fn algorithm(self, size: usize) -> Dpa {
        let size = size.clamp(1, 256) as u32;
        Dpa::General(match self {
            Self::Chain(_) => return FmaChain.into(),
            Self::Fused(fused) => General::Fused(Fused {
                l: size,
                // Groups of 1 stand for the whole step.
                groups: fused.groups.map(|groups| Groups {
                    g: if groups.g == 1 { size } else { groups.g },
                    ..groups
                }),
                ..fused
            }),
            Self::Rounded => General::AddMul(AddMul::plain(size)),
        })
    }
}

/// The output with which every statement begins.
pub(crate) fn output(signature: &Signature, step: Step) -> Output {
    Output {
        format: signature.d,
        rounding: Rounding::Rne,
        overflow: match step {
            Step::Fused(_) => Overflow::Infinity,
            Step::Rounded | Step::Chain(_) => Overflow::Ieee,
        },
        nan: Nan::Any,
        zero: match step {
            Step::Fused(_) => ZeroSign::Exact,
            Step::Rounded | Step::Chain(_) => ZeroSign::Ieee,
        },
        flush: None,
        tininess: Tininess::After,
    }
}

/// A program being written.
pub(super) struct Writer {
    step: Step,
    output: Output,
    statements: Vec<Statement>,
}

impl Writer {
    pub(super) fn new(signature: &Signature, step: Step) -> Self {
        Self {
            step,
            output: output(signature, step),
            statements: Vec::new(),
        }
    }

    pub(super) fn push(&mut self, operation: Operation) -> Source {
        let index = self.statements.len();
        self.statements.push(Statement {
            name: format!("t{index}"),
            operation,
            output: self.output,
        });
        Source::Statement(index)
    }

    fn dot(&mut self, ks: &[usize], size: usize, from: impl Into<Start>) -> Source {
        self.push(Operation::Dot {
            algorithm: self.step.algorithm(size),
            operands: Reading::WHOLE,
            over: Select::List(ks.to_vec()),
            from: from.into(),
        })
    }

    pub(super) fn finish(mut self) -> Option<Program> {
        self.statements.last_mut()?.name = "d".to_owned();
        Some(Program {
            codes: Codes::Special,
            statements: self.statements,
        })
    }
}

/// The program that sums in the order of a tree over K products and c, or over the products alone.
/// `apart`: a step with fewer products than the steps before it does not join their chain.
pub(crate) fn of_tree(
    tree: &Tree,
    signature: &Signature,
    step: Step,
    apart: bool,
) -> Option<Program> {
    let (k, leaves) = (signature.k, tree.leaves());
    if leaves != k && leaves != k + 1 {
        return None;
    }
    let mut writer = Writer::new(signature, step);
    let mut values: Vec<Source> = Vec::new();
    for node in tree.nodes() {
        let mut products: Vec<usize> = Vec::new();
        let mut sources: Vec<Source> = Vec::new();
        for &child in &node.children {
            match child {
                child if child < k => products.push(child),
                child if child == k && leaves > k => sources.push(Source::C),
                child => sources.push(values[child - leaves]),
            }
        }
        let value = match (&products[..], &sources[..]) {
            ([], [only]) => *only,
            ([], [left, right]) => writer.push(Operation::Add(*left, *right)),
            (_, []) => writer.dot(&products, products.len(), step.nothing()),
            (_, [from]) => chain(&mut writer, &products, *from, apart),
            // A rounded sum has no more than two terms.
            _ if step.is_rounded() => return None,
            _ => {
                // The first one is aligned and rounded as c is.
                sources.sort_by_key(|source| *source != Source::C);
                writer.push(Operation::Join {
                    algorithm: step.algorithm(products.len() + sources.len()),
                    over: products.clone(),
                    of: sources.clone(),
                })
            }
        };
        values.push(value);
    }
    writer.finish()
}

/// Appends a step to another: as part of its chain when it has the same length.
fn chain(writer: &mut Writer, products: &[usize], from: Source, apart: bool) -> Source {
    let last = writer.statements.len();
    let is_last = matches!(from, Source::Statement(index) if index + 1 == last);
    if is_last
        && let Some(Statement {
            operation:
                Operation::Dot {
                    algorithm,
                    over: Select::List(list),
                    ..
                },
            ..
        }) = writer.statements.last_mut()
        && list.len() % algorithm.block() == 0
        && (products.len() == algorithm.block() || !apart && products.len() < algorithm.block())
    {
        list.extend(products);
        return from;
    }
    writer.dot(products, products.len(), from)
}

/// The place where c enters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    /// The first step's sum.
    First,
    /// A rounded addition after everything else.
    Last,
    /// A rounded addition after the first step.
    AfterFirst,
    /// The last step's sum, with what the others have made.
    LastStep,
    /// Nowhere.
    Absent,
}

impl Place {
    pub(crate) const ALL: [Self; 5] = [
        Self::First,
        Self::Last,
        Self::AfterFirst,
        Self::LastStep,
        Self::Absent,
    ];
}

/// The program whose first product is rounded by itself before c is added to it, where a step is one product and
/// c: masks show both alike.
pub(crate) fn c_added(program: &Program, k: usize) -> Option<Program> {
    let takes_c = |statement: &Statement| match &statement.operation {
        Operation::Dot {
            algorithm,
            from: Start::C,
            ..
        } => algorithm.block() == 1,
        _ => false,
    };
    let place = program.statements.iter().position(takes_c)?;
    let chain = &program.statements[place];
    let mut changed = program.clone();
    let mut insert = |place: usize, operation: Operation| {
        let statement = Statement {
            name: String::new(),
            operation,
            output: chain.output,
        };
        changed = canonical_form::with_statement(&changed, place, statement);
    };
    let add = Operation::Add(Source::C, Source::Statement(place));
    match canonical_form::cut(chain, 1, k, Source::Statement(place + 1)) {
        Some([first, rest]) => {
            insert(place, first);
            insert(place + 1, add);
            changed.statements[place + 2].operation = rest;
        }
        None => {
            insert(place, chain.operation.clone());
            changed.statements[place + 1].operation = add;
        }
    }
    match &mut changed.statements[place].operation {
        Operation::Dot { from, .. } => *from = Start::Product,
        _ => return None,
    }
    Some(changed)
}

/// The programs whose first sum of two products without c is two steps of one product: masks show both alike, and do not
/// show which product is first.
pub(crate) fn begun_singly(program: &Program) -> Vec<Program> {
    let begins = |statement: &Statement| match &statement.operation {
        Operation::Dot {
            algorithm: Dpa::General(General::Fused(Fused { l: 2, .. })),
            over: Select::List(list),
            from: Start::Product,
            ..
        // Three where a step of one product continues the chain.
        } => matches!(list.len(), 2 | 3),
        _ => false,
    };
    let Some(place) = program.statements.iter().position(begins) else {
        return Vec::new();
    };
    let begun = |is_swapped: bool| {
        let mut changed = program.clone();
        if let Operation::Dot {
            algorithm: Dpa::General(General::Fused(fused)),
            over: Select::List(list),
            ..
        } = &mut changed.statements[place].operation
        {
            fused.l = 1;
            fused.groups = fused.groups.map(|groups| Groups { g: 1, ..groups });
            if is_swapped {
                list.swap(0, 1);
            }
        }
        canonical_form::merged(&changed)
    };
    [false, true].map(begun).to_vec()
}

/// A chain of steps of `size` over the k in an order.
pub(crate) fn chained(
    signature: &Signature,
    step: Step,
    order: &[usize],
    size: usize,
    place: Place,
) -> Option<Program> {
    let mut writer = Writer::new(signature, step);
    let (first, rest) = order.split_at(size.min(order.len()));
    match place {
        Place::First => {
            writer.dot(order, size, Source::C);
        }
        Place::Absent => {
            writer.dot(order, size, step.nothing());
        }
        Place::Last => {
            let sum = writer.dot(order, size, step.nothing());
            writer.push(Operation::Add(Source::C, sum));
        }
        Place::AfterFirst => {
            if rest.is_empty() {
                return None;
            }
            let sum = writer.dot(first, size, step.nothing());
            let sum = writer.push(Operation::Add(Source::C, sum));
            writer.dot(rest, size, sum);
        }
        Place::LastStep => {
            let head = (order.len().saturating_sub(1) / size) * size;
            if head == 0 || step.is_rounded() {
                return None;
            }
            let sum = writer.dot(&order[..head], size, step.nothing());
            writer.push(Operation::Join {
                algorithm: step.algorithm(order.len() - head + 2),
                over: order[head..].to_vec(),
                of: vec![Source::C, sum],
            });
        }
    }
    writer.finish()
}

/// Every step by itself, the results added to c one after the other.
pub(crate) fn added(
    signature: &Signature,
    step: Step,
    order: &[usize],
    size: usize,
) -> Option<Program> {
    let mut writer = Writer::new(signature, step);
    let mut sum = Source::C;
    for block in order.chunks(size) {
        let own = writer.dot(block, size, step.nothing());
        sum = writer.push(Operation::Add(sum, own));
    }
    writer.finish()
}

/// The most products whose steps of one are looked at apart: each is two statements.
const MOST_APART: usize = 16;

/// The programs in which every step of a chain of single products is rounded by itself and then added: masks show both alike.
pub(crate) fn apart(program: &Program, signature: &Signature) -> Vec<Program> {
    let [
        Statement {
            operation:
                Operation::Dot {
                    algorithm: Dpa::General(General::Fused(fused)),
                    over: Select::List(order),
                    from: Start::C,
                    ..
                },
            ..
        },
    ] = &program.statements[..]
    else {
        return Vec::new();
    };
    if fused.l > 1 || !(2..=MOST_APART).contains(&order.len()) {
        return Vec::new();
    }
    let step = Step::Fused(*fused);
    let singles: Vec<Vec<usize>> = order.iter().map(|&k| vec![k]).collect();
    let with_first = joined(signature, step, &singles, 1, Place::First, false);
    let all = added(signature, step, order, 1);
    all.into_iter().chain(with_first).collect()
}

/// Chains of steps over parts of the k, each by itself, their results added pairwise or one after the
/// other; c begins the first chain or is added at the end.
pub(crate) fn joined(
    signature: &Signature,
    step: Step,
    parts: &[Vec<usize>],
    size: usize,
    place: Place,
    pairwise: bool,
) -> Option<Program> {
    let mut writer = Writer::new(signature, step);
    let mut sums = Vec::new();
    for (index, part) in parts.iter().enumerate() {
        let from = match place {
            Place::First if index == 0 => Start::C,
            _ => step.nothing(),
        };
        sums.push(writer.dot(part, size, from));
    }
    while let [first, second, ..] = sums[..] {
        if pairwise {
            let pairs: Vec<Vec<Source>> = sums.chunks(2).map(<[Source]>::to_vec).collect();
            sums = pairs
                .iter()
                .map(|pair| match pair[..] {
                    [left, right] => writer.push(Operation::Add(left, right)),
                    _ => pair[0],
                })
                .collect();
        } else {
            let sum = writer.push(Operation::Add(first, second));
            sums.splice(..2, [sum]);
        }
    }
    if place == Place::Last {
        writer.push(Operation::Add(Source::C, sums[0]));
    }
    writer.finish()
}

/// Partitions of the k into that many parts that units may have: neighbours, and strided.
pub(crate) fn partitions(k: usize, count: usize) -> [Vec<Vec<usize>>; 2] {
    let each = k / count;
    [
        (0..count)
            .map(|part| (part * each..(part + 1) * each).collect())
            .collect(),
        (0..count)
            .map(|part| (part..k).step_by(count).collect())
            .collect(),
    ]
}

/// Orders of k that units may have.
pub(crate) fn orders(k: usize) -> Vec<Vec<usize>> {
    let mut found = vec![(0..k).collect::<Vec<_>>()];
    for modulus in [2, 4, 8] {
        if k.is_multiple_of(modulus) && k > modulus {
            // Residue after residue.
            found.push(
                (0..k)
                    .map(|i| i % (k / modulus) * modulus + i / (k / modulus))
                    .collect(),
            );
        }
    }
    if k.is_multiple_of(4) && k > 4 {
        let half = |low: bool| (0..k).filter(move |k| (k % 4 < 2) == low);
        found.push(half(true).chain(half(false)).collect());
    }
    found.push((0..k).rev().collect());
    found
}
