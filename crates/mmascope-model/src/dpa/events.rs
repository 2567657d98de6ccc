//! Events of a result (overflow, underflow …), for units that have status flags.

/// Events of one result, or of several. Which bit of a status register each sets is the catalogue's
/// affair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Events {
    /// A finite sum was too large for the result's format.
    pub overflow: bool,
    /// A sum that is not zero became zero, being too small.
    pub underflow: bool,
    /// The result is an infinity.
    pub infinity: bool,
    /// The result is a NaN.
    pub nan: bool,
}

/// The names of the events, as the catalogue writes them.
pub const EVENTS: [&str; 4] = ["overflow", "underflow", "infinity", "nan"];

impl Events {
    /// Whether each of [`EVENTS`] happened.
    #[must_use]
    pub fn each(self) -> [bool; 4] {
        [self.overflow, self.underflow, self.infinity, self.nan]
    }

    /// Adds the events of another result: flags are sticky.
    pub fn join(&mut self, other: Self) {
        self.overflow |= other.overflow;
        self.underflow |= other.underflow;
        self.infinity |= other.infinity;
        self.nan |= other.nan;
    }
}
