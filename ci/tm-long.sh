#!/usr/bin/env bash
# The long checks of transactions, in parts that are not run again: 10^9 pairs that are kept equal are read under every manager in each
# form, the search of the protocol within larger bounds, and how long others wait after a participant was killed. No step of .ci/run,
# which runs the same tests within smaller bounds.
#
# Each part notes its end, with its counts, in a file: the argument, or tm-long.log in the folder of the build. A part that is there
# is left out, so that a run which was stopped goes on where it was. CORECAST_TM_PARTS=20 takes twice as many reads.
#
# CORECAST_TM_AT_ONCE=n runs n searches at a time, and a quarter as many hunts, each of which has four threads or five.
# CORECAST_TM_PROGRAMS=folder runs the test programs opacity, search and processes of that folder, and builds nothing.
# `ci/tm-long.sh --build folder` builds them and puts them there.
set -euo pipefail
cd "$(dirname "$0")/.."
source ci/parts.sh

# Builds the test programs, and puts those that are named into the folder $1.
build() {
    mkdir -p "$1"
    local program
    for program in opacity search processes; do
        cargo test --release --package corecast-tm --test "$program" --no-run --message-format json |
            sed --quiet 's/.*"executable":"\([^"]*\)".*/\1/p' | tail --lines 1 | xargs -I{} cp {} "$1/$program"
    done
}

if [ "${1:-}" = --build ]; then
    build "$(realpath --canonicalize-missing "${2:?a folder for the programs}")"
    exit
fi

log="$(realpath --canonicalize-missing "${1:-${CARGO_TARGET_DIR:-target}/tm-long.log}")"
programs="${CORECAST_TM_PROGRAMS:-}"
if [ -z "$programs" ]; then
    programs="$(dirname "$log")/tm-long-programs"
    build "$programs"
fi
at_once="${CORECAST_TM_AT_ONCE:-1}"
pairs=100000000
searches=16
begin_or_go_on "$log" "programs $(cat "$programs"/{opacity,search,processes} | sha256sum | head -c 12)" \
    "$log was begun with other programs: remove it, or name another file"

# Runs the test program $2, whose part is called $1 and is chosen by the environment; notes its words and its end at once.
part() {
    local words
    words="$(mktemp)"
    # A test that could not check anything says so, and passes.
    if "$programs/$2" --nocapture --test-threads 1 "${@:3}" >"$words" 2>&1 && ! grep --quiet '^SKIPPED: ' "$words"; then
        echo "$1: done" >>"$words"
    else
        echo "$1: FAILED" >>"$words"
    fi
    flock "$log" tee --append "$log" <"$words"
    rm "$words"
}

# Starts a part, unless its end was noted, once fewer than $1 run.
start() {
    if is_done "$log" "$2"; then
        return
    fi
    while [ "$(jobs -pr | wc --lines)" -ge "$1" ]; do
        wait -n
    done
    part "${@:2}" &
}

hunts=$((at_once / 4 > 0 ? at_once / 4 : 1))
export CORECAST_TM_PAIRS="$pairs" CORECAST_TM_ROUNDS_LOG2=13
for seed in $(seq "${CORECAST_TM_PARTS:-10}"); do
    CORECAST_TM_SEED="$seed" start "$hunts" "$pairs pairs under each manager in each form, seed $seed" opacity
done
wait
export CORECAST_MODEL_LONG=1
beside_two=two_transactions_beside_two_are_safe
start "$at_once" "all other searches" search --skip "$beside_two"
for number in $(seq "$searches"); do
    CORECAST_MODEL_PART="$number/$searches" start "$at_once" "two transactions beside two, part $number of $searches" \
        search "$beside_two"
done
wait
start 1 "participants that are killed after their instructions" processes steps::
wait
# Alone, as it is about time: nobody waits for a second.
CORECAST_TM_WITHIN_MS=1000 start 1 "participants that are killed at marked points" processes death::
wait
# One that has failed may have been mended and run again.
failed="$(sed --quiet 's/: FAILED$//p' "$log" | sort --unique | while read -r name; do
    is_done "$log" "$name" || echo "$name"
done)"
if [ -n "$failed" ]; then
    echo "parts that failed are in $log" >&2
    exit 1
fi
