//! Results of resolved instructions: exact arithmetic, conversions, special inputs, enclosures against another library's
//! floats and against a published model.

mod evaluation {
    mod composed;
    mod exact;
    mod functions;
    mod g80;
    mod packed;
    mod power;
    mod special;
}

use mmascope_model::format::Format;
use mmascope_model::precision::eval::{Enclosure, evaluate};
use mmascope_model::precision::legal::Target;
use mmascope_model::precision::resolve::{Request, Resolution, resolve};

/// The one target of these tests.
fn target() -> Target {
    "sm_90".parse().expect("a target")
}

/// A PTX instruction as a resolution.
fn instruction(name: &str) -> Resolution {
    let resolution =
        resolve(&Request::new(name, target())).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(resolution.legal, "{name}: {:?}", resolution.notes);
    resolution
}

/// What it computes of register words.
fn run(resolution: &Resolution, words: &[u64]) -> Enclosure {
    evaluate(resolution, target(), words)
        .unwrap_or_else(|error| panic!("{:?}: {error}", resolution.ptx()))
}

/// A format by its name.
fn format(name: &str) -> Format {
    Format::named(name).expect("a format")
}

/// A small generator of numbers.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        self.0 ^ self.0 >> 29
    }
}
