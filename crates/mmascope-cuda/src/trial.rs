//! Trials on a chip: it makes operands itself, by family, seed and index, computes them by an instruction, and compares every
//! element with the model, which it computes too. Only counts and a few examples leave it.

use std::collections::BTreeMap;
use std::time::Instant;

use mmascope_lab::cases::{Family, Generator};
use mmascope_lab::device_code::{DeviceCode, OperandSource};
use mmascope_model::dpa::{Modifiers, Unit};
use mmascope_model::isa::Instruction;
use serde::Serialize;

use crate::Result;
use crate::chip::{Argument, Chip, Loaded, Memory, failed, read_words, write_words};
use crate::layout::{self, Tiles};
use crate::{sass, source};

/// Words of operands that a launch has memory for.
const WORDS: usize = 1 << 24;
/// The most tiles of a launch.
const MOST_TILES: usize = 1 << 14;
/// Differences that a launch keeps.
const KEPT: usize = 8;
/// Threads of a block, where threads work alone.
const THREADS: u32 = 128;

/// An instruction of a chip, and its model, ready to be compared there.
pub struct Trial {
    device: String,
    code: DeviceCode,
    unit: Unit,
    loaded: Box<dyn Loaded>,
    tiles: Tiles,
    /// c of each case.
    of_case: Memory,
    found: Memory,
}

/// What a part of a trial came to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Compared {
    /// Elements of D that were compared.
    pub elements: u64,
    /// Those that are not the model's.
    pub differences: u64,
    /// The first that came, in no certain order.
    pub examples: Vec<Difference>,
}

/// An element in which chip and model differ.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// The family.
    pub family: String,
    /// The seed.
    pub seed: u64,
    /// The index of the case that a is of.
    pub row: u64,
    /// The index of the case that b is of; c is of the first where the sum of both is even, else of the second.
    pub column: u64,
    /// The chip's word.
    pub device: u64,
    /// The model's, as the reference computes it here.
    pub model: u64,
}

impl Trial {
    /// Compiles a row for a chip and checks its layout there.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) where no device code is written down, [`Error::Unmodelled`](crate::Error::Unmodelled);
    /// [`Error::Device`](crate::Error::Device) when it does not compile, or its layout does not hold on this chip.
    pub fn new(
        device: &str,
        chip: &dyn Chip,
        row: &Instruction,
        source: OperandSource,
    ) -> Result<Self> {
        let code = DeviceCode::of(row, "cuda", source)?;
        let mut loaded = chip.load(&source::trial(row, source)?, code.is_own)?;
        let tile: usize = layout::sizes(&code).iter().sum();
        let count = (WORDS / tile).clamp(8, MOST_TILES);
        let tiles = Tiles::new(loaded.as_mut(), &code, count)?;
        let unit = row.unit()?.clone();
        layout::check(loaded.as_mut(), device, &code, Some(&unit), &tiles)?;
        let of_case = loaded.allocate(count * side(&code) as usize * 8)?;
        let found = loaded.allocate((1 + 3 * KEPT) * 8)?;
        Ok(Self {
            device: device.to_owned(),
            code,
            unit,
            loaded,
            tiles,
            of_case,
            found,
        })
    }

    /// Elements of a tile.
    #[must_use]
    pub fn tile_elements(&self) -> u64 {
        layout::sizes(&self.code)[2] as u64
    }

    /// Cases of a tile: tile t has those from t times this on.
    #[must_use]
    pub fn tile_cases(&self) -> u64 {
        side(&self.code)
    }

    /// The most tiles of one call of [`Trial::compare`].
    #[must_use]
    pub fn most_tiles(&self) -> u64 {
        self.tiles.count as u64
    }

    /// The machine program.
    #[must_use]
    pub fn binary(&self) -> Option<&[u8]> {
        self.loaded.binary()
    }

    /// Compares tiles of a family.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) when the family cannot be made for the formats;
    /// [`Error::Device`](crate::Error::Device), also when what the chip computes for the model is not what the reference gives.
    pub fn compare(
        &mut self,
        family: Family,
        seed: u64,
        first_tile: u64,
        tiles: u64,
    ) -> Result<Compared> {
        let generator = Generator::for_unit(family, seed, &self.unit)?;
        let tiles = tiles.min(self.most_tiles());
        let number = Family::ALL.iter().position(|it| *it == family).unwrap_or(0) as u64;
        let (side, elements) = (side(&self.code), self.tile_elements());
        let (cases, first) = (tiles * side, first_tile.wrapping_mul(side));
        let blocks = |count: u64| u32::try_from(count.div_ceil(THREADS.into())).unwrap_or(u32::MAX);
        let loaded = self.loaded.as_mut();
        let [a, b, c, d] = self.tiles.arguments();
        let word = Argument::Word;
        let of_case = Argument::Memory(self.of_case);
        write_words(loaded, self.found, &[0; 1 + 3 * KEPT])?;
        let of_make = [
            word(number),
            word(seed),
            word(first),
            word(cases),
            a,
            b,
            of_case,
        ];
        loaded.launch("make", blocks(cases), THREADS, &of_make)?;
        let count = tiles * elements;
        loaded.launch(
            "spread",
            blocks(count),
            THREADS,
            &[word(first), word(count), of_case, c, d],
        )?;
        self.tiles.run(loaded, &self.code, tiles as usize)?;
        let of_compare = [
            word(count),
            word(KEPT as u64),
            a,
            b,
            c,
            d,
            Argument::Memory(self.found),
        ];
        loaded.launch("compare", blocks(count), THREADS, &of_compare)?;
        let found = read_words(loaded, self.found, 1 + 3 * KEPT)?;
        let mut compared = Compared {
            elements: count,
            differences: found[0],
            examples: Vec::new(),
        };
        let [m, n, _] = self.code.tile.map(u64::from);
        for (at, own) in found[1..]
            .chunks(3)
            .take(found[0].min(KEPT as u64) as usize)
            .enumerate()
        {
            let &[element, device, model] = own else {
                continue;
            };
            let (tile, place) = (element / elements, element % elements);
            let block = place / (m * n);
            let row = first + tile * side + block * m + place / n % m;
            let column = first + tile * side + block * n + place % n;
            let case = generator.crossed(row, column);
            let reference = self.unit.dot(&case.operands(), &Modifiers::default())?;
            if !self.unit.agrees(reference, model) {
                return Err(failed(
                    &self.device,
                    format!(
                        "difference {at}: family {family}, seed {seed}, row {row}, column {column}: the chip computes {model:x} for \
                         the model, the reference {reference:x}: please report this"
                    ),
                ));
            }
            compared.examples.push(Difference {
                family: family.name().to_owned(),
                seed,
                row,
                column,
                device,
                model: reference,
            });
        }
        Ok(compared)
    }
}

fn side(code: &DeviceCode) -> u64 {
    let [m, n, blocks] = code.tile.map(u64::from);
    blocks * m.max(n)
}

/// What the trials of a row came to.
#[derive(Clone, Debug, Serialize)]
pub struct RowReport {
    /// The instruction, with the ending of `source::REGISTERS` where A came from registers.
    pub instruction: String,
    /// Its row's arithmetic.
    pub arithmetic: String,
    /// The machine instructions that the whole program has; those of matrix units are the instruction's. `None` without a
    /// disassembler.
    pub machine: Option<BTreeMap<String, usize>>,
    /// The seed of every family.
    pub seed: u64,
    /// Every family.
    pub families: Vec<FamilyReport>,
    /// Families that cannot be made for these formats, and why.
    pub left_out: Vec<(String, String)>,
    /// The first differences of every family.
    pub examples: Vec<Difference>,
    /// How long it took, in seconds.
    pub seconds: f64,
}

/// What the trials of a family came to.
#[derive(Clone, Debug, Serialize)]
pub struct FamilyReport {
    /// Its name.
    pub family: String,
    /// Tiles: those from 0 on.
    pub tiles: u64,
    /// Elements that were compared.
    pub elements: u64,
    /// Those that are not the model's.
    pub differences: u64,
}

impl RowReport {
    /// Elements that were compared.
    #[must_use]
    pub fn elements(&self) -> u64 {
        self.families.iter().map(|family| family.elements).sum()
    }

    /// Elements that are not the model's.
    #[must_use]
    pub fn differences(&self) -> u64 {
        self.families.iter().map(|family| family.differences).sum()
    }
}

/// Compares a row on a chip: every family gets its share of the elements. `go_on` is told how many have been compared, and may
/// stop the run.
///
/// # Errors
/// As [`Trial::new`] and [`Trial::compare`].
pub fn compare_row(
    device: &str,
    chip: &dyn Chip,
    row: &Instruction,
    source: OperandSource,
    [elements, seed]: [u64; 2],
    go_on: &mut dyn FnMut(u64) -> bool,
) -> Result<RowReport> {
    let begun = Instant::now();
    let mut trial = Trial::new(device, chip, row, source)?;
    let ending = match source {
        OperandSource::Shared => "",
        OperandSource::Registers => source::REGISTERS,
    };
    let mut report = RowReport {
        instruction: format!("{}{ending}", row.name),
        arithmetic: row.unit()?.program().to_string(),
        // A disassembler that does not know the chip tells nothing.
        machine: trial
            .binary()
            .and_then(|binary| sass::instructions(binary).ok().flatten()),
        seed,
        families: Vec::new(),
        left_out: Vec::new(),
        examples: Vec::new(),
        seconds: 0.0,
    };
    let mut made = Vec::new();
    for family in Family::ALL {
        match Generator::for_unit(family, seed, &trial.unit) {
            Ok(generator) => made.push((family, generator.count())),
            Err(error) => report
                .left_out
                .push((family.name().to_owned(), error.to_string())),
        }
    }
    let (of_tile, cases) = (trial.tile_elements(), trial.tile_cases());
    let share = (elements / made.len().max(1) as u64)
        .div_ceil(of_tile)
        .max(1);
    let mut stopped = false;
    for (family, count) in made {
        let end = count.map_or(share, |count| share.min(count.div_ceil(cases)));
        let mut own = FamilyReport {
            family: family.name().to_owned(),
            tiles: 0,
            elements: 0,
            differences: 0,
        };
        while own.tiles < end && !stopped {
            let tiles = trial.most_tiles().min(end - own.tiles);
            let compared = trial.compare(family, seed, own.tiles, tiles)?;
            own.tiles += tiles;
            own.elements += compared.elements;
            own.differences += compared.differences;
            let room = KEPT.saturating_sub(
                report
                    .examples
                    .iter()
                    .filter(|it| it.family == own.family)
                    .count(),
            );
            report
                .examples
                .extend(compared.examples.into_iter().take(room));
            stopped = !go_on(compared.elements);
        }
        report.families.push(own);
    }
    report.seconds = begun.elapsed().as_secs_f64();
    Ok(report)
}
