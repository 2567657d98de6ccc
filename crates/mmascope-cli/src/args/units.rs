//! One way to name a unit: `ARCH:INST` stands for `--arch ARCH --inst INST` wherever one unit is named.

use std::ffi::OsString;
use std::path::Path;

use clap::CommandFactory;

/// Commands that take one unit as `--arch` and `--inst`. Others take `ARCH:INST` themselves.
const OF_ONE: [&str; 9] = [
    "export", "explain", "gen", "eval", "check", "reveal", "probe", "infer", "validate",
];
/// Commands that take the unit without an option too. (`explain` may have files there: a name of a file has a point.)
const PLAIN: [&str; 3] = ["export", "explain", "gen"];
/// Commands that take several units, without an option too: one by one, and with commas.
const PLAIN_MANY: [&str; 5] = ["show", "diff", "error", "specials", "matmul"];

/// Those of both that may have files there.
const WITH_FILES: [&str; 4] = ["explain", "diff", "error", "matmul"];

/// The arguments with every `ARCH:INST` as two options.
pub(crate) fn with_units(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let arguments: Vec<OsString> = arguments.collect();
    let is = |argument: &OsString, names: &[&str]| names.iter().any(|name| *argument == *name);
    let takes_unit = |it: &&OsString| is(it, &OF_ONE) || is(it, &PLAIN_MANY);
    // Behind `tree`, `show`, `export` and `diff` are other commands.
    let words = || arguments.iter().skip(1);
    let command = words()
        .find(|it| takes_unit(it) || **it == *"tree")
        .cloned();
    let command = command.filter(|it| *it != *"tree");
    let Some(command) = command else {
        return arguments;
    };
    let (mut found, mut rest) = (
        Vec::with_capacity(arguments.len() + 2),
        arguments.into_iter(),
    );
    let takes_many = is(&command, &PLAIN_MANY);
    let is_plain = is(&command, &PLAIN) || takes_many;
    let all = super::Args::command();
    let options = all.find_subcommand(&command).unwrap_or(&all);
    let takes_value = |option: &OsString| takes_value(option, [options, &all]);
    let takes_files = is(&command, &WITH_FILES);
    let mut is_begun = false;
    while let Some(argument) = rest.next() {
        if argument == "--" {
            // Whatever follows is no option.
            found.push(argument);
            found.extend(rest);
            break;
        }
        let text = argument.to_str().unwrap_or_default();
        if takes_many && text.starts_with("--arch") {
            found.push(argument);
        } else if is_begun && text == "--arch" {
            found.push(argument);
            match rest.next() {
                Some(value) => push(&mut found, value),
                None => break,
            }
        } else if let Some(value) = text.strip_prefix("--arch=").filter(|_| is_begun) {
            found.push("--arch".into());
            push(&mut found, value.into());
        } else if is_begun
            && is_plain
            && !text.starts_with('-')
            && match takes_many {
                // (Commands without files take an architecture too, and say what is missing.)
                true => are_units(text) || !takes_files,
                // Where one unit is taken, a comma is none between two.
                false => text.split(',').take(1).all(is_unit),
            }
            && !found.last().is_some_and(takes_value)
            && !(takes_files && Path::new(&argument).exists())
        {
            found.push("--arch".into());
            match takes_many {
                true => found.push(argument),
                false => push(&mut found, argument),
            }
        } else {
            is_begun |= argument == command;
            found.push(argument);
        }
    }
    found
}

/// Whether an argument is an option, of one of these commands, whose value comes next.
fn takes_value(argument: &OsString, commands: [&clap::Command; 2]) -> bool {
    let text = argument.to_str().unwrap_or_default();
    // A short option may have its value in the same word.
    let is_glued = !text.starts_with("--") && text.len() > 2;
    if !text.starts_with('-') || text.contains('=') || is_glued {
        return false;
    }
    let is_it = |option: &&clap::Arg| match text.strip_prefix("--") {
        Some(long) => option.get_long() == Some(long),
        None => option
            .get_short()
            .is_some_and(|short| text == format!("-{short}")),
    };
    let mut all = commands.into_iter().flat_map(clap::Command::get_arguments);
    let takes =
        |option: &clap::Arg| option.get_action().takes_values() && !option.is_require_equals_set();
    all.find(is_it).is_none_or(takes)
}

fn push(found: &mut Vec<OsString>, value: OsString) {
    match value.to_str().and_then(split) {
        Some((arch, inst)) => {
            found.extend([arch.into(), "--inst".into(), inst.into()]);
        }
        None => found.push(value),
    }
}

/// Whether a word names a unit, and no file: a name of a file has a point.
fn is_unit(text: &str) -> bool {
    split(text).is_some_and(|(arch, _)| !arch.contains('.'))
}

/// Whether items between commas name units, some of them perhaps by their architecture alone.
fn are_units(text: &str) -> bool {
    let is_word = |item: &str| !item.contains(['.', ':', '/', '\\', '=']);
    text.split(',').all(|item| is_unit(item) || is_word(item)) && text.split(',').any(is_unit)
}

/// An architecture and an instruction; an instruction may have `::` in its name.
fn split(text: &str) -> Option<(&str, &str)> {
    let (arch, inst) = text.split_once(':')?;
    let is_one = !arch.is_empty() && !inst.is_empty() && !inst.starts_with(':');
    (is_one && !text.contains([',', '/', '\\', '='])).then_some((arch, inst))
}

#[cfg(test)]
mod tests {
    use super::with_units;

    #[test]
    fn a_unit_in_one_word_is_an_architecture_and_an_instruction() {
        for (given, expected) in [
            ("m show volta:mma.x", "m show --arch volta:mma.x"),
            (
                "m --json show volta:a::b,ada:y",
                "m --json show --arch volta:a::b,ada:y",
            ),
            (
                "m --json explain --arch volta:a::b",
                "m --json explain --arch volta --inst a::b",
            ),
            ("m gen --arch=volta:x", "m gen --arch volta --inst x"),
            (
                "m show --arch volta --inst x",
                "m show --arch volta --inst x",
            ),
            (
                "m export -o a:b volta:x",
                "m export -o a:b --arch volta --inst x",
            ),
            ("m probe model:volta:x", "m probe model:volta:x"),
            ("m diff --arch volta:x", "m diff --arch volta:x"),
            (
                "m diff volta:x ada:y --json",
                "m diff --arch volta:x --arch ada:y --json",
            ),
            (
                "m diff a.safetensors:x b.safetensors:y --arch v,w",
                "m diff a.safetensors:x b.safetensors:y --arch v,w",
            ),
            (
                "m explain volta:x --a 1",
                "m explain --arch volta --inst x --a 1",
            ),
            ("m tree diff a:b c:d", "m tree diff a:b c:d"),
            (
                "m diff volta,ada:mma.y a.safetensors:x,y",
                "m diff --arch volta,ada:mma.y a.safetensors:x,y",
            ),
            (
                "m matmul a.npy b.npy volta:x",
                "m matmul a.npy b.npy --arch volta:x",
            ),
            ("m gen volta:x", "m gen --arch volta --inst x"),
            (
                "m matmul a b --pad volta:x -o d:y",
                "m matmul a b --pad --arch volta:x -o d:y",
            ),
            (
                "m matmul -oa.npy volta:x -- b:c",
                "m matmul -oa.npy --arch volta:x -- b:c",
            ),
            (
                "m gen --with-results --json volta:x",
                "m gen --with-results --json --arch volta --inst x",
            ),
            ("m specials volta:x", "m specials --arch volta:x"),
            ("m explain volta:x,ada:y", "m explain --arch volta:x,ada:y"),
            (
                "m --isa a:b show volta:x",
                "m --isa a:b show --arch volta:x",
            ),
        ] {
            let words = given.split(' ').map(Into::into);
            let expected: Vec<std::ffi::OsString> = expected.split(' ').map(Into::into).collect();
            assert_eq!(with_units(words), expected, "{given}");
        }
    }
}
