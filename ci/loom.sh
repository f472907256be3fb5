#!/usr/bin/env bash
# Model checks the protocols over shared memory: every interleaving, and every value a weaker ordering would let a load
# see, up to LOOM_MAX_PREEMPTIONS forced switches per run. Each crate keeps its models in tests/loom.
# LOOM_SHARE=0/3 checks those of a third of the crates.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/models.sh

export LOOM_MAX_PREEMPTIONS="${LOOM_MAX_PREEMPTIONS:-2}"
RUSTFLAGS="--cfg loom" cargo test --release --target-dir "${CARGO_TARGET_DIR:-target}/loom" "${models[@]}" --test loom
