#!/usr/bin/env bash
# parking_lot's own tests of Mutex, RwLock and Condvar on the types of `corecast_lock::lock_api`, with parking_lot's source as cargo
# has downloaded it for the benchmarks. Prints for each type how many pass, and the others with their reasons; fails if these
# are others than the ones listed below.
set -euo pipefail
cd "$(dirname "$0")/.."
exec </dev/null

# Seconds for a test, and for one that is expected to fail: a test that waits for ever is ended.
most_seconds=60
most_seconds_of_expected=5

# Tests that are expected to fail or not to compile: the type, the test, the reason.
expected() {
    cat <<'LIST'
rwlock test_clone reads recursively, which rw_phase cannot do
rwlock test_rwlock_recursive reads recursively, which rw_phase cannot do
condvar notify_one_return_true asks whether a thread was woken, which notify_one does not tell
condvar notify_one_return_false asks whether a thread was woken, which notify_one does not tell
condvar notify_all_return asks how many threads were woken, which notify_all does not tell
condvar test_condvar_requeue asks whether a thread was woken, which notify_one does not tell
condvar wait_while_until_internal calls a private function of parking_lot
condvar wait_while_until_internal_does_not_wait_if_initially_false calls a private function of parking_lot
condvar wait_while_until_internal_times_out_before_false calls a private function of parking_lot
condvar two_mutexes expects a panic where two mutexes share a variable, which is allowed here
LIST
}

skip() {
    echo "SKIPPED: tests of parking_lot: $1"
    exit 0
}

manifest="$(cargo metadata --format-version 1 --locked --offline 2>/dev/null |
    grep --only-matching '"manifest_path":"[^"]*/parking_lot-[0-9][^"/]*/Cargo.toml"' | cut --delimiter='"' --fields=4)" ||
    skip "its source is not here (cargo fetch)"
source="$(dirname "$manifest")"

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
mkdir "$work/src"
cp Cargo.lock "$work/"
cat >"$work/Cargo.toml" <<MANIFEST
[package]
name = "parking-lot-tests"
version = "0.0.0"
edition = "2021"
[workspace]
[dependencies]
corecast-lock = { path = "$PWD/crates/lock", features = ["lock_api"] }
[profile.dev]
debug = false
[profile.dev.package.corecast-base]
opt-level = 1
MANIFEST
# The names that parking_lot's tests know, and as much of the crate rand as they call.
cat >"$work/src/lib.rs" <<'LIBRARY'
#![allow(warnings)]
extern crate self as rand;
pub use corecast_lock::Condvar;
pub use corecast_lock::lock_api::{
    MappedMutexGuard, Mutex, MutexGuard, RwLock, RwLockUpgradableReadGuard, RwLockWriteGuard,
};

pub trait Rng {
    fn gen_bool(&mut self, share: f64) -> bool;
}
pub fn thread_rng() -> impl Rng {
    struct Xorshift(u64);
    impl Rng for Xorshift {
        fn gen_bool(&mut self, share: f64) -> bool {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            ((self.0 >> 11) as f64) < share * (1u64 << 53) as f64
        }
    }
    Xorshift(std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), 0u8) | 1)
}
LIBRARY
types=(mutex rwlock condvar)
for type in "${types[@]}"; do
    # From the first test module to the end of the file. A wait takes a reference to a guard and not the name of one, so that a
    # reference that is used again is passed on as another.
    sed --quiet '/^#\[cfg(test)\]$/,$ { s/condition\.\(wait\|wait_for\)(lock\b/condition.\1(\&mut *lock/; p }' \
        "$source/src/$type.rs" >"$work/src/$type.rs"
    echo "#[cfg(test)] mod $type;" >>"$work/src/lib.rs"
done

# Beside the workspace's artefacts, so that its dependencies need not be built again.
target="$(realpath --canonicalize-missing "${CARGO_TARGET_DIR:-target}")"
rm -f "$target"/debug/deps/parking_lot_tests-*
build() {
    cargo test --quiet --offline --no-run --lib --manifest-path "$work/Cargo.toml" --target-dir "$target" "$@"
}

# Empties the test around line $2 of the file $1, so that the other lines keep their numbers, and prints its name.
take_out() {
    awk -v line="$2" -v without="$1.without" '
        /^    #\[test\]$/ { first = NR; name = "" }
        first && match($0, /^    fn [a-z0-9_]+/) && !name { name = substr($0, 8, RLENGTH - 7) }
        { text[NR] = $0 }
        /^    }$/ && first { if (first <= line && line <= NR) { from = first; to = NR; found = name } first = 0 }
        END {
            for (i = 1; i <= NR; i++) print from <= i && i <= to ? "" : text[i] > without
            print found
        }' "$1"
    mv "$1.without" "$1"
}

# What the compiler refuses is taken out and counted as failed. Some mistakes are only found when others are gone.
: >"$work/failed"
for _ in 1 2 3 4 5; do
    build --message-format=short 2>"$work/build" && break
    grep --extended-regexp '^src/[a-z]+\.rs:[0-9]+:[0-9]+: error' "$work/build" | sort --unique >"$work/places" || {
        cat "$work/build"
        exit 1
    }
    cat "$work/places" >>"$work/errors"
    while IFS=: read -r file line _; do
        name="$(take_out "$work/$file" "$line")"
        if [ -n "$name" ]; then
            echo "$(basename "$file" .rs) $name" >>"$work/failed"
        fi
    done <"$work/places"
done
build 2>"$work/build" || {
    cat "$work/build"
    exit 1
}
program="$(find "$target/debug/deps" -name 'parking_lot_tests-*' -type f -executable)"
"$program" --list --format terse | sed --quiet 's/: test$//p' >"$work/tests"

# Each in a process of its own, so that one that waits for ever does not keep the others from an end.
run_one() {
    local program="$1" test="$2" limit="$most_seconds"
    if expected | grep --quiet "^${test%%::*} ${test##*::} "; then
        limit="$most_seconds_of_expected"
    fi
    timeout --kill-after=5 "$limit" "$program" --exact "$test" >"$work/output-${test##*::}" 2>&1 || echo "${test%%::*} ${test##*::}"
}
export -f run_one expected
export most_seconds most_seconds_of_expected work
xargs --max-procs=2 --replace bash -c 'run_one "$@"' _ "$program" '{}' <"$work/tests" >>"$work/failed"

version="${source##*/parking_lot-}"
echo "parking_lot $version, its own tests on corecast_lock::lock_api"
sort --unique "$work/failed" >"$work/others"
{
    sed --regexp-extended 's/::.*::/ /' "$work/tests"
    cat "$work/others"
} | sort --unique >"$work/all"
is_as_expected=true
for type in "${types[@]}"; do
    count="$(grep --count "^$type " "$work/all")"
    others="$(grep --count "^$type " "$work/others" || true)"
    echo "$type: $((count - others)) of $count pass"
    while read -r _ name; do
        reason="$(expected | sed --quiet "s/^$type $name //p")"
        echo "    $name: ${reason:-NOT EXPECTED}"
        if [ -z "$reason" ]; then
            is_as_expected=false
            cat "$work/output-$name" 2>/dev/null || grep "$type\.rs" "$work/errors"
        fi
    done < <(grep "^$type " "$work/others")
done
while read -r type name _; do
    if ! grep --quiet --line-regexp "$type $name" "$work/others"; then
        echo "$type: $name passes, or is gone: take it off the list of $0 and docs/guide/locks.md"
        is_as_expected=false
    fi
done < <(expected)
$is_as_expected
