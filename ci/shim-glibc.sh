#!/usr/bin/env bash
# Runs the C programs of the tests of the OpenMP and pthread objects with another C library, with the objects and without: each must
# end with the same status, and what it prints must be the same. Nothing is installed: the other library's own loader starts the
# programs. No part of `.ci/run`: it takes minutes, and needs the packages, such as those of Debian 13:
#
#   for package in libc6 libgomp1 libgcc-s1 libstdc++6; do dpkg -x "$package"_*.deb root; done
#
# Usage: ci/shim-glibc.sh ROOT     the folder with the unpacked packages; OBJECTS=FOLDER: the objects, in place of those that are
#                                  built; LOCKS="auto mcs"; PROGRAMS="mutex": only these of pthread;
#                                  SYSROOT=FOLDER: links the programs with the C library in this folder
set -euo pipefail
cd "$(dirname "$0")/.."

root="$(realpath "${1:?the folder with the unpacked packages}")"
libraries="$root/usr/lib/x86_64-linux-gnu:$root/lib/x86_64-linux-gnu"
for loader in "$root"/{usr/lib64,lib64,lib/x86_64-linux-gnu}/ld-linux-x86-64.so.2; do [ ! -e "$loader" ] || break; done
if [ -z "${OBJECTS:-}" ]; then
    cargo build --release --quiet --package corecast-shim-omp --package corecast-shim-pthread
    OBJECTS="${CARGO_TARGET_DIR:-target}/release"
fi
objects="$(realpath "$OBJECTS")"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT
"$loader" --library-path "$libraries" "$(echo "$root"/{usr/lib,lib}/x86_64-linux-gnu/libc.so.6 | tr ' ' '\n' | xargs ls 2>/dev/null | head -1)" \
    2>/dev/null | head -1 || true

runs=0 served=0 differ=0
# The status and the standard output of a program under the other loader: run PRELOADED PROGRAM ARGUMENT .. -- NAME=VALUE ..
run() {
    local preload=(--preload "$1") command=("$2") without=() status=0
    # A program leaves out what the C library's locks cannot do, unless a lock is chosen.
    [ -n "$1" ] || preload=() without=(env --unset=CORECAST_LOCK)
    shift 2
    while [ "$1" != -- ]; do command+=("$1") && shift; done
    shift
    env "$@" "${without[@]}" timeout --kill-after=5 "${LIMIT:-300}" "$loader" --library-path "$libraries" "${preload[@]}" "${command[@]}" \
        >"$work/output" 2>"$work/errors" </dev/null || status=$?
    echo "status $status"
    cat "$work/output"
}
# Runs a program both ways: compare OBJECT PROGRAM ARGUMENT .. -- NAME=VALUE ..
compare() {
    local object="$1" without with
    shift
    without="$(run "" "$@" CORECAST_NONE=)"
    with="$(run "$object" "$@" CORECAST_SHIM_STATS=1)"
    runs=$((runs + 1))
    ! grep --quiet 'corecast [a-z]*: .*served [1-9]' "$work/errors" || served=$((served + 1))
    [ "$without" != "$with" ] || return 0
    differ=$((differ + 1))
    echo "differs: $*"
    diff <(echo "$without") <(echo "$with") || true
    head -5 "$work/errors"
}

sysroot=()
[ -z "${SYSROOT:-}" ] || sysroot=("--sysroot=$SYSROOT")
for name in teams copyprivate varied deferred cancelled forked producer legacy masters; do
    cc "${sysroot[@]}" -O2 -fopenmp -o "$work/$name" "crates/shims/omp/tests/programs/$name.c" -lpthread
    for threads in 1 2 4; do compare "$objects/libcorecast_omp.so" "$work/$name" "$threads" --; done
done
for name in ${PROGRAMS:-barrier mutex cond rwlock fork heap}; do
    cc "${sysroot[@]}" -O1 -pthread -o "$work/$name" "crates/shims/pthread/tests/c/$name.c"
    for lock in ${LOCKS:-pthread auto mcs word}; do
        compare "$objects/libcorecast_pthread.so" "$work/$name" -- CORECAST_SHIM=barrier,lock "CORECAST_LOCK=$lock"
    done
done
echo "$runs runs: $served were served in part, $differ differ with the object"
[ "$differ" = 0 ]
