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
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
cargo +nightly fuzz build --target-dir "$target_dir"
# Two at a time: each runs on one thread.
fuzz() {
    local name="$1" status=0
    cargo +nightly fuzz run --target-dir "$target_dir" "$name" -- -max_total_time="${FUZZ_SECONDS:-20}" -verbosity=0 \
        -print_final_stats=1 >"$work/$name" 2>&1 || status=$?
    printf -- '-- %s\n%s\n' "$name" "$(cat "$work/$name")"
    return "$status"
}
export -f fuzz
export target_dir work
find fuzz/fuzz_targets -name '*.rs' -exec basename --suffix .rs {} + | sort | xargs --max-procs=2 --replace bash -c 'fuzz {}'
