//! Evaluation of instructions: exact arithmetic, and enclosures where a unit's tables are unknown.

mod exact;

pub(crate) use exact::quotient;
