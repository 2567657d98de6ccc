//! Tensix: the rows and the machine against directed inputs, observations of silicon, hashes of the vendor's
//! simulator, and exact numbers. Sections are those of the specification, `tensix.md`.

#[path = "tensix/directed.rs"]
mod directed;
#[path = "tensix/exact.rs"]
mod exact;
#[path = "tensix/explained.rs"]
mod explained;
#[path = "tensix/hashes.rs"]
mod hashes;
#[path = "tensix/memory.rs"]
mod memory;
#[path = "tensix/oracle.rs"]
mod oracle;
#[path = "tensix/silicon.rs"]
mod silicon;
#[path = "tensix/support.rs"]
mod support;
#[path = "tensix/tiles.rs"]
mod tiles;
#[path = "tensix/vector.rs"]
mod vector;
