#!/usr/bin/env bash
# Launches OpenMP programs with the preload object ten thousand times, or as often as the argument says: none may hang, and each
# must compute what it computes without. Takes about a quarter of an hour; no part of `.ci/run`, which launches a hundred.
set -euo pipefail
cd "$(dirname "$0")/.."

CORECAST_LAUNCHES="${1:-10000}" cargo test --release --package corecast-shim-omp --test shim -- many_launches
