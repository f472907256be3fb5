#!/usr/bin/env bash
# parking_lot's own tests, with its source as cargo has downloaded it for the benchmarks: all of them on corecast-parking-lot, by the
# package that `[patch]` puts in parking_lot's place, and those of Mutex, RwLock and Condvar on the types of
# `corecast_lock::lock_api`. Prints for each file how many pass, and the others with their reasons; fails if these are others than
# the ones listed below.
set -euo pipefail
cd "$(dirname "$0")/.."
exec </dev/null

# Seconds for a test, and for one that is expected to fail: a test that waits for ever is ended.
most_seconds=60
most_seconds_of_expected=5

# Tests that are expected to fail or not to compile: what is tested, the file, the test, the reason.
expected() {
    cat <<'LIST'
shim deadlock test_mutex_deadlock needs the feature deadlock_detection, which is refused
shim deadlock test_mutex_deadlock_reentrant needs the feature deadlock_detection, which is refused
shim deadlock test_remutex_deadlock needs the feature deadlock_detection, which is refused
shim deadlock test_rwlock_deadlock needs the feature deadlock_detection, which is refused
lock_api rwlock test_clone reads recursively, which rw_phase cannot do
lock_api rwlock test_rwlock_recursive reads recursively, which rw_phase cannot do
lock_api condvar notify_one_return_true asks whether a thread was woken, which notify_one does not tell
lock_api condvar notify_one_return_false asks whether a thread was woken, which notify_one does not tell
lock_api condvar notify_all_return asks how many threads were woken, which notify_all does not tell
lock_api condvar test_condvar_requeue asks whether a thread was woken, which notify_one does not tell
lock_api condvar wait_while_until_internal calls a private function of parking_lot
lock_api condvar wait_while_until_internal_does_not_wait_if_initially_false calls a private function of parking_lot
lock_api condvar wait_while_until_internal_times_out_before_false calls a private function of parking_lot
lock_api condvar two_mutexes expects a panic where two mutexes share a variable, which is allowed here
LIST
}

skip() {
    echo "SKIPPED: tests of parking_lot: $1"
    exit 0
}

manifest="$(cargo metadata --format-version 1 --locked --offline 2>/dev/null |
    grep --only-matching '"manifest_path":"[^"]*/parking_lot-0\.12\.[^"/]*/Cargo.toml"' | cut --delimiter='"' --fields=4)" ||
    skip "its source is not here (cargo fetch)"
source="$(dirname "$manifest")"

all_work="$(mktemp -d)"
trap 'rm -rf "$all_work"' EXIT
# Beside the workspace's artefacts, so that its dependencies need not be built again.
target="$(realpath --canonicalize-missing "${CARGO_TARGET_DIR:-target}")"

# A package with the tests of the files $types, and the dependencies of standard input.
make_package() {
    mkdir "$work" "$work/src" "$work/tests"
    cp Cargo.lock "$work/"
    {
        printf '[package]\nname = "parking-lot-tests-%s"\nversion = "0.0.0"\nedition = "2021"\n' "${subject/_/-}"
        printf '[workspace]\n[profile.dev]\ndebug = false\n[profile.dev.package.corecast-base]\nopt-level = 1\n'
        cat
    } >"$work/Cargo.toml"
}

# As much of the crate rand as the tests call.
rand() {
    cat <<'LIBRARY'
extern crate self as rand;
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
}

# The names that the tests know: corecast-parking-lot by parking_lot's name, and a function that is private in parking_lot.
make_shim() {
    make_package <<MANIFEST
[features]
serde = ["parking_lot/serde"]
arc_lock = ["parking_lot/arc_lock"]
[dependencies]
parking_lot = { path = "$PWD/crates/shims/parking-lot/patch" }
bincode = "1.3.3"
MANIFEST
    cat >"$work/src/lib.rs" <<'LIBRARY'
#![allow(warnings)]
pub use parking_lot::*;

pub trait WaitWhileUntilInternal {
    fn wait_while_until_internal<T, F: FnMut(&mut T) -> bool>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        condition: F,
        deadline: Option<std::time::Instant>,
    ) -> WaitTimeoutResult;
}
impl WaitWhileUntilInternal for Condvar {
    fn wait_while_until_internal<T, F: FnMut(&mut T) -> bool>(
        &self,
        guard: &mut MutexGuard<'_, T>,
        condition: F,
        deadline: Option<std::time::Instant>,
    ) -> WaitTimeoutResult {
        match deadline {
            Some(deadline) => self.wait_while_until(guard, condition, deadline),
            None => self.wait_while_for(guard, condition, std::time::Duration::MAX),
        }
    }
}
#[doc = include_str!("examples.md")]
pub struct Examples;
LIBRARY
    rand >>"$work/src/lib.rs"
    for type in "${types[@]}"; do
        sed --quiet '/^#\[cfg(test)\]$/,$ { s/^    use std::thread;$/&\n    use crate::WaitWhileUntilInternal as _;/; p }' \
            "$source/src/$type.rs" >"$work/src/$type.rs"
        echo "#[cfg(test)] mod $type;" >>"$work/src/lib.rs"
        # The examples of its documentation.
        sed --quiet 's/^ *\/\/\/ \?//p' "$source/src/$type.rs" >>"$work/src/examples.md"
    done
    cp "$source"/tests/*.rs "$work/tests/"
}

# The names that the tests know. A wait takes a reference to a guard and not the name of one, so that a reference that is used again
# is passed on as another.
make_lock_api() {
    make_package <<MANIFEST
[dependencies]
corecast-lock = { path = "$PWD/crates/lock", features = ["lock_api"] }
MANIFEST
    cat >"$work/src/lib.rs" <<'LIBRARY'
#![allow(warnings)]
pub use corecast_lock::Condvar;
pub use corecast_lock::lock_api::{
    MappedMutexGuard, Mutex, MutexGuard, RwLock, RwLockUpgradableReadGuard, RwLockWriteGuard,
};
LIBRARY
    rand >>"$work/src/lib.rs"
    for type in "${types[@]}"; do
        sed --quiet '/^#\[cfg(test)\]$/,$ { s/condition\.\(wait\|wait_for\)(lock\b/condition.\1(\&mut *lock/; p }' \
            "$source/src/$type.rs" >"$work/src/$type.rs"
        echo "#[cfg(test)] mod $type;" >>"$work/src/lib.rs"
    done
}

build() {
    cargo test --quiet --offline --no-run --manifest-path "$work/Cargo.toml" --target-dir "$target" "${features[@]}" "$@"
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

# Tests that the compiler refuses are taken out and counted as failed. It finds some mistakes only when others are gone.
compile() {
    for _ in 1 2 3 4 5; do
        build --lib --message-format=short 2>"$work/build" && break
        grep --extended-regexp '^src/[a-z_]+\.rs:[0-9]+:[0-9]+: error' "$work/build" | sort --unique >"$work/places" || {
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
}

# Each in a process of its own, so that one that waits for ever does not keep the others from an end.
run_one() {
    local program="$1" test="$2" limit="$most_seconds"
    if expected | grep --quiet "^$subject ${test%%::*} ${test##*::} "; then
        limit="$most_seconds_of_expected"
    fi
    timeout --kill-after=5 "$limit" "$program" --exact "$test" >"$work/output-${test##*::}" 2>&1 || echo "${test%%::*} ${test##*::}"
}
export -f run_one expected
export most_seconds most_seconds_of_expected

run_unit_tests() {
    program="$(find "$target/debug/deps" -name "parking_lot_tests_$subject-*" -type f -executable)"
    "$program" --list --format terse | sed --quiet 's/: test$//p' >"$work/names"
    xargs --max-procs=2 --replace bash -c 'run_one "$@"' _ "$program" '{}' <"$work/names" >>"$work/failed"
    # The files whose tests are not compiled without a feature, but for those that parking_lot itself leaves out.
    for type in "${uncompiled[@]}"; do
        sed --quiet "/_not_supported)\]$/ { n; n; d }; s/^    fn \(test_[a-z_]*\).*/$type \1/p" "$source/src/$type.rs" >>"$work/failed"
    done
}

# The files in tests/, and the examples in the documentation.
run_other_tests() {
    for kind in test doc; do
        local which=(--doc)
        [ "$kind" = doc ] || which=(--test '*')
        timeout "$most_seconds" cargo test --offline --manifest-path "$work/Cargo.toml" --target-dir "$target" "${features[@]}" \
            "${which[@]}" >"$work/output-$kind" 2>&1 || is_as_expected=false
        grep --extended-regexp '^test .* \.\.\. ' "$work/output-$kind" >"$work/$kind-tests" || true
        passed="$(grep --count ' \.\.\. ok$' "$work/$kind-tests" || true)"
        echo "$([ "$kind" = doc ] && echo examples || echo tests/): $passed of $(wc -l <"$work/$kind-tests") pass"
        [ "$passed" = "$(wc -l <"$work/$kind-tests")" ] && [ "$passed" != 0 ] || {
            cat "$work/output-$kind"
            is_as_expected=false
        }
    done
}

report() {
    sort --unique "$work/failed" >"$work/others"
    {
        sed --regexp-extended 's/::.*::/ /' "$work/names"
        cat "$work/others"
    } | sort --unique >"$work/all"
    for type in "${types[@]}" "${uncompiled[@]}"; do
        count="$(grep --count "^$type " "$work/all")"
        others="$(grep --count "^$type " "$work/others" || true)"
        echo "$type: $((count - others)) of $count pass"
        while read -r _ name; do
            reason="$(expected | sed --quiet "s/^$subject $type $name //p")"
            echo "    $name: ${reason:-NOT EXPECTED}"
            if [ -z "$reason" ]; then
                is_as_expected=false
                cat "$work/output-$name" 2>/dev/null || grep "$type\.rs" "$work/errors" || true
            fi
        done < <(grep "^$type " "$work/others")
    done
    while read -r _ type name _; do
        if ! grep --quiet --line-regexp "$type $name" "$work/others"; then
            echo "$type: $name passes, or is gone: take it off the list of $0 and the pages of docs/guide"
            is_as_expected=false
        fi
    done < <(expected | grep "^$subject ")
}

is_as_expected=true
for subject in shim lock_api; do
    work="$all_work/$subject"
    export work subject
    if [ "$subject" = shim ]; then
        types=(mutex fair_mutex remutex rwlock condvar once) uncompiled=(deadlock) features=(--features serde,arc_lock)
        echo "parking_lot ${source##*/parking_lot-}, its own tests on corecast-parking-lot"
    else
        types=(mutex rwlock condvar) uncompiled=() features=()
        echo "parking_lot ${source##*/parking_lot-}, its own tests on corecast_lock::lock_api"
    fi
    "make_$subject"
    : >"$work/failed"
    rm -f "$target"/debug/deps/parking_lot_tests_"$subject"-*
    compile
    run_unit_tests
    report
    [ "$subject" = lock_api ] || run_other_tests
done
$is_as_expected
