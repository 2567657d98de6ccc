//! Laws that every modelled row of the catalogue obeys, and the laws of the house over its source.
//!
//! The reference is not compared with another implementation here: each law relates results of one
//! unit to each other. Where a law must fail, a witness shows that it does.

mod laws {
    mod chaining;
    mod facade;
    mod house;
    mod modifiers;
    mod operands;
    mod order;
    mod rows;
    mod scaling;
    mod signs;
    mod swap;
    mod unsafe_code;
    mod words;
}
