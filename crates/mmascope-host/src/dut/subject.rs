//! Subjects: reads the name of a device from the command line, and what is known of its interface.

use std::path::Path;
use std::time::Duration;

use serde_json::json;

use super::{Batch, Dut, GemmDut, ModelDut, PluginDut, PluginProcess, ProcessDut};
use crate::dpa::Signature;
use crate::error::{Error, Result};
use crate::gemm::Schedule;
use crate::isa::Catalogue;

/// A device as the user names it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DeviceName {
    /// `model:ARCH:INST`
    Model {
        /// Architecture.
        arch: String,
        /// Instruction.
        inst: String,
    },
    /// `gemm:ARCH:INST[:SCHEDULE]`
    Gemm {
        /// Architecture.
        arch: String,
        /// Instruction.
        inst: String,
        /// Order of K, and what happens outside the unit.
        schedule: Box<Schedule>,
        /// Products of the output; `None` for four instructions.
        products: Option<usize>,
    },
    /// `plugin:PATH`
    Plugin(String),
    /// `cmd:COMMAND LINE`
    Command(String),
    /// `cuda:N:INST`, an instruction of a GPU. `mmascope-cuda` opens it.
    Cuda {
        /// Number of the GPU.
        ordinal: usize,
        /// Instruction.
        inst: String,
    },
}

/// What a process is asked in: the formats, and the names that its lines carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Operand formats and K.
    pub signature: Signature,
    /// `arch` of the lines.
    pub arch: String,
    /// `inst` of the lines.
    pub inst: String,
}

impl Interface {
    /// A unit that is no row of a catalogue: `arch` is `dut`, `inst` the signature as text.
    #[must_use]
    pub fn of_signature(signature: Signature) -> Self {
        Self {
            signature,
            arch: "dut".to_owned(),
            inst: signature.to_string(),
        }
    }

    /// A row of a catalogue.
    ///
    /// # Errors
    /// As [`Catalogue::find`].
    pub fn of_row(catalogue: &Catalogue, arch: &str, inst: &str) -> Result<Self> {
        let row = catalogue.find(arch, inst)?;
        let (arch, inst) = (arch.to_owned(), inst.to_owned());
        Ok(Self {
            signature: row.signature,
            arch,
            inst,
        })
    }

    /// A query as a vector line without `d`.
    pub(super) fn line(&self, id: u64, batch: &Batch, index: usize) -> String {
        let query = batch.query(index);
        let signature = &self.signature;
        let hex = |words: &[u64], digits: usize| -> String {
            words
                .iter()
                .map(|word| format!("{word:0digits$x}"))
                .collect()
        };
        let mut line = json!({
            "id": id,
            "arch": self.arch,
            "inst": self.inst,
            "a": hex(query.a, signature.a.digits()),
            "b": hex(query.b, signature.b.digits()),
            "c": hex(&[query.c], signature.c.digits()),
        });
        if let Some(scale) = signature.scale {
            line["sa"] = hex(query.scale_a, scale.format.digits()).into();
            line["sb"] = hex(query.scale_b, scale.format.digits()).into();
        }
        line.to_string()
    }
}

impl std::str::FromStr for DeviceName {
    type Err = Error;

    /// Fields split on a single `:`; `::` never separates; `plugin:` and `cmd:` take the rest.
    fn from_str(text: &str) -> Result<Self> {
        let expected = "model:ARCH:INST, gemm:ARCH:INST[:SCHEDULE], plugin:PATH, cuda:N:INST or cmd:COMMAND LINE";
        let wrong = || {
            let meant =
                prefixed(text).map_or_else(String::new, |it| format!("; did you mean '{it}'?"));
            Error::Argument(format!(
                "subject '{text}': expected {expected}; reveal takes lib:PATH:SYMBOL too{meant}"
            ))
        };
        let (kind, rest) = text.split_once(':').ok_or_else(wrong)?;
        if rest.is_empty() {
            return Err(wrong());
        }
        match kind {
            "model" => {
                let (arch, inst) = rest.split_once(':').ok_or_else(wrong)?;
                if arch.is_empty() || inst.is_empty() || inst.starts_with(':') {
                    return Err(wrong());
                }
                Ok(Self::Model {
                    arch: arch.to_owned(),
                    inst: inst.to_owned(),
                })
            }
            "gemm" => match fields(rest)[..] {
                [arch, inst] if !arch.is_empty() && !inst.is_empty() => {
                    gemm(arch, inst, Schedule::default())
                }
                [arch, inst, schedule] if !arch.is_empty() && !inst.is_empty() => {
                    gemm(arch, inst, schedule.parse()?)
                }
                _ => Err(wrong()),
            },
            "plugin" => Ok(Self::Plugin(rest.to_owned())),
            "cmd" => Ok(Self::Command(rest.to_owned())),
            "lib" => Err(Error::Argument(format!(
                "subject '{text}': lib: is a routine that sums and no device: it can be revealed; \
                 expected {expected}"
            ))),
            "cuda" => {
                let (ordinal, inst) = rest.split_once(':').ok_or_else(wrong)?;
                let ordinal = ordinal.parse().map_err(|_| wrong())?;
                if inst.is_empty() || inst.starts_with(':') {
                    return Err(wrong());
                }
                Ok(Self::Cuda {
                    ordinal,
                    inst: inst.to_owned(),
                })
            }
            _ => Err(wrong()),
        }
    }
}

fn gemm(arch: &str, inst: &str, schedule: Schedule) -> Result<DeviceName> {
    Ok(DeviceName::Gemm {
        arch: arch.to_owned(),
        inst: inst.to_owned(),
        schedule: Box::new(schedule),
        products: None,
    })
}

/// A subject that lacks its prefix, with the one that fits what it looks like.
fn prefixed(text: &str) -> Option<String> {
    let known = ["model", "gemm", "plugin", "cmd", "lib", "cuda"];
    let parts = fields(text);
    let prefix = match parts[..] {
        [kind, ..] if known.contains(&kind) => return None,
        [path] if is_library(path) => "plugin",
        [path, _] if is_library(path) => "lib",
        _ if Path::new(text).is_file() => "cmd",
        // No architecture has blanks in its name.
        [first, ..] if first.contains(char::is_whitespace) => "cmd",
        [_, _] => "model",
        [_, _, _] => "gemm",
        _ => return None,
    };
    Some(format!("{prefix}:{text}"))
}

/// Whether a path is that of a shared library, with its version or without: `libx.so`, `libx.so.0`.
fn is_library(path: &str) -> bool {
    let is_version = |text: &str| text.chars().all(|c| c.is_ascii_digit() || c == '.');
    let versioned = path.rsplit_once(".so").map(|(_, version)| version);
    versioned.is_some_and(is_version) || path.ends_with(".dylib") || path.ends_with(".dll")
}

/// The parts between single colons; `::` separates nothing.
fn fields(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let is_single = |at: usize| {
        bytes[at] == b':' && (at == 0 || bytes[at - 1] != b':') && bytes.get(at + 1) != Some(&b':')
    };
    let (mut found, mut start) = (Vec::new(), 0);
    for at in (0..bytes.len()).filter(|&at| is_single(at)) {
        found.push(&text[start..at]);
        start = at + 1;
    }
    found.push(&text[start..]);
    found
}

impl DeviceName {
    /// With so many products an output, where the subject leaves that open (`gemm:`).
    #[must_use]
    pub fn with_products(mut self, count: Option<usize>) -> Self {
        if let Self::Gemm { products, .. } = &mut self {
            *products = count.or(*products);
        }
        self
    }

    /// The model of the instruction of which the subject makes its sums; `None` where nobody says what
    /// it does.
    ///
    /// # Errors
    /// Look-up errors.
    pub fn instruction(&self, catalogue: &Catalogue) -> Result<Option<Box<dyn Dut>>> {
        let (Self::Model { arch, inst } | Self::Gemm { arch, inst, .. }) = self else {
            return Ok(None);
        };
        let unit = catalogue.find(arch, inst)?.unit()?.clone();
        let name = format!("model:{arch}:{inst}");
        Ok(Some(Box::new(ModelDut::new(&name, unit))))
    }

    /// Opens the device. A process needs to be told its interface; a model and a plugin know it,
    /// and are checked against it when one is given. A plugin runs in this process: it is trusted
    /// not to hang or crash.
    ///
    /// # Errors
    /// [`Error::Device`] when it cannot be started or loaded; [`Error::Argument`] when the
    /// interface is missing or another than the device's own; look-up errors of a model.
    pub fn open(
        &self,
        catalogue: &Catalogue,
        interface: Option<Interface>,
        timeout: Duration,
    ) -> Result<Box<dyn Dut>> {
        self.open_by(catalogue, interface, timeout, None)
    }

    /// The same with a plugin in a process of its own, loaded by the program `host`
    /// ([`PluginProcess`]).
    ///
    /// # Errors
    /// As [`DeviceName::open`].
    pub fn open_isolated(
        &self,
        catalogue: &Catalogue,
        interface: Option<Interface>,
        timeout: Duration,
        host: &Path,
    ) -> Result<Box<dyn Dut>> {
        self.open_by(catalogue, interface, timeout, Some(host))
    }

    fn open_by(
        &self,
        catalogue: &Catalogue,
        interface: Option<Interface>,
        timeout: Duration,
        host: Option<&Path>,
    ) -> Result<Box<dyn Dut>> {
        let device: Box<dyn Dut> = match self {
            Self::Model { arch, inst } => {
                let unit = catalogue.find(arch, inst)?.unit()?.clone();
                Box::new(ModelDut::new(&format!("model:{arch}:{inst}"), unit))
            }
            Self::Gemm {
                arch,
                inst,
                schedule,
                products,
            } => {
                let unit = catalogue.find(arch, inst)?.unit()?.clone();
                let name = match schedule.is_chain() {
                    true => format!("gemm:{arch}:{inst}"),
                    false => format!("gemm:{arch}:{inst}:{schedule}"),
                };
                Box::new(GemmDut::new(&name, unit, (**schedule).clone(), *products)?)
            }
            Self::Plugin(path) => match host {
                Some(host) => Box::new(PluginProcess::start(path, host, timeout)?),
                None => Box::new(PluginDut::load(path)?),
            },
            Self::Command(command) => {
                let Some(interface) = &interface else {
                    return Err(Error::Argument(format!(
                        "cmd:{command}: the formats of a process must be given: \
                         a signature like \"a=f16 b=f16 c=f32 d=f32 k=16\", or an architecture and \
                         an instruction"
                    )));
                };
                Box::new(ProcessDut::spawn(command, interface.clone(), timeout)?)
            }
            Self::Cuda { ordinal, inst } => {
                return Err(Error::Argument(format!(
                    "cuda:{ordinal}:{inst}: this program was built without GPUs"
                )));
            }
        };
        match interface {
            Some(interface) if interface.signature != *device.signature() => {
                Err(Error::Argument(format!(
                    "{} has the signature {}, not {}",
                    device.name(),
                    device.signature(),
                    interface.signature
                )))
            }
            _ => Ok(device),
        }
    }
}
