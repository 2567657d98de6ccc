//! The device that `check --subject` asks in place of reading recorded answers.

use std::fmt;

use crate::args::DeviceOptions;
use crate::device;
use crate::report::Failure;
use mmascope::dut::{Batch, DeviceName, Dut, Interface};
use mmascope::isa::{Catalogue, Instruction};
use mmascope::vector::{Answer, Vector};

/// A device, opened for each instruction that lines name.
pub(super) struct Subject<'c> {
    catalogue: &'c Catalogue,
    text: &'c str,
    name: DeviceName,
    options: &'c DeviceOptions,
    open: Vec<(&'c Instruction, Box<dyn Dut>)>,
}

impl fmt::Display for Subject<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.text)
    }
}

impl<'c> Subject<'c> {
    pub(super) fn new(
        catalogue: &'c Catalogue,
        text: &'c str,
        options: &'c DeviceOptions,
    ) -> Result<Self, Failure> {
        Ok(Self {
            catalogue,
            text,
            name: text.parse()?,
            options,
            open: Vec::new(),
        })
    }

    /// The device's answers, in the order of the vectors.
    pub(super) fn ask(&mut self, vectors: &[&Vector<'c>]) -> Result<Vec<Answer>, Failure> {
        let mut answers = Vec::with_capacity(vectors.len());
        let same = |left: &&Vector<'c>, right: &&Vector<'c>| {
            std::ptr::eq(left.instruction, right.instruction)
        };
        for run in vectors.chunk_by(same) {
            let Some(first) = run.first() else { continue };
            let mut batch = Batch::new(first.instruction.signature);
            for vector in run {
                batch.push(&vector.operands())?;
            }
            answers.extend(self.device(first.instruction)?.run(&batch)?);
        }
        Ok(answers)
    }

    fn device(&mut self, row: &'c Instruction) -> Result<&mut dyn Dut, Failure> {
        let known = |(known, _): &(&Instruction, _)| std::ptr::eq(*known, row);
        let at = match self.open.iter().position(known) {
            Some(at) => at,
            None => {
                let interface = Interface::of_row(self.catalogue, &row.architecture, &row.name)?;
                let device =
                    device::open(&self.name, self.catalogue, Some(interface), self.options)?;
                if *device.signature() != row.signature {
                    return Err(Failure::Input(format!(
                        "--subject {}: it computes {}, and the lines ask for {}",
                        self.text,
                        device.signature(),
                        row.signature
                    )));
                }
                self.open.push((row, device));
                self.open.len() - 1
            }
        };
        Ok(self.open[at].1.as_mut())
    }
}
