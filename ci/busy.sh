#!/usr/bin/env bash
# All tests once beside two processes that keep a CPU busy each: a test that is right on a quiet machine only fails here.
# It goes on after a test program that fails, so that one run names all that do.
# A command of its own and no step of .ci/run, because it takes several times as long as ci/test.sh. Arguments go to
# `cargo test`: `ci/busy.sh --package corecast-lock --test locks`.
set -euo pipefail
cd "$(dirname "$0")/.."
exec </dev/null

# Runs until this script has ended, in whatever way: a process whose parent has died gets another one, and this one asks
# for its parent again and again.
keep_a_cpu_busy() {
    local parent turn
    while read -r _ _ _ parent _ <"/proc/$BASHPID/stat" && [ "$parent" = $$ ]; do
        for ((turn = 0; turn < 1000; turn++)); do :; done
    done
}

# The tests are what runs beside them, not the compiler.
cargo test --no-run "$@"

busy=()
trap 'kill "${busy[@]}" 2>/dev/null || true' EXIT
for _ in 1 2; do
    keep_a_cpu_busy &
    busy+=($!)
done
echo "==> cargo test $*, beside busy processes ${busy[*]}"
began=$SECONDS
cargo test --no-fail-fast "$@"
for process in "${busy[@]}"; do
    kill -0 "$process"
done
echo "busy: passed in $((SECONDS - began)) s beside ${#busy[@]} busy processes"
