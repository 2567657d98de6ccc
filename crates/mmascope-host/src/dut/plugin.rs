//! A C library as a device: the plugin ABI, version 1 (`include/mmascope_plugin.h`).
//!
//! [`PluginDut`] runs the plugin in this process, which is fast; one that crashes or hangs takes the
//! process with it. [`PluginProcess`](super::PluginProcess) runs it in a process of its own.
#![allow(unsafe_code)] // loading and calling foreign code

use std::ffi::{CStr, c_char, c_int};

use libloading::Library;

use super::{Batch, Dut};
use crate::dpa::Signature;
use crate::error::{Error, Result};
use crate::memory::Memory;
use crate::vector::Answer;

/// The version of the ABI that this library speaks.
const ABI: u32 = 1;

/// What d holds before a plugin is called.
const UNANSWERED: u64 = 0xa5c3_5a3c_c35a_3ca5;

type Abi = unsafe extern "C" fn() -> u32;
type SignatureText = unsafe extern "C" fn() -> *const c_char;
type Run = unsafe extern "C" fn(
    usize,
    *const u64,
    *const u64,
    *const u64,
    *const u64,
    *const u64,
    *mut u64,
) -> c_int;

/// A loaded plugin.
#[derive(Debug)]
pub struct PluginDut {
    name: String,
    signature: Signature,
    run: Run,
    /// Keeps the code mapped for as long as `run` may be called.
    _library: Library,
}

impl PluginDut {
    /// Loads the shared library at `path`.
    ///
    /// # Errors
    /// [`Error::Device`] when it cannot be loaded, lacks a symbol, or speaks another ABI version;
    /// the signature's own error when that text is wrong.
    pub fn load(path: &str) -> Result<Self> {
        let name = format!("plugin:{path}");
        let fail = |message: String| Error::Device {
            device: name.clone(),
            query: None,
            message,
        };
        // A bare file name would be searched for in system folders; a path is meant here.
        let absolute = std::path::absolute(path).map_err(|error| fail(error.to_string()))?;
        // SAFETY: loading runs the library's initialisers. The user named this file as code to
        // run; nothing else can be promised about foreign code.
        let library = unsafe { Library::new(absolute) }.map_err(|error| fail(error.to_string()))?;
        // SAFETY: the symbols have the types that the ABI gives these names; the header states
        // them, and the version is checked before any other function is called.
        let (abi, text, run) = unsafe {
            let abi = *library
                .get::<Abi>(b"mmascope_abi\0")
                .map_err(|error| fail(error.to_string()))?;
            let text = *library
                .get::<SignatureText>(b"mmascope_signature\0")
                .map_err(|error| fail(error.to_string()))?;
            let run = *library
                .get::<Run>(b"mmascope_run\0")
                .map_err(|error| fail(error.to_string()))?;
            (abi, text, run)
        };
        // SAFETY: `mmascope_abi` takes nothing and returns a number.
        let version = unsafe { abi() };
        if version != ABI {
            return Err(fail(format!(
                "ABI version {version}; this program speaks {ABI}"
            )));
        }
        // SAFETY: `mmascope_signature` takes nothing and returns a string or NULL.
        let text = unsafe { text() };
        if text.is_null() {
            return Err(fail("mmascope_signature returned NULL".to_owned()));
        }
        // SAFETY: the ABI says that the pointer is a NUL-terminated string that lives as long as
        // the library is loaded.
        let text = unsafe { CStr::from_ptr(text) }.to_string_lossy();
        let signature = text.parse()?;
        Ok(Self {
            name,
            signature,
            run,
            _library: library,
        })
    }

    /// How many words so many queries have: every a, every b, every c and the scales of both.
    ///
    /// `None` when there are more than numbers can count.
    pub(super) fn lengths(signature: &Signature, count: usize) -> Option<[usize; 5]> {
        let of_k = signature.k.checked_mul(count)?;
        let of_scales = signature.scales().checked_mul(count)?;
        Some([of_k, of_k, count, of_scales, of_scales])
    }

    /// The words of d for so many queries, whose words are given in the order of [`PluginDut::lengths`].
    ///
    /// # Panics
    /// When an operand has not the words of so many queries.
    pub(super) fn answers(
        &self,
        count: usize,
        words: [&[u64]; 5],
    ) -> std::result::Result<Vec<u64>, Fault> {
        let given = words.map(<[u64]>::len);
        assert_eq!(Self::lengths(&self.signature, count), Some(given), "words");
        // SAFETY: every array has the length that is asked for (checked), and outlives the call.
        unsafe { self.call(count, words.map(<[u64]>::as_ptr)) }
    }

    /// The same of words that lie in shared memory, one operand after the other. `None` when the memory does
    /// not hold as many.
    pub(super) fn answers_in(
        &self,
        memory: &Memory,
        count: usize,
    ) -> Option<std::result::Result<Vec<u64>, Fault>> {
        let mut at = 0_usize;
        let mut places = [std::ptr::null(); 5];
        for (place, length) in places
            .iter_mut()
            .zip(Self::lengths(&self.signature, count)?)
        {
            *place = memory.place(at, length)?;
            at += length;
        }
        // SAFETY: every array lies in the memory (checked), which is mapped as long as it is borrowed.
        Some(unsafe { self.call(count, places) })
    }

    /// Calls the plugin.
    ///
    /// # Safety
    /// The pointers are those of arrays of as many words as [`PluginDut::lengths`] says, which can be read
    /// for as long as the call takes.
    unsafe fn call(
        &self,
        count: usize,
        [a, b, c, scale_a, scale_b]: [*const u64; 5],
    ) -> std::result::Result<Vec<u64>, Fault> {
        let scaled = self.signature.scale.is_some();
        let scales = |words: *const u64| if scaled { words } else { std::ptr::null() };
        // A word that no plugin writes by chance, and no narrow format has: what is left of it was
        // not answered.
        let mut d = vec![UNANSWERED; count];
        // SAFETY: every array has the length that the ABI states for `count` queries of this
        // signature, as the caller promises; `d` is writable and disjoint from them.
        let status = unsafe {
            (self.run)(
                count,
                a,
                b,
                c,
                scales(scale_a),
                scales(scale_b),
                d.as_mut_ptr(),
            )
        };
        if status != 0 {
            let message = format!("mmascope_run returned {status}; 0 means success");
            return Err(Fault {
                query: None,
                message,
            });
        }
        if let Some(query) = d.iter().position(|&word| word == UNANSWERED) {
            return Err(Fault {
                query: Some(query),
                message: "mmascope_run returned 0 and left d as it was".to_owned(),
            });
        }
        match too_wide(&self.signature, &d) {
            Some(fault) => Err(fault),
            None => Ok(d),
        }
    }
}

/// The first answer that is no word of the signature's d.
pub(super) fn too_wide(signature: &Signature, d: &[u64]) -> Option<Fault> {
    let limit = u64::MAX >> (64 - signature.d.register.bits);
    let query = d.iter().position(|&word| word > limit)?;
    Some(Fault {
        query: Some(query),
        message: format!("answer {:x} is wider than {}", d[query], signature.d),
    })
}

/// The words of some queries of a batch, in the order of [`PluginDut::lengths`].
pub(super) fn words_of(batch: &Batch, first: usize, count: usize) -> [&[u64]; 5] {
    let (k, scales) = (batch.signature().k, batch.signature().scales());
    [
        (batch.a(), k),
        (batch.b(), k),
        (batch.c(), 1),
        (batch.scale_a(), scales),
        (batch.scale_b(), scales),
    ]
    .map(|(words, each)| &words[first * each..][..count * each])
}

/// What a plugin did wrong, and with which query of the batch, if it is one.
pub(super) struct Fault {
    pub(super) query: Option<usize>,
    pub(super) message: String,
}

impl Dut for PluginDut {
    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn name(&self) -> &str {
        &self.name
    }

    fn run(&mut self, batch: &Batch) -> Result<Vec<Answer>> {
        batch.check(&self.signature)?;
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        let words = words_of(batch, 0, batch.len());
        let words = self.answers(batch.len(), words).map_err(|fault| {
            let message = match fault.query {
                Some(_) => fault.message,
                None => format!("{} (queries 0 to {})", fault.message, batch.len() - 1),
            };
            Error::Device {
                device: self.name.clone(),
                query: fault.query.or(Some(0)),
                message,
            }
        })?;
        Ok(words.into_iter().map(Answer::Word).collect())
    }
}
