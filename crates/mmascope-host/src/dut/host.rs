//! Runs a plugin in a process of its own: the messages of the host program, and the device that talks to it.
//!
//! A host program loads one plugin, announces its signature in a line of JSON and then obeys the
//! process protocol; [`serve`] is that program. `mmascope` is one when it is started as
//! `mmascope plugin-host PATH`.

use std::io::{self, Write};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;
use serde_json::json;

use super::child::{Child, Speech};
use super::process::{BATCH, start_of};
use super::{Batch, Dut, Interface, PluginDut, ProcessDut};
use crate::error::{Error, Result};
use crate::vector::{Answer, read_operands};

/// The first line of a host program.
#[derive(Deserialize)]
struct Announcement {
    signature: Option<String>,
    error: Option<String>,
}

impl ProcessDut {
    /// The plugin at `path` in a process of its own: one that hangs or crashes is an error like any
    /// other. `host` is the program that loads it; it is started as `host plugin-host PATH`, has to
    /// [`serve`] the plugin, and `mmascope` does.
    ///
    /// # Errors
    /// [`Error::Device`] when the host cannot be started, or the plugin cannot be loaded within the
    /// time of a batch.
    pub fn of_plugin(path: &str, host: &Path, timeout: Duration) -> Result<Self> {
        let name = format!("plugin:{path}");
        let fail = |message: String| Error::Device {
            device: name.clone(),
            query: None,
            message,
        };
        let mut command = Command::new(host);
        command.arg("plugin-host").arg(path);
        let mut child = Child::start(&mut command, Speech::Lines, timeout)
            .map_err(|error| fail(format!("cannot start '{}': {error}", host.display())))?;
        let line = child.next_line(child.deadline()).map_err(|message| {
            fail(child.end(format!("{message} (while the plugin was loaded)")))
        })?;
        let announcement: Announcement = serde_json::from_str(&line).map_err(|error| {
            let line = start_of(&line);
            fail(child.end(format!("malformed announcement '{line}': {error}")))
        })?;
        match announcement {
            Announcement {
                error: Some(error), ..
            } => Err(fail(error)),
            Announcement {
                signature: Some(signature),
                ..
            } => {
                let interface = Interface::of_signature(signature.parse()?);
                Ok(Self::talking(name, interface, child))
            }
            _ => Err(fail(format!("announcement '{}' is empty", start_of(&line)))),
        }
    }
}

/// Loads the plugin at `path`, announces its signature, and answers batches of questions until
/// there are no more. Nothing else may write to `answers`.
///
/// # Errors
/// Those of writing the answers and reading the lines.
pub fn serve(
    path: &str,
    mut lines: impl Iterator<Item = io::Result<String>>,
    answers: &mut impl Write,
) -> io::Result<()> {
    let plugin = match PluginDut::load(path) {
        Ok(plugin) => plugin,
        Err(Error::Device { message, .. }) => return announce(answers, "error", &message),
        Err(error) => return announce(answers, "error", &error.to_string()),
    };
    announce(answers, "signature", &plugin.signature().to_string())?;
    let mut batch = Vec::new();
    loop {
        let line = lines.next().transpose()?;
        match line {
            Some(line) if !line.trim().is_empty() => batch.push(line),
            None if batch.is_empty() => return Ok(()),
            _ => {
                answer(&plugin, &std::mem::take(&mut batch), answers)?;
                writeln!(answers)?;
                answers.flush()?;
            }
        }
    }
}

fn announce(answers: &mut impl Write, what: &str, text: &str) -> io::Result<()> {
    writeln!(answers, "{}", json!({what: text}))?;
    answers.flush()
}

#[derive(Deserialize)]
struct Numbered {
    id: u64,
}

fn answer(plugin: &PluginDut, lines: &[String], answers: &mut impl Write) -> io::Result<()> {
    let signature = *plugin.signature();
    let mut batch = Batch::new(signature);
    let mut ids = Vec::with_capacity(lines.len().min(BATCH));
    for line in lines {
        let read = read_operands(line, &signature)
            .map_err(|bad| bad.message)
            .and_then(|question| {
                let pushed = batch.push(&question.operands());
                pushed.map_err(|error| error.to_string())?;
                serde_json::from_str::<Numbered>(line).map_err(|error| error.to_string())
            });
        match read {
            Ok(Numbered { id }) => ids.push(id),
            Err(message) => return writeln!(answers, "{}", json!({"error": message})),
        }
    }
    match plugin.answers(&batch) {
        Ok(words) => {
            let digits = signature.d.digits();
            for (id, word) in ids.iter().zip(words) {
                match word {
                    Answer::Word(word) => {
                        writeln!(answers, "{{\"id\":{id},\"d\":\"{word:0digits$x}\"}}")?;
                    }
                    Answer::AnyNan => writeln!(answers, "{{\"id\":{id},\"d\":\"nan\"}}")?,
                }
            }
            Ok(())
        }
        Err(fault) => {
            let id = fault.query.map(|query| ids[query]);
            writeln!(answers, "{}", json!({"id": id, "error": fault.message}))
        }
    }
}
