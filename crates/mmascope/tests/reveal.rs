//! Revealing: random trees by every algorithm, every row of the catalogue, what is no tree.

#[path = "reveal/closure.rs"]
mod closure;
#[path = "reveal/nature.rs"]
mod nature;
#[path = "reveal/random.rs"]
mod random;
#[path = "reveal/schedules.rs"]
mod schedules;
#[path = "reveal/simulated.rs"]
mod simulated;
#[path = "reveal/stand_ins.rs"]
mod stand_ins;
#[path = "reveal/symbolic.rs"]
mod symbolic;
