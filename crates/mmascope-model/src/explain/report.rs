//! Writes pages of several parts in the style of explanations: chains over K, explanations, and what a caller adds.

use super::against::Comparison;
use super::chain::OutputChain;
use super::html::{document, escaped, lowered, one, two};
use super::trace::Trace;

/// A page that is being written.
#[derive(Clone, Debug)]
pub struct Report {
    title: String,
    /// `two` where a part has two columns, which need a wide page.
    class: &'static str,
    body: String,
}

impl Report {
    /// A page with a title and nothing else yet.
    #[must_use]
    pub fn new(title: &str) -> Self {
        Self {
            title: title.to_owned(),
            class: "one",
            body: format!("<header><h1>{}</h1></header>", escaped(title)),
        }
    }

    /// Adds HTML as it is.
    pub fn html(&mut self, html: &str) {
        self.body += html;
    }

    /// Adds the chain of an output.
    pub fn chain(&mut self, chain: &OutputChain) {
        self.body += &chain.html();
    }

    /// Adds an explanation; `name` is the unit's.
    pub fn explanation(&mut self, name: &str, trace: &Trace) {
        self.body += &lowered(&one(name, trace));
    }

    /// Adds two explanations side by side.
    pub fn explanation_against(&mut self, difference: &Comparison<'_>) {
        self.class = "two";
        self.body += &lowered(&two(difference));
    }

    /// The whole page.
    #[must_use]
    pub fn page(&self) -> String {
        document(&self.title, self.class, &self.body)
    }
}
