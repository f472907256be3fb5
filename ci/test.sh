#!/usr/bin/env bash
# All tests, documentation examples included: the README's command, then those of the locks with the features that are off
# by default, and those of the crates with protocols over shared memory once more, optimised as users run them: there
# optimisation changes what interleaves. Not again: searches of states on one thread, and groups of processes.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo test
cargo test --package corecast-lock --all-features --lib --test locks --test faults
cargo test --release --package corecast-base --package corecast-channel --package corecast-lock --package corecast-collective \
    --lib --test base --test channel --test locks --test faults --test shared -- --skip exhaustive::
