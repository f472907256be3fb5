#!/usr/bin/env bash
# All tests, documentation examples included: the README's command, and those of the locks with the features that are off by
# default. `ci/optimised.sh` runs some of them once more, as users build the libraries.
set -euo pipefail
cd "$(dirname "$0")/.."

# Many tests wait for processes and for those that die: two at a time for each CPU keep the CPUs busy.
export RUST_TEST_THREADS="${RUST_TEST_THREADS:-$((2 * $(nproc)))}"

cargo test
# Not again: searches of states on one thread, which are the same with every feature.
cargo test --package corecast-lock --all-features --lib --test locks --test faults -- --skip auto_states::
