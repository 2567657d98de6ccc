//! One operation of a level on given lanes, for the tests that hold every level to `Portable`.
