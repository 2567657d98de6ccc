//! Proof of the formats module: facts, decoding, rounding and conversion, against other arithmetic.
//!
//! The subject works with masks and shifts on codes. The oracle here knows no fields: it has the
//! ladder of a format's values as exact rationals (`ladder`), finds where a value stands between
//! two of them by comparing (`oracle`), and decides by the words that define each rounding mode.

#[path = "formats/codes.rs"]
mod codes;
#[path = "formats/conversion.rs"]
mod conversion;
#[path = "exact/dyadic.rs"]
mod dyadic;
#[path = "formats/facts.rs"]
mod facts;
#[path = "exact/integer.rs"]
mod integer;
#[path = "formats/known.rs"]
mod known;
#[path = "formats/ladder.rs"]
mod ladder;
#[path = "formats/modes.rs"]
mod modes;
#[path = "formats/oracle.rs"]
mod oracle;
#[path = "formats/point.rs"]
mod point;
#[path = "formats/points.rs"]
mod points;
#[path = "formats/random.rs"]
mod random;
#[path = "formats/rounding.rs"]
mod rounding;
#[path = "formats/shift.rs"]
mod shift;
#[path = "formats/specification.rs"]
mod specification;
#[path = "formats/stochastic.rs"]
mod stochastic;
#[path = "formats/table.rs"]
mod table;
#[path = "formats/wide.rs"]
mod wide;
