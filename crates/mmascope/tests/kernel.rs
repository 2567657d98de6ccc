//! Every kernel, at every level of this machine, gives the bits of the reference.

#![cfg(feature = "kernel")]

mod kernel {
    pub(crate) mod adversary;
    pub(crate) mod cases;
    mod grouped;
    mod integers;
    mod large;
    pub(crate) mod oracle;
    mod own_units;
    mod parts;
    mod prove;
    mod random_rows;
    mod rows;
    pub(crate) mod schedules;
}
