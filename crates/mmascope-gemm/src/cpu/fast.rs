//! Packing functions that the compiler may compile for AVX2, so that it makes vectors of them.

/// `name` runs `inner`, compiled for AVX2 where the machine has it.
macro_rules! fast {
    (
        $(#[$document:meta])*
        $visibility:vis fn $name:ident($($argument:ident: $kind:ty),* $(,)?)
        $(-> $result:ty)? = $inner:path
    ) => {
        $(#[$document])*
        $visibility fn $name($($argument: $kind),*) $(-> $result)? {
            #[cfg(target_arch = "x86_64")]
            if crate::cpu::Level::Avx2.is_there() {
                #[target_feature(enable = "avx2")]
                fn enter($($argument: $kind),*) $(-> $result)? {
                    $inner($($argument),*)
                }
                // SAFETY: AVX2 is there.
                return unsafe { enter($($argument),*) };
            }
            $inner($($argument),*)
        }
    };
}
pub(super) use fast;
