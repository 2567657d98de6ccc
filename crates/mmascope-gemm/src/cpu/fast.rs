//! Packing functions that the compiler may compile for AVX2, so that it makes vectors of them.

/// `name` runs `inner`, compiled for AVX2 where the machine has it.
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
            if crate::cpu::Level::Avx2.is_there() {
                #[target_feature(enable = "avx2")]
                fn enter($($argument: $kind),*) $(-> $result)? {
                    $inner($($argument),*)
                }
                // SAFETY: `enter` asks for AVX2 and nothing else, and `is_there` has just said that the processor has it.
                return unsafe { enter($($argument),*) };
            }
            $inner($($argument),*)
        }
    };
}
pub(super) use fast;
