//! Precision semantics: casts between formats, block scaling, special values.

pub mod block;
pub mod cast;
pub mod specials;
