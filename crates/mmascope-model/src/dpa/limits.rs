//! What parameters may be: checked wherever a program comes from, text or code.

use super::{Dpa, General, Invalid, Modifiers, Operation, Program, Source};

/// Largest number of products per block or group.
pub(super) const MAX_L: u32 = 256;
/// Largest number of fraction bits kept.
pub(super) const MAX_F: u32 = 64;
/// Last place of a significand's part.
pub(super) const MAX_PLACE: u32 = 31;
/// Range of the floor of the alignment exponent.
pub(super) const MAX_E0: i32 = 2000;

impl Dpa {
    /// Says which parameter is out of its range.
    pub fn check_limits(&self) -> Result<(), String> {
        let products = |name: &str, value: u32| check_range(name, value, MAX_L);
        let bits = |name: &str, value: u32| check_range(name, value, MAX_F);
        let floor = |e0: i32| {
            if (-MAX_E0..=MAX_E0).contains(&e0) {
                return Ok(());
            }
            Err(format!(
                "e0={e0}: a whole number from {} to {MAX_E0} is needed",
                -MAX_E0
            ))
        };
        match *self {
            Self::FmaChain => Ok(()),
            Self::General(ref step) => step.check_limits(),
            Self::TFdpa { l, f, e0, .. } => products("L", l)
                .and_then(|()| bits("F", f))
                .and_then(|()| floor(e0)),
            Self::GstFdpa { l, g, f, e0, .. } => {
                products("L", l)?;
                products("G", g)?;
                if l % g != 0 {
                    return Err(format!("G={g} does not divide L={l}"));
                }
                bits("F", f).and_then(|()| floor(e0))
            }
            Self::FtzAddMul { p, .. } => {
                products("P", p)?;
                if !p.is_power_of_two() {
                    return Err(format!("P={p} is not a power of two"));
                }
                Ok(())
            }
            Self::EFdpa { l } => products("L", l),
            Self::SemiFma(_) => Ok(()),
            Self::GrFdpa(ref step) => {
                products("L", step.l)?;
                products("G", step.g)?;
                bits("Fg", step.f_g)?;
                bits("F", step.f)?;
                if let Some(f2) = step.f2 {
                    bits("F2", f2)?;
                    if f2 > step.f {
                        return Err(format!(
                            "F2={f2}: the second grid is no finer than F={}",
                            step.f
                        ));
                    }
                }
                for (name, part) in [("a", step.a), ("b", step.b)] {
                    if part.first > part.last || part.last > MAX_PLACE {
                        return Err(format!(
                            "{name}={}:{}: a part goes from a place to one behind it, at most {MAX_PLACE}",
                            part.first, part.last
                        ));
                    }
                }
                if let Some(places) = step.fault.filter(|places| !(1..=MAX_F).contains(places)) {
                    return Err(format!("fault={places}: 1 to {MAX_F} are supported"));
                }
                floor(step.e0)?;
                step.e_z.map_or(Ok(()), floor)
            }
            Self::TrFdpa { l, f, f2 } | Self::GtrFdpa { l, f, f2 } => products("L", l)
                .and_then(|()| bits("F", f))
                .and_then(|()| bits("F2", f2)),
        }
    }
}

impl General {
    fn check_limits(&self) -> Result<(), String> {
        let bits = |name: &str, value: Option<u32>| {
            value.map_or(Ok(()), |value| check_range(name, value, MAX_F))
        };
        match self {
            Self::AddMul(add_mul) => check_range("P", add_mul.p, MAX_L),
            Self::Fused(fused) => {
                check_range("L", fused.l, MAX_L)?;
                bits("F", fused.f)?;
                bits("Fc", fused.f_c)?;
                bits("F2", fused.f2)?;
                if let Some(groups) = fused.groups {
                    check_range("G", groups.g, MAX_L)?;
                    bits("Fg", groups.f)?;
                }
                if matches!(fused.specials.opposite, Invalid::Signed | Invalid::Zero) {
                    return Err("inf-minus-inf: nan, plus or minus".to_owned());
                }
                if fused.f.is_none() != fused.f_c.is_none() {
                    return Err("F and Fc are both exact or both numbers".to_owned());
                }
                let floor = [("e0", fused.e0), ("product-limit", fused.product_limit)];
                for (name, value) in floor {
                    if value.is_some_and(|value| !(-MAX_E0..=MAX_E0).contains(&value)) {
                        return Err(format!("{name}: -{MAX_E0} to {MAX_E0} are supported"));
                    }
                }
                Ok(())
            }
        }
    }
}

fn check_range(name: &str, value: u32, high: u32) -> Result<(), String> {
    if (1..=high).contains(&value) {
        return Ok(());
    }
    Err(format!(
        "{name}={value}: a whole number from 1 to {high} is needed"
    ))
}

impl Program {
    /// Checks that there is a statement, that each reads only earlier ones, that parameters are in
    /// range and results are signed floats.
    pub fn check_limits(&self) -> Result<(), String> {
        if self.statements.is_empty() {
            return Err("the program has no statement".to_owned());
        }
        for (index, statement) in self.statements.iter().enumerate() {
            let name = &statement.name;
            let known = |source: Source| match source {
                Source::Statement(read) if read >= index => Err(format!(
                    "statement '{name}' reads one that is not before it"
                )),
                Source::Product => Err(format!("'product' is no value, in statement '{name}'")),
                _ => Ok(()),
            };
            match &statement.operation {
                Operation::Dot {
                    algorithm, from, ..
                } => {
                    algorithm.check_limits()?;
                    let product = matches!(algorithm, Dpa::FmaChain | Dpa::General(_));
                    if !product || *from != Source::Product {
                        known(*from)?;
                    }
                }
                Operation::Add(left, right) => known(*left).and_then(|()| known(*right))?,
                Operation::Convert(source) => known(*source)?,
                Operation::Join { algorithm, of, .. } => {
                    algorithm.check_limits()?;
                    if of.is_empty() {
                        return Err(format!("statement '{name}' joins no values"));
                    }
                    of.iter().try_for_each(|&source| known(source))?;
                }
            }
            let format = statement.output.format;
            if format.float().is_none() || !format.signed {
                return Err(format!(
                    "{format} cannot be a result format: it is no signed float"
                ));
            }
        }
        Ok(())
    }
}

impl Modifiers {
    /// Says which modifier is out of its range.
    pub fn check_limits(&self) -> Result<(), String> {
        match self.scale_d {
            -15..=0 => Ok(()),
            scale => Err(format!(
                "scaleD={scale}: a whole number from -15 to 0 is needed"
            )),
        }
    }
}
