//! The independent oracle: the arithmetic specification once more, by exact fractions instead of
//! shifts, and the proof that the reference agrees with it on millions of inputs.
//!
//! `ORACLE_SEED=7 cargo test --test oracle` runs the same tests on other inputs.

mod oracle {
    mod algorithms;
    mod boundary;
    mod codes;
    mod conformance;
    mod directed;
    mod e_fdpa;
    #[path = "../exact/dyadic.rs"]
    mod exact;
    mod exhaustive;
    mod families;
    mod fma_chain;
    mod ftz_addmul;
    mod gst_fdpa;
    mod gtr_fdpa;
    #[path = "../exact/integer.rs"]
    mod integer;
    mod integers;
    mod lowered;
    mod modified;
    mod operand;
    mod program;
    mod proof;
    mod random;
    mod result;
    mod rounding;
    mod t_fdpa;
    mod tr_fdpa;
}
