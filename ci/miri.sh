#!/usr/bin/env bash
# Runs under Miri what it can run: tests of one process without memory maps, pinning, descriptors or sleep in the kernel. Miri
# sees uses of memory that the compiler's rules forbid, and leaks; what it cannot run has other checks.
set -euo pipefail
cd "$(dirname "$0")/.."

skip() {
    echo "SKIPPED: Miri: $1"
    exit 0
}

cargo +nightly miri --version >/dev/null 2>&1 \
    || timeout 300 rustup component add miri rust-src --toolchain nightly \
    || skip "not installed (rustup component add miri rust-src --toolchain nightly)"
target_dir="$(realpath --canonicalize-missing "${CARGO_TARGET_DIR:-target}")/miri"
cargo +nightly miri setup --target-dir "$target_dir" || skip "the standard library for it cannot be built here (see above)"

# Files may be read as they are. Dependencies turn addresses into integers and back, and are not the subject.
export MIRIFLAGS="${MIRIFLAGS:--Zmiri-disable-isolation -Zmiri-permissive-provenance -Zmiri-tree-borrows}"

# A package, and words of which one is in the names of the tests of its library.
under_miri() {
    local package="$1"
    shift
    echo "-- $package: $*"
    cargo +nightly miri test --target-dir "$target_dir" --package "$package" --lib -- "$@"
}

# Not the clock, which reads the processor's counter, nor memory that the kernel maps, nor lists of CPUs with a million entries.
under_miri corecast-base place::native region::crc32c region::name region::plan
under_miri corecast-lock auto::queue pool::tests::a_thread pool::tests::no_node pool::tests::stays
# Nor properties, each case of which takes Miri seconds.
under_miri corecast-channel mcast::bytes::slots mcast::config mcast::presence
# Nor searches, simulations and files of whole plans: a single test of those takes Miri up to four minutes.
under_miri corecast-plan tree:: shape:: bound::grid bound::prices meeting::leaders
