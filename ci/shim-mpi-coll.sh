#!/usr/bin/env bash
# Runs MPICH's own tests of collectives (test/mpi/coll of its source) with the preload object and without, under each MPI that is
# installed: verdicts must be equal. No part of `.ci/run`: it takes an hour, and needs the source, such as that of
# `apt-get source mpich`. A rank that hangs is told by the CPU time that it uses, as both MPIs wait awake, so that other work on the
# machine breaks nothing.
#
# Usage: ci/shim-mpi-coll.sh FOLDER     RANKS="2 3 4"; MPIS="openmpi mpich"; TESTS='^red': only tests whose names match;
#                                       OBJECT=FILE: the object, in place of one that is built; LIMIT=60: seconds of CPU time for a rank;
#                                       WORK=FOLDER: where it builds, and keeps the verdicts: with the same again it goes on from there
set -euo pipefail
cd "$(dirname "$0")/.."

source="$(realpath "${1:?the folder of the source of MPICH}")/test/mpi"
work="${WORK:-$(mktemp -d)}"
[ -n "${WORK:-}" ] || trap 'rm -rf "$work"' EXIT
[ -n "${OBJECT:-}" ] || cargo build --release --quiet --package corecast-shim-mpi
object="$(realpath "${OBJECT:-${CARGO_TARGET_DIR:-target}/release/libcorecast_mpi.so}")"
limit="${LIMIT:-60}"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

# Builds the tests with the compiler of an MPI: build MPI.
build() {
    mkdir -p "$work/$1" && cd "$work/$1"
    [ ! -e built ] || return 0
    # Open MPI's header knows the functions that MPI 3.0 removed, and refuses their callers. These names are what follows them.
    [ "$1" != openmpi ] || flags="-DOMPI_OMIT_MPI1_COMPAT_DECLS=1 -DMPI_Type_hvector=MPI_Type_create_hvector \
        -DMPI_Type_hindexed=MPI_Type_create_hindexed -DMPI_Type_struct=MPI_Type_create_struct"
    "$source/configure" "MPICC=mpicc.$1" "CPPFLAGS=${flags:-}" --disable-cxx --disable-fortran --disable-spawn --disable-rma >log 2>&1
    make -C dtpools >>log 2>&1
    make -C util libmtest_single.la >>log 2>&1
    # Some tests do not link with a library that lacks a function.
    make --keep-going -C coll >>log 2>&1 || true
    touch built
}
# The verdict of a test, and whether any call was served: run MPI RANKS TEST ARGUMENTS -- NAME=VALUE ..
run() {
    local mpi="$1" ranks="$2" command=("$3") status=0 verdict
    shift 3
    while [ "$1" != -- ]; do command+=("$1") && shift; done
    shift
    (
        ulimit -t "$limit"
        # A rank that hangs asleep uses no CPU time.
        exec timeout --kill-after=5 $((60 * limit)) "mpiexec.$mpi" -n "$ranks" env "$@" "${command[@]}"
    ) >"$work/output" 2>&1 </dev/null || status=$?
    verdict="failed"
    if [ "$status" = 124 ] || [ "$status" = 137 ] || grep --quiet 'CPU time limit exceeded' "$work/output"; then verdict="hangs"; fi
    if [ "$status" = 0 ] && grep --quiet --ignore-case 'no errors' "$work/output"; then verdict="passed"; fi
    echo "$verdict"
}

# The different verdicts of a first run and of two more, in order: verdicts_of FIRST AS-FOR-RUN ..
verdicts_of() {
    { echo "$1"; for _ in 1 2; do run "${@:2}"; done; } | sort --unique | tr '\n' ' '
}

# Compares one test, and notes the ranks, the verdict without the object, whether it was served, whether all is equal, and the test.
compare() {
    local mpi="$1" ranks="$2" test="$3" command without with served=unserved equal=equal
    command=("$mpi" "$ranks" "$work/$mpi/coll/$test" "${@:4}" --)
    without="$(run "${command[@]}" CORECAST_NONE=)"
    with="$(run "${command[@]}" "LD_PRELOAD=$object" CORECAST_MPI_AFTER=0 CORECAST_SHIM_STATS=1)"
    ! grep --quiet 'corecast mpi: .*: served [1-9]' "$work/output" || served=served
    if [ "$without" != "$with" ]; then
        # Some tests fail now and then, or take too long where ranks share CPUs. One that does so both ways is the same.
        without="$(verdicts_of "$without" "${command[@]}" CORECAST_NONE=)"
        with="$(verdicts_of "$with" "${command[@]}" "LD_PRELOAD=$object" CORECAST_MPI_AFTER=0)"
        echo "$mpi, $ranks ranks, $test ${*:4}: ${without}without the object, ${with}with it"
        [ "$without" = "$with" ] || equal=differs
    fi
    echo "$ranks ${without%% *} $served $equal $test ${*:4}" >>"$work/verdicts.$mpi"
}

failed=0
for mpi in ${MPIS:-openmpi mpich}; do
    if ! command -v "mpicc.$mpi" >/dev/null || ! command -v "mpiexec.$mpi" >/dev/null; then
        echo "SKIPPED: MPICH's tests under $mpi: mpicc.$mpi or mpiexec.$mpi is missing"
        continue
    fi
    (build "$mpi")
    touch "$work/verdicts.$mpi"
    for ranks in ${RANKS:-2 3 4}; do
        while read -r test arguments; do
            [ -x "$work/$mpi/coll/$test" ] && [[ "$test" =~ ${TESTS:-.} ]] || continue
            read -r -a arguments <<<"$arguments"
            grep --quiet "^$ranks [a-z ]* $test ${arguments[*]}\$" "$work/verdicts.$mpi" || compare "$mpi" "$ranks" "$test" "${arguments[@]}"
        # Each test once with each list of arguments; what needs gigabytes is left out.
        done < <(sed -n 's/^\([a-z][a-z0-9_]*\) [0-9]* *\(\(arg=[^ ]* *\)*\).*/\1 \2/p' "$source/coll/testlist.in" | sed 's/arg=//g' | sort --unique)
        noted() { grep --count "^$ranks $1" "$work/verdicts.$mpi" || true; }
        echo "$mpi, $ranks ranks: $(noted .) runs; without the object $(noted passed) passed, $(noted failed) failed, $(noted hangs) hung;" \
            "with it $(noted '[a-z]* served') were served in part, $(noted '.* differs ') had another verdict"
        failed=$((failed + $(noted '.* differs ')))
    done
done
[ "$failed" = 0 ]
