#!/usr/bin/env bash
# Downloads what Cargo.lock names, and fails if Cargo.lock does not fit the manifests.
set -euo pipefail
cd "$(dirname "$0")/.."

cargo fetch --locked
