//! The atlas: what the catalogue and the models know about matrix arithmetic, as a static site.
//!
//! Everything on the pages is computed or read from the catalogue when the site is made; nothing is typed. Files lie
//! side by side in one folder, refer to each other by name, and load nothing from anywhere else.
//!
//! ```no_run
//! use std::sync::atomic::AtomicBool;
//! use mmascope_atlas::{Making, site};
//!
//! let making = Making { module: None, texts: &[], progress: &|_| (), cancel: &AtomicBool::new(false) };
//! for file in site(mmascope::Catalogue::built_in(), &making)? {
//!     std::fs::write(&file.name, &file.bytes).unwrap();
//! }
//! # Ok::<(), mmascope::Error>(())
//! ```
#![forbid(unsafe_code)]

mod changes;
mod class;
mod html;
mod markdown;
mod page;
mod separate;
mod shell;
mod study;

use std::sync::atomic::AtomicBool;

use mmascope::{Catalogue, Result};
use study::Study;

/// A file of the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name; there are no folders.
    pub name: String,
    /// What is in it.
    pub bytes: Vec<u8>,
}

impl File {
    fn text(name: impl Into<String>, text: String) -> Self {
        Self {
            name: name.into(),
            bytes: text.into_bytes(),
        }
    }
}

/// What making the site needs beside a catalogue.
#[derive(Clone, Copy)]
pub struct Making<'a> {
    /// The WebAssembly module of `mmascope-wasm`, which computes in the explorer. Without it the pages say how it is
    /// made.
    pub module: Option<&'a [u8]>,
    /// The texts that the catalogue has beside the shipped ones, in order: the explorer reads them too.
    pub texts: &'a [String],
    /// Told how many more steps of [`work`] are done.
    pub progress: &'a (dyn Fn(u64) + Sync),
    /// Set to stop early.
    pub cancel: &'a AtomicBool,
}

/// The steps that [`site`] reports for a catalogue.
#[must_use]
pub fn work(catalogue: &Catalogue) -> u64 {
    study::count(catalogue) as u64
}

/// The text of the site's `atlas.json`: equal for two sites that were made from the same catalogue and module by the
/// same version, so that a site that is there need not be made again.
#[must_use]
pub fn stamp(catalogue: &Catalogue, module: Option<&[u8]>) -> String {
    page::about(catalogue, module)
}

/// Whether a file of this name is one that the site has, now or in an older version.
#[must_use]
pub fn is_own(name: &str) -> bool {
    const SINGLE: [&str; 8] = [
        "index.html",
        "algorithms.html",
        "changes.html",
        "emulation.html",
        "explorer.html",
        "how-we-know.html",
        "published.html",
        "formats.html",
    ];
    let prefixed = ["arch-", "unit-", "algorithm-", "atlas"];
    let endings = [".html", ".svg", ".css", ".js", ".json", ".wasm"];
    SINGLE.contains(&name)
        || prefixed.iter().any(|prefix| name.starts_with(prefix))
            && endings.iter().any(|ending| name.ends_with(ending))
}

/// Every file of the site, by name. Work is shared out over rayon's threads; the result depends on nothing but the
/// catalogue and the module.
///
/// # Errors
/// [`mmascope::Error::Cancelled`]; none other for a catalogue that was read.
pub fn site(catalogue: &Catalogue, making: &Making<'_>) -> Result<Vec<File>> {
    let study = Study::of(catalogue, making)?;
    let mut files = page::assets(&study, making.module);
    files.push(page::index::page(&study));
    files.extend(page::architecture::pages(&study));
    files.extend(page::unit::pages(&study));
    files.extend(page::algorithm::pages(&study));
    files.push(page::evidence::page(&study));
    files.push(page::published::page(&study)?);
    files.push(page::emulation::page(&study, making)?);
    files.push(page::formats::page(&study));
    files.push(changes::page(&study));
    files.push(page::explorer::page(&study, making));
    files.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(files)
}
