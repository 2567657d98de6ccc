//! A C library as a device: the plugin ABI, version 1 (`include/mmascope_plugin.h`).
//!
//! [`PluginDut`] runs the plugin in this process, which is fast; one that crashes or hangs takes the
//! process with it. [`PluginProcess`](super::PluginProcess) runs it in a process of its own.
#![allow(unsafe_code)] // loading and calling foreign code

use std::ffi::{CStr, c_char, c_int};

use libloading::Library;

use super::{Batch, Dut};
use crate::dpa::{Queries, Signature};
use crate::error::{Error, Result};
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

    /// The words of d for so many queries of the plugin's own signature.
    ///
    /// # Panics
    /// When an operand has not the words of so many queries.
    pub(super) fn answers(
        &self,
        count: usize,
        queries: &Queries<'_>,
    ) -> std::result::Result<Vec<u64>, Fault> {
        let (k, of_scales) = (self.signature.k, self.signature.scales());
        let is_whole = |words: &[u64], each: usize| count.checked_mul(each) == Some(words.len());
        assert!(
            is_whole(queries.a, k)
                && is_whole(queries.b, k)
                && is_whole(queries.c, 1)
                && is_whole(queries.scale_a, of_scales)
                && is_whole(queries.scale_b, of_scales),
            "operands of {count} queries"
        );
        let scaled = self.signature.scale.is_some();
        let scales = |words: &[u64]| {
            if scaled {
                words.as_ptr()
            } else {
                std::ptr::null()
            }
        };
        // A word that no plugin writes by chance, and no narrow format has: what is left of it was
        // not answered.
        let mut d = vec![UNANSWERED; count];
        // SAFETY: every array has the length that the ABI states for `count` queries of this
        // signature (checked above), `d` is writable and disjoint from them, and all of them outlive
        // the call.
        let status = unsafe {
            (self.run)(
                count,
                queries.a.as_ptr(),
                queries.b.as_ptr(),
                queries.c.as_ptr(),
                scales(queries.scale_a),
                scales(queries.scale_b),
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
        let queries = Queries {
            a: batch.a(),
            b: batch.b(),
            c: batch.c(),
            scale_a: batch.scale_a(),
            scale_b: batch.scale_b(),
        };
        let words = self.answers(batch.len(), &queries).map_err(|fault| {
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
