//! Precision semantics: casts, block scaling, special values; what compilers choose for an operation, and which targets take it.

pub mod block;
pub mod cast;
pub mod legal;
pub mod specials;
