#!/usr/bin/env bash
# Runs the C programs of the public suite OpenMP_VV with the preload object and without: each must end with the same status. No
# part of `.ci/run`: it takes minutes, and clones the suite unless its folder is named.
#
# Usage: ci/shim-omp-vv.sh [FOLDER]     CC=gcc: the compiler; OMP_NUM_THREADS=4; LIMIT=60: seconds for a run;
#                                       OBJECT=FILE: the object, in place of one that is built
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
[ -n "${OBJECT:-}" ] || cargo build --release --quiet --package corecast-shim-omp
object="$(realpath "${OBJECT:-${CARGO_TARGET_DIR:-target}/release/libcorecast_omp.so}")"

# The status of a run with these settings: run NAME=VALUE ..
run() {
    local status=0
    env "$@" timeout --kill-after=5 "${LIMIT:-60}" "$work/test" >/dev/null 2>"$work/errors" || status=$?
    echo "$status"
}
# The different statuses of a first run and of three more, in order: statuses_of FIRST NAME=VALUE ..
statuses_of() {
    { echo "$1"; for _ in 1 2 3; do run "${@:2}"; done; } | sort --unique | tr '\n' ' '
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
    without="$(statuses_of "$without" CORECAST_NONE=)" with="$(statuses_of "$with" "LD_PRELOAD=$object")"
    echo "$name: without: $without, with: $with"
    [ "$without" = "$with" ] || unequal=$((unequal + 1))
done < <(find "$suite/tests" -name '*.c' | sort)

echo "OpenMP_VV, $compiler, $OMP_NUM_THREADS threads: $built programs, $passed pass without the object, $unequal differ with it"
echo "barriers were served in $served; $unbuilt are not built by this compiler"
[ "$unequal" = 0 ]
