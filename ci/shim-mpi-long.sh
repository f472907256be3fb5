#!/bin/sh
# Runs mpi4py's own test suite with and without the preload object: the verdicts must be equal. Not part of .ci/run: it takes minutes, and
# fetches the suite with pip. Under Open MPI it tests Debian's python3-mpi4py, under MPICH an mpi4py that it builds.
#
# Usage: ci/shim-mpi-long.sh [RANKS ..]     [default: 2 4]
#   MPI=openmpi or mpich; OBJECT=FILE: the object, in place of one that is built; SUITE=FOLDER: the unpacked source of mpi4py 3.1.6,
#   built for MPICH if need be; LIMIT=600: seconds for a run; TESTS=NAME: only tests whose names match, such as cco
set -eu
cd "$(dirname "$0")/.."

python=${PYTHON:-/usr/bin/python3}
mpi=${MPI:-openmpi}
if ! command -v "mpiexec.$mpi" > /dev/null || ! command -v "mpicc.$mpi" > /dev/null; then
    echo "SKIPPED: mpi4py's tests: mpiexec.$mpi or mpicc.$mpi is missing"
    exit 0
fi
if [ "$mpi" = openmpi ] && ! "$python" -c 'import mpi4py' 2> /dev/null; then
    echo "SKIPPED: mpi4py's tests: python3-mpi4py is missing"
    exit 0
fi

[ -n "${OBJECT:-}" ] || cargo build --release --quiet --package corecast-shim-mpi
object=$(realpath "${OBJECT:-${CARGO_TARGET_DIR:-target}/release/libcorecast_mpi.so}")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
suite=${SUITE:-}
if [ -z "$suite" ]; then
    # The suite of the next patch release is the oldest that builds its own metadata today.
    pip download --quiet --no-deps --no-binary mpi4py --dest "$work" mpi4py==3.1.6
    tar -C "$work" -xzf "$work"/mpi4py-3.1.6.tar.gz
    suite=$work/mpi4py-3.1.6
fi
# The suite tests an mpi4py that was built beside it, if there is one.
if [ "$mpi" = mpich ] && [ ! -d "$suite/build" ]; then
    (cd "$suite" && MPICC=mpicc.mpich "$python" setup.py --quiet build)
fi

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

# suite NAME RANKS COMMAND..: one line for each test and its verdict, of rank 0.
suite() {
    name=$1 ranks=$2
    shift 2
    # Left out: tests that start programs, one-sided communication and files, which hang or fail under Open MPI 4.1.4 in a container by themselves.
    (cd "$suite" && timeout "${LIMIT:-600}" "mpiexec.$mpi" -n "$ranks" "$@" \
        sh -c 'if [ "${OMPI_COMM_WORLD_RANK:-${PMI_RANK:-}}" = 0 ]; then exec "$@" > "$0" 2>&1; else exec "$@" > /dev/null 2>&1; fi' \
        "$work/$name.out" "$python" test/runtests.py --no-numpy -v ${TESTS:+-i "$TESTS"} \
        -e spawn -e dynproc -e win -e io -e file) \
        || echo "$name, $ranks ranks: ended with $?"
    grep -E '\.\.\. ' "$work/$name.out" | sed 's/ in [0-9.]*s//' > "$work/$name.verdicts" || true
    grep -E '^(Ran|OK|FAILED)' "$work/$name.out" || true
}

for ranks in ${*:-2 4}; do
    echo "mpi4py, $mpi, $ranks ranks, without:"
    suite without "$ranks" env
    echo "mpi4py, $mpi, $ranks ranks, with:"
    suite with "$ranks" env LD_PRELOAD="$object" CORECAST_MPI_AFTER=2
    cmp "$work/without.verdicts" "$work/with.verdicts" || { diff "$work/without.verdicts" "$work/with.verdicts"; exit 1; }
    echo "equal verdicts: $(wc -l < "$work/with.verdicts")"
done
