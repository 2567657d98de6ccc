//! `mmascope completions` and the manual pages: what the arguments say, for shells and for `man`.

use std::fs;
use std::io::{self, Write};

use clap::CommandFactory;

use crate::args::{Args, Completions, ManPages};
use crate::report::{Failure, Status};

/// Prints the completions of a shell.
pub(crate) fn print(options: &Completions) -> Result<Status, Failure> {
    let mut text = Vec::new();
    clap_complete::generate(options.shell, &mut Args::command(), "mmascope", &mut text);
    io::stdout().write_all(&text)?;
    Ok(Status::Done)
}

/// Writes a page for the program and one for each command that people use.
pub(crate) fn write_pages(options: &ManPages) -> Result<Status, Failure> {
    let mut command = Args::command();
    // Names the commands in full: `mmascope tree show`.
    command.build();
    pages("mmascope", &command, options)?;
    Ok(Status::Done)
}

fn pages(name: &str, command: &clap::Command, options: &ManPages) -> Result<(), Failure> {
    let file = options.folder.join(format!("{name}.1"));
    let failed = |error: io::Error| Failure::Input(format!("{}: {error}", file.display()));
    let mut text = Vec::new();
    let titled = command.clone().name(name.to_owned());
    clap_mangen::Man::new(titled)
        .render(&mut text)
        .map_err(failed)?;
    fs::write(&file, text).map_err(failed)?;
    let shown = |command: &&clap::Command| !command.is_hide_set() && command.get_name() != "help";
    for below in command.get_subcommands().filter(shown) {
        pages(&format!("{name}-{}", below.get_name()), below, options)?;
    }
    Ok(())
}
