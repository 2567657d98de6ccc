//! Shows the chain of one output over K: what every step takes, is given and gives, on one unit or on two.

use std::fmt::{self, Write};
use std::ops::Range;

use super::html::{CARD_DIGITS, equals, escaped};
use super::value::TracedValue;

/// Steps that are shown before and after the one that is opened.
const AROUND: usize = 3;
/// Shortest run of steps that is shown as one line, or closed.
const SHORTEST: usize = 2;

/// The chain of an output. It may be of two units; the second one's steps may have another length.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputChain {
    /// The units, one or two.
    pub names: Vec<String>,
    /// The steps of the first unit.
    pub steps: Vec<ChainStep>,
    /// The step that is explained.
    pub opened: usize,
}

/// A step of the first unit's chain, and the second unit's sum at its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainStep {
    /// The first and the last k that it takes.
    pub k: (usize, usize),
    /// The first unit's c and D.
    pub own: [ChainSum; 2],
    /// The second unit's c and D, where it ends a step at the same k.
    pub other: Option<[ChainSum; 2]>,
    /// What the step does.
    pub state: ChainState,
}

/// A sum between two steps.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChainSum {
    /// The register word in hexadecimal.
    pub word: String,
    /// Its value.
    pub value: TracedValue,
}

/// What a step of a chain does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChainState {
    /// Every product is zero, and no sum changes.
    Idle,
    /// It adds products on the one unit, or on the first one where the second ends no step.
    Adds,
    /// Both units have the same sum after it.
    Equal,
    /// The units' sums differ after it.
    Apart,
}

impl ChainState {
    const fn class(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Adds => "adds",
            Self::Equal => "equal",
            Self::Apart => "apart",
        }
    }

    const fn words(self) -> &'static str {
        match self {
            Self::Idle => "every product is 0",
            Self::Adds => "",
            Self::Equal => "equal",
            Self::Apart => "different",
        }
    }
}

/// Steps that are shown together.
struct Group {
    steps: Range<usize>,
    /// Whether they are shown each; the others are one line, or closed.
    is_shown: bool,
}

impl OutputChain {
    fn is_idle(&self, step: usize) -> bool {
        self.steps[step].state == ChainState::Idle && step != self.opened
    }

    /// The steps in groups: runs of idle ones, runs of others that are far from the opened one, the rest.
    fn groups(&self) -> Vec<Group> {
        let end = self.steps.len();
        let is_near =
            |step: usize| step == 0 || step + 1 == end || step.abs_diff(self.opened) <= AROUND;
        let kind = |step: usize| (self.is_idle(step), self.is_idle(step) || is_near(step));
        let mut groups: Vec<Group> = Vec::new();
        let mut first = 0;
        while first < end {
            let own = kind(first);
            let run = (first..end).take_while(|&step| kind(step) == own).count();
            let (is_idle, is_near) = own;
            groups.push(Group {
                steps: first..first + run,
                is_shown: run < SHORTEST || !is_idle && is_near,
            });
            first += run;
        }
        groups
    }

    fn k(&self, steps: &Range<usize>) -> (usize, usize) {
        (self.steps[steps.start].k.0, self.steps[steps.end - 1].k.1)
    }

    /// `16 steps of 16 products`.
    fn counts(&self) -> String {
        let products = self.steps.first().map_or(0, |step| step.k.1 - step.k.0 + 1);
        format!(
            "{} of {}",
            counted(self.steps.len(), "step"),
            counted(products, "product")
        )
    }

    /// The chain as a part of a page.
    pub(super) fn html(&self) -> String {
        let mut out = String::from("<section class=\"chain\"><h2>The chain over K</h2>");
        let (first, last) = self.steps.get(self.opened).map_or((0, 0), |step| step.k);
        write!(
            out,
            "<p class=\"how\">{}; the D of a step is the c of the next one. \
             The step of k = {first} to {last} is opened below.</p>",
            self.counts()
        )
        .ok();
        if let [left, right] = &self.names[..] {
            let (left, right) = (escaped(left), escaped(right));
            write!(out, "<p class=\"how\"><b>A</b> {left} <b>B</b> {right}</p>").ok();
        }
        self.bar(&mut out);
        out.push_str("<ol class=\"strip\">");
        for group in self.groups() {
            if group.is_shown {
                group.steps.for_each(|step| self.card(&mut out, step));
                continue;
            }
            write!(
                out,
                "<li class=\"closed\"><details><summary>{}</summary><ol class=\"strip\">",
                escaped(&self.summary(&group.steps))
            )
            .ok();
            group.steps.for_each(|step| self.card(&mut out, step));
            out.push_str("</ol></details></li>");
        }
        out.push_str("</ol></section>");
        out
    }

    /// `k = 0 to 447: 28 steps, different after 3 of them`.
    fn summary(&self, steps: &Range<usize>) -> String {
        let (first, last) = self.k(steps);
        let count = counted(steps.len(), "step");
        let of = |state| {
            let own = self.steps[steps.clone()].iter();
            own.filter(|step| step.state == state).count()
        };
        let (apart, equal) = (of(ChainState::Apart), of(ChainState::Equal));
        let what = match (self.is_idle(steps.start), apart, equal) {
            (true, ..) => " of zeros only, which change nothing".to_owned(),
            // Of one unit, or where the second one ends no step.
            (false, 0, 0) => String::new(),
            (false, 0, many) if many == steps.len() => ", equal".to_owned(),
            (false, 0, many) => format!(", equal after {many} of them"),
            (false, many, _) if many == steps.len() => ", different".to_owned(),
            (false, many, _) => format!(", different after {many} of them"),
        };
        format!("k = {first} to {last}: {count}{what}")
    }

    /// All of the chain as a bar, whose parts are as long as the steps of one state.
    fn bar(&self, out: &mut String) {
        let key = |step: usize| (step == self.opened, self.steps[step].state);
        out.push_str("<div class=\"chain-bar\" aria-hidden=\"true\">");
        let mut first = 0;
        while first < self.steps.len() {
            let own = key(first);
            let end = (first..self.steps.len()).find(|&step| key(step) != own);
            let steps = first..end.unwrap_or(self.steps.len());
            let ((from, to), (is_opened, state)) = (self.k(&steps), own);
            write!(
                out,
                "<span class=\"{}{}\" style=\"flex-grow:{}\" title=\"k = {from} to {to}: {}\"></span>",
                state.class(),
                if is_opened { " opened" } else { "" },
                steps.len(),
                state.words()
            )
            .ok();
            first = steps.end;
        }
        out.push_str("</div>");
    }

    fn card(&self, out: &mut String, index: usize) {
        let step = &self.steps[index];
        let is_opened = index == self.opened;
        write!(
            out,
            "<li class=\"{}{}\"><span class=\"k\">k = {} to {}</span> <span class=\"state\">{}</span>",
            step.state.class(),
            if is_opened { " opened" } else { "" },
            step.k.0,
            step.k.1,
            step.state.words()
        )
        .ok();
        let sums = [Some(&step.own), step.other.as_ref()];
        for (letter, sums) in ["A", "B"].iter().zip(sums) {
            let Some([c, d]) = sums else { continue };
            let letter = match self.names.len() {
                1 => String::new(),
                _ => format!("<i>{letter}</i> "),
            };
            write!(
                out,
                "<span class=\"sums\">{letter}c <code>{}</code> → D <code>{}</code> {}</span>",
                c.word,
                d.word,
                escaped(&equals(&d.value, CARD_DIGITS))
            )
            .ok();
        }
        out.push_str("</li>");
    }
}

fn counted(count: usize, one: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} {one}{ending}")
}

/// A line a step, with the sums at its end; those far from the opened step are left out, and successive steps of zeros only
/// are one line.
impl fmt::Display for OutputChain {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(out, "{}", self.counts())?;
        for group in self.groups() {
            if !group.is_shown {
                match self.is_idle(group.steps.start) {
                    true => writeln!(out, "  {}", self.summary(&group.steps))?,
                    false => writeln!(out, "  …")?,
                }
                continue;
            }
            for index in group.steps {
                let step = &self.steps[index];
                let mark = if index == self.opened { '>' } else { ' ' };
                let (first, last) = step.k;
                write!(out, "{mark} k = {first} to {last}: {}", step.own[1].word)?;
                if let Some([_, d]) = &step.other {
                    write!(out, " and {}", d.word)?;
                }
                writeln!(out)?;
            }
        }
        Ok(())
    }
}
