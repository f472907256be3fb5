#!/usr/bin/env bash
# The long checks of replication, in parts that are not run again: 10,000 kills and stops of processes in shared memory, 1,000 over
# messages, 2,000 and 500 of groups with files; 100,000 seeds of the simulator for each transport; and the models within larger
# bounds. No step of .ci/run, which runs the same within smaller bounds.
#
# Each part notes its end, with its counts, in a file: the argument, or replica-long.log in the folder of the build. A part that is
# there is left out, so that a run which was stopped goes on where it was. CORECAST_REPLICA_PARTS=40 kills and stops twice as
# often, and `ci/replica-long.sh FILE crash` (or simulation, or model) does these parts only.
#
# On 2 CPUs that nothing else uses, the kills take some 15 minutes at 12 a second, and the simulation over messages took 91 s. The
# models take some ten minutes and several GB; those of shared memory were not run to their end since a node that joins is among them.
# A crash part that finds something writes its history beside the log and ends the run; --seed runs it again. A simulation that fails
# prints its seed: CORECAST_SIMULATION_SEED=7 runs it again.
set -euo pipefail
cd "$(dirname "$0")/.."
source ci/parts.sh

log="$(realpath --canonicalize-missing "${1:-${CARGO_TARGET_DIR:-target}/replica-long.log}")"
wanted="${2:-all}"
events=500
begin_or_go_on "$log" "$(code_of crates bench testing Cargo.toml Cargo.lock)" "$log was begun with other code: remove it, or name another file"

# Runs a command as the part called $1 of the kind $2, unless its end is noted.
part() {
    if [ "$wanted" != all ] && [ "$wanted" != "$2" ] || is_done "$log" "$1"; then
        return
    fi
    "${@:3}" 2>&1 | tee --append "$log"
    echo "$1: done" | tee --append "$log"
}

# A run of the crash harness with the seed $1 and further options.
crash() {
    cargo run --quiet --release --package corecast-bench-cli -- replica --crash --kills "$events" --seconds 36000 --seed "$1" \
        --faults "$(dirname "$log")" "${@:2}"
}

for seed in $(seq "${CORECAST_REPLICA_PARTS:-20}"); do
    part "$events kills and stops, seed $seed" crash crash "$seed"
done
for seed in 1 2; do
    part "$events kills and stops over messages, seed $seed" crash crash "$seed" --messages
done
for seed in 1 2 3 4; do
    part "$events kills and stops with files, seed $seed" crash crash "$seed" --files
done
part "$events kills and stops over messages with files, seed 1" crash crash 1 --messages --files
export CORECAST_SIMULATION_SEEDS="${CORECAST_SIMULATION_SEEDS:-100000}"
part "$CORECAST_SIMULATION_SEEDS seeds" simulation cargo test --release --package corecast-replica --test simulation
export CORECAST_MODEL_LONG=1
for model in shared_{separate,fused,trimming,joining}_is_safe {messages,other_voters,messages_that_overtake}_are_safe \
    five_nodes_{by_messages,with_shared_memory}_are_safe; do
    part "the model $model" model cargo test --release --package corecast-replica --test model -- --nocapture --exact "$model"
done
# All others: sessions, and the planted faults, each of which has to be found.
part "the model's faults" model cargo test --release --package corecast-replica --test model -- --nocapture --test-threads 1 --skip _safe

# The sums over the parts that ended, none of which found anything: Q1 asks for 10,000 in each form.
awk '/groups in .* kills, .* stops/ {
         for (at = 2; at <= NF; at++) {
             if ($at ~ /^kills/) kills = $(at - 1)
             if ($at ~ /^stops/) stops = $(at - 1)
         }
     }
     / kills and stops.*: done$/ {
         form = (/over messages/ ? "over messages" : "in shared memory") (/with files/ ? " with files" : "")
         all_kills[form] += kills
         all_stops[form] += stops
     }
     END { for (form in all_kills) print all_kills[form], "kills and", all_stops[form], "stops", form }' "$log"
