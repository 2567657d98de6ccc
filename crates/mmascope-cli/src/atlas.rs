//! `mmascope atlas`: writes the site, or offers it on this machine.

mod server;

use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value};

use crate::args::{Atlas, Common};
use crate::interrupt;
use crate::output::Folder;
use crate::report::{self, Failure, Status};
use crate::terminal;
use mmascope::isa::Catalogue;
use mmascope_atlas::{File, Making};

/// The module's file where it is installed or built.
const MODULE: &str = "mmascope.wasm";
/// The first bytes of every module.
const MAGIC: &[u8] = b"\0asm";
/// The longest module in bytes.
const LONGEST_MODULE: u64 = 64 << 20;

pub(crate) fn run(
    catalogue: &Catalogue,
    common: &Common,
    options: &Atlas,
) -> Result<Status, Failure> {
    if options.output.is_none() && options.serve.is_none() {
        return Err(Failure::Input(
            "-o FOLDER writes the site there, --serve offers it on this machine: one of them is needed".into(),
        ));
    }
    let module = module(options)?;
    if module.is_none() {
        report::tell(
            "without the explorer: its module is built by `cargo xtask atlas` in a clone of the project, and named by --module",
        );
    }
    let texts = common.isa.iter();
    let texts = texts.map(|file| report::read_whole("--isa", file, crate::LONGEST_CATALOGUE));
    let texts = texts.collect::<Result<Vec<String>, Failure>>()?;
    // A port that is taken is found before the long work.
    let listener = options.serve.map(server::Listener::open).transpose()?;
    let stamp = mmascope_atlas::stamp(catalogue, module.as_deref());
    let fresh = options.output.as_deref().filter(|_| listener.is_some());
    let files = match fresh.and_then(|folder| read(Path::new(folder), &stamp)) {
        Some(files) => files,
        None => {
            let files = make(catalogue, &texts, module.as_deref())?;
            if let Some(folder) = &options.output {
                write(folder, &files)?;
            }
            files
        }
    };
    match listener {
        Some(listener) => listener.serve(files),
        None => {
            say(catalogue, common, options, &files, module.is_some())?;
            Ok(Status::Done)
        }
    }
}

fn make(
    catalogue: &Catalogue,
    texts: &[String],
    module: Option<&[u8]>,
) -> Result<Vec<File>, Failure> {
    let bar = crate::progress::bar(mmascope_atlas::work(catalogue), "studying units");
    let making = Making {
        module,
        texts,
        progress: &|done| bar.inc(done),
        cancel: interrupt::deferred(),
    };
    let files = mmascope_atlas::site(catalogue, &making)?;
    bar.finish_and_clear();
    Ok(files)
}

/// The module: the one that is named, or the one that is installed beside the program or built in its clone.
fn module(options: &Atlas) -> Result<Option<Vec<u8>>, Failure> {
    let found = match &options.module {
        Some(file) => Some(PathBuf::from(file)),
        None => places().into_iter().find(|path| path.is_file()),
    };
    let Some(path) = found else {
        return Ok(None);
    };
    let wrong = |what: String| Failure::Input(format!("--module {}: {what}", path.display()));
    let length = std::fs::metadata(&path).map_err(|error| wrong(error.to_string()))?;
    if !length.is_file() || length.len() > LONGEST_MODULE {
        return Err(wrong(format!("no file of at most {LONGEST_MODULE} bytes")));
    }
    let bytes = std::fs::read(&path).map_err(|error| wrong(error.to_string()))?;
    match bytes.starts_with(MAGIC) {
        true => Ok(Some(bytes)),
        false => Err(wrong("this is no WebAssembly module".to_owned())),
    }
}

/// Where the module is looked for.
fn places() -> Vec<PathBuf> {
    let program = std::env::current_exe().and_then(std::fs::canonicalize);
    let Ok(program) = program else {
        return Vec::new();
    };
    let Some(folder) = program.parent() else {
        return Vec::new();
    };
    let beside = ["", "../share/mmascope", "../atlas"];
    beside.map(|place| folder.join(place).join(MODULE)).to_vec()
}

/// The files of a site that is up to date.
fn read(folder: &Path, stamp: &str) -> Option<Vec<File>> {
    let found = std::fs::read_to_string(folder.join("atlas.json")).ok()?;
    if found != stamp {
        return None;
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).ok()? {
        let entry = entry.ok()?;
        let name = entry.file_name().into_string().ok()?;
        if mmascope_atlas::is_own(&name) {
            let bytes = std::fs::read(entry.path()).ok()?;
            files.push(File { name, bytes });
        }
    }
    Some(files)
}

fn write(folder: &str, files: &[File]) -> Result<(), Failure> {
    let target = Folder::create("-o", folder, &mmascope_atlas::is_own)?;
    for file in files {
        let mut out = target.file(&file.name)?;
        let written = out.write_all(&file.bytes).and_then(|()| out.flush());
        written.map_err(|error| target.failed(&error))?;
        if interrupt::asked() {
            return Err(Failure::Interrupted);
        }
    }
    target.finish(Vec::new())
}

fn say(
    catalogue: &Catalogue,
    common: &Common,
    options: &Atlas,
    files: &[File],
    has_explorer: bool,
) -> Result<(), Failure> {
    let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
    let pages = files.iter().filter(|file| file.name.ends_with(".html"));
    let pages = pages.count();
    let folder = options.output.as_deref().unwrap_or_default();
    if common.json() {
        let body: Map<String, Value> = Map::from_iter([
            ("folder".to_owned(), folder.into()),
            ("pages".to_owned(), pages.into()),
            ("files".to_owned(), files.len().into()),
            ("bytes".to_owned(), bytes.into()),
            ("explorer".to_owned(), has_explorer.into()),
        ]);
        return report::print_json(catalogue, body);
    }
    let size = bytes.div_ceil(1 << 20);
    writeln!(
        terminal::out(),
        "{folder}: {pages} pages, {} files, {size} MiB; begin with index.html",
        files.len()
    )?;
    Ok(())
}
