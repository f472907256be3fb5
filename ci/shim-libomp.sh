#!/usr/bin/env bash
# Runs the C programs of the tests of the OpenMP object on other runtimes of LLVM's family, with the object and without: each must end
# with the same status, and print the same. Programs of Clang find the runtime by LD_LIBRARY_PATH, those of GCC have it preloaded.
# Nothing is installed. No part of `.ci/run`: it takes minutes, and needs the runtimes, such as those of Debian's packages and of
# Intel's wheel:
#
#   for release in 14 15 16 19; do apt-get download "libomp5-$release"; dpkg -x "libomp5-${release}"_*.deb "$release"; done
#   pip download --no-deps intel-openmp && python3 -m zipfile -e intel_openmp-*.whl intel
#
# Usage: ci/shim-libomp.sh LIBRARY ..     files of runtimes, such as 19/usr/lib/llvm-19/lib/libomp.so.5 and libiomp5.so;
#                                         OBJECT=FILE: the object, in place of one that is built; THREADS="2 4"; LIMIT=100: seconds for a run
set -euo pipefail
cd "$(dirname "$0")/.."

[ $# != 0 ] || { sed -n 's/^# Usage: /usage: /p' "$0" >&2 && exit 2; }
[ -n "${OBJECT:-}" ] || cargo build --release --quiet --package corecast-shim-omp
object="$(realpath "${OBJECT:-${CARGO_TARGET_DIR:-target}/release/libcorecast_omp.so}")"
work="$(mktemp -d)"
trap 'rm -rf "$work"' EXIT

# Each with the number of rounds that makes it short.
of_clang="teams:5 copyprivate:200 varied:10 deferred:3 cancelled:5 forked:3 masters:3 deep:5" of_gcc="teams:5 copyprivate:200 varied:10 masters:3"
for each in $of_clang; do clang -O2 -fopenmp -o "$work/clang-${each%:*}" "crates/shims/omp/tests/programs/${each%:*}.c" -lpthread; done
for each in $of_gcc; do gcc -O2 -fopenmp -o "$work/gcc-${each%:*}" "crates/shims/omp/tests/programs/${each%:*}.c" -lpthread; done

# The output and the status of a run: run PROGRAM THREADS ROUNDS NAME=VALUE ..
run() {
    local status=0
    env KMP_BLOCKTIME=0 "${@:4}" timeout --kill-after=5 "${LIMIT:-100}" "$1" "$2" "$3" 2>"$work/errors" </dev/null || status=$?
    echo "status $status"
}
# Runs a program both ways: compare LIBRARY COMPILER NAME THREADS ROUNDS
compare() {
    local program="$work/$2-$3" threads="$4" without with alone=() also=""
    # This one takes the number of levels in their place, so it runs once for all numbers of threads.
    if [ "$3" = deep ]; then
        [ "$threads" = "${counts[0]}" ] || return 0
        threads=12
    fi
    if [ "$2" = gcc ]; then alone=("LD_PRELOAD=$1") also=":$1"; fi
    without="$(run "$program" "$threads" "$5" "LD_LIBRARY_PATH=$work/lib" "${alone[@]}")"
    with="$(run "$program" "$threads" "$5" "LD_LIBRARY_PATH=$work/lib" "LD_PRELOAD=$object$also" CORECAST_SHIM_STATS=1)"
    runs=$((runs + 1))
    ! grep --quiet 'barriers: served [1-9]' "$work/errors" || served=$((served + 1))
    [ "$without" != "$with" ] || return 0
    differ=$((differ + 1))
    echo "differs: $2's $3 with $4 threads"
    diff <(echo "$without") <(echo "$with") || true
}

read -r -a counts <<<"${THREADS:-2 4}"
all=0
for library in "$@"; do
    library="$(realpath "$library")" runs=0 served=0 differ=0
    # Programs of Clang ask for it by this name, whatever the file's is.
    rm -rf "$work/lib" && mkdir "$work/lib" && ln -s "$library" "$work/lib/libomp.so.5"
    for threads in "${counts[@]}"; do
        for each in $of_clang; do compare "$library" clang "${each%:*}" "$threads" "${each#*:}"; done
        for each in $of_gcc; do compare "$library" gcc "${each%:*}" "$threads" "${each#*:}"; done
    done
    echo "$library: $runs runs, barriers were served in $served, $differ differ with the object"
    all=$((all + differ))
done
[ "$all" = 0 ]
