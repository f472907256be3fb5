#!/usr/bin/env bash
# Every fuzz target for 20 seconds, or FUZZ_SECONDS. A text that breaks something is left in fuzz/artifacts.
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
    echo "SKIPPED: fuzz targets: $1"
    exit 0
}

cargo +nightly --version >/dev/null 2>&1 || skip "no nightly toolchain (rustup toolchain install nightly)"
cargo +nightly fuzz --version >/dev/null 2>&1 || skip "no cargo-fuzz (cargo install cargo-fuzz)"
command -v c++ >/dev/null || skip "no C++ compiler"

target_dir="$(realpath --canonicalize-missing "${CARGO_TARGET_DIR:-target}")/fuzz"
cargo +nightly fuzz build --target-dir "$target_dir"
for source in fuzz/fuzz_targets/*.rs; do
    name="$(basename "$source" .rs)"
    echo "-- $name"
    cargo +nightly fuzz run --target-dir "$target_dir" "$name" -- -max_total_time="${FUZZ_SECONDS:-20}" -verbosity=0 -print_final_stats=1
done
