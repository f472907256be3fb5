#!/usr/bin/env bash
# Launches OpenMP, pthread and MPI programs with the preload objects ten thousand times in all, or as often as the argument says: none
# may hang, and each must end as it does without. It takes hours, so it goes on where it was stopped; no part of `.ci/run`, which
# launches a hundred and twenty-six. A hang is told by what a program does, not by time, so other work on the machine breaks nothing.
#
# Usage: ci/shim-long.sh [COUNT]     STATE=FOLDER: where it keeps the programs, which are built once, and how far it got. Each family
#                                    has a folder in it, and goes on there until its own code changes: remove that to start it anew;
#                                    FAMILIES="omp pthread mpi"; CHUNK=50: launches between two notes
set -euo pipefail
cd "$(dirname "$0")/.."
source ci/parts.sh

count="${1:-10000}" chunk="${CHUNK:-50}"
state="${STATE:-${CARGO_TARGET_DIR:-target}/shim-long}"
read -r -a families <<<"${FAMILIES:-omp pthread mpi}"
declare -A tests=([omp]=shim [pthread]=preloaded [mpi]=served)

# Builds the test of a family, and keeps it with its object: later builds change neither.
build() {
    local family="$1" test code
    if [ -e "$state/$family/done" ] && [ ! -e "$state/$family/code" ]; then
        echo "$state/$family does not say of which code its launches are: remove it" >&2
        exit 1
    fi
    code="$(code_of_package "corecast-shim-$family")"
    begin_or_go_on "$state/$family/code" "$code" \
        "$state/$family was begun with other code: remove it, or name another folder with STATE"
    [ ! -e "$state/$family/done" ] || return 0
    test="$(cargo test --release --no-run --package "corecast-shim-$family" --test "${tests[$family]}" 2>&1 | sed -n 's/.*Executable.*(\(.*\))/\1/p')"
    cp "$test" "$state/$family/test"
    cp "$(dirname "$test")/libcorecast_$family.so" "$state/$family/"
    echo 0 >"$state/$family/done"
}

total=0
for family in "${families[@]}"; do
    build "$family"
    total=$((total + $(cat "$state/$family/done")))
done
while [ "$total" -lt "$count" ]; do
    for family in "${families[@]}"; do
        first="$(cat "$state/$family/done")"
        if ! CORECAST_FIRST_LAUNCH="$first" CORECAST_LAUNCHES="$chunk" "$state/$family/test" many_launches >"$state/$family/output" 2>&1; then
            cat "$state/$family/output"
            echo "$family: a launch failed, from $first on"
            exit 1
        fi
        echo $((first + chunk)) >"$state/$family/done"
        total=$((total + chunk))
        echo "$(date +%T) $family: $((first + chunk)), $total in all"
    done
done
