#!/bin/sh
# Checks that products build without threads for WebAssembly, by Debian's compiler for it (rustc-web, cargo-web, rust-web-src)
# and the standard library's sources. For where rustup's target cannot be had.
set -eu
cd "$(dirname "$0")/.."
export RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 RUSTC_WORKSPACE_WRAPPER="$PWD/xtask/rustc-web.sh"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/web"
unset RUSTUP_TOOLCHAIN CARGO RUSTFLAGS
exec /usr/bin/cargo check --quiet --package mmascope-gemm --no-default-features --target wasm32-unknown-unknown \
    -Z build-std=std,panic_abort --ignore-rust-version
