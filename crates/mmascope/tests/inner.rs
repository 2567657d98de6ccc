//! Parts that the library does not show, each taken in as a file: the library itself is then compiled
//! once for all tests.
#![allow(dead_code, unreachable_pub)] // each part is asked for some of what it has

#[path = "../../mmascope-lab/src/cases/normal.rs"]
mod normal;
#[path = "../../mmascope-gemm/src/random/philox.rs"]
mod philox;
#[path = "../../mmascope-lab/src/cases/quantiles.rs"]
mod quantiles;
#[path = "../../mmascope-gemm/src/gemm/schedule/shares.rs"]
mod shares;
#[path = "../../mmascope-model/src/dpa/single.rs"]
mod single;
#[cfg(feature = "kernel")]
#[path = "../../mmascope-gemm/src/cpu"]
mod cpu {
    #![allow(unsafe_code)]
    pub(crate) mod lanes;
}

mod inner {
    mod cuts;
    #[cfg(feature = "kernel")]
    #[allow(unsafe_code)]
    mod down;
    #[cfg(feature = "kernel")]
    #[allow(unsafe_code)]
    mod lanes;
    mod normal;
    mod philox;
    #[cfg(feature = "kernel")]
    #[allow(unsafe_code)]
    mod products;
    mod single;
}
