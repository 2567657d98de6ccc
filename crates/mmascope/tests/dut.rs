//! Devices under test: the example devices answer right, and every way to fail is an error that
//! names the query and never a hang.

use std::path::PathBuf;
use std::process::Command;
use std::time::{Duration, Instant};

use mmascope::Error;
use mmascope::cases::{Family, Generator};
use mmascope::dpa::{Modifiers, Operands, Signature};
use mmascope::dut::{
    Batch, DeviceName, Dut, Interface, ModelDut, NoiseCheckedDut, PluginDut, ProcessDut,
};
use mmascope::isa::Catalogue;
use mmascope::vector::Answer;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn python() -> Option<String> {
    let python = std::env::var("MMASCOPE_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let found = Command::new(&python)
        .arg("--version")
        .output()
        .is_ok_and(|o| o.status.success());
    if !found {
        println!("skipped: '{python}' does not run");
    }
    found.then_some(python)
}

/// A small generator; the values only need to vary.
fn random(state: &mut u64) -> u64 {
    *state = state
        .wrapping_mul(6_364_136_223_846_793_005)
        .wrapping_add(1_442_695_040_888_963_407);
    *state >> 33
}

/// Finite values of a format between 2^-3 and 2^4 in magnitude, both signs.
fn batch(text: &str, len: usize) -> Batch {
    let signature: Signature = text.parse().unwrap();
    let mut state = 1;
    let mut words = |format: &mmascope::format::Format, count: usize| -> Vec<u64> {
        let float = format.float().unwrap();
        (0..count)
            .map(|_| {
                let field = (float.bias as u64 - 3) + random(&mut state) % 7;
                let fraction = random(&mut state) & ((1 << float.fraction_bits) - 1);
                let sign = (random(&mut state) & 1) << (format.bits - 1);
                format.to_register(sign | field << float.fraction_bits | fraction)
            })
            .collect()
    };
    let mut batch = Batch::new(signature);
    for _ in 0..len {
        let (a, b) = (
            words(&signature.a, signature.k),
            words(&signature.b, signature.k),
        );
        let c = words(&signature.c, 1)[0];
        batch
            .push(&Operands {
                a: &a,
                b: &b,
                c,
                ..Operands::default()
            })
            .unwrap();
    }
    batch
}

const F16: &str = "a=f16 b=f16 c=f32 d=f32 k=4";

fn process(command: &str, timeout: Duration) -> ProcessDut {
    let interface = Interface::of_signature(F16.parse().unwrap());
    ProcessDut::spawn(command, interface, timeout).unwrap()
}

/// A device as a Python program of one expression for each non-empty line.
fn scripted(python: &str, setup: &str, each: &str, end: &str) -> String {
    let program = format!(
        "import sys, json, time, random\n{setup}\nfor line in sys.stdin:\n    \
         if line.strip():\n        q = json.loads(line)\n        {each}\n    \
         else:\n        {end}\n"
    );
    format!("{python} -c {}", shell_words::quote(&program))
}

#[test]
fn the_example_process_answers_as_float_arithmetic() {
    let Some(python) = python() else { return };
    let script = root().join("examples/devices/sequential.py");
    let text = std::fs::read_to_string(&script).unwrap();
    assert!(
        text.lines().count() <= 20,
        "an example that is read at a glance"
    );
    let own = |line: &str| {
        ["json", "struct", "sys"]
            .iter()
            .any(|m| line == format!("import {m}"))
    };
    let imports = text
        .lines()
        .filter(|line| line.starts_with("import") || line.starts_with("from"));
    let foreign = imports
        .filter(|line| !own(line) && *line != "from ctypes import c_float")
        .count();
    assert_eq!(foreign, 0, "the standard library only");
    let command = format!("{python} {}", shell_words::quote(script.to_str().unwrap()));
    // More than one batch of the protocol.
    let batch = batch(F16, 5000);
    let answers = process(&command, Duration::from_secs(60))
        .run(&batch)
        .unwrap();
    assert_eq!(answers.len(), 5000);
    for (index, answer) in answers.iter().enumerate() {
        let query = batch.query(index);
        let half = |word: u64| {
            // Every value of this batch is normal.
            let bits = ((word & 0x8000) << 16) | (((word & 0x7fff) + ((127 - 15) << 10)) << 13);
            f32::from_bits(bits as u32)
        };
        let sum = (0..4).fold(f32::from_bits(query.c as u32), |sum, k| {
            sum + half(query.a[k]) * half(query.b[k])
        });
        assert_eq!(*answer, Answer::Word(sum.to_bits().into()), "query {index}");
    }
}

#[test]
fn the_example_plugin_answers_as_float_arithmetic() {
    let out = std::env::temp_dir().join(format!("mmascope-plugin-{}.so", std::process::id()));
    let compiled = Command::new("cc")
        .args([
            "-O2",
            "-ffp-contract=off",
            "-shared",
            "-fPIC",
            "-Wall",
            "-Werror",
            "-std=c99",
        ])
        .arg("-I")
        .arg(root().join("crates/mmascope-host/include"))
        .arg("-o")
        .arg(&out)
        .arg(root().join("examples/devices/sequential.c"))
        .status();
    match compiled {
        Err(error) => return println!("skipped: no C compiler: {error}"),
        Ok(status) => assert!(status.success(), "the example plugin does not compile"),
    }
    let mut plugin = PluginDut::load(out.to_str().unwrap()).unwrap();
    let batch = batch("a=f32 b=f32 c=f32 d=f32 k=8", 1000);
    let answers = plugin.run(&batch).unwrap();
    for (index, answer) in answers.iter().enumerate() {
        let query = batch.query(index);
        let value = |word: u64| f32::from_bits(word as u32);
        let sum = (0..8).rev().fold(value(query.c), |sum, k| {
            sum + value(query.a[k]) * value(query.b[k])
        });
        assert_eq!(*answer, Answer::Word(sum.to_bits().into()), "query {index}");
    }
    let wrong = batch_of_another_signature();
    assert!(matches!(plugin.run(&wrong), Err(Error::Argument(_))));
    std::fs::remove_file(&out).unwrap();
}

fn batch_of_another_signature() -> Batch {
    batch(F16, 1)
}

#[test]
fn failures_name_the_query_and_never_hang() {
    let Some(python) = python() else { return };
    let good = "print(json.dumps({'id': q['id'], 'd': '3f800000'}))";
    let flush = "print(flush=True)";
    // (what goes wrong, setup, each line, end of batch, query blamed, words of the message)
    let cases: [(&str, &str, &str, &str, usize, &str); 12] = [
        ("hangs", "", "pass", "time.sleep(60)", 0, "no answer within"),
        (
            "hangs later",
            "",
            good,
            "sys.stdout.flush(); time.sleep(60)",
            7,
            "8 of 8 answered",
        ),
        (
            "never reads",
            "time.sleep(60)",
            good,
            flush,
            0,
            "no answer within",
        ),
        (
            "dies",
            "",
            "sys.exit('out of paper')",
            flush,
            0,
            "out of paper",
        ),
        (
            "dies later",
            "",
            "print(json.dumps({'id': q['id'], 'd': '3f800000'}), flush=True) \
             if q['id'] < 3 else sys.exit(5)",
            flush,
            3,
            "exit status: 5",
        ),
        (
            "short",
            "",
            "q['id'] < 5 and print(json.dumps({'id': q['id'], 'd': '3f800000'}))",
            flush,
            5,
            "short answer: 5 of 8",
        ),
        (
            "long",
            "",
            good,
            "print('{}'); print(flush=True)",
            7,
            "more than 8 answers",
        ),
        (
            "no JSON",
            "",
            "print('what?')",
            flush,
            0,
            "malformed answer 'what?'",
        ),
        (
            "wrong id",
            "",
            "print(json.dumps({'id': 9, 'd': '3f800000'}))",
            flush,
            0,
            "expected id 0",
        ),
        (
            "no d",
            "",
            "print(json.dumps({'id': q['id']}))",
            flush,
            0,
            "no \"d\"",
        ),
        (
            "wrong d",
            "",
            "print(json.dumps({'id': q['id'], 'd': '3f80'}))",
            flush,
            0,
            "8 hex digits",
        ),
        (
            "reports",
            "",
            "print(json.dumps({'id': q['id'], 'error': 'too hot'}))",
            flush,
            0,
            "the device reports: too hot",
        ),
    ];
    for (what, setup, each, end, blamed, words) in cases {
        let started = Instant::now();
        let mut device = process(
            &scripted(&python, setup, each, end),
            Duration::from_millis(1500),
        );
        let error = device.run(&batch(F16, 8)).expect_err(what);
        let Error::Device { query, message, .. } = &error else {
            panic!("{what}: {error}")
        };
        assert_eq!(*query, Some(blamed), "{what}: {error}");
        assert!(message.contains(words), "{what}: {message}");
        // After a failure the device stays broken instead of answering out of step.
        assert!(device.run(&batch(F16, 1)).is_err(), "{what}");
        drop(device);
        assert!(
            started.elapsed() < Duration::from_secs(8),
            "{what} took too long"
        );
    }
}

#[test]
fn endless_output_is_bounded() {
    let Some(python) = python() else { return };
    let command = scripted(
        &python,
        "while True: sys.stdout.write('x' * 65536)",
        "pass",
        "pass",
    );
    let mut device = process(&command, Duration::from_secs(5));
    let error = device
        .run(&batch(F16, 2))
        .expect_err("endless line")
        .to_string();
    assert!(error.contains("more than 1048576 bytes"), "{error}");
}

#[test]
fn noise_is_found() {
    let Some(python) = python() else { return };
    let each = "print(json.dumps({'id': q['id'], 'd': '%08x' % random.getrandbits(30)}))";
    let command = scripted(&python, "", each, "print(flush=True)");
    let mut device = NoiseCheckedDut::new(process(&command, Duration::from_secs(10)), 1);
    let error = device.run(&batch(F16, 3)).expect_err("noise").to_string();
    assert!(error.contains("noise: the same input gave"), "{error}");
    // A device that answers the same every time is left in peace.
    let each = "print(json.dumps({'id': q['id'], 'd': q['c']}))";
    let command = scripted(&python, "", each, "print(flush=True)");
    let mut device = NoiseCheckedDut::new(process(&command, Duration::from_secs(10)), 2);
    let batch = batch(F16, 5);
    let expected: Vec<Answer> = (0..5).map(|i| Answer::Word(batch.query(i).c)).collect();
    assert_eq!(device.run(&batch).unwrap(), expected);
}

#[test]
fn a_model_is_a_device() {
    let subject: DeviceName = "model:h100:mma.m16n8k8.f32.f16.f16.f32".parse().unwrap();
    let catalogue = Catalogue::built_in();
    let mut device = subject
        .open(catalogue, None, Duration::from_secs(1))
        .unwrap();
    let batch = batch("a=f16 b=f16 c=f32 d=f32 k=8", 50);
    let answers = device.run(&batch).unwrap();
    let unit = catalogue
        .find("hopper", "mma.m16n8k8.f32.f16.f16.f32")
        .unwrap()
        .unit()
        .unwrap();
    for (index, answer) in answers.iter().enumerate() {
        let expected = unit.dot(&batch.query(index), &Default::default()).unwrap();
        assert_eq!(*answer, Answer::Word(expected));
    }
    let other = Interface::of_signature(F16.parse().unwrap());
    let error = subject
        .open(catalogue, Some(other), Duration::from_secs(1))
        .err()
        .unwrap();
    assert!(error.to_string().contains("has the signature"), "{error}");
}

/// Many queries at once are what they are one by one, for every instruction, and a word that is too wide is named.
#[test]
fn a_model_answers_many_queries_as_one_by_one() {
    for row in Catalogue::built_in().instructions() {
        let Ok(unit) = row.unit() else { continue };
        let mut batch = Batch::new(*unit.signature());
        let mut expected = Vec::new();
        for family in [Family::Stress, Family::Bits, Family::Boundary] {
            let generator = Generator::for_unit(family, 3, unit).unwrap();
            for index in 0..8 {
                let case = generator.case(index);
                let word = unit.dot(&case.operands(), &Modifiers::default()).unwrap();
                // A model states no NaN that it does not know.
                let is_stated = unit.program().nan_is_known() || !unit.is_nan(word);
                expected.push(if is_stated {
                    Answer::Word(word)
                } else {
                    Answer::AnyNan
                });
                batch.push(&case.operands()).unwrap();
            }
        }
        let mut model = ModelDut::new("model", unit.clone());
        assert_eq!(model.run(&batch).unwrap(), expected, "{}", row.name);
    }
    let row = Catalogue::built_in().find("hopper", "mma.m16n8k16.f32.f16.f16.f32");
    let unit = row.unwrap().unit().unwrap();
    let mut batch = Batch::new(*unit.signature());
    let wide = [0, 0, 0x1_0000, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    for b in [[0; 16], wide] {
        let operands = Operands {
            a: &[0; 16],
            b: &b,
            ..Operands::default()
        };
        batch.push(&operands).unwrap();
    }
    let error = ModelDut::new("model", unit.clone()).run(&batch);
    assert!(error.unwrap_err().to_string().contains("b[2] is 10000"));
}

#[test]
fn subjects_split_on_single_colons() {
    let model = |arch: &str, inst: &str| DeviceName::Model {
        arch: arch.into(),
        inst: inst.into(),
    };
    let kind = "tcgen05.mma.m128n8k16.kind::f16.f32.f16.f16";
    assert_eq!(
        format!("model:b200:{kind}").parse(),
        Ok(model("b200", kind))
    );
    assert_eq!(
        "plugin:/a:b.so".parse(),
        Ok(DeviceName::Plugin("/a:b.so".into()))
    );
    assert_eq!(
        "cmd:ssh h x::y".parse(),
        Ok(DeviceName::Command("ssh h x::y".into()))
    );
    assert_eq!(
        format!("cuda:1:{kind}").parse(),
        Ok(DeviceName::Cuda {
            ordinal: 1,
            inst: kind.into()
        })
    );
    for wrong in [
        "cuda:0",
        "cuda:x:mma",
        "cuda:0:",
        "",
        "model",
        "model:",
        "model:h100",
        "model:h100:",
        "robot:x",
        "cmd:",
        "gemm:a",
    ] {
        let error = wrong.parse::<DeviceName>().expect_err(wrong);
        assert!(
            error.to_string().contains("model:ARCH:INST"),
            "{wrong}: {error}"
        );
    }
}

#[test]
fn wrong_plugins_and_commands_are_errors() {
    let no_plugin = root().join("README.md");
    for path in ["/no/such/plugin.so", no_plugin.to_str().unwrap()] {
        assert!(
            matches!(PluginDut::load(path), Err(Error::Device { .. })),
            "{path}"
        );
    }
    let interface = Interface::of_signature(F16.parse().unwrap());
    for command in ["/no/such/program", "", "'unbalanced"] {
        let result = ProcessDut::spawn(command, interface.clone(), Duration::from_secs(1));
        assert!(matches!(result, Err(Error::Device { .. })), "{command}");
    }
    let subject: DeviceName = "cmd:cat".parse().unwrap();
    let error = subject
        .open(Catalogue::built_in(), None, Duration::from_secs(1))
        .err()
        .unwrap();
    assert!(error.to_string().contains("a signature like"), "{error}");
}

#[test]
fn signatures_are_read_strictly() {
    for wrong in [
        "",
        "a=f16",
        "a=f16 b=f16 c=f32 d=f32 k=0",
        "a=f16 b=f16 c=f32 d=f32 k=x",
        "a=f16 a=f16 b=f16 c=f32 d=f32 k=4",
        "a=f17 b=f16 c=f32 d=f32 k=4",
        "a=f16 b=f16 c=f32 d=f32 k=4 block=32",
        "a=f16 b=f16 c=f32 d=f32 k=4 scale=ue8m0",
        "a=f16 b=f16 c=f32 d=f32 k=4 speed=9",
    ] {
        assert!(wrong.parse::<Signature>().is_err(), "'{wrong}' was taken");
    }
    let text = "a=e4m3fn b=e2m1fn c=f32 d=f32 k=64 scale=ue4m3 block=16";
    assert_eq!(text.parse::<Signature>().unwrap().to_string(), text);
}
