//! Casts against an oracle of listed values and midpoints; every rule of precision.md §2.1, §2.2 and §6
//! that concerns them is a test with its name.

#[path = "casts/exhaustive.rs"]
mod exhaustive;
#[path = "casts/forms.rs"]
mod forms;
#[path = "casts/from_f32.rs"]
mod from_f32;
#[path = "casts/hopper.rs"]
mod hopper;
#[path = "casts/oracle.rs"]
mod oracle;
#[path = "casts/random_bits.rs"]
mod random_bits;
#[path = "casts/rules.rs"]
mod rules;
