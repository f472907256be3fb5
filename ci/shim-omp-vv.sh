#!/usr/bin/env bash
# Runs the C programs of the public suite OpenMP_VV with the preload object and without: each must end with the same status. No
# part of `.ci/run`: it takes minutes, and clones the suite unless its folder is named. A program that hangs awake is told by the CPU
# time that it uses, so that other work on the machine breaks nothing.
#
# Usage: ci/shim-omp-vv.sh [FOLDER]     CC=gcc: the compiler; OMP_NUM_THREADS=4; LIMIT=60: seconds of CPU time for a run;
#                                       OBJECT=FILE: the object, in place of one that is built; WORK=FOLDER: where it keeps the verdicts:
#                                       with the same again it goes on from there
set -euo pipefail
cd "$(dirname "$0")/.."

compiler="${CC:-gcc}" limit="${LIMIT:-60}"
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-4}"
work="${WORK:-$(mktemp -d)}"
[ -n "${WORK:-}" ] || trap 'rm -rf "$work"' EXIT
mkdir -p "$work"
suite="${1:-}"
if [ -z "$suite" ]; then
    suite="$work/suite"
    [ -d "$suite" ] || git clone --quiet --depth 1 https://github.com/OpenMP-Validation-and-Verification/OpenMP_VV "$suite"
fi
[ -n "${OBJECT:-}" ] || cargo build --release --quiet --package corecast-shim-omp
object="$(realpath "${OBJECT:-${CARGO_TARGET_DIR:-target}/release/libcorecast_omp.so}")"
verdicts="$work/verdicts.$(basename "$compiler")"
touch "$verdicts"

# The status of a run with these settings: run NAME=VALUE ..
run() {
    local status=0
    # A program that hangs asleep uses no CPU time.
    (ulimit -c 0 && ulimit -t "$limit" && exec env "$@" timeout --kill-after=5 $((60 * limit)) "$work/test") >/dev/null 2>"$work/errors" || status=$?
    echo "$status"
}
# The different statuses of a first run and of three more, in order: statuses_of FIRST NAME=VALUE ..
statuses_of() {
    { echo "$1"; for _ in 1 2 3; do run "${@:2}"; done; } | sort --unique | tr '\n' ' '
}
# Compares one program, and notes the status without the object, whether it was served, whether all is equal, and the program.
compare() {
    local name="$1" without with served=unserved equal=equal
    if ! "$compiler" -O1 -w -fopenmp "-I$suite/ompvv" "$suite/tests/$name" -o "$work/test" -lm 2>/dev/null; then
        echo "unbuilt - - $name" >>"$verdicts"
        return
    fi
    without="$(run CORECAST_NONE=)"
    with="$(run "LD_PRELOAD=$object" CORECAST_SHIM_STATS=1)"
    ! grep --quiet 'barriers: served [1-9]' "$work/errors" || served=served
    if [ "$without" != "$with" ]; then
        # Some programs fail now and then. One that does so both ways is the same.
        without="$(statuses_of "$without" CORECAST_NONE=)" with="$(statuses_of "$with" "LD_PRELOAD=$object")"
        echo "$name: without: $without, with: $with"
        [ "$without" = "$with" ] || equal=differs
    fi
    echo "${without%% *} $served $equal $name" >>"$verdicts"
}

while read -r source; do
    name="${source#"$suite"/tests/}"
    grep --quiet " $name\$" "$verdicts" || compare "$name"
done < <(find "$suite/tests" -name '*.c' | sort)

noted() { grep --count "$1" "$verdicts" || true; }
echo "OpenMP_VV, $compiler, $OMP_NUM_THREADS threads: $(noted '^[0-9]') programs, $(noted '^0 ') pass without the object, $(noted ' differs ') differ with it"
echo "barriers were served in $(noted ' served '); $(noted '^unbuilt') are not built by this compiler"
[ "$(noted ' differs ')" = 0 ]
