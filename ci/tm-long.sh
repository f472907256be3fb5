#!/usr/bin/env bash
# The long checks of transactions, in parts that are not run again: 10^9 reads of pairs that are kept equal, under every manager in
# each form, and the search of the protocol within larger bounds. No step of .ci/run, which runs the same tests within smaller ones.
#
# Each part notes its end, with its counts, in a file: the argument, or tm-long.log in the folder of the build. A part that is there
# is left out, so that a run which was stopped goes on where it was. CORECAST_TM_PARTS=20 takes twice as many reads.
set -euo pipefail
cd "$(dirname "$0")/.."

log="$(realpath --canonicalize-missing "${1:-${CARGO_TARGET_DIR:-target}/tm-long.log}")"
reads=100000000
searches=16
touch "$log"

# Runs the test program $2, whose part is called $1 and is chosen by the environment.
part() {
    if grep --quiet --fixed-strings --line-regexp "$1: done" "$log"; then
        return
    fi
    cargo test --release --package corecast-tm --test "$2" -- --nocapture --test-threads 1 "${@:3}" 2>&1 | tee --append "$log"
    echo "$1: done" | tee --append "$log"
}

export CORECAST_TM_READS="$reads" CORECAST_TM_ROUNDS_LOG2=13
for seed in $(seq "${CORECAST_TM_PARTS:-10}"); do
    CORECAST_TM_SEED="$seed" part "$reads reads under each manager in each form, seed $seed" opacity
done
export CORECAST_MODEL_LONG=1
beside_two=two_transactions_beside_two_are_safe
part "all other searches" search --skip "$beside_two"
for number in $(seq "$searches"); do
    CORECAST_MODEL_PART="$number/$searches" part "two transactions beside two, part $number of $searches" search "$beside_two"
done
