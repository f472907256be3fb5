#!/usr/bin/env bash
# No warning of the compiler or of clippy, in the code as it ships and in the code as the model checker sees it:
# with LOOM_SHARE=0/3 that of a third of the crates which have models.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/models.sh

# Crates of the simulated machine have the sources of others, and none of their tests.
simulated=()
for crate in base machine plan channel lock collective tm replica; do
    simulated+=("corecast-$crate-simulated")
done
cargo clippy --workspace --all-targets "${simulated[@]/#/--exclude=}" -- -D warnings
cargo clippy "${simulated[@]/#/--package=}" --lib -- -D warnings
cargo clippy --package corecast-lock --all-targets --all-features -- -D warnings

RUSTFLAGS="--cfg loom" cargo clippy --release --target-dir "${CARGO_TARGET_DIR:-target}/loom" "${models[@]}" --lib --test loom -- -D warnings
