//! The words that each language keeps for itself: no function can be called so.

use super::Language;

/// Whether a language keeps a word for itself.
pub(super) fn is_reserved(word: &str, language: Language) -> bool {
    let words = match language {
        Language::C => C,
        Language::Cuda => CPP,
        Language::Rust => RUST,
        Language::Python => PYTHON,
        Language::SystemVerilog => SYSTEMVERILOG,
        Language::Smt2 => SMT,
    };
    let is_listed = words.split_ascii_whitespace().any(|own| own == word);
    is_listed
        || match language {
            Language::C | Language::Cuda => is_of_stdint(word),
            // Functions on bit-vectors, of the theory and of solvers.
            Language::Smt2 => word.starts_with("bv"),
            Language::Rust | Language::Python | Language::SystemVerilog => false,
        }
}

/// C11, 7.20 and 7.31.10: types such as `uint_fast8_t`, and macros such as `INT8_MAX` and `UINT32_C`, also those to come.
fn is_of_stdint(word: &str) -> bool {
    let signed = word.strip_prefix(['u', 'U']).unwrap_or(word);
    let ends = |ends: &[&str]| ends.iter().any(|end| word.ends_with(end));
    (signed.starts_with("int") && ends(&["_t"]))
        || (signed.starts_with("INT") && ends(&["_C", "_MAX", "_MIN"]))
}

/// C11, 6.4.1, the words that C23 adds there, `asm` and `main`, and what gcc defines when no standard is asked for.
const C: &str = "
    alignas alignof asm auto bool break case char const constexpr continue default do double else
    enum extern false float for goto if inline int long main nullptr register restrict return short
    linux signed sizeof static static_assert struct switch thread_local true typedef typeof
    typeof_unqual union unix unsigned void volatile while
";

/// C++20, [lex.key], with its other spellings of operators, `main`, `std`, what gcc defines when no standard is asked for, and the variables that
/// CUDA C++ gives every kernel.
const CPP: &str = "
    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t
    char8_t class co_await co_return co_yield compl concept const const_cast consteval constexpr
    constinit continue decltype default delete do double dynamic_cast else enum explicit export
    extern false float for friend goto if inline int long main mutable namespace new noexcept not
    not_eq nullptr operator or or_eq private protected public register reinterpret_cast requires
    return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename union unsigned using virtual void volatile
    wchar_t while xor xor_eq linux std unix blockDim blockIdx dim3 gridDim threadIdx warpSize
";

/// The Rust Reference, "Keywords": strict and reserved ones of the edition 2024.
const RUST: &str = "
    Self abstract as async await become box break const continue crate do dyn else enum extern false
    final fn for gen if impl in let loop macro match mod move mut override priv pub ref return self
    static struct super trait true try type typeof unsafe unsized use virtual where while yield
";

/// The Python Language Reference, 2.3.1.
const PYTHON: &str = "
    False None True and as assert async await break class continue def del elif else except finally
    for from global if import in is lambda nonlocal not or pass raise return try while with yield
";

/// IEEE 1800-2017, Annex B, and the classes of its package `std`, which are no keywords.
const SYSTEMVERILOG: &str = "
    accept_on alias always always_comb always_ff always_latch and assert assign assume automatic
    before begin bind bins binsof bit break buf bufif0 bufif1 byte case casex casez cell chandle
    checker class clocking cmos config const constraint context continue cover covergroup coverpoint
    cross deassign default defparam design disable dist do edge else end endcase endchecker endclass
    endclocking endconfig endfunction endgenerate endgroup endinterface endmodule endpackage
    endprimitive endprogram endproperty endsequence endspecify endtable endtask enum event
    eventually expect export extends extern final first_match for force foreach forever fork
    forkjoin function generate genvar global highz0 highz1 if iff ifnone ignore_bins illegal_bins
    implements implies import incdir include initial inout input inside instance int integer
    interconnect interface intersect join join_any join_none large let liblist library local
    localparam logic longint macromodule matches medium modport module nand negedge nettype new
    nexttime nmos nor noshowcancelled not notif0 notif1 null or output package packed parameter pmos
    posedge primitive priority program property protected pull0 pull1 pulldown pullup
    pulsestyle_ondetect pulsestyle_onevent pure rand randc randcase randsequence rcmos real realtime
    ref reg reject_on release repeat restrict return rnmos rpmos rtran rtranif0 rtranif1 s_always
    s_eventually s_nexttime s_until s_until_with scalared sequence shortint shortreal showcancelled
    signed small soft solve specify specparam static string strong strong0 strong1 struct super
    supply0 supply1 sync_accept_on sync_reject_on table tagged task this throughout time
    timeprecision timeunit tran tranif0 tranif1 tri tri0 tri1 triand trior trireg type typedef union
    unique unique0 unsigned until until_with untyped use uwire var vectored virtual void wait
    wait_order wand weak weak0 weak1 while wildcard wire with within wor xnor xor mailbox process
    semaphore
";

/// The SMT-LIB Standard 2.6, 3.1, with the commands that are one word, and functions of its theories (Core, FixedSizeBitVectors).
const SMT: &str = "
    BINARY BitVec Bool DECIMAL HEXADECIMAL NUMERAL STRING and as assert concat distinct echo exists exit
    extract false forall ite let match not or par pop push repeat reset rotate_left rotate_right
    sign_extend true xor zero_extend
";
