//! generated
