//! Machines, random numbers and short forms.

use mmascope_model::isa::Catalogue;
use mmascope_model::tensix::{Fpu, Machine, Phase, SourceFormat, Width};

/// The two architectures; the first one has the fault.
pub(crate) const ARCHITECTURES: [&str; 2] = ["wormhole", "blackhole"];

pub(crate) fn machine(name: &str) -> Machine {
    let architecture = Catalogue::built_in().architecture(name).unwrap();
    Machine::of(architecture).unwrap()
}

pub(crate) fn machines() -> [Machine; 2] {
    ARCHITECTURES.map(machine)
}

pub(crate) fn phase(number: u8) -> Phase {
    Phase::new(number).unwrap()
}

/// The matrix unit for sources of one type.
pub(crate) fn fpu(machine: &Machine, source: SourceFormat, width: Width) -> Fpu<'_> {
    machine.fpu(source, source, width).unwrap()
}

/// A source datum of a number, with ten fraction bits.
pub(crate) fn source(value: f32) -> u32 {
    SourceFormat::of_f32(value.to_bits())
}

/// The xorshift generator of §10.3.
pub(crate) struct Xorshift(pub(crate) u32);

impl Xorshift {
    pub(crate) fn word(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }

    pub(crate) fn below(&mut self, limit: u32) -> u32 {
        self.word() % limit
    }
}
