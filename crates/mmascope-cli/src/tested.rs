//! The options that name a device under test.

use crate::args::DeviceOptions;
use crate::device;
use crate::report::Failure;
use mmascope::dut::{DeviceName, Dut, Interface};
use mmascope::isa::Catalogue;

/// What must be known of a device.
#[derive(clap::Args)]
pub(crate) struct Tested {
    /// Formats of a process: "a=f16 b=f16 c=f32 d=f32 k=16"
    #[arg(long, value_name = "TEXT")]
    pub(crate) signature: Option<String>,
    /// Architecture whose interface a process has
    #[arg(long, requires = "inst")]
    pub(crate) arch: Option<String>,
    /// Instruction whose interface a process has
    #[arg(long)]
    pub(crate) inst: Option<String>,
    #[command(flatten)]
    pub(crate) options: DeviceOptions,
}

impl Tested {
    /// What its own options say of the interface.
    fn interface(&self, catalogue: &Catalogue) -> Result<Option<Interface>, Failure> {
        if let Some(signature) = &self.signature {
            return Ok(Some(Interface::of_signature(signature.parse()?)));
        }
        match (&self.arch, &self.inst) {
            (Some(arch), Some(inst)) => Ok(Some(Interface::of_row(catalogue, arch, inst)?)),
            (None, Some(inst)) => Err(Failure::Input(format!(
                "--inst {inst}: of which architecture? --arch ARCH goes with it"
            ))),
            _ => Ok(None),
        }
    }

    /// Opens a subject.
    pub(crate) fn open(
        &self,
        catalogue: &Catalogue,
        subject: &str,
    ) -> Result<Box<dyn Dut>, Failure> {
        self.open_as(catalogue, &subject.parse()?, None)
    }

    /// The same; `otherwise` is the interface when the options give none.
    pub(crate) fn open_as(
        &self,
        catalogue: &Catalogue,
        subject: &DeviceName,
        otherwise: Option<Interface>,
    ) -> Result<Box<dyn Dut>, Failure> {
        let interface = self.interface(catalogue)?.or(otherwise);
        device::open(subject, catalogue, interface, &self.options)
    }
}

/// The `ARCH:INST` that an argument names, split at the first single colon.
pub(crate) fn row(argument: &str, text: &str) -> Result<(String, String), Failure> {
    // (No name has a comma before a colon.)
    let is_list = text
        .split_once(',')
        .is_some_and(|(_, rest)| rest.contains(':'));
    match format!("model:{text}").parse() {
        _ if is_list => Err(Failure::Input(format!(
            "{argument} {text}: one unit is taken, ARCH:INST"
        ))),
        Ok(DeviceName::Model { arch, inst }) => Ok((arch, inst)),
        _ => Err(Failure::Input(format!(
            "{argument} {text}: expected ARCH:INST"
        ))),
    }
}

/// Two subjects in one word, `A,B`: a comma within one is none between two.
pub(crate) fn two_subjects<'t>(argument: &str, text: &'t str) -> Result<[&'t str; 2], Failure> {
    let is_one = |text: &str| text.parse::<DeviceName>().is_ok();
    let mut commas = text.match_indices(',').map(|(at, _)| at);
    let parts = commas.find_map(|at| {
        let both = [&text[..at], &text[at + 1..]];
        both.iter().all(|text| is_one(text)).then_some(both)
    });
    parts.ok_or_else(|| {
        Failure::Input(format!(
            "{argument} {text}: expected two subjects, as in {argument} model:ARCH:INST model:ARCH:INST"
        ))
    })
}
