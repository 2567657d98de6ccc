//! Packing functions that the compiler may compile for AVX2 or AVX-512, so that it makes vectors of them.

/// `name` runs `inner`, compiled for AVX-512 or for AVX2 where the machine has it.
macro_rules! fast {
    (
        $(#[$document:meta])*
        $visibility:vis fn $name:ident($($argument:ident: $kind:ty),* $(,)?)
        $(-> $result:ty)? = $inner:path
    ) => {
        $(#[$document])*
        #[allow(unsafe_code)] // a call into an instruction set
        $visibility fn $name($($argument: $kind),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
                fn by_avx512($($argument: $kind),*) $(-> $result)? {
                    $inner($($argument),*)
                }
                #[target_feature(enable = "avx2")]
                fn by_avx2($($argument: $kind),*) $(-> $result)? {
                    $inner($($argument),*)
                }
                if crate::cpu::Level::Avx512.is_there() {
                    // SAFETY: `by_avx512` asks for AVX-512 F, BW, DQ and VL, and `is_there` has just said that the processor has them.
                    return unsafe { by_avx512($($argument),*) };
                }
                if crate::cpu::Level::Avx2.is_there() {
                    // SAFETY: `by_avx2` asks for AVX2 and nothing else, and `is_there` has just said that the processor has it.
                    return unsafe { by_avx2($($argument),*) };
                }
            }
            $inner($($argument),*)
        }
    };
}
pub(super) use fast;
