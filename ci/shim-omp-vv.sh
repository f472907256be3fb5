#!/usr/bin/env bash
# Runs the C programs of the public suite OpenMP_VV with the preload object and without: each must end with the same status. No
# part of `.ci/run`: it takes minutes, and clones the suite unless its folder is named.
#
# Usage: ci/shim-omp-vv.sh [FOLDER]     CC=gcc: the compiler; OMP_NUM_THREADS=4
set -euo pipefail
cd "$(dirname "$0")/.."

compiler="${CC:-gcc}"
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-4}"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
suite="${1:-}"
if [ -z "$suite" ]; then
    suite="$work/suite"
    git clone --quiet --depth 1 https://github.com/OpenMP-Validation-and-Verification/OpenMP_VV "$suite"
fi
cargo build --release --quiet --package corecast-shim-omp
object="$(realpath "${CARGO_TARGET_DIR:-target}/release/libcorecast_omp.so")"

# The status of a run with these settings: run NAME=VALUE ..
run() {
    local status=0
    env "$@" timeout --kill-after=5 60 "$work/test" >/dev/null 2>"$work/errors" || status=$?
    echo "$status"
}
# The different statuses of three more runs, in order.
statuses() {
    for _ in 1 2 3; do run "$@"; done | sort --unique | tr '\n' ' '
}

built=0 unbuilt=0 passed=0 served=0 unequal=0
while read -r source; do
    name="${source#"$suite"/tests/}"
    if ! "$compiler" -O1 -w -fopenmp "-I$suite/ompvv" "$source" -o "$work/test" -lm 2>/dev/null; then
        unbuilt=$((unbuilt + 1))
        continue
    fi
    built=$((built + 1))
    without="$(run CORECAST_NONE=)"
    with="$(run "LD_PRELOAD=$object" CORECAST_SHIM_STATS=1)"
    ! grep --quiet 'barriers: served [1-9]' "$work/errors" || served=$((served + 1))
    [ "$without" != 0 ] || passed=$((passed + 1))
    [ "$without" != "$with" ] || continue
    # Some programs fail now and then. One that does so both ways is the same.
    without="$without $(statuses CORECAST_NONE=)" with="$with $(statuses "LD_PRELOAD=$object")"
    echo "$name: without $without, with $with"
    unequal=$((unequal + 1))
done < <(find "$suite/tests" -name '*.c' | sort)

echo "OpenMP_VV, $compiler, $OMP_NUM_THREADS threads: $built programs, $passed pass without the object, $unequal differ with it"
echo "barriers were served in $served; $unbuilt are not built by this compiler"
[ "$unequal" = 0 ]
