#!/bin/sh
# Checks or builds the explorer's module for WebAssembly, by Debian's compiler for it (rustc-web, cargo-web, rust-web-src)
# and the standard library's sources. For where rustup's target cannot be had. "build" links with the rust-lld of the
# compiler that builds everything else, because Debian's has none for this target.
set -eu
cd "$(dirname "$0")/.."
command="${1:-check}"
linker="$(find "$(rustc --print sysroot)/lib/rustlib" -name rust-lld -print -quit 2>/dev/null || true)"
if [ -n "$linker" ]; then
    export CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER="$linker"
fi
export RUSTC=/usr/bin/rustc RUSTC_BOOTSTRAP=1 RUSTC_WORKSPACE_WRAPPER="$PWD/xtask/rustc-web.sh"
export CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$PWD/target}/web"
unset RUSTUP_TOOLCHAIN CARGO RUSTFLAGS
exec /usr/bin/cargo "$command" --quiet --package mmascope-wasm --profile web --target wasm32-unknown-unknown \
    -Z build-std=std,panic_abort --ignore-rust-version
