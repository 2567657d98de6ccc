//! The functions that the fuzzers call. `fuzz_smoke.rs` and `array_fuzz_smoke.rs` in `crates/mmascope/tests` call the same functions, so that
//! they are exercised without a nightly compiler. Neither may panic, whatever the bytes.

use std::cell::RefCell;
use std::io::Cursor;

use mmascope::array::{self, Array, Casting};
use mmascope::dpa::{Modifiers, Operands, Program, Signature, Unit};
use mmascope::format::{BF16, E2M1FN, E4M3FN, F64, TF32, UE8M0};
use mmascope::isa::{Catalogue, Instruction};
use mmascope::tree::Node;
use mmascope::vector::{Lines, Reader, with_answer};

/// Bytes of lines that are looked at: gzip may hold very many.
const MOST_BYTES: usize = 4 << 20;
/// Streams that one reader reads: it remembers every name that it met.
const STREAMS: usize = 100_000;
/// Rows of a text that are simulated.
const MOST_ROWS: usize = 64;

/// A stream of vector lines, plain or gzip. Returns how many lines were good.
pub(crate) fn vector_lines(bytes: &[u8]) -> usize {
    thread_local! {
        // One reader for many streams: what it remembers of names that it met must change nothing. (Suggesting names for an
        // unknown one takes longer than all the rest of a line.)
        static READER: RefCell<(Reader<'static>, usize)> =
            RefCell::new((Reader::new(Catalogue::built_in()), 0));
    }
    READER.with_borrow_mut(|(reader, streams)| {
        *streams += 1;
        if *streams % STREAMS == 0 {
            *reader = Reader::new(Catalogue::built_in());
        }
        lines_of(reader, bytes)
    })
}

fn lines_of(reader: &mut Reader<'_>, bytes: &[u8]) -> usize {
    let Ok(mut lines) = Lines::new("fuzz", Box::new(Cursor::new(bytes.to_vec()))) else {
        return 0;
    };
    let (mut good, mut seen) = (0, 0);
    while let Ok(Some(line)) = lines.next_line() {
        let Ok(text) = line.text else {
            seen += mmascope::vector::MAX_LINE;
            continue;
        };
        seen += text.len();
        good += usize::from(vector_line(reader, &text));
        if seen > MOST_BYTES {
            break;
        }
    }
    good
}

/// An `.npy` file: refused, or an array whose elements become operands.
pub(crate) fn npy(bytes: &[u8]) {
    if let Ok(array) = array::npy_of_bytes(bytes) {
        becomes_operands(&array, bytes);
    }
}

/// A `.safetensors` file: refused, or arrays whose elements become operands.
pub(crate) fn safetensors(bytes: &[u8]) {
    for name in array::safetensors_names(bytes).unwrap_or_default() {
        if let Ok(array) = array::safetensors_of_bytes(bytes, &name) {
            becomes_operands(&array, bytes);
        }
    }
}

/// An `.npz` file: refused, or arrays whose elements become operands.
pub(crate) fn npz(bytes: &[u8]) {
    for name in array::npz_names(bytes).unwrap_or_default() {
        if let Ok(array) = array::npz_of_bytes(bytes, Some(&name)) {
            // Deflate unpacks a byte to 1032 at most.
            assert!(array.bytes().len() <= 1032 * bytes.len());
            casts(&array);
        }
    }
}

fn becomes_operands(array: &Array, bytes: &[u8]) {
    assert!(array.bytes().len() <= bytes.len());
    casts(array);
}

fn casts(array: &Array) {
    for format in [F64, TF32, BF16, E4M3FN, E2M1FN] {
        let _ = array.words(&format, &Casting::default());
    }
    let _ = array.scale_words(&UE8M0);
}

fn vector_line(reader: &mut Reader<'_>, text: &str) -> bool {
    let vector = match reader.read(text) {
        Ok(vector) => vector,
        Err(bad) => {
            assert!(
                (1..=text.chars().count() + 1).contains(&bad.column),
                "{bad:?}"
            );
            return false;
        }
    };
    let d = vector.compute().expect("only modelled rows are read");
    let answer = vector.answer_text(d).expect("it has a unit");
    // An answered line reads back, and the model agrees with itself.
    let answered = with_answer(text, &answer).expect("it was an object");
    let again = reader.read(&answered).expect("an answered line is good");
    assert_eq!(&again.words, &vector.words);
    assert_eq!(again.agrees(d), Ok(true), "{answered}");
    true
}

/// A text of the catalogue, and the same text as a program. Returns how many rows were simulated.
pub(crate) fn catalogue(bytes: &[u8]) -> usize {
    let text = String::from_utf8_lossy(bytes);
    if let Ok(program) = text.parse::<Program>() {
        reads_back(&program);
    }
    let mut catalogue = Catalogue::empty();
    if let Err(error) = catalogue.extend("fuzz", &text) {
        assert!(error.to_string().len() < 8000);
        return 0;
    }
    let rows = || catalogue.instructions().take(MOST_ROWS);
    rows()
        .map(|row| usize::from(simulate(&catalogue, row)))
        .sum()
}

fn reads_back(program: &Program) {
    let text = program.to_string();
    let again = text
        .parse::<Program>()
        .expect("what is printed can be read");
    assert_eq!(&again, program, "{text}");
    drop((program.words(), program.parameters()));
}

/// One result of a row, from operands that its name decides.
fn simulate(catalogue: &Catalogue, row: &Instruction) -> bool {
    let _ = catalogue.find(&row.architecture, &row.name);
    let Ok(unit) = row.unit() else {
        return false;
    };
    reads_back(unit.program());
    let signature = row.signature;
    drop(Node::of_program(unit.program(), &signature));
    let mut state = row.name.bytes().fold(1_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
    });
    if signature.k > 512 {
        return false;
    }
    (0..4).for_each(|_| dot(unit, &signature, &mut state));
    true
}

fn dot(unit: &Unit, signature: &Signature, state: &mut u64) {
    let mut words = |count: usize, bits: u32| -> Vec<u64> {
        let next = |_| {
            *state = state
                .wrapping_mul(0x5851_f42d_4c95_7f2d)
                .wrapping_add(0x1405_7b7e_f767_814f);
            state.rotate_left(29) & (u64::MAX >> (64 - bits))
        };
        (0..count).map(next).collect()
    };
    let (a, b) = (
        words(signature.k, signature.a.register.bits),
        words(signature.k, signature.b.register.bits),
    );
    let scales = signature.scales();
    let (scale_a, scale_b) = (words(scales, 8), words(scales, 8));
    let operands = Operands {
        a: &a,
        b: &b,
        c: words(1, signature.c.register.bits)[0],
        scale_a: &scale_a,
        scale_b: &scale_b,
    };
    let d = unit
        .dot(&operands, &Modifiers::default())
        .expect("the lengths fit");
    assert_eq!(d & !signature.d.container().mask(), 0);
}
