//! The ladder of a format: all its magnitudes in order, as exact rationals.

use mmascope::format::{FORMATS, Format};

use crate::dyadic::Dyadic;
use crate::facts::{FACTS, Fact, Steps};
use crate::point::Point;

/// A format's magnitudes. The k-th rung belongs to the code k (negative numbers: by its sign rule).
/// Rungs go on beyond the largest finite number as if the exponent were unbounded.
pub(crate) struct Ladder {
    pub(crate) fact: Fact,
    pub(crate) format: Format,
    /// The rungs by walking up step by step; empty for the formats too wide for that.
    walked: Vec<Dyadic>,
}

impl Ladder {
    /// All but uint64, whose rungs end with the last number that counts them here.
    pub(crate) fn all() -> Vec<Self> {
        let countable = FACTS.iter().filter(|fact| fact.max < u64::MAX);
        countable.map(Self::new).collect()
    }

    /// Those of at most 16 bits.
    pub(crate) fn narrow() -> Vec<Self> {
        FACTS
            .iter()
            .filter(|fact| fact.bits <= 16)
            .map(Self::new)
            .collect()
    }

    pub(crate) fn named(name: &str) -> Self {
        Self::new(FACTS.iter().find(|fact| fact.name == name).unwrap())
    }

    fn new(fact: &Fact) -> Self {
        // By its very name: the aliases are a subject of their own.
        let format = *FORMATS
            .iter()
            .find(|format| format.name == fact.name)
            .unwrap();
        let mut ladder = Self {
            fact: *fact,
            format,
            walked: Vec::new(),
        };
        if fact.bits <= 16 {
            ladder.walked = ladder.walk();
        }
        ladder
    }

    /// The index of the last rung: two binades beyond the largest finite number.
    pub(crate) fn last(&self) -> u64 {
        self.fact.max + (2 << self.fact.fraction_bits)
    }

    fn walk(&self) -> Vec<Dyadic> {
        let Fact {
            steps,
            first,
            fraction_bits,
            ..
        } = self.fact;
        let mut step = Dyadic::power(first);
        let mut value = match steps {
            Steps::Float | Steps::Fixed => Dyadic::zero(),
            Steps::Doubling => step.clone(),
        };
        let mut rungs = Vec::new();
        for k in 0..=self.last() {
            rungs.push(value.clone());
            if steps == Steps::Float && k >= 2 << fraction_bits && k % (1 << fraction_bits) == 0 {
                step = step.times_power_of_two(1);
            }
            value = value.add(&step).reduced();
            if steps == Steps::Doubling {
                step = value.clone();
            }
        }
        rungs
    }

    /// The k-th magnitude without walking.
    pub(crate) fn closed_form(&self, k: u64) -> Dyadic {
        let Fact {
            steps,
            first,
            fraction_bits,
            ..
        } = self.fact;
        let first = i64::from(first);
        match steps {
            Steps::Fixed => Dyadic::new(u128::from(k), first),
            Steps::Doubling => Dyadic::power(first + k as i64),
            Steps::Float => {
                let doublings = (k >> fraction_bits).saturating_sub(1);
                let units = u128::from(k - (doublings << fraction_bits));
                Dyadic::new(units, first + doublings as i64)
            }
        }
    }

    pub(crate) fn rung(&self, k: u64) -> Dyadic {
        match self.walked.get(k as usize) {
            Some(rung) => rung.clone(),
            None => self.closed_form(k),
        }
    }

    /// The highest rung that is not above the point; `None` if even the lowest is.
    pub(crate) fn at_or_below(&self, point: &Point) -> Option<u64> {
        let (mut low, mut high) = (0, self.last() + 1);
        while low < high {
            let middle = low + (high - low) / 2;
            let below = match self.walked.get(middle as usize) {
                Some(rung) => point.cmp(rung).is_ge(),
                None => point.cmp(&self.closed_form(middle)).is_ge(),
            };
            if below {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        low.checked_sub(1)
    }

    /// Sign and magnitude of a finite code, by the sign rule of the format.
    pub(crate) fn value(&self, code: u64) -> (bool, Dyadic) {
        let negative = code & self.fact.sign_bit() != 0;
        let rung = match (negative, self.fact.is_fixed()) {
            (true, true) => ((1_u128 << self.fact.bits) - u128::from(code)) as u64,
            (true, false) => code - self.fact.sign_bit(),
            (false, _) => code,
        };
        (negative, self.rung(rung))
    }
}

#[test]
fn walking_and_closed_form_agree() {
    for ladder in Ladder::narrow() {
        for k in 0..=ladder.last() {
            let name = ladder.fact.name;
            assert_eq!(
                ladder.walked[k as usize],
                ladder.closed_form(k),
                "{name} rung {k}"
            );
        }
    }
}
