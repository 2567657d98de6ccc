//! The family `boundary`: eight kinds of edge cases for a unit's L, F and e0.

use super::clustered::{common_range, stride};
use super::draw::{Draws, Role, below, between, bit, step};
use super::terms::{Plan, Style, Term};
use super::{Hints, Layout};
use crate::dpa::OperandWords;

pub(super) fn case(
    layout: &Layout,
    hints: &Hints,
    draws: &Draws<'_>,
    index: u64,
    case: &mut OperandWords,
) {
    let recipe = Recipe::new(layout, hints, draws);
    let plan = match index % 8 {
        0 => recipe.near_maximum(),
        1 => recipe.ladder(),
        2 => recipe.floor(),
        3 => recipe.ties(),
        4 => return recipe.cancellation(case),
        5 => recipe.truncated_to_zero(),
        6 => return recipe.signed_zeros(case),
        _ => recipe.c_near_overflow(),
    };
    plan.realise(layout, draws, case);
}

/// The values that every recipe draws first.
struct Recipe<'a> {
    layout: &'a Layout,
    draws: &'a Draws<'a>,
    hints: &'a Hints,
    x: [u32; 4],
    y: [u32; 4],
    c_draw: [u32; 4],
    /// The anchor's place.
    q: usize,
    /// Its block of L.
    block: std::ops::Range<usize>,
    /// Whether every k takes part, or the block only.
    whole: bool,
    sign: bool,
    v: u32,
    /// Product exponents within reach.
    from: i32,
    to: i32,
}

impl<'a> Recipe<'a> {
    fn new(layout: &'a Layout, hints: &'a Hints, draws: &'a Draws<'a>) -> Self {
        let (x, y) = (draws.at(Role::Case, 0), draws.at(Role::Case, 1));
        let q = below(layout.k as u32, x[0]) as usize;
        let l = hints.l as usize;
        let first = q - q % l;
        let (a, b) = (&layout.a, &layout.b);
        let (low, high) = layout
            .scale
            .map_or((0, 0), |(s, _)| (2 * s.e_min, 2 * s.e_max));
        let (from, to) = common_range(layout, a.e_min + b.e_min + low, a.e_max + b.e_max + high);
        Self {
            layout,
            draws,
            hints,
            x,
            y,
            c_draw: draws.at(Role::C, 0),
            q,
            block: first..layout.k.min(first + l),
            whole: bit(x[1], 0),
            sign: bit(x[1], 1),
            v: (x[1] >> 2) & 7,
            from,
            to,
        }
    }

    fn p(&self) -> i32 {
        between(self.from, self.to, self.x[2])
    }

    /// A product exponent with room for `below` steps under it, if there is any.
    fn high_p(&self, below: i32) -> i32 {
        between(self.to.min(self.from + below), self.to, self.x[2])
    }

    fn is_active(&self, k: usize) -> bool {
        self.whole || self.block.contains(&k)
    }

    fn others(&self, anchored: bool) -> Vec<usize> {
        let mut others: Vec<usize> = self.block.clone().collect();
        others.retain(|k| !anchored || *k != self.q);
        others
    }

    fn a_draw(&self, k: usize) -> [u32; 4] {
        self.draws.at(Role::A, k)
    }

    /// A plan without terms and with c = +0.
    fn plan(&self) -> Plan {
        Plan {
            terms: vec![None; self.layout.k],
            c: self.layout.c.zero(false),
            one_scale: None,
        }
    }

    /// A plan with a term at every active k that `term` gives one.
    fn plan_of(&self, term: impl Fn(usize, [u32; 4]) -> Option<Term>) -> Plan {
        let terms = (0..self.layout.k).map(|k| {
            let is_active = self.is_active(k);
            is_active.then(|| term(k, self.a_draw(k))).flatten()
        });
        Plan {
            terms: terms.collect(),
            ..self.plan()
        }
    }

    fn c_random(&self) -> u64 {
        self.layout.c.random(self.c_draw[3], self.c_draw[1])
    }

    fn c_sign(&self) -> bool {
        bit(self.c_draw[2], 0)
    }

    /// Exponent of the result's smallest subnormal.
    fn tiny(&self) -> i32 {
        self.layout.d.e_min - self.hints.m as i32
    }

    fn near_maximum(&self) -> Plan {
        let c = &self.layout.c;
        let p = if self.x[3] & 3 == 0 {
            self.to
        } else {
            self.p()
        };
        let mut plan = self.plan_of(|k, _| {
            let flipped = k == self.q && bit(self.v, 0);
            Some(Term {
                negative: self.sign ^ flipped,
                exponent: p,
                style: Style::Ones,
            })
        });
        let e_c = p + i32::from(bit(self.v, 2));
        plan.c = c.number(self.sign ^ bit(self.v, 1), e_c, c.ones());
        plan
    }

    fn ladder(&self) -> Plan {
        let (c, hints) = (&self.layout.c, self.hints);
        let distances = [hints.f, hints.m, hints.f2];
        let distance = distances[below(3, self.y[0]) as usize] as i32;
        let p = self.high_p(distance);
        let top = p - distance + 3;
        let in_c = bit(self.v, 0);
        let mut plan = self.plan();
        if in_c {
            plan.c = c.number(self.sign, p, 0);
        } else {
            plan.terms[self.q] = Some(power(self.sign, p));
            if bit(self.v, 1) {
                plan.c = c.number(self.c_sign(), top - step(8, self.c_draw[0]), 0);
            }
        }
        let rungs = (0..self.layout.k).filter(|&k| self.is_active(k) && (in_c || k != self.q));
        for (j, k) in rungs.enumerate() {
            let draw = self.a_draw(k);
            let rung = (j as i32 + step(8, self.y[1])) % 8;
            plan.terms[k] = Some(Term {
                negative: bit(draw[2], 0),
                exponent: top - rung,
                style: mostly_power(draw),
            });
        }
        plan
    }

    fn floor(&self) -> Plan {
        let (c, v, Hints { f, e0, .. }) = (&self.layout.c, self.v, *self.hints);
        if !bit(v, 0) {
            let mut plan = self.plan_of(|_, draw| {
                Some(Term {
                    negative: bit(draw[2], 0),
                    exponent: e0 - step(f + 4, draw[0]),
                    style: Style::Random,
                })
            });
            if v == 6 {
                let e_c = e0 - step(f + 4, self.c_draw[0]);
                plan.c = c.number(self.c_sign(), e_c, self.c_random());
            }
            return plan;
        }
        let mut plan = self.plan();
        let in_c = v == 7;
        if in_c {
            plan.c = c.number(self.sign, self.tiny(), 0);
        } else {
            plan.terms[self.q] = Some(power(self.sign, self.tiny() - i32::from(bit(v, 1))));
        }
        if let Some(&k) = self.others(!in_c).first() {
            let exponent = e0 - f as i32 - 2 + step(4, self.y[0]);
            plan.terms[k] = Some(power(self.sign ^ bit(self.y[1], 0), exponent));
        }
        plan
    }

    fn ties(&self) -> Plan {
        let (c, v, y) = (&self.layout.c, self.v, self.y);
        let m = self.hints.m as i32;
        let p = self.high_p(m + 2);
        let in_c = bit(v, 0);
        let mut plan = self.plan();
        if in_c {
            let has_place = bit(v, 1) && c.m >= self.hints.m;
            let odd = if has_place {
                1 << (c.m - self.hints.m)
            } else {
                0
            };
            plan.c = c.number(self.sign, p, odd & c.ones());
        } else {
            plan.terms[self.q] = Some(power(self.sign, p));
            if bit(v, 1) {
                plan.c = c.number(self.sign, p - m, 0);
            }
        }
        let half = self.sign ^ bit(y[0], 0);
        let halves: &[i32] = if bit(v, 2) {
            &[p - m - 2; 2]
        } else {
            &[p - m - 1]
        };
        let others = self.others(!in_c);
        for (&k, &exponent) in others.iter().zip(halves) {
            plan.terms[k] = Some(power(half, exponent));
        }
        if bit(y[1], 0)
            && let Some(&k) = others.get(2)
        {
            plan.terms[k] = Some(power(bit(y[1], 1), p - m - 2 - step(10, y[2])));
        }
        plan
    }

    fn cancellation(&self, case: &mut OperandWords) {
        let (layout, y) = (self.layout, self.y);
        let (c, f, p) = (&layout.c, self.hints.f, self.p());
        let stride = stride(layout, y[0]);
        let partner = |k: usize| {
            let partner = k + stride;
            (k & stride == 0 && partner < layout.k && self.is_active(partner)).then_some(partner)
        };
        let mut plan = self.plan_of(|k, draw| {
            partner(k).map(|_| Term {
                negative: bit(draw[2], 0),
                exponent: p - step(4, draw[0]),
                style: Style::Random,
            })
        });
        plan.one_scale = Some(p);
        plan.c = match self.v & 3 {
            0 => c.zero(false),
            1 => c.zero(true),
            2 => c.number(self.sign, p - f as i32 - 2 + step(5, y[1]), 0),
            _ => c.number(self.sign, p - step(f + 1, y[1]), self.c_random()),
        };
        plan.realise(layout, self.draws, case);
        for (k, term) in plan.terms.iter().enumerate() {
            if let (Some(_), Some(partner)) = (term, partner(k)) {
                case.a[partner] = case.a[k];
                case.b[partner] = layout.b.negated(case.b[k]);
            }
        }
    }

    fn truncated_to_zero(&self) -> Plan {
        let y = self.y;
        let f = self.hints.f as i32;
        let p = self.high_p(f + 4);
        let mut plan = self.plan_of(|_, draw| {
            Some(Term {
                negative: match y[1] & 3 {
                    0 => self.sign,
                    1 => !self.sign,
                    _ => bit(draw[2], 0),
                },
                exponent: p - f - 2 - step(3, draw[0]),
                style: mostly_power(draw),
            })
        });
        plan.terms[self.q] = Some(power(self.sign, p));
        match self.others(true).first() {
            Some(&k) if bit(self.v, 0) => plan.terms[k] = Some(power(!self.sign, p)),
            _ => plan.c = self.layout.c.number(!self.sign, p, 0),
        }
        plan
    }

    fn signed_zeros(&self, case: &mut OperandWords) {
        let layout = self.layout;
        let (a, b) = (&layout.a, &layout.b);
        let v = self.v & 3;
        let mut plan = self.plan();
        if v == 3 {
            let exponent = self.tiny() - 1 - step(3, self.y[0]);
            plan.terms[self.q] = Some(power(self.sign, exponent));
        }
        plan.realise(layout, self.draws, case);
        for k in (0..layout.k).filter(|&k| v != 3 || k != self.q) {
            let (draw_a, draw_b) = (self.a_draw(k), self.draws.at(Role::B, k));
            let (sign_a, sign_b) = (bit(draw_a[2], 0), bit(draw_b[2], 0));
            let kind = below(3, draw_a[0]);
            (case.a[k], case.b[k]) = match (v, kind) {
                (2, _) => (a.zero(true), b.zero(false)),
                (_, 0) => (a.zero(sign_a), b.zero(sign_b)),
                (_, 1) => {
                    let random = b.random(draw_b[3], draw_b[1]);
                    (a.zero(sign_a), b.number(sign_b, 0, random))
                }
                _ => {
                    let random = a.random(draw_a[3], draw_a[1]);
                    (a.number(sign_a, 0, random), b.zero(sign_b))
                }
            };
        }
        case.c = layout.c.zero(v == 2 || self.c_sign());
    }

    fn c_near_overflow(&self) -> Plan {
        let (c, v) = (&self.layout.c, self.v);
        let m = self.hints.m as i32;
        let mut plan = self.plan_of(|_, draw| {
            Some(Term {
                negative: if bit(v, 0) {
                    bit(draw[2], 0)
                } else {
                    self.sign
                },
                exponent: if bit(v, 2) {
                    c.e_max - step(3, draw[0])
                } else {
                    c.e_max - m - 2 + step(4, draw[0])
                },
                style: if bit(v, 1) {
                    Style::Random
                } else {
                    Style::Power
                },
            })
        });
        plan.c = c.near_largest(self.sign, u64::from(below(4, self.y[0])));
        plan
    }
}

fn power(negative: bool, exponent: i32) -> Term {
    Term {
        negative,
        exponent,
        style: Style::Power,
    }
}

/// One term of four has random fractions.
fn mostly_power(draw: [u32; 4]) -> Style {
    if draw[1].is_multiple_of(4) {
        Style::Random
    } else {
        Style::Power
    }
}
