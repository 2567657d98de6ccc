//! A chip in C++: the device code compiled by g++ with the instructions as the PTX manual describes them
//! (`crates/mmascope/tests/runners/device.hpp`), in a process of its own.

// Each test file takes what it needs.
#![allow(dead_code)]

#[path = "../../../mmascope/tests/runners/assembly.rs"]
mod assembly;

use std::collections::HashMap;
use std::fmt::Write as _;
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use mmascope_cuda::chip::{Argument, Chip, Description, Loaded, Memory};
use mmascope_cuda::source;
use mmascope_model::dpa::Unit;
use mmascope_model::{Error, Result};
use tempfile::TempDir;

const DEVICE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../mmascope/tests/runners/device.hpp"
);
const HOST: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/emulated/host.cpp");

/// Whether there is a compiler; says so where not.
pub(crate) fn has_compiler() -> bool {
    let found = Command::new("g++").arg("--version").output().is_ok();
    if !found {
        println!("skipped: no g++");
    }
    found
}

/// A chip in C++.
pub(crate) struct EmulatedChip {
    description: Description,
    /// What its matrix unit computes; without one it sums whole numbers.
    model: Option<String>,
    /// How it is wrong (`device.hpp`).
    wrong: &'static str,
    /// Whether memory is watched.
    checked: bool,
    /// What has been compiled, by source.
    compiled: Mutex<HashMap<String, Arc<TempDir>>>,
}

impl EmulatedChip {
    pub(crate) fn new(sm: u32) -> Self {
        Self {
            description: Description {
                name: "a chip in C++".to_owned(),
                sm,
                driver: "none".to_owned(),
                compiler: "g++".to_owned(),
            },
            model: None,
            wrong: "",
            checked: true,
            compiled: Mutex::default(),
        }
    }

    /// One whose matrix unit has the arithmetic of a unit.
    pub(crate) fn with_model(mut self, unit: &Unit) -> Self {
        self.model = Some(
            source::model(unit, "chip")
                .expect("a source")
                .replace("namespace model", "namespace chip"),
        );
        if unit.signature().scale.is_some() {
            self.model
                .as_mut()
                .expect("set")
                .push_str("#define CHIP_SCALES , (const uint64_t *)sx, (const uint64_t *)sy\n");
        }
        self
    }

    /// One that is wrong in one way.
    pub(crate) fn wrong(mut self, how: &'static str) -> Self {
        self.wrong = how;
        self
    }

    /// One that is fast.
    pub(crate) fn unchecked(mut self) -> Self {
        self.checked = false;
        self
    }
}

/// Name and number of parameters of every kernel of a source.
fn kernels(source: &str) -> Vec<(String, usize)> {
    let mut found = Vec::new();
    for part in source.split("extern \"C\" __global__ void ").skip(1) {
        let part = match part.starts_with("__") {
            true => part.split_once(") ").expect("a kernel").1,
            false => part,
        };
        let (name, rest) = part.split_once('(').expect("parameters");
        let (parameters, _) = rest.split_once(')').expect("parameters");
        found.push((name.to_owned(), parameters.split(',').count()));
    }
    found
}

fn failed(message: String) -> Error {
    Error::Device {
        device: "a chip in C++".to_owned(),
        query: None,
        message,
    }
}

impl Chip for EmulatedChip {
    fn description(&self) -> &Description {
        &self.description
    }

    fn load(&self, source: &str, _is_own: bool) -> Result<Box<dyn Loaded>> {
        let kernels = kernels(source);
        let mut compiled = self.compiled.lock().expect("no panic");
        if let Some(folder) = compiled.get(source) {
            return Ok(self.start(Arc::clone(folder), kernels));
        }
        let folder = tempfile::tempdir().expect("a folder");
        let mut text = format!("#include \"{DEVICE}\"\n");
        if let Some(model) = &self.model {
            text += model;
            text += "#ifndef CHIP_SCALES\n#define CHIP_SCALES\n#endif\n\
                static Word chip_dot(const Word *a, const Word *b, Word c, const Word *sx, const Word *sy) {\n\
                \x20 return chip::dot((const uint64_t *)a, (const uint64_t *)b, c CHIP_SCALES);\n}\n\
                static const bool is_set = (model_of_chip = chip_dot, true);\n";
        }
        text += &assembly::without_assembly(source);
        text +=
            "struct Kernel { const char *name; void *function; int parameters; bool meets; };\n";
        text += "static const Kernel kernels[] = {";
        for (name, parameters) in &kernels {
            let meets = ["tile", "product_fast"].contains(&name.as_str());
            let _ = write!(
                text,
                "{{\"{name}\", (void *){name}, {parameters}, {meets}}}, "
            );
        }
        let _ = write!(text, "}};\n#include \"{HOST}\"\n");
        let file = folder.path().join("chip.cpp");
        std::fs::write(&file, text).expect("written");
        let program = folder.path().join("chip");
        let mut command = Command::new("g++");
        // A GPU faults where a vector begins at no multiple of its size.
        command.args(["-std=c++20", "-w", "-pthread", "-ffp-contract=off"]);
        command.args(["-fsanitize=alignment", "-fno-sanitize-recover=alignment"]);
        match self.checked {
            true => command.args(["-O1", "-fsanitize=address", "-fno-sanitize-recover"]),
            false => command.arg("-O2"),
        };
        let output = command
            .arg(&file)
            .arg("-o")
            .arg(&program)
            .output()
            .expect("g++");
        if !output.status.success() {
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            return Err(failed(said.lines().take(20).collect::<Vec<_>>().join("\n")));
        }
        let folder = Arc::new(folder);
        compiled.insert(source.to_owned(), Arc::clone(&folder));
        Ok(self.start(folder, kernels))
    }
}

impl EmulatedChip {
    /// Starts a compiled program.
    fn start(&self, folder: Arc<TempDir>, kernels: Vec<(String, usize)>) -> Box<dyn Loaded> {
        let child = Command::new(folder.path().join("chip"))
            .env("WRONG", self.wrong)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("runs");
        Box::new(Program {
            child,
            kernels: kernels.into_iter().map(|(name, _)| name).collect(),
            _folder: folder,
        })
    }
}

struct Program {
    child: Child,
    kernels: Vec<String>,
    _folder: Arc<TempDir>,
}

impl Drop for Program {
    fn drop(&mut self) {
        // Without input it ends.
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}

impl Program {
    fn order(&mut self, words: &[u64]) -> Result<()> {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.put(&bytes)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let input = self.child.stdin.as_mut().expect("piped");
        input
            .write_all(bytes)
            .and_then(|()| input.flush())
            .map_err(|error| failed(error.to_string()))
    }

    fn get(&mut self, bytes: &mut [u8]) -> Result<()> {
        let output = self.child.stdout.as_mut().expect("piped");
        output
            .read_exact(bytes)
            .map_err(|error| failed(error.to_string()))
    }

    fn reply(&mut self) -> Result<u64> {
        let mut bytes = [0; 8];
        self.get(&mut bytes)?;
        Ok(u64::from_le_bytes(bytes))
    }
}

impl Loaded for Program {
    fn allocate(&mut self, bytes: usize) -> Result<Memory> {
        self.order(&[1, bytes as u64])?;
        Ok(Memory::numbered(self.reply()? as usize))
    }

    fn write(&mut self, to: Memory, bytes: &[u8]) -> Result<()> {
        self.order(&[2, to.number() as u64, bytes.len() as u64])?;
        self.put(bytes)
    }

    fn read(&mut self, from: Memory, bytes: &mut [u8]) -> Result<()> {
        self.order(&[3, from.number() as u64, bytes.len() as u64])?;
        self.get(bytes)
    }

    fn launch(
        &mut self,
        kernel: &str,
        blocks: u32,
        threads: u32,
        arguments: &[Argument],
    ) -> Result<()> {
        let place = self.kernels.iter().position(|name| name == kernel);
        let place = place.unwrap_or_else(|| panic!("no kernel {kernel}"));
        let mut words = vec![
            4,
            place as u64,
            blocks.into(),
            threads.into(),
            arguments.len() as u64,
        ];
        for argument in arguments {
            match *argument {
                Argument::Memory(memory) => words.extend([1, memory.number() as u64]),
                Argument::Word(word) => words.extend([0, word]),
            }
        }
        self.order(&words)?;
        self.reply().map(|_| ())
    }
}
