#!/bin/sh
# What cargo calls in place of Debian's compiler for WebAssembly (1.85) for the workspace's crates: what is stable in the
# version that the workspace states was a feature there, which must be named. Not every crate uses each.
exec "$@" '-Zcrate-attr=feature(let_chains, unsigned_is_multiple_of, float_next_up_down)' \
    '-Zcrate-attr=allow(unused_features, stable_features)'
