#!/usr/bin/env bash
# Runs under Miri what it can run: tests of one process without memory maps, pinning, descriptors or sleep in the kernel. Miri
# sees uses of memory that the compiler's rules forbid, and leaks; what it cannot run has other checks.
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
    echo "SKIPPED: Miri: $1"
    exit 0
}

cargo +nightly miri --version >/dev/null 2>&1 || skip "not installed (rustup component add miri rust-src --toolchain nightly)"
target_dir="$(realpath --canonicalize-missing "${CARGO_TARGET_DIR:-target}")/miri"
cargo +nightly miri setup --target-dir "$target_dir" || skip "the standard library for it cannot be built here (see above)"

# The clock and files may be read as they are; addresses that only pass through integers are not the subject.
export MIRIFLAGS="${MIRIFLAGS:--Zmiri-disable-isolation}"

# A package, and the tests in its library whose names begin so.
under_miri() {
    local package="$1"
    shift
    echo "-- $package: $*"
    cargo +nightly miri test --target-dir "$target_dir" --package "$package" --lib -- "$@"
}
