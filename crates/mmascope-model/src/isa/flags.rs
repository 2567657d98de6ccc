//! The bits of a status register that the events of a result set: a `flags` line of the catalogue.

use crate::dpa::{EVENTS, Events};

/// Bits 0 to 7 of a sticky status register, by event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct FlagBits {
    /// The bit of each of [`EVENTS`].
    bits: [Option<u8>; EVENTS.len()],
}

impl FlagBits {
    /// Whether any event sets a bit.
    #[must_use]
    pub fn any(&self) -> bool {
        self.bits.iter().any(Option::is_some)
    }

    /// The bits that events set; `None` where no register is known.
    #[must_use]
    pub fn of(&self, events: Events) -> Option<u8> {
        let set = self.bits.iter().zip(events.each());
        let bit = |(bit, happened): (&Option<u8>, bool)| bit.filter(|_| happened);
        self.any()
            .then(|| set.filter_map(bit).fold(0, |flags, bit| flags | 1 << bit))
    }

    /// The events with their bits.
    pub fn each(&self) -> impl Iterator<Item = (&'static str, u8)> + '_ {
        let named = EVENTS.into_iter().zip(self.bits);
        named.filter_map(|(name, bit)| Some((name, bit?)))
    }

    /// Adds `EVENT=BIT`; the error says what was expected.
    pub(super) fn add(&mut self, word: &str) -> Result<(), String> {
        let expected = || {
            let names = EVENTS.join(", ");
            format!("'{word}': expected EVENT=BIT, an event of {names} and a bit from 0 to 7")
        };
        let (name, bit) = word.split_once('=').ok_or_else(expected)?;
        let at = EVENTS.iter().position(|event| *event == name);
        match (at, bit.parse()) {
            (Some(at), Ok(bit @ 0..=7)) => {
                self.bits[at] = Some(bit);
                Ok(())
            }
            _ => Err(expected()),
        }
    }
}
