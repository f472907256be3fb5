#!/bin/sh
# Runs mpi4py's own test suite under Open MPI with and without the preload object: the verdicts must be equal. Not part of .ci/run: it
# takes minutes, fetches the suite with pip, and needs python3-mpi4py and openmpi-bin.
#
# Usage: ci/shim-mpi-long.sh [RANKS ..]     [default: 2 4]
set -eu
cd "$(dirname "$0")/.."

python=${PYTHON:-/usr/bin/python3}
if ! "$python" -c 'import mpi4py' 2> /dev/null || ! command -v mpirun.openmpi > /dev/null; then
    echo "SKIPPED: mpi4py's tests: python3-mpi4py or openmpi-bin is missing"
    exit 0
fi

cargo build --release --quiet --package corecast-shim-mpi
object=${CARGO_TARGET_DIR:-target}/release/libcorecast_mpi.so
object=$(realpath "$object")

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The suite of the next patch release is the oldest that builds its own metadata today.
pip download --quiet --no-deps --no-binary mpi4py --dest "$work" mpi4py==3.1.6
tar -C "$work" -xzf "$work"/mpi4py-3.1.6.tar.gz

export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1

# suite NAME RANKS COMMAND..: one line for each test and its verdict, of rank 0.
suite() {
    name=$1 ranks=$2
    shift 2
    # Left out: what starts programs, one-sided communication and files, which hang or fail under this Open MPI in a container by themselves.
    (cd "$work"/mpi4py-3.1.6 && timeout 600 mpirun.openmpi -n "$ranks" "$@" \
        sh -c 'if [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then exec "$@" > "$0" 2>&1; else exec "$@" > /dev/null 2>&1; fi' \
        "$work/$name.out" "$python" test/runtests.py --no-numpy -v -e spawn -e dynproc -e win -e io -e file) \
        || echo "$name, $ranks ranks: ended with $?"
    grep -E '\.\.\. ' "$work/$name.out" | sed 's/ in [0-9.]*s//' > "$work/$name.verdicts" || true
    grep -E '^(Ran|OK|FAILED)' "$work/$name.out" || true
}

for ranks in ${*:-2 4}; do
    echo "mpi4py, $ranks ranks, without:"
    suite without "$ranks" env
    echo "mpi4py, $ranks ranks, with:"
    suite with "$ranks" env LD_PRELOAD="$object" CORECAST_MPI_AFTER=2
    cmp "$work/without.verdicts" "$work/with.verdicts" || { diff "$work/without.verdicts" "$work/with.verdicts"; exit 1; }
    echo "equal verdicts: $(wc -l < "$work/with.verdicts")"
done
