//! Every kernel, at every level of this machine, gives the bits of the reference.

#![cfg(feature = "kernel")]

mod kernel {
    pub(crate) mod adversary;
    pub(crate) mod cases;
    mod grouped;
    pub(crate) mod oracle;
    mod parts;
    mod prove;
    mod rows;
    pub(crate) mod schedules;
}
