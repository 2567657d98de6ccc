//! Precision semantics: what compilers choose for an operation, which targets take it, and which bits it gives.

pub mod deviations;
pub mod eval;
pub mod legal;
pub mod resolve;
