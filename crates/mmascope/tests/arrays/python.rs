//! Files that NumPy, ml_dtypes, the safetensors package and PyTorch wrote, where Python has them;
//! and our files read by NumPy.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::AtomicBool;

use mmascope::array::{self, Casting, Element, write_npy};
use mmascope::format::{E2M1FN, E4M3FN, F16, F32, F64, Format};

/// Runs a script with the folder as its argument; `None`, with the reason printed, when Python or
/// a package is not there (the script then prints `skipped` and why).
fn python(script: &str, folder: &Path) -> Option<()> {
    let program = std::env::var("MMASCOPE_PYTHON").unwrap_or_else(|_| "python3".into());
    let output = match Command::new(&program)
        .arg("-c")
        .arg(script)
        .arg(folder)
        .output()
    {
        Ok(output) => output,
        Err(error) => {
            println!("skipped: {program} does not run: {error}");
            return None;
        }
    };
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    if said.starts_with("skipped") {
        print!("{said}");
        return None;
    }
    assert!(
        output.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Some(())
}

/// Values of every kind, as a 3 × 4 array in each ml_dtypes type, with their codes beside them.
const NUMPY: &str = r#"
import sys
try:
    import numpy as np, ml_dtypes as ml
except ImportError as error:
    print("skipped: NumPy and ml_dtypes:", error); sys.exit()
values = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 1.5, -2.0, 3.0, 4.0, -6.0, 0.25, 2.0])
folder = sys.argv[1]
def save(name, array, codes):
    np.save(f"{folder}/{name}.npy", array)
    np.asarray(codes).astype("<u8").tofile(f"{folder}/{name}.codes")
unsigned = {1: "u1", 2: "<u2", 4: "<u4", 8: "<u8"}
for name in """bfloat16 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e4m3
        float8_e3m4 float8_e4m3b11fnuz float8_e8m0fnu float6_e3m2fn float6_e2m3fn float4_e2m1fn
        float16 float32 float64""".split():
    dtype = np.dtype(getattr(ml, name, None) or getattr(np, name))
    array = (np.abs(values) if "e8m0" in name else values).astype(dtype).reshape(3, 4)
    codes = array.view(unsigned[dtype.itemsize])
    save(name, array, codes)
    save(name + ".fortran", np.asfortranarray(array), codes)
    save(name + ".codes", codes, codes)
    if dtype.itemsize > 1 and dtype.kind == "f":
        save(name + ".big", array.astype(dtype.newbyteorder(">")), codes)
        save(name + ".both", np.asfortranarray(array.astype(dtype.newbyteorder(">"))), codes)
for code in "bBhHiIlLqQ":
    array = np.arange(12, dtype=code).reshape(3, 4)
    save("integer." + code, array, array)
    top = np.array([[np.iinfo(code).min, np.iinfo(code).max, 0, 1]], code)
    save("extreme." + code, top, top.view(unsigned[top.itemsize]))
# ml_dtypes' integers: one byte each, whatever their width, as np.save writes them: V1.
for name in "int1 uint1 int2 uint2 int4 uint4".split():
    if hasattr(ml, name):
        array = np.arange(-8, 16).astype(getattr(ml, name)).reshape(4, 6)
        save("narrow." + name, array, array.view("u1"))
# What is neither a number nor a code.
for name in ["?", "F", "D", "g", "G", "S1", "U1", "O", "M8[s]", "m8[s]", "V3", "f4,i4", "bcomplex32", "complex32"]:
    if hasattr(ml, name) or name[0] not in "bc":
        refused = np.zeros((3, 4), getattr(ml, name, name))
        np.save(f"{folder}/refused.{name.replace(',', '_')}.npy", refused, allow_pickle=True)
# Every other type of ml_dtypes is in the list above.
known = set("""bfloat16 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float8_e5m2fnuz float8_e4m3 float8_e3m4
    float8_e4m3b11fnuz float8_e8m0fnu float6_e3m2fn float6_e2m3fn float4_e2m1fn int1 uint1 int2 uint2 int4
    uint4 bcomplex32 complex32""".split())
new = [name for name in dir(ml) if isinstance(getattr(ml, name), type) and name not in known
       and issubclass(getattr(ml, name), np.generic)]
assert not new, new
# Rounding: what ml_dtypes and NumPy make of random numbers.
random = np.random.default_rng(7)
wide = random.standard_normal((64, 64)) * np.exp2(random.integers(-30, 8, (64, 64)))
np.save(f"{folder}/random.npy", wide)
np.save(f"{folder}/random32.npy", wide.astype(np.float32))
for name in "bfloat16 float8_e4m3fn float8_e5m2 float8_e4m3fnuz float16 float32".split():
    dtype = np.dtype(getattr(ml, name, None) or getattr(np, name))
    # ml_dtypes goes to 8 bits over f32, which rounds twice; f32 is rounded once.
    source = wide if name == "float32" else wide.astype(np.float32)
    limit = 200 if "float8" in name else 1e30
    codes = np.clip(source, -limit, limit).astype(dtype).view(unsigned[dtype.itemsize])
    codes.astype("<u8").tofile(f"{folder}/rounded.{name}")
np.save(f"{folder}/clipped.npy", np.clip(wide.astype(np.float32), -200, 200))
"#;

/// A format of so many bytes.
fn of_width(bytes: usize) -> Format {
    match bytes {
        1 => E4M3FN,
        2 => F16,
        4 => F32,
        _ => F64,
    }
}

fn codes(path: &Path) -> Vec<u64> {
    let bytes = fs::read(path).expect("codes");
    let chunks = bytes.chunks_exact(8);
    chunks
        .map(|chunk| u64::from_le_bytes(chunk.try_into().expect("8 bytes")))
        .collect()
}

#[test]
fn npy_by_numpy_and_ml_dtypes() {
    let folder = tempfile::tempdir().expect("a folder");
    if python(NUMPY, folder.path()).is_none() {
        return;
    }
    let default = Casting::default();
    let read = |name: &str| {
        let path = folder.path().join(name);
        array::read(path.to_str().expect("a name"))
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    };
    let mut count = 0;
    for entry in fs::read_dir(folder.path()).expect("a folder") {
        let path = entry.expect("an entry").path();
        let Some(stem) = path.file_stem().and_then(|stem| stem.to_str()) else {
            continue;
        };
        let expected = path.with_extension("codes");
        if path.extension().is_none_or(|extension| extension != "npy") || !expected.exists() {
            continue;
        }
        let kind = stem.split('.').next().expect("a part");
        let array = read(&format!("{stem}.npy"));
        let (format, shape) = match kind {
            "integer" => (F64, [3, 4]),
            // Negative integers are codes of operands as wide as they are.
            "extreme" => (of_width(array.bytes().len() / 4), [1, 4]),
            "narrow" => (E4M3FN, [4, 6]),
            name => (Format::named(name).expect("a format"), [3, 4]),
        };
        assert_eq!(array.shape(), shape, "{stem}");
        if kind == "narrow" {
            // Bytes without the sign's copies: codes of a narrow operand just as well.
            let words = array.words(&E2M1FN, &default).expect("fits");
            assert_eq!(words, codes(&expected), "{stem}");
        }
        let words = if format.signed {
            array.words(&format, &default)
        } else {
            array.scale_words(&format)
        };
        assert_eq!(words.expect("fits"), codes(&expected), "{stem}");
        count += 1;
    }
    assert!(count >= 71, "{count} files");
    let mut refused = 0;
    for entry in fs::read_dir(folder.path()).expect("a folder") {
        let path = entry.expect("an entry").path();
        let path = path.to_str().expect("a name");
        if path.contains("refused.") {
            let error = array::read(path).expect_err(path).to_string();
            let said = ["are not taken", "several fields"];
            assert!(said.iter().any(|words| error.contains(words)), "{error}");
            refused += 1;
        }
    }
    assert!(refused >= 12, "{refused} files");
    for name in ["bfloat16", "float16", "float32"] {
        let source = if name == "float32" {
            "random.npy"
        } else {
            "random32.npy"
        };
        let format = Format::named(name).expect("a format");
        let words = read(source).words(&format, &default).expect("fits");
        assert_eq!(
            words,
            codes(&folder.path().join(format!("rounded.{name}"))),
            "{name}"
        );
    }
    for name in ["float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz"] {
        let format = Format::named(name).expect("a format");
        let words = read("clipped.npy").words(&format, &default).expect("fits");
        assert_eq!(
            words,
            codes(&folder.path().join(format!("rounded.{name}"))),
            "{name}"
        );
    }
}

#[test]
fn our_npy_by_numpy() {
    let folder = tempfile::tempdir().expect("a folder");
    for (name, format) in [("f16", F16), ("f32", F32), ("f64", F64)] {
        let path = folder.path().join(format!("{name}.npy"));
        let words: Vec<u64> = (0..6).map(|i| i * 3 + 1).collect();
        let path = path.to_str().expect("a name");
        write_npy(path, &[2, 3], &format, &words, &AtomicBool::new(false)).expect("written");
    }
    let script = r#"
import sys
try:
    import numpy as np
except ImportError as error:
    print("skipped: NumPy:", error); sys.exit()
for bits in (16, 32, 64):
    array = np.load(f"{sys.argv[1]}/f{bits}.npy")
    assert array.dtype == f"<f{bits // 8}" and array.shape == (2, 3), (array.dtype, array.shape)
    assert (array.view(f"<u{bits // 8}").ravel() == np.arange(6) * 3 + 1).all(), array
"#;
    python(script, folder.path());
}

#[test]
fn safetensors_by_its_python_package() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = r#"
import sys
try:
    import numpy as np
    from safetensors.numpy import save_file
    from safetensors import serialize_file
    try:
        from safetensors import TensorSpec
    except ImportError:
        TensorSpec = None
except ImportError as error:
    print("skipped: the safetensors package:", error); sys.exit()
folder = sys.argv[1]
save_file({"half": np.array([[1, -2]], np.float16), "codes": np.array([[1], [2]], np.uint8),
           "single": np.ones((2, 2), np.float32)}, f"{folder}/numpy.safetensors")
raw = {"bf": ("bfloat16", [1, 2], b"\x80\x3f\x00\xc0"), "f8": ("float8_e4m3fn", [2, 1], b"\x38\xb8"),
       "e8": ("float8_e8m0fnu", [1, 1], b"\x7f"), "f4": ("float4_e2m1fn_x2", [1, 2], b"\x21\x43")}
if TensorSpec is None:
    data = {name: {"dtype": dtype, "shape": shape, "data": data}
            for name, (dtype, shape, data) in raw.items()}
else:
    kept = {name: np.frombuffer(data, np.uint8) for name, (_, _, data) in raw.items()}
    data = {name: TensorSpec(dtype=dtype, shape=shape, data_ptr=kept[name].ctypes.data,
                             data_len=len(data)) for name, (dtype, shape, data) in raw.items()}
serialize_file(data, f"{folder}/raw.safetensors")
"#;
    if python(script, folder.path()).is_none() {
        return;
    }
    let read = |file: &str, name: &str| {
        let path = folder.path().join(format!("{file}.safetensors"));
        let name = format!("{}:{name}", path.to_str().expect("a name"));
        array::read(&name).unwrap_or_else(|error| panic!("{error}"))
    };
    let default = Casting::default();
    let half = read("numpy", "half");
    assert_eq!(
        (half.shape(), half.element()),
        (&[1, 2][..], Element::Number(F16))
    );
    assert_eq!(half.words(&F16, &default).expect("fits"), [0x3c00, 0xc000]);
    assert_eq!(read("numpy", "codes").bytes(), [1, 2]);
    assert_eq!(read("numpy", "single").shape(), [2, 2]);
    let words = |name: &str| read("raw", name).words(&F16, &default).expect("fits");
    assert_eq!(words("bf"), [0x3c00, 0xc000]);
    assert_eq!(words("f8"), [0x3c00, 0xbc00]);
    assert_eq!(words("e8"), [0x3c00]);
    assert_eq!(read("raw", "f4").shape(), [1, 4]);
    assert_eq!(words("f4"), [0x3800, 0x3c00, 0x3e00, 0x4000]);
}

/// Every array of a file that `python/pytorch.py` made has the codes that stand beside it.
fn check_pytorch(path: &Path) {
    let bytes = fs::read(path).expect("the file");
    let names = array::safetensors_names(&bytes).expect("names");
    let default = Casting::default();
    let read = |name: &str| {
        let path = path.to_str().expect("a name");
        array::read(&format!("{path}:{name}")).unwrap_or_else(|error| panic!("{error}"))
    };
    let mut count = 0;
    for name in names.iter().filter(|name| !name.ends_with(".codes")) {
        let array = read(name);
        let kind = name.trim_end_matches(".t").trim_end_matches("_x2");
        let format = match kind {
            "float4_e2m1fn" => E2M1FN,
            name if name.contains("int") => F64,
            name => Format::named(name).expect("a format"),
        };
        let wanted = read(&format!("{name}.codes"));
        assert_eq!(array.shape(), wanted.shape(), "{name}");
        // The codes are 64-bit integers: words of a 64-bit operand whatever they mean.
        let wanted = wanted.words(&F64, &default).expect("codes");
        let words = if format.signed {
            array.words(&format, &default)
        } else {
            array.scale_words(&format)
        };
        assert_eq!(words.expect("fits"), wanted, "{name}");
        count += 1;
    }
    assert!(count >= 23, "{count} arrays");
    // Numbers go to other formats by value.
    let f16 = |name: &str| read(name).words(&F16, &default).expect("fits");
    for name in [
        "float64",
        "float32",
        "bfloat16",
        "float8_e4m3fn",
        "float8_e5m2",
    ] {
        assert_eq!(f16(name), f16("float16"), "{name}");
    }
}

/// The file that PyTorch 2.15.0 wrote, so that this is tested where there is no PyTorch.
#[test]
fn safetensors_by_pytorch_kept() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/arrays/torch-2.15.0.safetensors");
    check_pytorch(&kept);
}

#[test]
fn safetensors_by_pytorch() {
    let folder = tempfile::tempdir().expect("a folder");
    let script = include_str!("../python/pytorch.py");
    if python(script, folder.path()).is_some() {
        check_pytorch(&folder.path().join("torch.safetensors"));
    }
}
