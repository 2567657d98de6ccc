//! Where in the kernels' sources a loop comes from.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::process::{Command, Stdio};

use super::disassembly::Instruction;
use super::llvm_tool;

/// A name for each loop, as `fused.rs:123 chain`: `None` for loops of no kernel.
pub(super) fn names<'a>(
    program: &str,
    bodies: impl Iterator<Item = &'a [&'a Instruction]>,
) -> Result<Vec<Option<String>>, String> {
    let bodies: Vec<_> = bodies.collect();
    let mut questions = String::new();
    for it in bodies.iter().copied().flatten() {
        questions += &format!("{:#x}\n", it.address);
    }
    let text = symbolize(program, &questions)?;
    let mut answers = text.split("\n\n");
    let named = bodies.iter().map(|body| {
        let answers: Vec<&str> = answers.by_ref().take(body.len()).collect();
        name(&answers)
    });
    Ok(named.collect())
}

/// llvm-symbolizer's answers, parted by empty lines.
fn symbolize(program: &str, questions: &str) -> Result<String, String> {
    let tool = llvm_tool("llvm-symbolizer")?;
    let failed = |error: std::io::Error| format!("{tool}: {error}");
    let mut child = Command::new(&tool)
        .args(["--inlines", "--output-style=LLVM", "--obj", program])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(failed)?;
    let mut input = child.stdin.take().ok_or("no input")?;
    let mut output = child.stdout.take().ok_or("no output")?;
    let mut text = String::new();
    // It answers while it reads: who only wrote would wait for it forever.
    let is_read = std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(questions.as_bytes()));
        output.read_to_string(&mut text)
    });
    is_read.map_err(failed)?;
    let status = child.wait().map_err(failed)?;
    match status.success() {
        true => Ok(text),
        false => Err(format!("{tool}: {status}")),
    }
}

/// The place of most instructions: the innermost function of a kernel, where the lanes' operations are inlined; of a loop that
/// is the lanes' alone, the outermost of theirs. Its line is the smallest that the loop has there.
pub(super) fn name(answers: &[&str]) -> Option<String> {
    let all: Vec<Vec<Frame>> = answers.iter().map(|answer| frames(answer)).collect();
    // The portable lanes are compiled into the same functions where every processor has the vector instructions (NEON).
    if all
        .iter()
        .flatten()
        .any(|it| it.file == "lanes/portable.rs")
    {
        return None;
    }
    let innermost = all.iter().filter_map(|of| {
        let mut kernels = of.iter().filter(|it| it.file.starts_with("kernels/"));
        kernels.next()
    });
    let outermost = all.iter().filter_map(|of| {
        let mut lanes = of.iter().filter(|it| it.file.starts_with("lanes/"));
        lanes.next_back()
    });
    most(innermost).or_else(|| most(outermost))
}

/// A function's place in a file below `cpu`.
struct Frame<'a> {
    file: &'a str,
    line: usize,
    function: String,
}

/// From the innermost to the outermost.
fn frames(answer: &str) -> Vec<Frame<'_>> {
    let lines: Vec<&str> = answer.trim().lines().collect();
    let frames = lines.chunks_exact(2).filter_map(|frame| {
        let (_, place) = frame[1].split_once("/src/cpu/")?;
        let mut parts = place.split(':');
        let (file, line) = (parts.next()?, parts.next()?.parse().ok()?);
        let function = plain(frame[0]);
        Some(Frame {
            file,
            line,
            function,
        })
    });
    frames.collect()
}

fn most<'a>(frames: impl Iterator<Item = &'a Frame<'a>>) -> Option<String> {
    let mut places = BTreeMap::<(&str, &str), (usize, usize)>::new();
    for frame in frames {
        let place = places.entry((frame.file, &frame.function));
        let (count, first) = place.or_insert((0, usize::MAX));
        *count += 1;
        // Line 0 is what the compiler made of several places.
        if frame.line > 0 {
            *first = frame.line.min(*first);
        }
    }
    let most = places.into_iter().max_by_key(|(_, (count, _))| *count);
    most.map(|((file, function), (_, line))| {
        let file = file.strip_prefix("kernels/").unwrap_or(file);
        let name = match line {
            usize::MAX => format!("{file} {function}"),
            _ => format!("{file}:{line} {function}"),
        };
        // A closure has no name.
        name.trim_end().to_owned()
    })
}

/// A function's name without its module and its types.
fn plain(function: &str) -> String {
    let mut name = String::new();
    let mut depth = 0;
    for letter in function.chars() {
        match letter {
            '<' => depth += 1,
            '>' => depth -= 1,
            _ if depth == 0 => name.push(letter),
            _ => {}
        }
    }
    // A symbol ends with a hash, which another build has otherwise.
    let is_hash = |part: &str| {
        let digits = part.strip_prefix('h').unwrap_or("");
        digits.len() == 16 && digits.chars().all(|digit| digit.is_ascii_hexdigit())
    };
    let is_name = |part: &&str| !part.is_empty() && !part.starts_with('{') && !is_hash(part);
    let last = name.split("::").filter(is_name).last();
    last.unwrap_or("").to_owned()
}
