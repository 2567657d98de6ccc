//! A core: a machine with its state, Dst and the sticky register, and the operations on tiles (§5).

use super::dst::Dst;
use super::flags::{Flag, StickyFlags};
use super::fpu::{Fpu, pool_maximum};
use super::integer::{Integer, integer_add, integer_mvmul};
use super::machine::{Fidelity, Machine};
use super::source::{SIGN, SourceFormat, Width, f16_of_working, working_of_f16};
use super::tile::{ROWS, TILE, Tile, place};
use crate::dpa::Events;
use crate::error::{Error, Result};

/// How a core's matrix unit is set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct CoreSetting {
    /// How SrcA is read.
    pub a: SourceFormat,
    /// How SrcB is read.
    pub b: SourceFormat,
    /// How wide Dst is.
    pub width: Width,
    /// How many phases products have.
    pub fidelity: Fidelity,
}

/// A core.
///
/// ```
/// use mmascope_model::isa::Catalogue;
/// use mmascope_model::tensix::{Core, Fidelity, Machine, CoreSetting, SourceFormat, Tile, Width};
/// let machine = Machine::of(Catalogue::built_in().architecture("blackhole")?)?;
/// let setting = CoreSetting {
///     a: SourceFormat::Bf16,
///     b: SourceFormat::Bf16,
///     width: Width::Bits32,
///     fidelity: Fidelity::HiFi4,
/// };
/// let mut core = Core::new(&machine, setting)?;
/// let ones = Tile::filled(SourceFormat::of_bf16(0x3f80));
/// core.matmul_tiles(&ones, &ones, 0)?;
/// assert_eq!(core.tile(0)?.at(31, 31), 0x4200_0000); // 32.0
/// # Ok::<(), mmascope_model::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Core<'m> {
    machine: &'m Machine,
    setting: CoreSetting,
    dst: Dst,
    sticky: StickyFlags,
}

impl<'m> Core<'m> {
    /// A core with an invalid Dst and no flag set.
    ///
    /// # Errors
    /// [`Error::Argument`] for source types that do not go together; integers need a Dst of 32 bits.
    pub fn new(machine: &'m Machine, setting: CoreSetting) -> Result<Self> {
        let integers = [setting.a, setting.b].map(|source| source == SourceFormat::Int8);
        match integers {
            [true, true] if setting.width == Width::Bits32 => {}
            [true, true] => {
                return Err(Error::Argument("int8 sources need a Dst of 32 bits".into()));
            }
            _ => {
                machine.fpu(setting.a, setting.b, setting.width)?;
            }
        }
        Ok(Self {
            machine,
            setting,
            dst: Dst::new(),
            sticky: StickyFlags::default(),
        })
    }

    /// The sticky register.
    #[must_use]
    pub fn sticky(&self) -> StickyFlags {
        self.sticky
    }

    /// The sticky register, to clear it.
    pub fn sticky_mut(&mut self) -> &mut StickyFlags {
        &mut self.sticky
    }

    /// Dst.
    pub fn dst_mut(&mut self) -> &mut Dst {
        &mut self.dst
    }

    /// How many tiles Dst holds.
    #[must_use]
    pub fn tiles(&self) -> usize {
        match self.setting.width {
            Width::Bits16 => Dst::ROWS_16 / ROWS,
            Width::Bits32 => Dst::ROWS_32 / ROWS,
        }
    }

    /// `matmul_tiles`: Dst += in0 · in1. in0 is read as SrcB (seven bits of the multiplier), in1 as SrcA
    /// (five). For every element: for each phase, k 0 to 15, then 16 to 31.
    ///
    /// # Errors
    /// [`Error::Argument`] for a tile that Dst does not have.
    pub fn matmul_tiles(&mut self, in0: &Tile, in1: &Tile, index: usize) -> Result<()> {
        self.check(index)?;
        let columns: Vec<_> = (0..TILE)
            .map(|column| [0, 16].map(|from| in1.of_column(column, from)))
            .collect();
        let fpu = self.fpu()?;
        for row in 0..TILE {
            let halves = [0, 16].map(|from| in0.of_row(row, from));
            for (column, a) in columns.iter().enumerate() {
                let mut word = self.read(index, row, column);
                for phase in self.setting.fidelity.phases() {
                    for (a, b) in a.iter().zip(&halves) {
                        word = match &fpu {
                            Some(fpu) => self.note(fpu.mvmul(phase, a, b, word)),
                            None => self.limit(integer_mvmul(phase, a, b, word)),
                        };
                    }
                }
                self.write(index, row, column, word);
            }
        }
        Ok(())
    }

    /// `mul_tiles`: Dst = in0 · in1 element by element; in0 is read as SrcA, in1 as SrcB. Dst starts
    /// invalid; every phase adds to it.
    ///
    /// # Errors
    /// [`Error::Argument`] for a tile that Dst does not have.
    pub fn mul_tiles(&mut self, in0: &Tile, in1: &Tile, index: usize) -> Result<()> {
        let phases: Vec<_> = self.setting.fidelity.phases().collect();
        if self.setting.a == SourceFormat::Int8 {
            // One product of each phase, with the bits that it takes of both magnitudes.
            let alone = |datum: u32| std::array::from_fn(|k| if k == 0 { datum } else { 0 });
            return self.each_integer(in0, in1, index, false, |a, b, dst| {
                let first = Integer {
                    word: dst,
                    saturated: false,
                };
                phases.iter().fold(first, |sum, phase| {
                    let next = integer_mvmul(*phase, &alone(a), &alone(b), sum.word);
                    Integer {
                        saturated: next.saturated || sum.saturated,
                        ..next
                    }
                })
            });
        }
        self.each(in0, in1, index, false, |fpu, a, b, dst| {
            let mut events = Events::default();
            let word = phases.iter().fold(dst, |dst, phase| {
                let (word, own) = fpu.multiply(*phase, a, b, dst);
                events.join(own);
                word
            });
            (word, events)
        })
    }

    /// `add_tiles`: Dst = in0 + in1, or Dst += in0 + in1 with `to_dst` (AddDst).
    ///
    /// # Errors
    /// As [`Core::mul_tiles`].
    pub fn add_tiles(&mut self, in0: &Tile, in1: &Tile, index: usize, to_dst: bool) -> Result<()> {
        if self.setting.a != SourceFormat::Int8 {
            return self.each(in0, in1, index, to_dst, |fpu, a, b, dst| fpu.add(a, b, dst));
        }
        self.each_integer(in0, in1, index, to_dst, integer_add)
    }

    /// `sub_tiles`: Dst = in0 − in1, or Dst += in0 − in1 with `to_dst` (AddDst).
    ///
    /// # Errors
    /// As [`Core::mul_tiles`].
    pub fn sub_tiles(&mut self, in0: &Tile, in1: &Tile, index: usize, to_dst: bool) -> Result<()> {
        if self.setting.a == SourceFormat::Int8 {
            return self.each_integer(in0, in1, index, to_dst, |a, b, dst| {
                integer_add(a, b ^ SIGN, dst)
            });
        }
        self.each(in0, in1, index, to_dst, |fpu, a, b, dst| {
            fpu.subtract(a, b, dst)
        })
    }

    /// GMPOOL: into one row of Dst the largest of each column of sixteen rows of SrcA and of what is
    /// there (an invalid row counts as less than everything); the three rows below become 0.
    ///
    /// # Errors
    /// [`Error::Argument`] for rows that Dst does not have, and for types that the simulator does not pool.
    pub fn pool(&mut self, a: &[[u32; 16]; 16], row: usize) -> Result<()> {
        let (source, width) = (self.setting.a, self.setting.width);
        let rows = self.tiles() * ROWS;
        if !source.has_wide_exponents() || row + 4 > rows {
            return Err(Error::Argument(format!(
                "GMPOOL of {source:?} into rows {row} to {}: bf16 or tf32, and rows below {rows}",
                row + 3
            )));
        }
        let valid = self.dst.is_valid(match width {
            Width::Bits16 => row,
            Width::Bits32 => (row & 0x1f8) << 1 | row & 0x207,
        });
        #[allow(clippy::needless_range_loop)] // a column of each of several rows
        for column in 0..16 {
            let own = if valid {
                self.read_at(row, column)
            } else {
                u32::MAX
            };
            let data = a.map(|row| row[column]);
            let largest = pool_maximum(source, width, &data, own);
            self.write_at(row, column, largest);
        }
        for below in 1..4 {
            (0..16).for_each(|column| self.write_at(row + below, column, 0));
        }
        Ok(())
    }

    /// A tile of Dst in working form.
    ///
    /// # Errors
    /// [`Error::Argument`] for a tile that Dst does not have.
    pub fn tile(&self, index: usize) -> Result<Tile> {
        self.check(index)?;
        Ok(Tile::of(|row, column| self.read(index, row, column)))
    }

    /// Sets a tile of Dst, in working form.
    ///
    /// # Errors
    /// [`Error::Argument`] for a tile that Dst does not have.
    pub fn set_tile(&mut self, index: usize, tile: &Tile) -> Result<()> {
        self.check(index)?;
        for row in 0..TILE {
            for column in 0..TILE {
                self.write(index, row, column, tile.at(row, column));
            }
        }
        Ok(())
    }

    fn each(
        &mut self,
        in0: &Tile,
        in1: &Tile,
        index: usize,
        to_dst: bool,
        mut operation: impl FnMut(&Fpu<'_>, u32, u32, u32) -> (u32, Events),
    ) -> Result<()> {
        self.check(index)?;
        let Some(fpu) = self.fpu()? else {
            return Err(Error::Argument(
                "integers have operations of their own".into(),
            ));
        };
        for row in 0..TILE {
            for column in 0..TILE {
                let dst = if to_dst {
                    self.read(index, row, column)
                } else {
                    0
                };
                let result = operation(&fpu, in0.at(row, column), in1.at(row, column), dst);
                let word = self.note(result);
                self.write(index, row, column, word);
            }
        }
        Ok(())
    }

    /// An operation on each pair of int8 data.
    fn each_integer(
        &mut self,
        in0: &Tile,
        in1: &Tile,
        index: usize,
        to_dst: bool,
        operation: impl Fn(u32, u32, u32) -> Integer,
    ) -> Result<()> {
        self.check(index)?;
        for row in 0..TILE {
            for column in 0..TILE {
                let dst = if to_dst {
                    self.read(index, row, column)
                } else {
                    0
                };
                let word = self.limit(operation(in0.at(row, column), in1.at(row, column), dst));
                self.write(index, row, column, word);
            }
        }
        Ok(())
    }

    /// The matrix unit; `None` for integers.
    fn fpu(&self) -> Result<Option<Fpu<'m>>> {
        let CoreSetting { a, b, width, .. } = self.setting;
        match a {
            SourceFormat::Int8 => Ok(None),
            _ => self.machine.fpu(a, b, width).map(Some),
        }
    }

    fn check(&self, index: usize) -> Result<()> {
        match index < self.tiles() {
            true => Ok(()),
            false => Err(Error::Argument(format!(
                "tile {index} of Dst: there are {}",
                self.tiles()
            ))),
        }
    }

    fn note(&mut self, (word, events): (u32, Events)) -> u32 {
        let bits = self.machine.fpu_flags.of(events);
        self.sticky.join(bits.unwrap_or_default());
        word
    }

    fn limit(&mut self, sum: Integer) -> u32 {
        if sum.saturated {
            self.sticky.set(Flag::FpuSaturation);
        }
        sum.word
    }

    fn read(&self, index: usize, row: usize, column: usize) -> u32 {
        let (row, column) = place(index, row, column);
        self.read_at(row, column)
    }

    fn write(&mut self, index: usize, row: usize, column: usize, word: u32) {
        let (row, column) = place(index, row, column);
        self.write_at(row, column, word);
    }

    fn read_at(&self, row: usize, column: usize) -> u32 {
        match self.setting.width {
            Width::Bits32 => self.dst.read_32(row, column),
            Width::Bits16 => {
                let word = self.dst.read_16(row, column);
                match self.setting.a.has_wide_exponents() {
                    true => u32::from(word) << 16,
                    false => working_of_f16(word),
                }
            }
        }
    }

    fn write_at(&mut self, row: usize, column: usize, word: u32) {
        match self.setting.width {
            Width::Bits32 => self.dst.write_32(row, column, word),
            Width::Bits16 => {
                let word = match self.setting.a.has_wide_exponents() {
                    true => (word >> 16) as u16,
                    false => f16_of_working(word),
                };
                self.dst.write_16(row, column, word);
            }
        }
    }
}
