#!/usr/bin/env bash
# The long check of groups over several nodes: 100,000 seeded schedules of members that panic, nodes that die and links that break, on
# nodes that are threads. No step of .ci/run, which plays some hundreds. A schedule that fails prints its seed:
# CORECAST_FIRST_SCHEDULE=7 CORECAST_SCHEDULES=1 plays it again.
set -euo pipefail
cd "$(dirname "$0")/.."

CORECAST_SCHEDULES="${CORECAST_SCHEDULES:-100000}" cargo test --release --package corecast-collective --test nodes any_schedule -- --nocapture
