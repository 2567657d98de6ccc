//! Checks the files that a command reads and writes: wrong names are refused before any work.

use crate::args::{Args, Command, Explain, GenFormat, Infer, Probe, TreeCommand, Validate};
use crate::output::{self, Folder};
use crate::readmemh;
use crate::report::Failure;

/// An argument and the file that it names, if it is given.
type Named<'a> = (&'a str, Option<&'a str>);

/// Checks that every output can be made and that no file is named twice.
pub(crate) fn check(args: &Args) -> Result<(), Failure> {
    let (mut outputs, mut inputs) = of_command(&args.command);
    for (argument, name) in &outputs {
        if let Some(name) = name {
            output::check(argument, name)?;
        }
    }
    if let Command::Gen(options) = &args.command
        && options.format == GenFormat::Readmemh
    {
        Folder::check("-o", &options.output, &readmemh::is_own)?;
        outputs.push(("-o", Some(&options.output)));
    }
    if let Command::Atlas(options) = &args.command
        && let Some(output) = &options.output
    {
        Folder::check("-o", output, &mmascope_atlas::is_own)?;
        outputs.push(("-o", Some(output)));
    }
    let isa = args.common.isa.iter();
    inputs.extend(isa.map(|file| ("--isa", Some(file.as_str()))));
    output::distinct(&outputs, &inputs)
}

/// Gives `-o FILE` of what is drawn its kind, by its ending.
pub(crate) fn by_ending(command: &mut Command) -> Result<(), String> {
    let wrong = |file: &str, what: &str| Err(format!("-o {file}: the name must end with {what}"));
    match command {
        Command::Diff(options) => match options.output.take() {
            Some(file) if ends_with(&file, ".html") => options.html = Some(file),
            Some(file) if ends_with(&file, ".svg") => options.svg = Some(file),
            Some(file) => return wrong(&file, ".html or .svg"),
            None => {}
        },
        Command::Explain(Explain { output, html, .. })
        | Command::Probe(Probe { output, html, .. }) => match output.take() {
            Some(file) if ends_with(&file, ".html") => *html = Some(file),
            Some(file) => return wrong(&file, ".html"),
            None => {}
        },
        Command::Quantize(options) => {
            let outputs = std::mem::take(&mut options.outputs);
            let (drawings, codes): (Vec<String>, Vec<String>) = outputs
                .into_iter()
                .partition(|file| ends_with(file, ".svg"));
            let mut drawings = options.svg.take().into_iter().chain(drawings);
            (options.svg, options.output) = match (drawings.next(), drawings.next(), &codes[..]) {
                (svg, None, [codes]) => (svg, codes.clone()),
                (_, Some(second), _) => return Err(format!("-o {second}: one drawing is made")),
                (_, _, []) => {
                    return Err("-o: expected X.safetensors for codes and scales".to_owned());
                }
                (_, _, [_, second, ..]) => {
                    return Err(format!(
                        "-o {second}: codes and scales are written to one file"
                    ));
                }
            };
        }
        Command::Infer(Infer { output, .. }) | Command::Validate(Validate { output, .. }) => {
            let is_drawn = |file: &&String| [".html", ".svg"].iter().any(|it| ends_with(file, it));
            if let Some(file) = output.as_ref().filter(is_drawn) {
                return Err(format!(
                    "-o {file}: this command draws nothing; it writes text, under another name"
                ));
            }
        }
        _ => {}
    }
    Ok(())
}

/// Whether a name ends so, in small letters or large ones.
pub(crate) fn ends_with(file: &str, ending: &str) -> bool {
    file.to_ascii_lowercase().ends_with(ending)
}

/// What a command writes, and what it reads and must not replace.
fn of_command(command: &Command) -> (Vec<Named<'_>>, Vec<Named<'_>>) {
    match command {
        Command::Explain(options) => (vec![("--html", options.html.as_deref())], vec![]),
        Command::Export(options) => (vec![("-o", options.output.as_deref())], vec![]),
        Command::Record(options) => (vec![("-o", Some(&*options.output))], vec![]),
        Command::Gen(options) => (
            vec![
                // (A folder is checked by itself.)
                (
                    "-o",
                    (options.format == GenFormat::Jsonl).then_some(&*options.output),
                ),
                ("--cuda", options.cuda.as_deref()),
                ("--hip", options.hip.as_deref()),
            ],
            vec![("--vectors", options.vectors.as_deref())],
        ),
        Command::Diff(options) => (
            vec![
                ("--svg", options.svg.as_deref()),
                ("--html", options.html.as_deref()),
            ],
            vec![("--vectors", options.vectors.as_deref())],
        ),
        Command::Error(options) => (
            vec![("-o", options.output.as_deref())],
            options
                .files
                .iter()
                .map(|file| ("", Some(&**file)))
                .collect(),
        ),
        Command::Reveal(options) => (vec![("-o", options.output.as_deref())], vec![]),
        Command::Probe(options) => (vec![("--html", options.html.as_deref())], vec![]),
        Command::Infer(options) => (vec![("-o", options.output.as_deref())], vec![]),
        Command::Validate(options) => (
            vec![
                ("--state", options.state.as_deref()),
                ("-o", options.output.as_deref()),
            ],
            vec![],
        ),
        Command::Tree(TreeCommand::Show(options)) => (
            vec![("-o", options.output.as_deref())],
            vec![("", Some(&options.file))],
        ),
        Command::Tree(TreeCommand::Export(options)) => (
            vec![("-o", options.output.as_deref())],
            vec![("", Some(&options.file))],
        ),
        // It may replace an operand: all are read before it writes.
        Command::Matmul(options) => (vec![("-o", options.output.as_deref())], vec![]),
        Command::Cast(options) => (
            vec![("-o", options.output.as_deref())],
            vec![("--input", options.input.as_deref())],
        ),
        Command::Specials(options) => (vec![("-o", options.output.as_deref())], vec![]),
        Command::Quantize(options) => (
            vec![
                ("-o", Some(&options.output)),
                ("--svg", options.svg.as_deref()),
            ],
            vec![("", Some(&options.input))],
        ),
        Command::Dequantize(options) => (
            vec![("-o", Some(&options.output))],
            vec![("", Some(&options.input))],
        ),
        Command::Resolve(options) => (vec![], vec![("--input", options.input.as_deref())]),
        // (A folder is checked by itself.)
        Command::Atlas(options) => (vec![], vec![("--module", options.module.as_deref())]),
        Command::List(_)
        | Command::Formats(_)
        | Command::Show(_)
        | Command::Eval(_)
        | Command::Check(_)
        | Command::Identify(_)
        | Command::Legal(_)
        | Command::Tree(TreeCommand::Diff(_) | TreeCommand::Run(_))
        | Command::Completions(_)
        | Command::Doctor
        | Command::ManPages(_)
        | Command::PluginHost(_)
        | Command::LibraryHost(_) => (vec![], vec![]),
    }
}
