//! Conversions and approximate functions of a chip: one word in, one word out.

use mmascope_model::format::{self, Format, Rounding};
use mmascope_model::precision::cast::{Cast, CastOptions, OutOfRange};
use mmascope_model::precision::legal::Rules;
use serde::Serialize;

use crate::chip::{Argument, Chip, Loaded, Memory, failed, read_words, write_words};
use crate::{Error, Result};

const TEXT: &str = include_str!("source/function.cu");

/// Inputs of a launch.
const AT_ONCE: usize = 1 << 20;
/// Threads of a block.
const THREADS: u32 = 256;

/// An instruction of one operand, as PTX writes it.
#[derive(Clone, Debug)]
pub struct DeviceFunction {
    /// The instruction: `cvt.rn.satfinite.e4m3x2.f32`.
    pub name: String,
    /// Format of the input.
    pub from: Format,
    /// Format of the result.
    pub to: Format,
    /// The model of the conversion; approximate functions have none.
    pub cast: Option<Cast>,
    /// How many values one instruction takes; all of them are the same here.
    pub(crate) lanes: u32,
}

/// The formats between which a chip converts.
const FORMATS: [Format; 8] = [
    format::F64,
    format::F32,
    format::F16,
    format::BF16,
    format::TF32,
    format::E4M3FN,
    format::E5M2,
    format::UE8M0,
];

/// Approximate functions, and what they take and give.
const APPROXIMATE: [(&str, Format); 21] = [
    ("ex2.approx.f32", format::F32),
    ("ex2.approx.ftz.f32", format::F32),
    ("ex2.approx.f16", format::F16),
    ("ex2.approx.ftz.bf16", format::BF16),
    ("lg2.approx.f32", format::F32),
    ("lg2.approx.ftz.f32", format::F32),
    ("rcp.approx.f32", format::F32),
    ("rcp.approx.ftz.f32", format::F32),
    ("rcp.approx.ftz.f64", format::F64),
    ("rsqrt.approx.f32", format::F32),
    ("rsqrt.approx.ftz.f32", format::F32),
    ("rsqrt.approx.ftz.f64", format::F64),
    ("sqrt.approx.f32", format::F32),
    ("sqrt.approx.ftz.f32", format::F32),
    ("sin.approx.f32", format::F32),
    ("sin.approx.ftz.f32", format::F32),
    ("cos.approx.f32", format::F32),
    ("cos.approx.ftz.f32", format::F32),
    ("tanh.approx.f32", format::F32),
    ("tanh.approx.f16", format::F16),
    ("tanh.approx.bf16", format::BF16),
];

/// The functions that a target (`sm_90a`) takes by the rules of legality: conversions and approximate functions.
///
/// # Errors
/// [`Error::Unknown`] for a target that the rules do not know.
pub fn functions(target: &str) -> Result<Vec<DeviceFunction>> {
    let mut found: Vec<DeviceFunction> = Vec::new();
    let roundings = [
        Rounding::Rne,
        Rounding::Rz,
        Rounding::Rd,
        Rounding::Ru,
        Rounding::Rna,
    ];
    for (from, to) in FORMATS
        .iter()
        .flat_map(|from| FORMATS.iter().map(move |to| (from, to)))
    {
        for rounding in roundings {
            for (overflow, relu) in [
                (OutOfRange::Ieee, false),
                (OutOfRange::SatFinite, false),
                (OutOfRange::Ieee, true),
                (OutOfRange::SatFinite, true),
            ] {
                let options = CastOptions {
                    rounding: Some(rounding),
                    overflow: Some(overflow),
                    relu,
                    ..CastOptions::default()
                };
                let Ok(cast) = Cast::new(*from, *to, &options) else {
                    continue;
                };
                let Some(form) = cast.form() else { continue };
                if !form.targets.include(target)? {
                    continue;
                }
                let name = form.to_string();
                if found.iter().all(|it| it.name != name) {
                    let lanes = if name.contains("x2") { 2 } else { 1 };
                    found.push(DeviceFunction {
                        name,
                        from: *from,
                        to: *to,
                        lanes,
                        cast: Some(cast),
                    });
                }
            }
        }
    }
    let rules = Rules::built_in();
    let target = rules.target(target)?;
    for (name, format) in &APPROXIMATE {
        if !rules.legality(name)?.on(target)? {
            continue;
        }
        found.push(DeviceFunction {
            name: (*name).to_owned(),
            from: *format,
            to: *format,
            cast: None,
            lanes: 1,
        });
    }
    Ok(found)
}

impl DeviceFunction {
    /// The function of that name.
    ///
    /// # Errors
    /// [`Error::Unknown`] with the nearest names.
    pub fn named(name: &str, target: &str) -> Result<Self> {
        let all = functions(target)?;
        let names: Vec<String> = all.iter().map(|it| it.name.clone()).collect();
        let own = all.into_iter().find(|it| it.name == name);
        own.ok_or_else(|| Error::unknown("function", name, names.iter().map(String::as_str)))
    }

    /// The source of its kernel: `map(count, x, y)`.
    ///
    /// # Errors
    /// [`Error::Argument`] where its operands have no register.
    pub fn source(&self) -> Result<String> {
        let wrong = || {
            Error::Argument(format!(
                "{}: where its operands lie is not written down here",
                self.name
            ))
        };
        // Into two narrow values go two registers of f32, else one register with both.
        let two_in = self.lanes == 2 && self.from.bits == 32;
        let packed_in = self.lanes == 2 && !two_in;
        let (bits_in, bits_out) = (
            self.from.register.bits * if packed_in { 2 } else { 1 },
            self.to.register.bits * self.lanes,
        );
        let register = |bits: u32| match bits {
            16 => Some(("h", "unsigned short")),
            32 => Some(("r", "unsigned")),
            64 => Some(("l", "word")),
            _ => None,
        };
        let (Some((of_in, in_type)), Some((of_out, out_type))) =
            (register(bits_in), register(bits_out))
        else {
            return Err(wrong());
        };
        // Registers without a type take any bits in PTX, but a conversion wants them typed.
        let typed = |format: &Format, bits: u32| match (format.name, bits) {
            ("f32", 32) if self.lanes == 1 || two_in => ".f32".to_owned(),
            ("f64", 64) => ".f64".to_owned(),
            (_, bits) => format!(".b{bits}"),
        };
        let moved = |bits: u32| format!("mov.b{bits}");
        let inputs = if two_in { "x, x" } else { "x" };
        let text = format!(
            "{{.reg {} x; .reg {} y; {} x, %1; {} y, {inputs}; {} %0, y;}}",
            typed(&self.from, bits_in),
            // Of two values the result is a plain register.
            if self.lanes == 2 {
                format!(".b{bits_out}")
            } else {
                typed(&self.to, bits_out)
            },
            moved(bits_in),
            self.name,
            moved(bits_out)
        );
        let values = [
            ("TEXT", text),
            ("BITS", self.from.register.bits.to_string()),
            ("IN", of_in.to_owned()),
            ("OUT", of_out.to_owned()),
            ("IN_TYPE", in_type.to_owned()),
            ("OUT_TYPE", out_type.to_owned()),
            (
                "SPREAD",
                if packed_in {
                    format!("x | x << {}", bits_in / 2)
                } else {
                    "x".to_owned()
                },
            ),
            (
                "MASK",
                format!("{:#x}ull", u64::MAX >> (64 - self.to.register.bits)),
            ),
            (
                "SECOND",
                if self.lanes == 2 {
                    (bits_out / 2).to_string()
                } else {
                    "0".to_owned()
                },
            ),
        ];
        let fill = |text: String, (name, value): &(&str, String)| {
            text.replace(&format!("@{name}@"), value)
        };
        Ok(values.iter().fold(TEXT.to_owned(), fill))
    }
}

/// A function on a chip.
pub struct FunctionOnChip {
    name: String,
    loaded: Box<dyn Loaded>,
    input: Memory,
    output: Memory,
}

impl FunctionOnChip {
    /// Compiles a function for a chip.
    ///
    /// # Errors
    /// [`Error::Device`] when it does not compile.
    pub fn new(chip: &dyn Chip, function: &DeviceFunction) -> Result<Self> {
        let mut loaded = chip.load(&function.source()?, true)?;
        let (input, output) = (loaded.allocate(AT_ONCE * 8)?, loaded.allocate(AT_ONCE * 8)?);
        Ok(Self {
            name: function.name.clone(),
            loaded,
            input,
            output,
        })
    }

    /// The results of register words.
    ///
    /// # Errors
    /// [`Error::Device`]; also when an instruction of two values gives two results for one input.
    pub fn words(&mut self, inputs: &[u64]) -> Result<Vec<u64>> {
        let mut results = Vec::with_capacity(inputs.len());
        for part in inputs.chunks(AT_ONCE) {
            let loaded = self.loaded.as_mut();
            write_words(loaded, self.input, part)?;
            let blocks = (part.len() as u32).div_ceil(THREADS);
            let arguments = [
                Argument::Word(part.len() as u64),
                Argument::Memory(self.input),
                Argument::Memory(self.output),
                Argument::Word(0),
            ];
            loaded.launch("map", blocks, THREADS, &arguments)?;
            let own = read_words(loaded, self.output, part.len())?;
            if let Some(at) = own.iter().position(|word| *word == u64::MAX - 1) {
                return Err(failed(
                    &self.name,
                    format!("two results for the input {:x}", part[at]),
                ));
            }
            results.extend(own);
        }
        Ok(results)
    }
}

/// What the comparison of a conversion came to.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionReport {
    /// The instruction.
    pub name: String,
    /// Inputs that were compared.
    pub inputs: u64,
    /// Those whose result is not the model's.
    pub differences: u64,
    /// The first of them: input, the chip's result, the model's.
    pub examples: Vec<[u64; 3]>,
}

/// Differences that a report keeps.
const KEPT: usize = 8;

/// Compares a conversion on a chip with its model: every input where there are no more than `most`, else so many of them, spread
/// over all.
///
/// # Errors
/// [`Error::Argument`] for a function without a model; as [`FunctionOnChip::new`].
pub fn compare(chip: &dyn Chip, function: &DeviceFunction, most: u64) -> Result<FunctionReport> {
    let Some(cast) = &function.cast else {
        return Err(Error::Argument(format!(
            "{}: nobody has published its bits",
            function.name
        )));
    };
    let mut device = FunctionOnChip::new(chip, function)?;
    let bits = function.from.register.bits;
    let all = 1_u64.checked_shl(bits).unwrap_or(u64::MAX);
    let count = all.min(most.max(1));
    let mask = u64::MAX >> (64 - bits);
    // An odd factor meets every input once, in an order of no pattern.
    let input = |index: u64| match count == all {
        true => index,
        false => index.wrapping_mul(0x9e37_79b9_7f4a_7c15) & mask,
    };
    let mut report = FunctionReport {
        name: function.name.clone(),
        inputs: 0,
        differences: 0,
        examples: Vec::new(),
    };
    while report.inputs < count {
        let end = count.min(report.inputs + AT_ONCE as u64);
        let inputs: Vec<u64> = (report.inputs..end).map(input).collect();
        let got = device.words(&inputs)?;
        for (input, got) in inputs.iter().zip(got) {
            let expected = cast.word(*input);
            if got != expected {
                report.differences += 1;
                if report.examples.len() < KEPT {
                    report.examples.push([*input, got, expected]);
                }
            }
        }
        report.inputs = end;
    }
    Ok(report)
}
