#!/usr/bin/env bash
# The libraries are built for 64-bit ARM, where other code counts ticks, flushes lines and pauses. Code is generated, without
# optimisation as that is quicker; nothing is linked, which takes another linker, and nothing is run.
set -euo pipefail
cd "$(dirname "$0")/.."

target=aarch64-unknown-linux-gnu
if ! rustup target list --installed 2>/dev/null | grep --quiet --line-regexp "$target"; then
    timeout 300 rustup target add "$target" >/dev/null 2>&1 || {
        echo "SKIPPED: $target: its standard library cannot be installed (rustup target add $target)"
        exit 0
    }
fi
options=(--target "$target" --lib)
for package in base plan channel collective; do
    options+=(--config "profile.dev.package.corecast-$package.opt-level=0")
done
# The C library is linked otherwise, so only its code is generated.
cargo build "${options[@]}" --package corecast
cargo rustc "${options[@]}" --package corecast-capi --crate-type rlib
