"""Broadcasts of MPI by mpi4py, in a program of their own that `mpirun` starts."""

import functools
import json
import os
import shutil
import subprocess
import sys

from .common import PATIENCE, Contender, without

_PROGRAM = """
import json, sys, time, numpy
from mpi4py import MPI
world, size, seconds = MPI.COMM_WORLD, int(sys.argv[1]), float(sys.argv[2])
message = numpy.zeros(size, dtype="uint8")
world.Barrier()
count, begin, used = 0, time.perf_counter(), time.process_time()
while True:
    if world.rank == 0 and time.perf_counter() - begin >= seconds:
        message[0] = 255
    world.Bcast(message)
    count += 1
    first, last = message[0], message[-1]
    if first == 255:
        break
world.Barrier()
took = time.perf_counter() - begin
told = world.gather((count, (time.process_time() - used) / took, took))
if world.rank == 0:
    assert len({one[0] for one in told}) == 1, told
    cpus = [one[1] for one in told]
    print(json.dumps({"values": count / took, "readers_cpu": sum(cpus[1:]), "sender_cpu": cpus[0]}))
"""


def environment():
    """What Open MPI needs to start as the superuser, as in containers."""
    return {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}


def command(ranks, program, *arguments):
    """The command that runs a program of Python on so many ranks, more than CPUs if need be."""
    crowd = ["--oversubscribe"] if ranks > len(os.sched_getaffinity(0)) else []
    return ["mpirun", *crowd, "-n", str(ranks), sys.executable, "-c", program, *map(str, arguments)]


@functools.lru_cache(maxsize=None)
def missing():
    """The reason why there is no mpi4py that works, or None."""
    if not shutil.which("mpirun"):
        return "mpirun not installed"
    if without("mpi4py", "numpy"):
        return without("mpi4py", "numpy")
    done = subprocess.run(command(1, "from mpi4py import MPI"), capture_output=True, text=True, env=environment())
    return None if done.returncode == 0 else f"mpirun failed: {(done.stderr.strip() or 'without words').splitlines()[-1]}"


class Mpi(Contender):
    """`Bcast` to ranks that call it, too."""

    name = "mpi4py, Bcast"
    parts = ("stream",)
    runs_alone = True
    how = "1 copy from the root for each reader, through chunks or by the kernel as the library chooses; ranks poll"

    @staticmethod
    def missing():
        return missing()

    @staticmethod
    def stream(size, count, seconds):
        """The rate of one turn, and the CPUs that it used."""
        run = command(count + 1, _PROGRAM, size, seconds)
        done = subprocess.run(run, capture_output=True, text=True, env=environment(), timeout=2 * PATIENCE, check=True)
        return json.loads(done.stdout)
