//! Conversions of a chip are compared with their models: on a chip that is the model itself, and on one that is wrong once.

use std::sync::{Arc, Mutex};

use mmascope_cuda::chip::{Argument, Chip, Description, Loaded, Memory};
use mmascope_cuda::function::{DeviceFunction, compare, functions};
use mmascope_cuda::hashes::{FunctionHashes, Parting, hashes};
use mmascope_model::Result;
use mmascope_model::precision::cast::Cast;

/// Answers by the model, but for one input.
struct ModelChip {
    description: Description,
    cast: Cast,
    wrong: Option<u64>,
    sources: Arc<Mutex<Vec<String>>>,
}

struct Answers {
    cast: Cast,
    wrong: Option<u64>,
    memory: Vec<Vec<u8>>,
}

impl ModelChip {
    fn new(function: &DeviceFunction, wrong: Option<u64>) -> Self {
        Self {
            description: Description {
                name: "a model".to_owned(),
                sm: 90,
                driver: String::new(),
                compiler: String::new(),
            },
            cast: function.cast.expect("a model"),
            wrong,
            sources: Arc::default(),
        }
    }
}

impl Chip for ModelChip {
    fn description(&self) -> &Description {
        &self.description
    }

    fn load(&self, source: &str, _is_own: bool) -> Result<Box<dyn Loaded>> {
        self.sources
            .lock()
            .expect("no panic")
            .push(source.to_owned());
        Ok(Box::new(Answers {
            cast: self.cast,
            wrong: self.wrong,
            memory: Vec::new(),
        }))
    }
}

impl Loaded for Answers {
    fn allocate(&mut self, bytes: usize) -> Result<Memory> {
        self.memory.push(vec![0; bytes]);
        Ok(Memory::numbered(self.memory.len() - 1))
    }

    fn write(&mut self, to: Memory, bytes: &[u8]) -> Result<()> {
        self.memory[to.number()][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }

    fn read(&mut self, from: Memory, bytes: &mut [u8]) -> Result<()> {
        bytes.copy_from_slice(&self.memory[from.number()][..bytes.len()]);
        Ok(())
    }

    fn launch(
        &mut self,
        kernel: &str,
        blocks: u32,
        threads: u32,
        arguments: &[Argument],
    ) -> Result<()> {
        if kernel == "hashes" {
            return self.hash(blocks * threads, arguments);
        }
        let [
            Argument::Word(count),
            Argument::Memory(input),
            Argument::Memory(output),
            _,
        ] = *arguments
        else {
            panic!("{kernel} {arguments:?}");
        };
        assert!(kernel == "map" && u64::from(blocks * threads) >= count);
        for at in (0..count as usize).map(|index| index * 8) {
            let word = u64::from_le_bytes(
                self.memory[input.number()][at..at + 8]
                    .try_into()
                    .expect("eight"),
            );
            let result = self.answer(word);
            self.memory[output.number()][at..at + 8].copy_from_slice(&result.to_le_bytes());
        }
        Ok(())
    }
}

impl Answers {
    fn answer(&self, word: u64) -> u64 {
        self.cast.word(word) ^ u64::from(self.wrong == Some(word))
    }

    /// Sums of hashes of `each` inputs that follow each other, as the kernel is documented.
    fn hash(&mut self, threads: u32, arguments: &[Argument]) -> Result<()> {
        let [
            Argument::Word(count),
            Argument::Word(each),
            Argument::Memory(output),
            _,
        ] = *arguments
        else {
            panic!("{arguments:?}");
        };
        assert!(u64::from(threads) >= count);
        for thread in 0..count {
            let inputs = thread * each..(thread + 1) * each;
            let sum = inputs.fold(0, |sum: u64, x| {
                sum.wrapping_add(splitmix64(x << 32 | self.answer(x)))
            });
            let at = thread as usize * 8;
            self.memory[output.number()][at..at + 8].copy_from_slice(&sum.to_le_bytes());
        }
        Ok(())
    }
}

/// Sebastiano Vigna's generator of that name: one step from a state.
fn splitmix64(state: u64) -> u64 {
    let mut z = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// All answers of a function in one sum; one other answer is another sum.
#[test]
fn hashes_tell_answers_apart() {
    // A function of 16 bits; the model chip answers by a conversion, whatever it is asked.
    let function = DeviceFunction::named("tanh.approx.f16", "sm_90a").expect("a function");
    let model = DeviceFunction::named("cvt.rn.f16.f32", "sm_90a").expect("a function");
    let own = hashes(&ModelChip::new(&model, None), &function).expect("answers");
    let cast = model.cast.expect("a model");
    let sum = (0..1_u64 << 16).fold(0, |sum: u64, x| {
        sum.wrapping_add(splitmix64(x << 32 | cast.word(x)))
    });
    assert_eq!((own.inputs, own.chunk), (1 << 16, 1 << 16));
    assert_eq!(
        (&own.hash, &own.chunks),
        (&format!("{sum:016x}"), &vec![format!("{sum:016x}")])
    );
    assert_eq!(own.parting(&own), Parting::Nowhere);
    let wrong = hashes(&ModelChip::new(&model, Some(0x3c01)), &function).expect("answers");
    // Its results are wider than its inputs.
    let wide = DeviceFunction::named("cvt.f32.f16", "sm_90a").expect("a function");
    let error = hashes(&ModelChip::new(&model, None), &wide).expect_err("no hashes");
    assert!(error.to_string().contains("cvt.f32.f16"), "{error}");
    assert_eq!(own.parting(&wrong), Parting::Chunks(1, 0));
    let of = |chunks: [&str; 4], chunk| FunctionHashes {
        chunks: chunks.map(str::to_owned).to_vec(),
        chunk,
        ..own.clone()
    };
    let first = of(["1", "2", "3", "4"], 1 << 20);
    assert_eq!(
        first.parting(&of(["1", "5", "3", "6"], 1 << 20)),
        Parting::Chunks(2, 1 << 20)
    );
    assert_eq!(
        first.parting(&of(["1", "2", "3", "4"], 1 << 19)),
        Parting::Incomparable
    );
}

#[test]
fn one_wrong_input_is_found() {
    for (name, most, wrong) in [
        ("cvt.rn.f16x2.e4m3x2", u64::MAX, 0x7e),
        (
            "cvt.rn.bf16.f32",
            3 << 20,
            0x9e37_79b9_7f4a_7c15 & 0xffff_ffff,
        ),
        ("cvt.f32.f16", u64::MAX, 0xfc01),
    ] {
        let function = DeviceFunction::named(name, "sm_90a").expect("a function");
        let chip = ModelChip::new(&function, None);
        let report = compare(&chip, &function, most).expect("compares");
        let all = 1_u64 << function.from.register.bits;
        assert_eq!(
            (report.inputs, report.differences),
            (all.min(most), 0),
            "{name}"
        );
        assert!(chip.sources.lock().expect("no panic")[0].contains(name));
        let chip = ModelChip::new(&function, Some(wrong));
        let report = compare(&chip, &function, most).expect("compares");
        assert_eq!(report.differences, 1, "{name}");
        assert_eq!(report.examples[0][0], wrong, "{name}");
        assert_eq!(report.examples[0][1] ^ report.examples[0][2], 1, "{name}");
    }
}

/// What has no published bits is not compared, and wrong names are answered with near ones.
#[test]
fn functions_without_a_model() {
    let function = DeviceFunction::named("ex2.approx.f32", "sm_90a").expect("a function");
    let other = DeviceFunction::named("cvt.f32.f16", "sm_90a").expect("a function");
    let chip = ModelChip::new(&other, None);
    let error = compare(&chip, &function, 10).expect_err("no model");
    assert!(error.to_string().contains("ex2.approx.f32"), "{error}");
    let error = DeviceFunction::named("cvt.rn.f16.f33", "sm_90a").expect_err("no function");
    assert!(error.to_string().contains("cvt.rn.f16.f32"), "{error}");
    let names = |target: &str| functions(target).expect("a target").len();
    // Ampere has no fp8.
    assert!(
        names("sm_80") < names("sm_90a") && names("sm_80") > 20,
        "{}",
        names("sm_80")
    );
}
