//! One product at every level of this machine against the oracle; and the long list of such products.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use mmascope::cpu::{Kernel, Level};
use mmascope::dpa::{Modifiers, Unit};
use mmascope::gemm::{Matrices, Product, Schedule, Watch};
use mmascope::isa::Catalogue;

use super::adversary::{ELEMENTS, Elements, STARTS, Start, matrices};
use super::schedules::Plan;

pub(crate) static GO: AtomicBool = AtomicBool::new(false);

pub(crate) fn watch() -> Watch<'static> {
    Watch {
        progress: &|_| (),
        cancel: &GO,
    }
}

/// A product.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// M, N and steps.
    pub(crate) shape: [usize; 3],
    pub(crate) elements: [Elements; 2],
    pub(crate) start: Start,
    pub(crate) modifiers: Modifiers,
    pub(crate) plan: Plan,
    /// Bytes of operands that are packed at a time, where they are not packed as a whole.
    pub(crate) pieces: Option<usize>,
    pub(crate) seed: u64,
}

/// A product by a kernel, or by the reference.
pub(crate) fn by_kernel<'a>(
    unit: &'a Unit,
    matrices: &'a Matrices,
    modifiers: Modifiers,
    kernel: Option<Kernel>,
) -> Product<'a> {
    let product = match kernel {
        Some(kernel) => Product::with_plan(unit, matrices, modifiers, Arc::new(kernel)),
        None => Product::by_reference(unit, matrices, modifiers),
    };
    product.expect("operands fit")
}

/// Whether a unit's d can be its next c: it has c's container, and c is not subtracted.
pub(crate) fn chains(unit: &Unit) -> bool {
    let signature = unit.signature();
    signature.c.container() == signature.d.container() && unit.check_chain(2 * signature.k).is_ok()
}

impl Case {
    /// The plain chain without modifiers.
    pub(crate) fn plain(
        shape: [usize; 3],
        elements: [Elements; 2],
        start: Start,
        seed: u64,
    ) -> Self {
        Self {
            shape,
            elements,
            start,
            modifiers: Modifiers::default(),
            plan: Plan::Chain,
            pieces: None,
            seed,
        }
    }

    /// Case `index` of a unit's long list: first odd sizes, then larger ones and schedules. `is_short`:
    /// of the list for few outputs, small odd sizes on both sides of a panel; other sizes and schedules come first for each unit.
    pub(crate) fn of_list(unit: &Unit, number: usize, index: usize, is_short: bool) -> Self {
        const SIZES: [usize; 4] = [1, 3, 17, 255];
        const SHAPES: [[usize; 2]; 4] = [[65, 129], [33, 47], [129, 63], [17, 255]];
        const SHORT: [[usize; 2]; 8] = [
            [1, 67],
            [2, 67],
            [17, 3],
            [1, 255],
            [3, 17],
            [33, 1],
            [5, 33],
            [2, 129],
        ];
        let elements = [
            ELEMENTS[index % ELEMENTS.len()],
            ELEMENTS[(index + index / ELEMENTS.len() * 5) % ELEMENTS.len()],
        ];
        let seed = (number * 100_000 + index) as u64;
        let start = STARTS[(index + index / STARTS.len()) % STARTS.len()];
        let mut case = Self::plain([1, 1, 1], elements, start, seed);
        let odd = index < 32 && !is_short;
        let [m, n] = match odd {
            _ if is_short => SHORT[(number + index) % SHORT.len()],
            true => [SIZES[index % 4], SIZES[index / 4 % 4]],
            false => SHAPES[index % 4],
        };
        case.shape = [m, n, 1 + index % 5];
        if !odd && index % 2 == 1 {
            let first = if is_short { number } else { 0 };
            case.plan = Plan::ALL[(first + index / 2) % Plan::ALL.len()];
            case.shape[2] = 3 + index / 2 % 4;
        }
        // More than a chunk of K, so that c is taken for granted in the later ones.
        if index % 12 == 10 && case.plan == Plan::Chain {
            case.shape[2] = 9 + index / 12 * 5 % 32;
        }
        // A step at a time, and several.
        case.pieces = match index % 8 {
            5 => Some(0),
            2 => Some(40_000),
            _ => None,
        };
        case.modifiers.negate_a = index % 7 == 3;
        case.modifiers.negate_b = index % 11 == 5;
        if case.plan == Plan::Chain {
            case.modifiers.negate_c = index % 13 == 6;
            case.modifiers.no_c = index % 17 == 9;
            case.modifiers.scale_d = if index % 19 == 8 { -3 } else { 0 };
        }
        if !chains(unit) {
            case.shape[2] = 1;
            case.plan = Plan::Chain;
        }
        case
    }

    pub(crate) fn outputs(&self) -> usize {
        self.shape[0] * self.shape[1]
    }

    /// Compares the engine at these levels with the oracle. A unit without a kernel is computed by
    /// the engine all the same, at no level.
    pub(crate) fn compare(&self, name: &str, unit: &Unit, levels: &[Level]) -> Result<(), String> {
        let mut shape = self.shape;
        if !chains(unit) {
            shape[2] = 1;
        }
        let matrices = matrices(unit, shape, self.elements, self.start, self.seed);
        let scales = self.plan.scales(unit, &matrices, self.seed);
        let schedule: Schedule = self.plan.text(unit).parse().expect("a schedule");
        let expected = self
            .plan
            .evaluate(unit, &matrices, &self.modifiers, scales.as_ref());
        let mut kernels: Vec<Option<Kernel>> = levels
            .iter()
            .map_while(|level| Kernel::at_level(unit, *level).ok())
            .map(Some)
            .collect();
        // A level that has nothing more for a kernel gives that of the level below.
        kernels.dedup_by_key(|kernel| kernel.as_ref().map(Kernel::level));
        // What is chosen by the machine, as here and as on others.
        let elsewhere: Vec<_> = (kernels.iter().flatten())
            .map(|kernel| Some(kernel.as_elsewhere()))
            .collect();
        kernels.extend(elsewhere);
        let none = [None];
        let kernels = if kernels.is_empty() {
            &none[..]
        } else {
            &kernels
        };
        for kernel in kernels {
            let level = kernel.as_ref().map_or("no level".to_owned(), |kernel| {
                format!("{} ({kernel})", kernel.level())
            });
            let product = by_kernel(unit, &matrices, self.modifiers, kernel.clone());
            let product = match self.pieces {
                Some(bytes) => product.in_pieces(bytes),
                None => product,
            };
            let got = schedule.run(&product, scales.as_ref(), &watch());
            let got = got.expect("a product").to_vec();
            if let Some(at) = (0..got.len()).find(|&at| got[at] != expected[at]) {
                let wrong = (0..got.len()).filter(|&at| got[at] != expected[at]).count();
                let (i, j) = (at / shape[1], at % shape[1]);
                return Err(format!(
                    "{name} at {level}: {wrong} of {} outputs differ, first [{i}, {j}]: {:x} instead of \
                     {:x}; '{schedule}', {self:?}, c {:x?}",
                    got.len(),
                    got[at],
                    expected[at],
                    matrices.c().map(|c| c.at(0, i, j))
                ));
            }
        }
        Ok(())
    }
}

/// Every different unit of the catalogue, with the name of a row that has it.
pub(crate) fn units() -> Vec<(String, &'static Unit)> {
    let mut found: BTreeMap<String, (String, &'static Unit)> = BTreeMap::new();
    for architecture in Catalogue::built_in().architectures() {
        for instruction in architecture.instructions() {
            // Sums of integers have no kernel yet.
            if let Ok(unit) = instruction.unit()
                && !unit.program().sums_integers()
            {
                let key = format!("{} | {}", unit.program(), unit.signature());
                let name = format!("{} {}", architecture.name, instruction.name);
                found.entry(key).or_insert((name, unit));
            }
        }
    }
    found.into_values().collect()
}
