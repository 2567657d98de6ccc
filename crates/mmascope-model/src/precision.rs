//! Precision semantics: casts, block scaling, special values; what compilers choose for an operation, and which targets take it.

pub mod block;
pub mod cast;
pub mod deviations;
pub mod eval;
pub mod legal;
pub mod resolve;
pub mod specials;
