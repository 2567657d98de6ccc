//! Matrices in files: `.npy`, `.npz` and `.safetensors` in, `.npy` out; right, or refused with a message.

#[path = "arrays/casting.rs"]
mod casting;
#[path = "arrays/damaged.rs"]
mod damaged;
#[path = "arrays/files.rs"]
mod files;
#[path = "arrays/npz.rs"]
mod npz;
#[path = "arrays/python.rs"]
mod python;
#[path = "arrays/read.rs"]
mod read;
#[path = "arrays/write.rs"]
mod write;
