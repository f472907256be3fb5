#!/usr/bin/env bash
# The house rules that are tests, with the checks that had to be skipped shown. See tidy/src/rule/.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo test --package corecast-tidy --test house_rules -- --nocapture
