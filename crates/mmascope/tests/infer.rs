//! `infer` finds the model of a black box: rows of the catalogue, units that no row describes, and
//! devices outside the space.

#[path = "infer/closure.rs"]
mod closure;
#[path = "infer/devices.rs"]
mod devices;
#[path = "infer/double.rs"]
mod double;
#[path = "infer/drawn.rs"]
mod drawn;
#[path = "exact/dyadic.rs"]
mod exact;
#[path = "infer/grouped.rs"]
mod grouped;
#[path = "infer/honest.rs"]
mod honest;
#[path = "infer/ieee.rs"]
mod ieee;
#[path = "exact/integer.rs"]
mod integer;
#[path = "infer/mutant.rs"]
mod mutant;
#[path = "infer/mutants.rs"]
mod mutants;
#[path = "infer/outside.rs"]
mod outside;
#[path = "infer/parts.rs"]
mod parts;
#[path = "infer/random.rs"]
mod random;
#[path = "infer/tensix.rs"]
mod tensix;
#[path = "infer/wider.rs"]
mod wider;
