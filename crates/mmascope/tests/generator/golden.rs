//! Retyped.
