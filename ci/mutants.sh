#!/usr/bin/env bash
# Weakens every memory ordering of the modelled crates, one at a time, and fails if no model notices. With words as
# arguments, only those in files, or on lines, that contain one of them. MUTANTS_SHARE=0/3 weakens the first of each three only.
set -euo pipefail
cd "$(dirname "$0")/.."

export LOOM_MAX_PREEMPTIONS="${LOOM_MAX_PREEMPTIONS:-2}"
cargo run --quiet --package corecast-tidy --example ordering_mutants -- "$@"
