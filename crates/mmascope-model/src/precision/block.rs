//! Block scaling: quantisation to MX and NVFP4 formats, and back.
