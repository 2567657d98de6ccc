//! Published directed facts: inputs with the result that each matrix unit gives for them.
//!
//! Retyped from the literature; each file names its section of `conformance.md` and lists the
//! lines that are not tests, with the reason. The sources are those of `arithmetic.md` §9.

mod conformance {
    mod case;
    mod cdna1;
    mod cdna2;
    mod cdna3;
    mod cdna3_fp8;
    #[path = "../exact/dyadic.rs"]
    mod exact;
    mod fasi;
    mod floor;
    mod generations;
    mod gnft;
    mod insights;
    #[path = "../exact/integer.rs"]
    mod integer;
    mod nan;
    mod power10;
    mod recorded;
    mod sensitivity;
    mod sm120;
    mod subject;
    mod tiny;
    mod tpu;
    mod valpey;
    mod value;
}
