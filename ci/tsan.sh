#!/usr/bin/env bash
# Runs the tests of the crates that share memory under ThreadSanitizer.
#
# The standard library is built along: without that the sanitizer does not see the synchronisation inside it and reports
# its own `join`. That needs a nightly toolchain and its rust-src component, which is installed if the network allows.
# Where something is missing the script says what, in a line that begins with SKIPPED, and succeeds.
#
# Judged by exit status, and only after the sanitizer has shown on two planted programs that it passes what is clean and
# finds a race.
set -euo pipefail
cd "$(dirname "$0")/.."

target=x86_64-unknown-linux-gnu
target_dir="$(realpath --canonicalize-missing "${CARGO_TARGET_DIR:-target}")/tsan"

skip() {
    echo "SKIPPED: ThreadSanitizer: $1"
    exit 0
}

# Reports name lines. `sanitized` keeps long copies from the processor's copy instruction, which the sanitizer does not see.
under_tsan() {
    RUSTFLAGS="-Zsanitizer=thread --cfg sanitized" CARGO_PROFILE_DEV_DEBUG=line-tables-only cargo +nightly test -Zbuild-std --target "$target" --target-dir "$target_dir" "$@"
}

require_toolchain() {
    [[ "$(uname -sm)" == "Linux x86_64" ]] || skip "set up for Linux on x86_64 only, not for $(uname -sm)"
    cargo +nightly --version >/dev/null 2>&1 || skip "no nightly toolchain (rustup toolchain install nightly)"
    local library
    library="$(rustc +nightly --print sysroot)/lib/rustlib/src/rust/library"
    if [[ ! -f "$library/Cargo.lock" ]]; then
        timeout 300 rustup component add rust-src --toolchain nightly \
            || skip "no rust-src (rustup component add rust-src --toolchain nightly)"
    fi
    cargo +nightly fetch --quiet --locked --manifest-path "$library/Cargo.toml" \
        || skip "the libraries that the standard library is built from cannot be downloaded"
}

# A package of its own in $1. Its profile is the workspace's, so that the standard library is built once for both.
plant() {
    mkdir "$1/tests"
    cat >"$1/Cargo.toml" <<'END'
[package]
name = "planted"
edition = "2024"
[lib]
path = "lib.rs"
[workspace]
[profile.dev]
opt-level = 1
END
    cat >"$1/lib.rs" <<'END'
pub struct Cell(pub std::cell::UnsafeCell<u64>);
unsafe impl Sync for Cell {}
impl Cell {
    pub fn add(&self) {
        unsafe { *self.0.get() += 1 }
    }
}
END
    plant_test 'let _guard = lock.lock();' >"$1/tests/clean.rs"
    plant_test '' >"$1/tests/racy.rs"
}

# A test of two threads that add to one cell, with the statement $1 before each addition. They begin together and end
# together, by relaxed counters: a thread that has ended hides from the sanitizer, and a real barrier orders the threads.
plant_test() {
    cat <<END
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
fn meet(arrived: &AtomicU32) {
    arrived.fetch_add(1, Relaxed);
    while arrived.load(Relaxed) < 2 { std::thread::yield_now(); }
}
#[test]
fn two_threads_add() {
    let (cell, lock) = (planted::Cell(0.into()), std::sync::Mutex::new(()));
    let (begun, ended) = (AtomicU32::new(0), AtomicU32::new(0));
    let add = || {
        meet(&begun);
        for _ in 0..1000 { $1 cell.add(); }
        meet(&ended);
    };
    std::thread::scope(|scope| { scope.spawn(add); scope.spawn(add); });
    drop(lock);
}
END
}

prove_it_sees() {
    local status=0
    plant "$planted"
    under_tsan --manifest-path "$planted/Cargo.toml" --test clean \
        || skip "it does not run a clean program here (see above)"
    under_tsan --manifest-path "$planted/Cargo.toml" --test racy >"$planted/log" 2>&1 || status=$?
    if [[ $status == 0 ]] || ! grep --quiet "ThreadSanitizer: data race" "$planted/log"; then
        cat "$planted/log"
        echo "ThreadSanitizer misses a planted race, so that its silence would prove nothing"
        exit 1
    fi
    echo "ThreadSanitizer passes a clean program and finds a planted race"
}

planted="$(mktemp -d)"
trap 'rm -rf "$planted"' EXIT
require_toolchain
prove_it_sees
# Programs by name, in one build: those that search states on one thread or follow a process step by step have nothing for
# the sanitizer, and between processes it sees nothing. corecast-collective forbids unsafe code, so a race there is one of the
# crates below it. Its tests run with --all only: they took 27 s here, and their build. Of transactions the bank under every
# manager in both forms always runs, which took 3 s of CPU time; every option of an instance took 100 s, and runs with --all, as do
# the structures, elastic reads among them, and the hunt for half transactions.
packages=(--package corecast-base --package corecast-channel --package corecast-lock --package corecast-tm --test threads)
[ "${1:-}" != --all ] || packages+=(--package corecast-collective --test options --test structures --test opacity)
under_tsan "${packages[@]}" \
    --lib --test base --test channel --test locks --test faults -- --skip steps:: --skip wake_model:: --skip auto_states::
