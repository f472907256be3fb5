#!/usr/bin/env bash
# All tests, documentation examples included: the README's command, then the same for the code as users run it.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo test
cargo test --release
