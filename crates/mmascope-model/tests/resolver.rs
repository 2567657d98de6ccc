//! The resolver against compilers: the rules one by one, the source document's deviations, and LLVM itself where it is there.

mod resolver {
    mod bad;
    mod compilers;
    mod deviations;
    mod generated;
    mod library;
    mod llvm;
    mod mixed;
    mod presets;
    mod reflect;
    mod rows;
    mod tile;
    mod trees;
}

use mmascope_model::format::Format;
use mmascope_model::precision::resolve::{Fmf, Policy, Request, Resolution, resolve};

/// A question of the tests: operation, type, target, flags, policy.
fn ask<'a>(
    operation: &'a str,
    kind: &str,
    target: &str,
    flags: &str,
    policy: Policy,
) -> Request<'a> {
    Request {
        format: (!kind.is_empty()).then(|| Format::named(kind).expect("a format")),
        flags: Some(Fmf::of(flags.split_whitespace()).expect("flags")),
        policy,
        ..Request::new(operation, target.parse().expect("a target"))
    }
}

/// The answer.
fn answer(request: &Request<'_>) -> Resolution {
    resolve(request).unwrap_or_else(|error| panic!("{}: {error}", request.operation))
}

/// The names of the instructions, with blanks between.
fn chosen(operation: &str, kind: &str, target: &str, flags: &str, policy: Policy) -> String {
    answer(&ask(operation, kind, target, flags, policy))
        .ptx()
        .join(" ")
}
