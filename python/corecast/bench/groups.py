"""The measurements of groups: barriers, and sums of arrays."""

import statistics
import struct
import subprocess
import sys
import time

import corecast

from .contenders import mpi
from .contenders.common import PATIENCE, fresh_name, spawning, without


def _meet_corecast(name, size, rounds, end):
    with corecast.Group.create(name, size) as group:
        for _ in range(rounds // 10):
            group.barrier()
        begin = time.perf_counter()
        for _ in range(rounds):
            group.barrier()
        took = time.perf_counter() - begin
        group.barrier()
    end.send_bytes(struct.pack("<d", took / rounds))


def _meet_barrier(barrier, rounds, end):
    for _ in range(rounds // 10):
        barrier.wait()
    begin = time.perf_counter()
    for _ in range(rounds):
        barrier.wait()
    end.send_bytes(struct.pack("<d", (time.perf_counter() - begin) / rounds))


def barrier(options, say):
    """A barrier among four processes."""
    values = {"corecast": [], "multiprocessing.Barrier": []}
    size, context = 4, spawning()
    for turn in range(3 if options.quick else 9):
        for name in values:
            say(f"barrier: {name}, turn {turn + 1}")
            end, theirs = context.Pipe(duplex=False)
            rounds = 500 if options.quick else 5000
            if name == "corecast":
                target, arguments = _meet_corecast, (fresh_name(), size, rounds, theirs)
            else:
                target, arguments = _meet_barrier, (context.Barrier(size), rounds, theirs)
            processes = [context.Process(target=target, args=arguments, daemon=True) for _ in range(size)]
            for process in processes:
                process.start()
            times = [struct.unpack("<d", end.recv_bytes())[0] for _ in range(size)]
            for process in processes:
                process.join(PATIENCE)
            values[name].append(1e6 * statistics.median(times))
    yield _row("4 processes", values, {})


_ALLREDUCE_OURS = """
import sys, time, numpy, corecast
group = corecast.Group.create(sys.argv[1], int(sys.argv[2]))
array, out = numpy.ones(262144, dtype="float32"), numpy.empty(262144, dtype="float32")
rounds = int(sys.argv[3])
for _ in range(rounds // 10 + 1):
    group.allreduce(array, out=out)
group.barrier()
begin = time.perf_counter()
for _ in range(rounds):
    group.allreduce(array, out=out)
took = time.perf_counter() - begin
assert out[-1] == group.size
if group.rank == 0:
    print(1e6 * took / rounds)
"""

_ALLREDUCE_MPI = """
import sys, time, numpy
from mpi4py import MPI
world = MPI.COMM_WORLD
array, out = numpy.ones(262144, dtype="float32"), numpy.empty(262144, dtype="float32")
rounds = int(sys.argv[1])
for _ in range(rounds // 10 + 1):
    world.Allreduce(array, out)
world.Barrier()
begin = time.perf_counter()
for _ in range(rounds):
    world.Allreduce(array, out)
took = time.perf_counter() - begin
assert out[-1] == world.size
if world.rank == 0:
    print(1e6 * took / rounds)
"""


def allreduce(options, say):
    """The sum of 1 MiB of float32 among two processes."""
    values, skipped = {"corecast": []}, {}
    size, rounds = 2, 50 if options.quick else 500
    if without("numpy"):
        say("SKIPPED: allreduce: numpy not installed")
        return
    if mpi.missing():
        skipped["mpi4py"] = mpi.missing()
    else:
        values["mpi4py"] = []
    for turn in range(3 if options.quick else 9):
        say(f"allreduce: turn {turn + 1}")
        name = fresh_name()
        command = [sys.executable, "-c", _ALLREDUCE_OURS, name, str(size), str(rounds)]
        members = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(size)]
        values["corecast"].append(float("".join(member.communicate()[0] for member in members)))
        if "mpi4py" in values:
            command = mpi.command(size, _ALLREDUCE_MPI, rounds)
            done = subprocess.run(command, capture_output=True, text=True, env=mpi.environment(), check=True)
            values["mpi4py"].append(float(done.stdout))
    yield _row("1 MiB of float32, 2 processes", values, skipped)


def _row(case, values, skipped):
    return {
        "case": case,
        "unit": "us",
        "more_is_better": False,
        "contenders": [{"name": name, "values": found} for name, found in values.items()],
        "skipped": [{"name": name, "why": why} for name, why in skipped.items()],
    }
