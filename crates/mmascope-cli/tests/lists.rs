//! Units and files of a product, one by one or in lists, and the steps of its outputs.

#[path = "common/user.rs"]
mod user;

use user::{err, npy, out, printed, run, words};

const VOLTA: &str = "mma.m8n8k4.f32.f16.f16.f32";

/// Units and files may stand one by one or with commas, and units without their option.
#[test]
fn lists_are_taken_one_by_one_and_with_commas() {
    let folder = tempfile::tempdir().expect("a folder");
    let a = npy(folder.path(), "a.npy", [8, 16], words(1));
    let b = npy(folder.path(), "b.npy", [16, 8], words(2));
    let path = |name: &str| folder.path().join(name).to_str().expect("UTF-8").to_owned();
    let compared = |arguments: &[&str]| {
        let text = printed(&[&["matmul", &a, &b], arguments].concat(), 0);
        let lines = text.lines().filter(|line| !line.contains("time"));
        lines.map(str::to_owned).collect::<Vec<String>>()
    };
    let volta = format!("volta:{VOLTA}");
    let ampere = "ampere:mma.m16n8k16.f32.f16.f16.f32";
    let comma = compared(&["--arch", &format!("{volta},{ampere}"), "--stats", "none"]);
    for other in [
        vec!["--arch", &volta, "--arch", ampere, "--stats", "none"],
        vec![&volta, ampere, "--stats", "none"],
        vec![&format!("{volta},{ampere}"), "--stats", "none"],
    ] {
        assert_eq!(compared(&other), comma, "{other:?}");
    }
    for (unit, name) in [(volta.as_str(), "1.npy"), (ampere, "2.npy")] {
        printed(&["matmul", &a, &b, unit, "-o", &path(name)], 0);
    }
    let (one, two) = (path("1.npy"), path("2.npy"));
    let apart = run(&["diff", "--results", &one, &two]);
    let comma = run(&["diff", "--results", &format!("{one},{two}")]);
    assert_eq!((apart.status, out(&apart)), (comma.status, out(&comma)));
    assert!(out(&apart).contains("1.npy"));
    assert_eq!(
        printed(&["gen", &volta, "--family", "normal", "-n", "2"], 0),
        printed(
            &["gen", "--arch", &volta, "--family", "normal", "-n", "2"],
            0
        )
    );
}

/// Tensors of a file may stand in a list too, and a file may have a comma in its name.
#[test]
fn lists_of_results_may_name_tensors() {
    let folder = tempfile::tempdir().expect("a folder");
    let tensors = |name: &str, words: [f32; 4]| {
        let header = r#"{"d":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}}"#;
        let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
        bytes.extend(header.bytes());
        bytes.extend(words.iter().flat_map(|word| word.to_le_bytes()));
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).expect("written");
        format!("{}:d", path.to_str().expect("UTF-8"))
    };
    let one = tensors("x.safetensors", [1.0, 2.0, 3.0, 4.0]);
    let two = tensors("y.safetensors", [1.0, 2.0, 3.0, 5.0]);
    let comma = tensors("p,q.safetensors", [1.0, 2.0, 3.0, 5.0]);
    for files in [
        vec![format!("{one},{two}")],
        vec![one.clone(), two.clone()],
        vec![one.clone(), comma],
    ] {
        let files: Vec<&str> = files.iter().map(String::as_str).collect();
        let text = printed(&[&["diff", "--results"], &files[..]].concat(), 1);
        assert!(text.contains("first at 1,1"), "{files:?}: {text}");
    }
    let missing = run(&["diff", "--results", &format!("{one},")]);
    assert!(
        err(&missing).contains("a file's name is empty"),
        "{}",
        err(&missing)
    );
}

/// Where D takes the place of a file that is read, that is said.
#[test]
fn replaced_operands_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    let a = npy(folder.path(), "a.npy", [8, 16], words(1));
    let b = npy(folder.path(), "b.npy", [16, 8], words(2));
    let path = folder
        .path()
        .join("d.npy")
        .to_str()
        .expect("UTF-8")
        .to_owned();
    let told = |output: &str| {
        let done = run(&["matmul", &a, &b, "volta:f16", "-o", output]);
        assert_eq!(done.status.code(), Some(0), "{}", err(&done));
        err(&done).contains("will replace the file of B")
    };
    assert!(!told(&path));
    assert!(!told(&path), "a D of before is no operand");
    assert!(told(&b));
    // Another unit would read the first one's D.
    let wmma = "wmma.m16n16k16.f16.f16.f16.f16";
    let taken = format!("b-volta-{wmma}.npy");
    let last = "b-ada-mma.m16n8k16.f16.f16.f16.f16.npy";
    let b = npy(folder.path(), &taken, [16, 8], words(2));
    let before = std::fs::read(&b).expect("the file");
    let output = folder.path().join("b.npy");
    let units = format!("volta:{wmma},ada:mma.m16n8k16.f16.f16.f16.f16");
    let two = run(&[
        "matmul",
        &a,
        &b,
        &units,
        "-o",
        output.to_str().expect("UTF-8"),
    ]);
    assert_eq!(two.status.code(), Some(2), "{}", out(&two));
    assert!(
        err(&two).contains("which other units are to read"),
        "{}",
        err(&two)
    );
    assert_eq!(std::fs::read(&b).expect("the file"), before);
    // Behind the last unit nobody reads it.
    std::fs::remove_file(&b).expect("gone");
    let b = npy(folder.path(), last, [16, 8], words(2));
    let two = run(&[
        "matmul",
        &a,
        &b,
        &units,
        "-o",
        output.to_str().expect("UTF-8"),
    ]);
    assert_eq!(two.status.code(), Some(0), "{}", err(&two));
    assert!(
        err(&two).contains("will replace the file of B"),
        "{}",
        err(&two)
    );
}

/// Any step of an output's chain can be opened, on one unit or on two.
#[test]
fn any_step_of_a_chain_is_explained() {
    let folder = tempfile::tempdir().expect("a folder");
    let a = npy(folder.path(), "a.npy", [8, 64], words(1));
    let b = npy(folder.path(), "b.npy", [64, 8], words(2));
    let hopper = "hopper:mma.m16n8k16.f32.f16.f16.f32";
    let explain = |more: &[&str]| {
        let text = printed(
            &[&["explain", &a, &b, hopper, "--at", "2,3", "--json"], more].concat(),
            0,
        );
        serde_json::from_str::<serde_json::Value>(&text).expect("JSON")
    };
    let last = explain(&[]);
    assert_eq!(last["step"], 3);
    for (k, step) in [("0", 0), ("16", 1), ("31", 1), ("63", 3)] {
        let one = explain(&["--k", k]);
        assert_eq!(one["step"], step, "{k}");
        // The step is that of the chain: its result is the sum there.
        assert_eq!(
            one["explanation"]["result"]["word"], one["chain"][step]["d"],
            "{k}"
        );
        let two = explain(&["--k", k, "--against", "ampere:mma.m16n8k16.f32.f16.f16.f32"]);
        assert_eq!(two["step"], step, "{k}");
        assert_eq!(two["explanation"], one["explanation"], "{k}");
        assert_eq!(two["against"]["arch"], "ampere", "{k}");
        assert!(two["parting_step"]["step"].is_u64(), "{k}");
    }
    // Where the other unit ends no step there, the parting is told all the same.
    let eight = "ampere:mma.m16n8k8.f32.f16.f16.f32";
    let of_eight = |more: &[&str]| {
        let arguments = ["explain", &a, &b, eight, "--at", "2,3", "--against", hopper];
        let text = printed(&[&arguments[..], more].concat(), 0);
        (text.contains("they part in the step of k = "), text)
    };
    let json = |more: &[&str]| {
        let (_, text) = of_eight(&[&["--json"], more].concat());
        serde_json::from_str::<serde_json::Value>(&text).expect("JSON")
    };
    let (plain, asked) = (json(&[]), json(&["--k", "0"]));
    assert!(plain["parting_step"]["step"].is_u64());
    assert_eq!(asked["parting_step"], plain["parting_step"]);
    assert!(asked["against"].is_null() && asked["against_chain"].is_array());
    let (says, text) = of_eight(&["--k", "0"]);
    assert!(says, "{text}");
    let beyond = run(&["explain", &a, &b, hopper, "--at", "2,3", "--k", "64"]);
    assert_eq!(beyond.status.code(), Some(2));
    assert!(
        err(&beyond).contains("--k 64: the chain sums products 0 to 63"),
        "{}",
        err(&beyond)
    );
}

/// A list where one unit is taken is told as one, not looked for as a name.
#[test]
fn a_list_is_told_where_one_unit_is_taken() {
    let folder = tempfile::tempdir().expect("a folder");
    let a = npy(folder.path(), "a.npy", [8, 16], words(1));
    let b = npy(folder.path(), "b.npy", [16, 8], words(2));
    let explain = ["explain", &a, &b, "h100:f16", "--at", "0,0"];
    let list = "a100:f16,v100:f16";
    let arguments = [&explain[..], &["--against", list]].concat();
    let output = run(&arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    assert!(
        err(&output).contains("one unit is taken"),
        "{}",
        err(&output)
    );
}

/// A device is compared with each of the models, as with that one alone.
#[test]
fn validate_takes_several_models() {
    let of = |against: &str, code: i32| -> serde_json::Value {
        let validate = ["validate", "model:a100:f16", "--trials", "2000", "--json"];
        let text = printed(&[&validate[..], &["--against", against]].concat(), code);
        serde_json::from_str(&text).expect("JSON")
    };
    let both = of("a100:f16,v100:f16", 1);
    let apart = [of("a100:f16", 0), of("v100:f16", 1)];
    for (index, alone) in apart.iter().enumerate() {
        for key in ["against", "trials", "mismatches", "shrunk"] {
            assert_eq!(both["models"][index][key], alone[key], "{index} {key}");
        }
    }
    let folder = tempfile::tempdir().expect("a folder");
    let state = folder.path().join("state.json").display().to_string();
    let validate = ["validate", "model:a100:f16", "--against"];
    let kept = [&validate[..], &["a100:f16,v100:f16", "--state", &state]].concat();
    let output = run(&kept);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        err(&output).contains("it is of one model"),
        "{}",
        err(&output)
    );
    // So is a model of other operands.
    let output = run(&[&validate[..], &["a100:f16,a100:bf16"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(
        err(&output).contains("of one signature"),
        "{}",
        err(&output)
    );
    // A name that is none is told before anything is asked.
    let output = run(&[&validate[..], &["a100:f16,v100:nosuch"]].concat());
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("nosuch"), "{}", err(&output));
}

/// Values are cast to each of the formats, as to that one alone.
#[test]
fn cast_takes_several_formats() {
    let of = |to: &str| printed(&["cast", "--from", "f32", "--to", to, "1.1", "500"], 0);
    let apart = [of("f16"), of("bf16")].join("\n");
    assert_eq!(of("f16,bf16"), apart);
    let json = |to: &str| -> serde_json::Value {
        let text = printed(&["cast", "--from", "f32", "--to", to, "1.1", "--json"], 0);
        serde_json::from_str(&text).expect("JSON")
    };
    let both = json("f16,bf16");
    assert_eq!(both["casts"][0]["results"], json("f16")["results"]);
    assert_eq!(both["casts"][1]["results"], json("bf16")["results"]);
    // An array of codes is of one format.
    let folder = tempfile::tempdir().expect("a folder");
    let a = npy(folder.path(), "a.npy", [8, 16], words(1));
    let codes = folder.path().join("codes.npy");
    let to = codes.to_str().expect("UTF-8");
    let file = [
        "cast", "--from", "f16", "--to", "bf16,f32", "--input", &a, "-o", to,
    ];
    let output = run(&file);
    assert_eq!(output.status.code(), Some(2));
    assert!(
        err(&output).contains("the codes of one format"),
        "{}",
        err(&output)
    );
    assert!(!codes.exists());
}

/// Each of several units checks all lines; standard input could be read for the first alone.
#[test]
fn check_takes_several_units() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("pack.jsonl");
    let (file, hopper) = (
        path.to_str().expect("UTF-8"),
        "hopper:mma.m16n8k8.f32.f16.f16.f32",
    );
    printed(
        &["gen", "--discriminating", "--arch", hopper, "-o", file],
        0,
    );
    let ampere = "ampere:mma.m16n8k8.f32.f16.f16.f32";
    let list = format!("{hopper},{ampere}");
    let text = printed(&["check", file, "--as", &list], 1);
    let alone = |unit: &str, status: i32| printed(&["check", file, "--as", unit], status);
    let (fits, fails) = (alone(hopper, 0), alone(ampere, 1));
    let (mismatches, counts) = fails.split_at(fails.rfind(" passed").expect("counts"));
    let (mismatches, passed) = mismatches.rsplit_once('\n').expect("mismatches");
    assert_eq!(
        text,
        format!("{hopper}: {fits}\n{mismatches}\n{ampere}: {passed}{counts}")
    );
    let json: serde_json::Value =
        serde_json::from_str(&printed(&["check", file, "--as", &list, "--json"], 1)).expect("JSON");
    assert_eq!(json["units"][0]["unit"], hopper);
    assert_eq!(json["units"][1]["failed"], 2);
    let output = run(&["check", "-", "--as", &list]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("read once"), "{}", err(&output));
}

/// An instruction or types beside units that name theirs decide nothing: they are refused, and so is an architecture alone where a
/// unit is shown, and a name for lines that nobody knows.
#[test]
fn names_that_decide_nothing_are_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let a = npy(folder.path(), "a.npy", [8, 16], words(1));
    let b = npy(folder.path(), "b.npy", [16, 8], words(2));
    let units = "h100:f16,a100:f16";
    let named = "every unit names its instruction already";
    for (arguments, message) in [
        (
            vec!["diff", "--arch", units, "--inst", "zz", "--family", "bits"],
            named,
        ),
        (
            vec!["diff", &a, &b, "--arch", units, "--types", "f16,f16"],
            named,
        ),
        (vec!["show", "h100:f16", "--inst", "zz"], named),
        (vec!["show", "h100"], "give h100:INST or --inst"),
        (
            vec!["eval", "--arch", "nope", &a],
            "unknown architecture 'nope'",
        ),
        (vec!["eval", "--inst", "zz", &a], "unknown instruction 'zz'"),
    ] {
        let output = run(&arguments);
        assert_eq!(
            output.status.code(),
            Some(2),
            "{arguments:?}: {}",
            out(&output)
        );
        assert!(
            err(&output).contains(message),
            "{arguments:?}: {}",
            err(&output)
        );
    }
}
