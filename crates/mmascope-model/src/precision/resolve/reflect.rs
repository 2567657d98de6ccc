//! The reflect map: the constants that a library's gates read, and in which order they are set (`precision.md` §1.1).

use std::collections::BTreeMap;

use super::Policy;
use crate::error::{Error, Result, quoted};

/// Where a key was set. Later sources win over earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Origin {
    /// `__CUDA_ARCH`, from the target.
    Target,
    /// `!nvvm.reflection` metadata of the module; only the seed document knows it.
    Metadata,
    /// The module flag `nvvm-reflect-ftz`, which is `__CUDA_FTZ`.
    ModuleFlag,
    /// An option of the compiler (`-ftz=1`, `-prec-sqrt=0`), which its driver passes on.
    Option,
    /// `-nvvm-reflect-add KEY=VALUE` or `--reflect`.
    CommandLine,
}

/// Keys with their values and where they come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReflectMap {
    values: BTreeMap<String, (i64, Origin)>,
}

/// The keys that a body of libdevice 13.5 reads.
pub const KEYS: &[&str] = &["__CUDA_FTZ", "__CUDA_PREC_SQRT", "__CUDA_ARCH"];

impl ReflectMap {
    /// The map of a target: `__CUDA_ARCH` is ten times the SM number.
    #[must_use]
    pub fn for_target(sm: u32) -> Self {
        let mut map = Self::default();
        map.set("__CUDA_ARCH", i64::from(sm) * 10, Origin::Target);
        map
    }

    /// Sets a key, unless a later source has set it already.
    pub fn set(&mut self, key: &str, value: i64, origin: Origin) {
        match self.values.get(key) {
            Some((_, earlier)) if *earlier > origin => {}
            _ => {
                self.values.insert(key.to_owned(), (value, origin));
            }
        }
    }

    /// Sets a key as the command line writes it, `KEY=VALUE`.
    ///
    /// # Errors
    /// [`Error::Argument`]: no key, no value, or a value that is no number the policy takes (upstream reads an
    /// unsigned decimal, the seed document a signed one).
    pub fn add(&mut self, text: &str, policy: Policy) -> Result<()> {
        let wrong = |what: &str| {
            let text = quoted(text);
            Error::Argument(format!(
                "reflect '{text}': {what}; it is KEY=VALUE, for example __CUDA_FTZ=1"
            ))
        };
        let (key, value) = text
            .split_once('=')
            .ok_or_else(|| wrong("the value is missing"))?;
        if key.is_empty() {
            return Err(wrong("the key is empty"));
        }
        if value.is_empty() {
            return Err(wrong("the value is missing"));
        }
        let number = match policy {
            Policy::Seed => value
                .parse::<i64>()
                .map_err(|_| wrong("the value is no integer")),
            _ => value
                .parse::<u32>()
                .map(i64::from)
                .map_err(|_| wrong("the value is no unsigned integer")),
        }?;
        self.set(key, number, Origin::CommandLine);
        Ok(())
    }

    /// What a gate reads: the value, or 0 for a key that nobody set.
    #[must_use]
    pub fn value(&self, key: &str) -> i64 {
        self.values.get(key).map_or(0, |(value, _)| *value)
    }

    /// Whether anybody set a key.
    #[must_use]
    pub fn is_set(&self, key: &str) -> bool {
        self.values.contains_key(key)
    }

    /// Every key with its value and origin.
    pub fn iter(&self) -> impl Iterator<Item = (&str, i64, Origin)> {
        self.values
            .iter()
            .map(|(key, (value, origin))| (key.as_str(), *value, *origin))
    }
}
