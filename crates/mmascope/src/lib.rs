//! mmascope: see, predict and prove what matrix accelerators really compute.
//!
//! Name an architecture and an instruction, give operands as bits, get the bits that the silicon
//! gives:
//!
//! ```
//! use mmascope::{dpa::{Modifiers, Operands}, isa::Catalogue};
//!
//! // c = 2^23 and the products -2^23, -1/2, -1/4, -1/8; the exact sum is -0.875.
//! let catalogue = Catalogue::built_in();
//! let a = [0xf000, 0xb800, 0xb400, 0xb000, 0, 0, 0, 0];
//! let b = [0x6400, 0x3c00, 0x3c00, 0x3c00, 0, 0, 0, 0];
//! let operands = Operands { a: &a, b: &b, c: 0x4b00_0000, ..Operands::default() };
//! let on = |arch, inst| catalogue.find(arch, inst)?.dot(&operands, &Modifiers::default());
//! assert_eq!(on("turing", "mma.m16n8k8.f32.f16.f16.f32")?, 0xbf00_0000); // -0.5
//! assert_eq!(on("hopper", "mma.m16n8k8.f32.f16.f16.f32")?, 0xbf40_0000); // -0.75
//! assert_eq!(on("MI300X", "v_mfma_f32_32x32x8_f16")?, 0xbf00_0000); // -0.5
//! assert_eq!(on("MI100", "v_mfma_f32_32x32x8_f16")?, 0xbf60_0000); // -0.875
//! # Ok::<(), mmascope::Error>(())
//! ```
//!
//! A whole instruction on tiles, any m and n:
//!
//! ```
//! use mmascope::{dpa::{Modifiers, Tiles}, isa::Catalogue};
//!
//! let instruction = Catalogue::built_in().find("cdna3", "v_mfma_f32_32x32x2_f32")?;
//! let one = 0x3f80_0000;
//! let tiles = Tiles { m: 2, n: 3, a: &[one; 4], b: &[one; 6], c: &[0; 6], ..Tiles::default() };
//! assert_eq!(instruction.tile(&tiles, &Modifiers::default())?, [0x4000_0000; 6]); // 2.0
//! # Ok::<(), mmascope::Error>(())
//! ```
//!
//! A unit that is in no catalogue, from its notation:
//!
//! ```
//! use mmascope::dpa::{Modifiers, Operands, Signature, Unit};
//! use mmascope::format::{BF16, F32};
//!
//! let signature = Signature { a: BF16, b: BF16, c: F32, d: F32, k: 2, scale: None };
//! let unit = Unit::new(signature, "t-fdpa L=2 F=12 e0=-126 align=rne -> rne f32".parse()?)?;
//! let operands = Operands { a: &[0x3f80; 2], b: &[0x3f80; 2], ..Operands::default() };
//! assert_eq!(unit.dot(&operands, &Modifiers::default())?, 0x4000_0000); // 2.0
//! # Ok::<(), mmascope::Error>(())
//! ```
//!
//! # Contents
//!
//! | module | what it holds |
//! |---|---|
//! | [`isa`] | the catalogue: architectures, instructions, evidence |
//! | [`format`](mod@format) | number formats as values |
//! | [`dpa`] | the arithmetic of one output: signatures, programs, units |
//! | [`exact`] | numbers of any size without rounding |
//! | [`precision`] | casts, block scaling, what targets take, what compilers choose, special values |
//! | [`cast`](mod@cast), [`blocks`], [`quantisation`] | whole slices and arrays of it, and their errors |
//! | [`tensix`] | a machine with state of its own |
//! | [`explain`] | one output, step by step |
//! | [`export`] | a unit's arithmetic as a source file in other languages |
//! | [`tree`] | summation trees as values |
//! | [`gemm`], [`engine`], `cpu` | whole matrix products, and what computes them (`cpu` with the feature `kernel`) |
//! | [`array`](mod@array), [`vector`] | matrices in files; dot products as lines of JSON |
//! | [`dut`], [`integers`] | devices under test: models, processes, plugins, your own; devices that sum integers |
//! | [`error`](mod@error) | what goes wrong, in words |
//! | [`cases`] | generated operands |
//! | [`reveal`] | from a device or a function to its summation tree |
//! | [`probe`], [`infer`] | from a device to its features, and to its complete model |
//! | [`validate`], [`identify`], [`diff`], [`accuracy`], [`discriminate`] | comparing: a device with a model, matrices with all models, units with each other, units with exact results |
//!
//! What this page lists is what the version number promises. The crates behind it (`mmascope-model`,
//! `mmascope-gemm`, `mmascope-lab`, `mmascope-host`, `mmascope-io`) promise less.
//!
//! What it is not: it is no emulator of instruction sets and no performance model, and it does not
//! guess. An instruction whose arithmetic nobody has published is found and refused with
//! [`Error::Unmodelled`]; what is disputed is marked in the row's [`isa::Evidence`].

#![forbid(unsafe_code)]

pub use mmascope_model::dpa::Unit;
pub use mmascope_model::format::Format;
pub use mmascope_model::isa::{Catalogue, Instruction};
pub use mmascope_model::tree::Tree;
pub use mmascope_model::{Error, Position, Result};

/// Errors, and text of strangers made fit for a terminal.
pub mod error {
    pub use mmascope_model::error::{Error, Position, Result, escaped, is_control};
}

/// The catalogue: architectures, their instructions, what each computes and how that is known.
pub mod isa {
    pub use mmascope_model::isa::{
        Architecture, Catalogue, Evidence, FlagBits, Instruction, Model, OperandTypes, Scaling,
        Shape, Strength,
    };
}

/// Number formats as values: decoding, rounding, converting.
pub mod format {
    pub use mmascope_model::format::{
        BF16, Class, Conversion, E2M1FN, E4M3FN, E4M3FNUZ, E5M2, E5M2FNUZ, E8M13, E11M23, Exact,
        F16, F32, F64, FORMATS, Float, Format, Formats, Kind, Overflow, Register, Rounding,
        Specials, TF32, UE4M3, UE8M0, Unpacked,
    };
}

/// The arithmetic of one output: operands, algorithms, programs, units.
pub mod dpa {
    pub use mmascope_model::dpa::{
        AddMul, Addends, Beyond, Codes, Decoded, Dpa, EFdpa, EVENTS, Events, FlushSign, FmaChain,
        FtzAddMul, Fused, General, GrFdpa, GroupExponent, Groups, GstFdpa, GtrFdpa, IntDot,
        IntPair, Invalid, Modifiers, Nan, OperandChoice, OperandWords, Operands, Operation, Output,
        Part, Program, ProgramParameter, Queries, Reading, Scalar, Scale, Select, SemiFma, SemiNan,
        Signature, Signs, Source, SpecialRules, StFdpa, Start, Statement, Sticky, TFdpa, TakenBits,
        Terms, Tiles, Tininess, TrFdpa, Unit, ZeroSign,
    };

    /// The parameters of steps, results and programs as data.
    pub mod schema {
        pub use mmascope_model::dpa::schema::{
            PARAMETERS, PROGRAM_PARAMETERS, Parameter, ParameterKind, RESULT_PARAMETERS,
            RegisterWord, Roundings, ShownBy, Value, all_parameters, parameter,
        };
    }
}

/// Exact numbers: dyadic fractions of any size, their sums and roundings.
pub mod exact {
    pub use mmascope_model::exact::{Dyadic, Sum};
}

/// Precision semantics: casts, block scaling, what targets take, what compilers choose, special values.
pub mod precision {
    /// Block scaling: formats with shared scales, recipes that choose the scales.
    pub mod block {
        pub use mmascope_model::precision::block::{
            BlockFormat, Quantiser, Recipe, Selection, TensorScale, check_scale, check_tensor_scale,
        };
    }

    /// Casts between formats: the reference, policies, PTX forms.
    pub mod cast {
        pub use mmascope_model::precision::cast::{
            Cast, CastOptions, CastPolicy, NanRule, OutOfRange, Packing, RandomBits, Shown, Slice,
            decimal, lane_names, reversed, slice_bits,
        };

        /// The casts that PTX has.
        pub mod ptx {
            pub use mmascope_model::precision::cast::ptx::{PtxForm, Targets};
        }
    }

    /// Where the source document of precision semantics is corrected.
    pub mod deviations {
        pub use mmascope_model::precision::deviations::{DEVIATIONS, Deviation, page};
    }

    /// Which bits a chosen instruction gives, or between which they lie.
    pub mod eval {
        pub use mmascope_model::precision::eval::{
            Bound, Enclosure, Evaluator, Functions, evaluate,
        };
    }

    /// Which targets take which instruction forms.
    pub mod legal {
        pub use mmascope_model::precision::legal::{
            Finding, InstructionForm, Legality, Rule, Rules, Suffix, Target,
        };
    }

    /// Which instructions compilers choose for an operation.
    pub mod resolve {
        pub use mmascope_model::precision::resolve::{
            Denormal, DenormalMode, Fmf, Mode, Note, Origin, Policy, Preset, REFLECT_KEYS,
            ReflectMap, Request, Resolution, Severity, Step, StepOperand, fast_names, resolve,
        };
    }

    /// Special values in every instruction.
    pub mod specials {
        pub use mmascope_model::precision::specials::{Special, names, of, of_unit, page};
    }
}

/// Slices of values cast from one format to another, with the bits of [`precision::cast`].
pub mod cast {
    pub use mmascope_gemm::cast::{Bits, slice, words};
}

/// Arrays of blocks with scales: quantising, and what files of them hold.
pub mod blocks {
    pub use mmascope_gemm::blocks::{Operand, Quantised, quantise, scale_shape};
}

/// A machine with state of its own: unpackers, matrix unit, destination, vector unit, packers, status register.
pub mod tensix {
    pub use mmascope_model::tensix::{
        Block, Constant, Core, CoreSetting, Dst, Early, Fidelity, Flag, Fpu, Integer, Integers,
        Machine, Memory, Narrow, Phase, Relu, RoundedBlock, STICKY_ADDRESS, STICKY_NAME,
        SourceFormat, StickyFlags, Stored, TILE, TensixBlockFormat, TensixElement,
        TensixRandomBits, Tile, Width,
    };

    /// Unpackers: from memory into the source registers.
    pub mod unpackers {
        pub use mmascope_model::tensix::{
            bfp_to_source, e4m3_to_f16, e5m2_to_f16, f32_to_bf16, int8_to_source, unpack,
        };
    }

    /// The matrix unit, beside [`Fpu`]: integers, and the larger of each column.
    pub mod matrix_unit {
        pub use mmascope_model::tensix::{integer_add, integer_mvmul, pool_maximum};
    }

    /// The vector unit: one lane of each instruction.
    pub mod vector_unit {
        pub use mmascope_model::tensix::{
            absolute, absolute_reciprocal, add_immediate, add_integers, cast_to_f32, compare_order,
            divide_by_power, load, load_immediate_f16, lut_coefficient, lut16_coefficient,
            round_to_integer, round_to_narrow, store,
        };
    }

    /// Packers: from the destination into memory, and sums in memory.
    pub mod packers {
        pub use mmascope_model::tensix::{
            accumulate_bf16, accumulate_f16, accumulate_f32, dst_32_to_int16, f16_to_bf16,
            f16_to_e4m3, f16_to_f32, f32_to_f16, f32_to_rounded, int32_to_int8, int32_to_uint8,
            pack_block,
        };
    }
}

/// One output step by step, with the bits of every number.
pub mod explain {
    pub use mmascope_model::explain::{
        Alignment, ChainState, ChainStep, ChainSum, Comparison, Cut, Dropped, Factor, Facts, Flush,
        Loss, OutputChain, PairTrace, Parting, Report, Rounded, Trace, TraceRequest, TracedCode,
        TracedError, TracedInput, TracedOperand, TracedPart, TracedSpecial, TracedStep, TracedTerm,
        TracedValue, page, page_against, word_of,
    };
}

/// A unit's arithmetic as one source file that depends on nothing.
pub mod export {
    pub use mmascope_model::export::{Language, instruction, unit};
}

/// Summation trees as values: read, written, compared, drawn, run, exported.
pub mod tree {
    pub use mmascope_model::tree::{
        Arithmetic, Builder, FOLD_ABOVE, FusedSum, Inner, MAX_LEAVES, NESTED_LEVELS, Node, Op,
        Sight, Term, Tree, TreeDifference, TreeFacts, TreeForm, TreeLanguage, TreeStatistics,
        Truncated, visible,
    };
}

/// Whole matrix products: operands in any layout, schedules, statistics of their errors.
pub mod gemm {
    pub use mmascope_gemm::gemm::{
        Accumulators, Arrays, ErrorStatistics, Excerpt, MOST_THREADS, Matrices, Matrix, Product,
        Region, SAMPLES, Schedule, ScheduledProduct, SoftwareScales, Strides, Summary,
        THREAD_STACK, Watch, chain, choose_engine, dots, engine, on_threads, scheduled_statistics,
        statistics,
    };

    /// The clauses of a schedule.
    pub mod schedule {
        pub use mmascope_gemm::gemm::schedule::emulation::{Join, OperandSplit, Within};
        pub use mmascope_gemm::gemm::schedule::{
            CEntry, Emulation, MultiplyAdd, Order, OutputPlace, Promotion, Reduction,
            ReductionOrder, SoftwareScale, Split,
        };
    }
}

/// What computes products: the reference, the processor's kernels, an engine of your own.
pub mod engine {
    pub use mmascope_gemm::engine::{
        Dots, Elements, Engine, Layout, Plan, Prepared, Reason, Reference, Steps, Watch, WordsMut,
        after_first,
    };
}

/// The kernels for this processor, as an engine.
#[cfg(feature = "kernel")]
pub mod cpu {
    pub use mmascope_gemm::cpu::{Cpu, Kernel, Level, VARIABLE};
}

/// Matrices in files and in memory: `.npy`, `.safetensors`.
pub mod array {
    pub use mmascope_gemm::array::{Array, ArrayReading, Casting, Element, Stack, Words};
    pub use mmascope_io::array::{
        check_quantised_writable, check_writable, names_quantised, npy_of_bytes, npz_names,
        npz_of_bytes, output_path, path_of, read, read_quantised, safetensors_names,
        safetensors_of_bytes, write_codes, write_npy, write_quantised,
    };
}

/// Dot products, asked or recorded, as lines of JSON.
pub mod vector {
    pub use mmascope_io::vector::{
        Answer, BadLine, Line, Lines, MAX_LINE, Reader, Vector, answer, compute_together, hex,
        question, read_operands, with_answer, with_flags, with_modifiers,
    };
}

/// Devices under test: the trait, and what stands behind it in this process and outside.
pub mod dut {
    pub use mmascope_host::dut::{
        DEFAULT_TIMEOUT, DeviceName, Ended, Frames, Interface, PluginDut, PluginProcess,
        ProcessDut, end_all, serve,
    };
    pub use mmascope_lab::dut::{Answers, Batch, Dut, GemmDut, ModelDut, NoiseCheckedDut};
}

/// Generated operands: a case is a function of family, seed and index.
pub mod cases {
    pub use mmascope_lab::cases::{
        CaseShape, Distribution, Family, GeneratedOperand, Generator, Hints, philox,
    };
}

/// Revealing accumulation orders, of functions in this process, devices and libraries.
pub mod reveal {
    pub use mmascope_host::reveal::{Blas, BlasProcess, Routine, serve_blas};
    pub use mmascope_lab::reveal::{
        Algorithm, DeviceSum, Masks, Nature, Query, RevealOptions, RevealProgress, Revelation,
        RowFunction, RowSum, SliceSum, Summation, Verified, reveal, reveal_with_progress,
    };
}

/// Devices whose sums are integers.
pub mod integers {
    pub use mmascope_lab::integers::{are_summed, reveal};
}

/// Numerical features of a device, each from directed questions.
pub mod probe {
    pub use mmascope_lab::probe::{Feature, Features, NOISE, Test, page_of_both, probe};
}

/// From a device's answers to its complete model.
pub mod infer {
    pub use mmascope_lab::infer::{
        Found, Inference, InferenceExample, InferenceOptions, InferenceProgress, Outcome, Rejected,
        Unobservable, infer, infer_with_progress,
    };
}

/// A device against a model, over generated operands; resumable.
pub mod validate {
    pub use mmascope_lab::validate::{
        Mismatch, SIDE, State, ValidationPlan, ValidationProgress, parts, shrink, validate,
    };
}

/// Which instruction and schedule give these matrices.
pub mod identify {
    pub use mmascope_lab::identify::{
        Candidate, Factors, Identification, Question, exhaustive, identify, trials,
    };
}

/// The same operands on several units: where they part, and why.
pub mod diff {
    pub use mmascope_lab::diff::{
        Compared, Contender, DiffExample, DiffInput, DiffStep, Explanation, Outputs, Party, Place,
        Tally, Verdict, chain, compare, explain, first_parting, outputs, pairs, parted_k, parting,
        shrink, size, smaller, translate, verdict, walk,
    };
}

/// How errors grow with K, by unit and schedule.
pub mod accuracy {
    pub use mmascope_lab::accuracy::{AccuracySetting, Curve, Data, Point, chart};
}

/// Errors of quantised arrays, and their histogram.
pub mod quantisation {
    pub use mmascope_lab::quantisation::{BINS, QuantisationStatistics, histogram_svg};
}

/// Vectors that separate a unit from its neighbours, and programs that ask a chip.
pub mod discriminate {
    pub use mmascope_lab::discriminate::{
        DiscriminatingLine, Vectors, discriminate, neighbours, runner,
    };
}

/// The code of the README is compiled and run with the examples of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
