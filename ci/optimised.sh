#!/usr/bin/env bash
# The tests of the crates with protocols over shared memory, optimised as users run them: there optimisation changes what
# interleaves. Not again: searches of states on one thread. A command of its own and no step of .ci/run, which runs them with
# opt-level 1 and its models optimised: it takes two minutes and a half.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo test --release --package corecast-base --package corecast-channel --package corecast-lock --package corecast-collective \
    --lib --test base --test channel --test locks --test faults --test shared -- --skip exhaustive::
