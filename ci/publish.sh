#!/usr/bin/env bash
# `cargo publish` of all crates that docs/release.md publishes, as far as it goes without an upload: what each package holds, and
# whether its dependencies can be had from the registry or are published with it. Fails on warnings, too. The lowest crate is also
# built from its package; with --verify all are, which takes minutes.
# A command of its own and no step of .ci/run, because it asks the registry about each crate, 30 s in all.
set -euo pipefail
cd "$(dirname "$0")/.."
exec </dev/null

output="$(mktemp)"
trap 'rm -f "$output"' EXIT

try() {
    echo "-- cargo publish --dry-run $*"
    if ! cargo publish --dry-run --allow-dirty "$@" 2>&1 | tee "$output"; then
        if grep --quiet --extended-regexp 'download of config\.json failed|attempting to make an HTTP request' "$output"; then
            echo "SKIPPED: publishing: the registry cannot be reached"
            exit 0
        fi
        exit 1
    fi
    if grep '^warning: ' "$output" | grep --invert-match --line-regexp 'warning: aborting upload due to dry run'; then
        echo "publish: the warnings above are to be mended"
        exit 1
    fi
}

if [ "${1:-}" = --verify ]; then
    try --workspace
    exit 0
fi
try --package corecast-base
try --workspace --no-verify
