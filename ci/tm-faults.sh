#!/usr/bin/env bash
# Plants faults in copies of the transactional memory, one at a time, and fails unless the test that is named beside each finds it
# within a minute; the copy without a fault has to pass the same tests. No step of .ci/run: it builds the tests five times, which
# takes some minutes. With words as arguments, only the faults whose name contains one of them.
#
# CORECAST_TM_PAIRS is the number of pairs that the hunt of tests/opacity.rs may read under each manager. It tells how many the
# participant had read that saw the difference.
set -euo pipefail
cd "$(dirname "$0")/.."

source="$PWD"
copy="$(mktemp -d)"
trap 'rm -rf "$copy"' EXIT
export CARGO_INCREMENTAL=0 CARGO_TARGET_DIR="${CARGO_TARGET_DIR:-$source/target}/tm-faults"
export CORECAST_TM_PAIRS="${CORECAST_TM_PAIRS:-5000000}"
git ls-files -z --cached --others --exclude-standard | tar --create --null --files-from=- --ignore-failed-read 2>/dev/null |
    tar --extract --directory "$copy"
cd "$copy"

# Runs the tests $2 .. of the test program $1, or of the library if it is lib.
hunt() {
    local target=(--test "$1")
    [ "$1" != lib ] || target=(--lib)
    cargo test --quiet --package corecast-tm "${target[@]}" --no-run
    timeout 60 cargo test --quiet --package corecast-tm "${target[@]}" -- --nocapture --test-threads 1 "${@:2}" 2>&1
}

# Plants the fault $1 in the file $2 by the substitution $3, and expects the words $4 from the tests $5 ...
fault() {
    local name="$1" file="crates/tm/src/$2" edit="$3" words="$4" found status=0
    shift 4
    if [ -n "$only" ] && ! grep --quiet --extended-regexp "$only" <<<"$name"; then
        return
    fi
    if ! found="$(hunt "$@")"; then
        echo "$found"
        echo "tm-faults: without a fault, $* FAILED"
        exit 1
    fi
    cp "$file" "$copy/before"
    perl -0pi -e "$edit" "$file"
    if cmp --silent "$file" "$copy/before"; then
        echo "tm-faults: $name: $file has changed, and the fault cannot be planted as before"
        exit 1
    fi
    found="$(hunt "$@")" || status=$?
    cp "$copy/before" "$file"
    # A test that hangs or does not build has not said what was expected.
    if [ "$status" = 0 ] || ! grep --quiet --fixed-strings "$words" <<<"$found"; then
        echo "$found" | tail --lines 20
        echo "tm-faults: $name: NOT FOUND by $* (exit status $status)"
        exit 1
    fi
    echo "$name: found by $*"
    grep '^a difference: ' <<<"$found" || true
}

only="$(IFS='|' && echo "$*")"
half="half of a transaction"
fault "no check after the copy" attempt/accesses.rs \
    's/(            \}\n        \};\n)        self\.check_status\(\)\?;\n(        Ok\(value\)\n)/$1$2/' \
    "$half" opacity shared_lazy
fault "a grant before the victim is aborted" rule.rs \
    's/if !statuses\.try_abort\((holder, locks\.claim\(holder\)\.epoch, why)\)/let _late = ($1);\n            if false/' \
    "$half" opacity messages_lazy
fault "a status without an epoch" status.rs \
    's/epoch << 8 \| state\.to_bits\(\)/(epoch & 0) << 8 | state.to_bits()/' \
    "a_late_abort_never_meets_the_next_attempt" lib status::tests::a_late_abort_never_meets_the_next_attempt
fault "a commit without a log" attempt/commit.rs \
    's/self\.memory\.log\(self\.me\)\.write\(self\.epoch, self\.written, writes\);/drop(writes);/' \
    "dead one's work is undone or completed" processes death::what_a_killed_participant_was_storing_is_completed
