#!/bin/sh
# Compiles libmmascope with AddressSanitizer, which needs nightly Rust and GCC 12 or Clang, and runs the C tests against it:
# sanitise.sh. The kernels are left out: to compile them with the sanitiser takes more than 16 GB.
set -eu
root=$(cd "$(dirname "$0")/../.." && pwd)
cd "$root"
host=$(rustc +nightly -vV | sed -n 's/^host: //p')
target=${CARGO_TARGET_DIR:-$root/target}/sanitised
CARGO_TARGET_DIR=$target RUSTFLAGS=-Zsanitizer=address \
    cargo +nightly build --quiet --locked --package mmascope-capi --no-default-features --target "$host"
built=$target/$host/debug
for test in calls threads; do
    ${CC:-cc} -std=c11 -O1 -g -pthread -fsanitize=address -Icrates/mmascope-capi/include crates/mmascope-capi/tests/$test.c \
        -L"$built" -lmmascope -lm -o "$built/$test"
    # An allocation that fits no memory fails, as it does without the sanitiser.
    ASAN_OPTIONS=allocator_may_return_null=1 LD_LIBRARY_PATH=$built "$built/$test"
done
