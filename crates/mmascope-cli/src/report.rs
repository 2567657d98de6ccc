//! Exit status, JSON envelope and tables: how results leave the program.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{self, Read, Write};

use serde_json::{Map, Value};

use mmascope::dpa::{Operation, Source, Start, Statement, Unit};
use mmascope::error::is_control;
use mmascope::isa::{Catalogue, Instruction};

use crate::layout;

/// Exit status after an interrupt.
pub(crate) const INTERRUPTED: u8 = 130;

/// How a command ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    /// Done; the answer is yes.
    Done = 0,
    /// The answer is no.
    No = 1,
    /// Wrong input or an instruction without a model.
    WrongInput = 2,
    /// The device failed.
    DeviceFailed = 3,
}

impl Status {
    /// The one of two that says more against the input or the answer.
    pub(crate) fn worst(self, other: Self) -> Self {
        match (self as u8).cmp(&(other as u8)) {
            std::cmp::Ordering::Less => other,
            _ => self,
        }
    }
}

/// Why a command could not go on.
pub(crate) enum Failure {
    /// Nobody reads our output any more.
    ClosedPipe,
    /// The user stopped it.
    Interrupted,
    /// Wrong input, with the message for people.
    Input(String),
    /// A device under test failed, with the message for people.
    Device(String),
}

impl From<mmascope::Error> for Failure {
    fn from(error: mmascope::Error) -> Self {
        match error {
            mmascope::Error::Device { .. } => Self::Device(with_options(&error.to_string())),
            mmascope::Error::Cancelled => Self::Interrupted,
            other => Self::Input(told(&other)),
        }
    }
}

/// An error in words, and where all valid names are where none is near.
pub(crate) fn told(error: &mmascope::Error) -> String {
    let everything = match error {
        mmascope::Error::Unknown {
            what,
            nearest,
            allowed,
            ..
        } if nearest.is_empty() && allowed.is_empty() => match *what {
            "architecture" => "; `mmascope list` has all",
            "instruction" => "; `mmascope list ARCH` has all of an architecture",
            _ => "",
        },
        _ => "",
    };
    with_options(&format!("{error}{everything}"))
}

/// An error about an array's numbers where no option clamps those that the format does not hold.
pub(crate) fn told_unclamped(error: &mmascope::Error) -> String {
    error
        .to_string()
        .replace("; saturate to clamp such numbers", "")
}

/// What messages of the library ask for, and the same with the option that gives it.
const OPTIONS: [(&str, &str); 14] = [
    ("type: it is missing", "--type: it is missing"),
    ("; rounding takes that", "; --round takes that"),
    ("(none is rounded)", "(a rounding would be --round)"),
    ("saturate to clamp", "saturate (--saturate) to clamp"),
    ("the schedule: ", "the schedule (--schedule): "),
    (
        "needs software scales of A and of B",
        "needs software scales of A and of B (--scale-a and --scale-b)",
    ),
    ("Padding fills up", "Padding (--pad) fills up"),
    (
        ": with this schedule C enters",
        " (--mods): with this schedule C enters",
    ),
    (
        "the software scales of A are",
        "the software scales of A (--scale-a) are",
    ),
    (
        "the software scales of B are",
        "the software scales of B (--scale-b) are",
    ),
    ("the scale of A ", "the scale of A (--scale-a) "),
    ("the scale of B ", "the scale of B (--scale-b) "),
    ("there is no C that", "there is no C (--c) that"),
    (
        "a signature like \"a=f16 b=f16 c=f32 d=f32 k=16\", or an architecture and an instruction",
        "--signature \"a=f16 b=f16 c=f32 d=f32 k=16\", or --arch and --inst",
    ),
];

/// A message of the library with the options that it asks for: it names none itself.
pub(crate) fn with_options(message: &str) -> String {
    let mut message = message.to_owned();
    for (neutral, named) in OPTIONS {
        if message.contains(neutral) {
            message = message.replace(neutral, named);
        }
    }
    message
}

/// A text for the terminal: control characters, which files may hold, are escaped.
pub(crate) fn shown(text: &str) -> String {
    let lines: Vec<_> = text.split('\n').map(mmascope::error::escaped).collect();
    lines.join("\n")
}

/// Reads a file that is taken whole: a regular file or a pipe, up to a limit. Devices may never end.
pub(crate) fn read_whole(argument: &str, file: &str, limit: u64) -> Result<String, Failure> {
    whole(file, limit).map_err(|message| {
        let named = format!("{argument} {file}: {message}");
        Failure::Input(named.trim_start().to_owned())
    })
}

fn whole(file: &str, limit: u64) -> Result<String, String> {
    let mut text = String::new();
    let read = |stream: &mut dyn io::Read, text: &mut String| {
        let count = stream.take(limit + 1).read_to_string(text);
        match count.map_err(|error| error.to_string())? as u64 {
            count if count > limit => Err(format!("more than {limit} bytes are not read")),
            _ => Ok(()),
        }
    };
    if file == "-" {
        read(&mut io::stdin().lock(), &mut text)?;
        return Ok(text);
    }
    let metadata = std::fs::metadata(file).map_err(|error| error.to_string())?;
    let kind = metadata.file_type();
    #[cfg(unix)]
    let is_device = {
        use std::os::unix::fs::FileTypeExt;
        kind.is_char_device() || kind.is_block_device()
    };
    #[cfg(not(unix))]
    let is_device = false;
    if kind.is_dir() || is_device {
        return Err("this is no regular file and no pipe".to_owned());
    }
    let mut stream = std::fs::File::open(file).map_err(|error| error.to_string())?;
    read(&mut stream, &mut text)?;
    Ok(text)
}

/// What printing came to, where the answer stands without its reader: a closed pipe is no failure.
pub(crate) fn unless_closed(printed: Result<(), Failure>) -> Result<(), Failure> {
    match printed {
        Err(Failure::ClosedPipe) => Ok(()),
        other => other,
    }
}

/// A yes or no as exit status, once it is printed or its reader has left.
pub(crate) fn answer(yes: bool, printed: Result<(), Failure>) -> Result<Status, Failure> {
    unless_closed(printed)?;
    Ok(if yes { Status::Done } else { Status::No })
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::ClosedPipe,
            _ => Self::Input(format!("standard output: {error}")),
        }
    }
}

/// A JSON object with the version and the catalogue's hash in front, as text.
pub(crate) fn json_text(
    catalogue: &Catalogue,
    body: Map<String, Value>,
) -> Result<String, Failure> {
    let mut object = Map::new();
    object.insert("mmascope".into(), env!("CARGO_PKG_VERSION").into());
    object.insert("catalogue".into(), catalogue.hash().into());
    object.extend(body);
    serde_json::to_string_pretty(&Value::Object(object))
        .map_err(|error| Failure::Input(error.to_string()))
}

/// The JSON of one subject as it is; of several a list under this key.
pub(crate) fn one_or_list(mut bodies: Vec<Map<String, Value>>, key: &str) -> Map<String, Value> {
    match bodies.len() {
        1 => bodies.remove(0),
        _ => Map::from_iter([(key.to_owned(), bodies.into())]),
    }
}

thread_local! {
    /// Where JSON and messages go while a caller in this process takes them.
    static TAKEN: RefCell<Option<(String, Vec<String>)>> = const { RefCell::new(None) };
}

/// Runs something with its JSON and its messages taken instead of printed.
pub(crate) fn captured<T>(body: impl FnOnce() -> T) -> (T, String, Vec<String>) {
    let before = TAKEN.replace(Some(Default::default()));
    let result = body();
    let (json, messages) = TAKEN.replace(before).unwrap_or_default();
    (result, json, messages)
}

/// Prints a JSON object with the version and the catalogue's hash in front.
pub(crate) fn print_json(catalogue: &Catalogue, body: Map<String, Value>) -> Result<(), Failure> {
    print_text(json_text(catalogue, body)?)
}

/// Prints JSON that is a text already.
pub(crate) fn print_text(text: String) -> Result<(), Failure> {
    let is_taken = TAKEN.with_borrow_mut(|taken| {
        taken
            .as_mut()
            .map(|(json, _)| json.clone_from(&text))
            .is_some()
    });
    if is_taken {
        return Ok(());
    }
    writeln!(io::stdout(), "{}", escaped_json(&text))?;
    Ok(())
}

/// JSON whose strings show control characters as JSON escapes those, which it need not do beyond ASCII.
pub(crate) fn escaped_json(text: &str) -> Cow<'_, str> {
    // Lines end outside strings alone.
    let is_hidden = |c: char| c != '\n' && is_control(c);
    if !text.contains(is_hidden) {
        return text.into();
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match is_hidden(c) {
            true => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            false => out.push(c),
        }
    }
    out.into()
}

/// Says once, on standard error, that the arithmetic of a row as a whole is assumed or open (single parameters are `show`'s), or that
/// a row of the user's own counts c twice.
pub(crate) fn doubt(row: &Instruction) {
    thread_local! {
        static SAID: RefCell<BTreeSet<(String, String)>> = RefCell::default();
    }
    let (arch, inst) = (&row.architecture, &row.name);
    // A text of the user's own says what it is to the one who wrote it.
    let is_shipped = Catalogue::built_in().find(arch, inst).is_ok();
    let said = match (is_shipped, row.evidence.doubt()) {
        (true, Some(level)) if row.is_modelled() => format!(
            "{arch}:{inst} is {}; `mmascope show {arch}:{inst}` has the evidence of each part",
            level.words()
        ),
        (false, _) if row.unit().is_ok_and(adds_c_twice) => format!(
            "{arch}:{inst} reads c more than once: a sum begins with c where its statement does not say `from +0`"
        ),
        _ => return,
    };
    if SAID.with_borrow_mut(|names| names.insert((arch.clone(), inst.clone()))) {
        tell(said);
    }
}

/// Whether a sum begins with c, and c is added by another statement too.
fn adds_c_twice(unit: &Unit) -> bool {
    let statements = &unit.program().statements;
    let begins = |it: &Statement| matches!(it.operation, Operation::Dot { from: Start::C, .. });
    let adds = |it: &Statement| match it.operation {
        Operation::Add(left, right) => [left, right].contains(&Source::C),
        _ => false,
    };
    statements.iter().any(begins) && statements.iter().any(adds)
}

/// What stands below the values that no input told apart.
pub(crate) const NOT_TOLD_APART: &str =
    "(not told apart: as far as the search went; another input may tell these values apart)";

/// A line on standard error; that nobody reads it any more is no error.
pub(crate) fn tell(message: impl std::fmt::Display) {
    let is_taken = TAKEN.with_borrow_mut(|taken| {
        let messages = taken.as_mut().map(|(_, messages)| messages);
        messages
            .map(|messages| messages.push(message.to_string()))
            .is_some()
    });
    if is_taken {
        return;
    }
    let shown = shown(&message.to_string());
    let _ = writeln!(
        io::stderr(),
        "{}",
        layout::fitted(&shown, layout::error_terminal())
    );
}
