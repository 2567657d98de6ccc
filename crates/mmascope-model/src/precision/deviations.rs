//! The errors of the source document on fast-math and precision: what is true, and where that shows.
//!
//! The document is an unofficial page about a compiler; most of its skeleton is true, and some of its gates are
//! invented (docs/source-document.md). Every deviation is an entry here and a test of its number.

mod page;
mod table;

pub use page::page;
pub use table::DEVIATIONS;

/// One error of the source document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deviation {
    /// Its number, as in docs/source-document.md.
    pub number: u8,
    /// The part of the document that it is in.
    pub part: &'static str,
    /// What the document says.
    pub says: &'static str,
    /// What is true.
    pub truth: &'static str,
    /// What the truth rests on.
    pub evidence: &'static str,
    /// A command that shows it; empty where no command has anything to show.
    pub shown_by: &'static str,
}
