#!/usr/bin/env bash
# The tests of crates that use parking_lot, with it and with corecast-parking-lot in its place by `[patch.crates-io]`. cargo downloads
# their sources. Prints for each crate how many pass with either; fails if one passes with parking_lot only.
# A command of its own and no step of .ci/run, because it asks the registry, and builds for minutes. With names as arguments it
# tests only these crates. CARGO_TARGET_DIR keeps what was built for the next run.
set -euo pipefail
cd "$(dirname "$0")/.."
exec </dev/null

# Seconds for the tests of a crate, and for building them.
most_seconds=600

# The crate, its version, other arguments for `cargo test`.
users() {
    cat <<'LIST'
r2d2 0.8.10
scheduled-thread-pool 0.2.7
prometheus 0.14.0
flurry 0.5.2
quick_cache 0.7.0
bb8 0.9.1 --features parking_lot
LIST
}

# Tests whose threads race by the tests' own making: the crate, the test, the reason. They do not count as lost.
racy() {
    cat <<'LIST'
r2d2 test::events expects one thread's event before that of a thread which it has woken; it also fails with parking_lot
LIST
}

work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
patch="$PWD/crates/shims/parking-lot/patch"
target="$(realpath --canonicalize-missing "${CARGO_TARGET_DIR:-$work/target}")/parking-lot-users"
export CARGO_TERM_COLOR=never CARGO_PROFILE_DEV_DEBUG=false

# Copies the source of the crate $1, version $2, to the folder $3.
get_source() {
    local here="$work/get"
    rm -rf "$here"
    mkdir -p "$here/src"
    touch "$here/src/lib.rs"
    printf '[package]\nname = "get"\nversion = "0.0.0"\nedition = "2021"\n[workspace]\n[dependencies]\n%s = "=%s"\n' "$1" "$2" >"$here/Cargo.toml"
    cargo fetch --quiet --manifest-path "$here/Cargo.toml" 2>"$work/fetched" || {
        if grep --quiet --extended-regexp 'download|network|resolve host|connect' "$work/fetched"; then
            echo "SKIPPED: tests of crates that use parking_lot: the registry cannot be reached"
            exit 0
        fi
        cat "$work/fetched"
        exit 1
    }
    manifest="$(cargo metadata --format-version 1 --offline --manifest-path "$here/Cargo.toml" |
        grep --only-matching "\"manifest_path\":\"[^\"]*/$1-$2/Cargo.toml\"" | cut --delimiter='"' --fields=4)"
    cp --recursive --dereference "$(dirname "$manifest")" "$3"
    printf '\n[workspace]\n' >>"$3/Cargo.toml"
}

# Runs the tests of the crate in the folder $1 with the other arguments, and writes their names and results to $1/results.
run_tests() {
    local here="$1"
    shift
    # Version 0.13 of parking_lot is another interface: a dependency that has gone over to it stays behind.
    cargo update --quiet --manifest-path "$here/Cargo.toml" --package scheduled-thread-pool --precise 0.2.7 2>"$here/update" || true
    timeout --kill-after=10 "$most_seconds" cargo test --no-fail-fast --lib --tests --manifest-path "$here/Cargo.toml" \
        --target-dir "$target" "$@" >"$here/output" 2>&1 || true
    sed --quiet --regexp-extended 's/^test (.*) \.\.\. (ok|FAILED)$/\2 \1/p' "$here/output" | sort >"$here/results"
}

count() {
    grep --count "^$1" "$2" || true
}

is_equal=true
while read -r name version arguments; do
    if [ "$#" != 0 ] && [[ " $* " != *" $name "* ]]; then
        continue
    fi
    with="$work/with/$name" without="$work/without/$name"
    mkdir -p "$work/with" "$work/without"
    get_source "$name" "$version" "$without"
    cp --recursive "$without" "$with"
    printf '\n[patch.crates-io]\nparking_lot = { path = "%s" }\n' "$patch" >>"$with/Cargo.toml"
    for here in "$without" "$with"; do
        # shellcheck disable=SC2086 # several words
        run_tests "$here" $arguments
    done
    if ! grep --quiet --fixed-strings 'version = "0.12.99"' "$with/Cargo.lock"; then
        echo "$name $version: did not use corecast-parking-lot"
        is_equal=false
    fi
    echo "$name $version: $(count ok "$with/results") of $(count '' "$with/results") pass," \
        "with parking_lot $(count ok "$without/results") of $(count '' "$without/results")"
    lost="$(comm -23 <(grep '^ok' "$without/results") <(grep '^ok' "$with/results"))"
    while read -r _ test reason; do
        if grep --quiet --line-regexp "ok $test" <<<"$lost"; then
            echo "    $test: $reason"
            lost="$(grep --invert-match --line-regexp "ok $test" <<<"$lost" || true)"
        fi
    done < <(racy | grep "^$name ")
    if [ -n "$lost" ] || [ "$(count ok "$without/results")" = 0 ]; then
        sed 's/^ok /    only with parking_lot: /' <<<"$lost"
        tail -40 "$with/output"
        is_equal=false
    fi
done < <(users)
$is_equal
