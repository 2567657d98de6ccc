//! An architecture: looks up its instructions, and takes over what further texts say.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Architecture, Instruction, name};
use crate::error::{Error, LONGEST_NAME, Result, quoted};

impl Architecture {
    /// One of which nothing is known but its name.
    pub(super) fn empty(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            aliases: Vec::new(),
            title: String::new(),
            vendor: String::new(),
            sources: Vec::new(),
            notes: Vec::new(),
            unmodelled: None,
            features: Vec::new(),
            instructions: Vec::new(),
            keys: HashMap::new(),
            defaults: HashMap::new(),
            types: HashMap::new(),
        }
    }

    /// The rows in the order of the file.
    pub fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.instructions.iter().map(|row| &**row)
    }

    /// See [`Catalogue::find`](super::Catalogue::find).
    ///
    /// # Errors
    /// As [`Catalogue::find`](super::Catalogue::find).
    pub fn find(&self, instruction: &str) -> Result<&Instruction> {
        let spelling = name::normalise(instruction);
        let Some(&index) = self.keys.get(&spelling.key) else {
            // Longer texts are no types, and looking at them would take long.
            if instruction.len() <= LONGEST_NAME
                && let Ok(types) = self.operand_types(instruction)
            {
                return self.default_for(&types);
            }
            return Err(match &self.unmodelled {
                Some(reason) if self.may_have(instruction) => Error::Unmodelled {
                    name: format!("{} {}", self.name, quoted(instruction)),
                    reason: reason.clone(),
                },
                _ => self.unknown(instruction),
            });
        };
        let found = &self.instructions[index];
        if let Some(wanted) = spelling.shape
            && !found.shapes.iter().any(|shape| shape.contains(&wanted))
        {
            let legal: Vec<_> = found.shapes.iter().map(ToString::to_string).collect();
            return Err(Error::Argument(format!(
                "instruction '{}': the shape is not legal on {}; legal with K={}: {}",
                quoted(instruction),
                self.name,
                found.signature.k,
                legal.join(" ")
            )));
        }
        Ok(found)
    }

    /// Whether a name that is not listed may be an instruction's: it begins as listed ones do, and is none of
    /// those mistyped.
    fn may_have(&self, instruction: &str) -> bool {
        let wanted = name::normalise(instruction).text();
        let first = |name: &str| {
            let end = name.find(['.', '_']).unwrap_or(name.len());
            name[..end].to_owned()
        };
        let begins_alike = |row: &Arc<Instruction>| first(&row.name) == first(&wanted);
        // One or two slips of the keyboard, or a name whose end is missing.
        let is_mistyped = |row: &Arc<Instruction>| {
            row.name.len().abs_diff(wanted.len()) <= 2
                && strsim::damerau_levenshtein(&row.name, &wanted) <= 2
                || row.name.starts_with(&format!("{wanted}."))
        };
        let known = &self.instructions;
        known.is_empty() || known.iter().any(begins_alike) && !known.iter().any(is_mistyped)
    }

    fn unknown(&self, instruction: &str) -> Error {
        let what = "instruction";
        let wanted = name::normalise(instruction).text();
        // Names that can be computed are the better advice; where none is alike, those that begin alike.
        let rows = || {
            let modelled = self.instructions.iter().filter(|row| row.is_modelled());
            modelled.map(|row| row.name.as_str())
        };
        let mut near = match Error::unknown(what, &wanted, rows()) {
            Error::Unknown { nearest, .. } => nearest,
            _ => Vec::new(),
        };
        if near.is_empty() {
            near = Error::closest(&wanted, rows());
        }
        Error::Unknown {
            what,
            name: format!("{}' of '{}", quoted(instruction), self.name),
            nearest: near,
            allowed: Vec::new(),
            elsewhere: Vec::new(),
        }
    }

    /// Takes over what another text says of the architecture.
    pub(super) fn merge(&mut self, other: Self) {
        let append = |to: &mut Vec<String>, from: Vec<String>| {
            for item in from {
                if !to.contains(&item) {
                    to.push(item);
                }
            }
        };
        append(&mut self.aliases, other.aliases);
        append(&mut self.sources, other.sources);
        append(&mut self.notes, other.notes);
        append(&mut self.features, other.features);
        self.unmodelled = other.unmodelled.or(self.unmodelled.take());
        self.types.extend(other.types);
        for (mine, theirs) in [
            (&mut self.title, other.title),
            (&mut self.vendor, other.vendor),
        ] {
            if !theirs.is_empty() {
                *mine = theirs;
            }
        }
        if self.instructions.is_empty() && self.name == other.name {
            (self.instructions, self.keys) = (other.instructions, other.keys);
            self.defaults = other.defaults;
            return;
        }
        for mut shared in other.instructions {
            let instruction = Arc::make_mut(&mut shared);
            // The text may have used an alias of the architecture.
            instruction.architecture.clone_from(&self.name);
            let same = instruction
                .keys
                .iter()
                .find_map(|key| self.keys.get(key).copied());
            let index = same.unwrap_or(self.instructions.len());
            for key in &instruction.keys {
                self.keys.insert(key.clone(), index);
            }
            // A row keeps its mark when another text describes it anew.
            instruction.is_default |= same.is_some_and(|index| {
                let before = &self.instructions[index];
                before.is_default && before.types() == instruction.types()
            });
            let default = instruction.is_default.then(|| instruction.types());
            match same {
                Some(index) => self.instructions[index] = shared,
                None => self.instructions.push(shared),
            }
            // The later default of the same types is the default.
            if let Some(types) = default
                && let Some(before) = self.defaults.insert(types, index)
                && before != index
            {
                Arc::make_mut(&mut self.instructions[before]).is_default = false;
            }
        }
    }

    /// Counts of rows: modelled, and known without a model.
    #[must_use]
    pub fn counts(&self) -> (usize, usize) {
        let known = self
            .instructions
            .iter()
            .filter(|row| row.is_modelled())
            .count();
        (known, self.instructions.len() - known)
    }
}
