//! Matrix products with the bits of any unit, by the ordinary integer and floating-point instructions of a chip.
//!
//! The source of a product is generated from the unit: its arithmetic as device code (`mmascope_model::export`), one thread an
//! output. No matrix unit is used, so a chip computes what any other chip's matrix units compute.

mod converted;
mod down;
mod fast;
mod floats;
mod integers;
mod on_chip;
mod statements;
mod sums;

use std::borrow::Cow;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mmascope_gemm::array::WordsMut;
use mmascope_gemm::engine::{Dots, Elements, Engine, Layout, Plan, Prepared, Reason, Steps, Watch};
use mmascope_model::dpa::{Modifiers, Unit};
use mmascope_model::export::{self, Language};
use mmascope_model::format::{Format, Specials};

use crate::Result;
use crate::chip::{Argument, Chip, Loaded, Memory};
use crate::source;

pub use fast::Doubles;
use fast::Fast;
pub use on_chip::{Lines, ProductOnChip};
use on_chip::{OnChip, Part};

const TEXT: &str = include_str!("source/engine.cu");

/// A chip as an engine of matrix products.
pub struct CudaEngine {
    name: String,
    chip: Arc<dyn Chip>,
    is_plain: bool,
    doubles: Doubles,
}

impl fmt::Debug for CudaEngine {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.name)
    }
}

/// The source of the products of a unit on chips with such an f64.
///
/// # Errors
/// [`Error::Argument`](crate::Error::Argument) where the unit has no source.
pub fn product_source(unit: &Unit, name: &str, doubles: Doubles) -> Result<String> {
    let signature = unit.signature();
    let element = |format: &Format| element(format).to_owned();
    let scale = signature.scale.map(|scale| scale.format);
    let values = [
        ("K", signature.k.to_string()),
        ("SCALES", signature.scales().to_string()),
        ("A_TYPE", element(&signature.a)),
        ("B_TYPE", element(&signature.b)),
        (
            "S_TYPE",
            scale.as_ref().map_or("unsigned char".to_owned(), element),
        ),
        ("D_TYPE", element(&wider(unit))),
        (
            "SCALE_ARGUMENTS",
            if scale.is_some() { ", sx, sy" } else { "" }.to_owned(),
        ),
    ];
    let text = values.iter().fold(TEXT.to_owned(), |text, (name, value)| {
        text.replace(&format!("@{name}@"), value)
    });
    let fast = fast::of(unit, doubles).map_or(String::new(), |fast| fast.source);
    Ok(format!("{}{text}{fast}", source::model(unit, name)?))
}

/// Of c and d the one with the wider register: accumulators lie in it.
fn wider(unit: &Unit) -> Format {
    let signature = unit.signature();
    let (c, d) = (signature.c.container(), signature.d.container());
    if c.register.bits > d.register.bits {
        c
    } else {
        d
    }
}

/// Bytes of a register word in memory.
fn bytes(format: &Format) -> usize {
    match format.register.bits {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        _ => 8,
    }
}

fn element(format: &Format) -> &'static str {
    match bytes(format) {
        1 => "unsigned char",
        2 => "unsigned short",
        4 => "unsigned",
        _ => "unsigned long long",
    }
}

impl CudaEngine {
    /// The engine of a chip; the name stands in messages.
    #[must_use]
    pub fn new(name: &str, chip: Arc<dyn Chip>) -> Self {
        Self {
            name: name.to_owned(),
            doubles: Doubles::of(chip.description().sm),
            chip,
            is_plain: false,
        }
    }

    /// The fast method of a unit, for people; else why there is none.
    ///
    /// # Errors
    /// The reason.
    pub fn method(&self, unit: &Unit) -> std::result::Result<&'static str, String> {
        match self.is_plain {
            true => Err("no fast method is asked for".to_owned()),
            false => fast::of(unit, self.doubles).map(|fast| fast.what),
        }
    }

    fn fast(&self, unit: &Unit) -> Option<Fast> {
        let fast = fast::of(unit, self.doubles).ok();
        fast.filter(|_| !self.is_plain)
    }

    /// The program of a unit's products, with memory of its own: for operands that lie on the chip.
    ///
    /// # Errors
    /// [`Error::Argument`](crate::Error::Argument) where the unit has no source; [`Error::Device`](crate::Error::Device).
    pub fn program(&self, unit: &Unit) -> Result<Box<dyn Loaded>> {
        let source = product_source(unit, "unit", self.doubles)?;
        self.chip.load(&source, false)
    }

    /// Gets a product ready whose operands lie on the chip, `steps` instructions long.
    ///
    /// # Errors
    /// [`Error::Device`](crate::Error::Device).
    pub fn on_chip(
        &self,
        loaded: Box<dyn Loaded>,
        unit: &Unit,
        operands: [Lines; 2],
        steps: usize,
    ) -> Result<ProductOnChip> {
        ProductOnChip::new(loaded, unit, operands, steps, self.fast(unit))
    }

    /// The same as on a chip with such an f64, whatever it has. The bits are the same.
    #[must_use]
    pub fn with_doubles(self, doubles: Doubles) -> Self {
        Self { doubles, ..self }
    }

    /// The same without fast methods: every unit in integers. The bits are the same.
    #[must_use]
    pub fn in_integers(self) -> Self {
        Self {
            is_plain: true,
            ..self
        }
    }
}

impl Engine for CudaEngine {
    fn name(&self) -> Cow<'static, str> {
        self.name.clone().into()
    }

    fn plan(&self, unit: &Unit) -> std::result::Result<Arc<dyn Plan>, Reason> {
        // Whether it has a source is known without a compiler.
        export::unit(unit, "unit", Language::Cuda, None)
            .map_err(|error| Reason::new(error.to_string()))?;
        Ok(Arc::new(CudaPlan {
            chip: Arc::clone(&self.chip),
            unit: Arc::new(unit.clone()),
            fast: self.fast(unit),
            doubles: self.doubles,
        }))
    }
}

struct CudaPlan {
    chip: Arc<dyn Chip>,
    unit: Arc<Unit>,
    fast: Option<Fast>,
    doubles: Doubles,
}

impl fmt::Debug for CudaPlan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{self}")
    }
}

impl fmt::Display for CudaPlan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plain = "the unit's steps in integers, a thread an output";
        out.write_str(self.fast.as_ref().map_or(plain, |fast| fast.what))
    }
}

impl Plan for CudaPlan {
    fn unit(&self) -> &Unit {
        &self.unit
    }

    fn bytes(&self, _rows: usize, _columns: usize, _layout: Layout) -> usize {
        // They lie on the chip.
        0
    }

    fn prepare(
        &self,
        elements: &dyn Elements,
        modifiers: &Modifiers,
        _layout: Layout,
    ) -> Result<Option<Box<dyn Prepared>>> {
        let signature = self.unit.signature();
        let integers = signature.a.float().is_none() || signature.b.float().is_none();
        if integers && (modifiers.negate_a || modifiers.negate_b) {
            // A negative has no bit of its own there.
            return Ok(None);
        }
        let source = product_source(&self.unit, "unit", self.doubles)?;
        let mut loaded = self.chip.load(&source, false)?;
        let (m, n, k) = (elements.m(), elements.n(), elements.k());
        let sign = |format: &Format, is_negated: bool| match is_negated && format.signed {
            true => format.to_register(1 << (format.bits - 1)),
            false => 0,
        };
        let (sign_a, sign_b) = (
            sign(&signature.a, modifiers.negate_a),
            sign(&signature.b, modifiers.negate_b),
        );
        let mut line = vec![0; k];
        let mut packed =
            |count: usize, format: &Format, sign: u64, of: &dyn Fn(usize, &mut [u64])| {
                let mut all = Vec::with_capacity(count * k * bytes(format));
                for at in 0..count {
                    of(at, &mut line);
                    put(
                        &mut all,
                        line.iter().map(|word| negated(*word, sign, format)),
                        format,
                    );
                }
                all
            };
        let a = packed(m, &signature.a, sign_a, &|i, line| {
            elements.a_row(i, 0, line)
        });
        let b = packed(n, &signature.b, sign_b, &|j, line| {
            elements.b_column(j, 0, line)
        });
        let blocks = k / signature.k.max(1) * signature.scales();
        let (mut scale_a, mut scale_b) = (Vec::new(), Vec::new());
        if let Some(scale) = signature.scale {
            for i in 0..m {
                put(
                    &mut scale_a,
                    (0..blocks).map(|block| elements.scale_a(i, block)),
                    &scale.format,
                );
            }
            for j in 0..n {
                put(
                    &mut scale_b,
                    (0..blocks).map(|block| elements.scale_b(block, j)),
                    &scale.format,
                );
            }
        }
        let mut place = |bytes: &[u8]| -> Result<Memory> {
            let memory = loaded.allocate(bytes.len())?;
            loaded.write(memory, bytes)?;
            Ok(memory)
        };
        let operands = [place(&a)?, place(&b)?, place(&scale_a)?, place(&scale_b)?];
        let lines = |at: usize, count: usize| Lines {
            codes: Argument::Memory(operands[at]),
            count,
            line_stride: k,
            k_stride: 1,
            scales: Argument::Memory(operands[at + 2]),
        };
        let product = OnChip::new(
            loaded.as_mut(),
            &self.unit,
            [lines(0, m), lines(1, n)],
            k / signature.k.max(1),
            self.fast.clone(),
        )?;
        Ok(Some(Box::new(CudaOperands {
            unit: Arc::clone(&self.unit),
            state: Mutex::new(State {
                loaded,
                product,
                accumulators: None,
            }),
        })))
    }
}

/// The word with its sign changed; `sign` is the bit, or nothing. In formats that have no −0 that code is NaN, and a zero stays.
fn negated(word: u64, sign: u64, format: &Format) -> u64 {
    let has_no_negative_zero = format
        .float()
        .is_some_and(|float| float.specials == Specials::NegativeZeroNan);
    match has_no_negative_zero && word & !sign == 0 {
        true => word,
        false => word ^ sign,
    }
}

/// Appends words in as few bytes as their registers take.
fn put(all: &mut Vec<u8>, words: impl Iterator<Item = u64>, format: &Format) {
    let size = bytes(format);
    for word in words {
        all.extend_from_slice(&word.to_le_bytes()[..size]);
    }
}

/// A program with operands; one caller at a time.
struct State {
    loaded: Box<dyn Loaded>,
    product: OnChip,
    /// Memory for accumulators, and how many bytes it has.
    accumulators: Option<(Memory, usize)>,
}

struct CudaOperands {
    unit: Arc<Unit>,
    state: Mutex<State>,
}

impl fmt::Debug for CudaOperands {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("operands on a chip")
    }
}

impl CudaOperands {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Prepared for CudaOperands {
    fn advance(
        &self,
        steps: &Steps<'_>,
        mut accumulators: WordsMut<'_>,
        watch: &Watch<'_>,
    ) -> Result<()> {
        let (rows, columns, count) = (steps.rows.len(), steps.columns.len(), accumulators.len());
        let mut range = steps.steps.clone();
        debug_assert_eq!(rows * columns, count);
        let Modifiers {
            no_c,
            negate_c,
            scale_d,
            ..
        } = *steps.modifiers;
        if steps.first && (no_c || negate_c || scale_d != 0) {
            // What these modifiers make of c in the first step, the reference knows.
            let mut dots = Dots::new(&self.unit, steps.elements, steps.modifiers);
            for at in 0..count {
                watch.check()?;
                let (i, j) = (
                    steps.rows.start + at / columns,
                    steps.columns.start + at % columns,
                );
                accumulators.set(
                    at,
                    dots.step(i, j, range.start, true, accumulators.get(at))?,
                );
            }
            (watch.progress)(count as u64);
            range.start += 1;
            if range.is_empty() {
                return Ok(());
            }
        }
        let format = wider(&self.unit);
        let mut all = Vec::with_capacity(count * bytes(&format));
        put(&mut all, (0..count).map(|at| accumulators.get(at)), &format);
        let state = &mut *self.state();
        let memory = match state.accumulators {
            Some((memory, size)) if size >= all.len() => memory,
            _ => {
                let memory = state.loaded.allocate(all.len())?;
                state.accumulators = Some((memory, all.len()));
                memory
            }
        };
        state.loaded.write(memory, &all)?;
        let part = Part {
            d: Argument::Memory(memory),
            rows: steps.rows.clone(),
            columns: steps.columns.clone(),
            steps: range,
        };
        state.product.advance(state.loaded.as_mut(), &part, watch)?;
        state.loaded.read(memory, &mut all)?;
        for (at, bytes) in all.chunks(bytes(&format)).enumerate() {
            let mut word = [0; 8];
            word[..bytes.len()].copy_from_slice(bytes);
            accumulators.set(at, u64::from_le_bytes(word));
        }
        Ok(())
    }
}
