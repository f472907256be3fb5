"""The measurements. Contenders take turns; each value is the median of several runs of one contender."""

import os
import shutil
import statistics
import struct
import subprocess
import sys
import time
import uuid

import corecast

from . import contenders as c


def stream(quick, say):
    """Messages to 1, 3 and 7 readers, until all have the last one: messages in a second that each reader gets."""
    kinds, skipped = c.available()
    sizes = [1000, 1_000_000] if quick else [1, 1000, 64_000, 1_000_000, 10_000_000]
    for size in sizes:
        for readers in [3] if quick else [1, 3, 7]:
            values = {kind.name: [] for kind in kinds}
            for turn in range(3 if quick else 7):
                for kind in kinds:
                    say(f"stream: {size} bytes, {readers} readers, {kind.name}, turn {turn + 1}")
                    values[kind.name].append(_stream_once(kind, readers, size, 0.1 if quick else 0.5))
            yield {
                "case": f"{size} bytes to {readers} readers",
                "unit": "messages a second",
                "more_is_better": True,
                "values": values,
                "skipped": skipped,
            }


def _stream_once(kind, readers, size, seconds):
    context = c.context()
    contender = kind(context, readers, size)
    pipes = [context.Pipe(duplex=False) for _ in range(2 * readers)]
    ready, ends = pipes[:readers], pipes[readers:]
    processes = [
        context.Process(target=c.receive_all, args=(contender.reader(number), ready[number][1], ends[number][1]), daemon=True)
        for number in range(readers)
    ]
    try:
        for process in processes:
            process.start()
        for end, _ in ready:
            if not end.poll(c.PATIENCE):
                raise corecast.Timeout(f"a reader of {kind.name} did not come within {c.PATIENCE:.0f} s")
            end.recv_bytes()
        data, last = bytes(size), b"\xff" + bytes(size - 1)
        sent, begin = 0, time.perf_counter()
        while time.perf_counter() - begin < seconds:
            contender.send(data)
            sent += 1
        contender.send(last)
        counts = [struct.unpack("<Qd", end.recv_bytes())[0] for end, _ in ends]
        took = time.perf_counter() - begin
        if counts != [sent + 1] * readers:
            raise AssertionError(f"{kind.name}: readers got {counts} of {sent + 1} messages")
        return (sent + 1) / took
    finally:
        for process in processes:
            # After an error nobody waits for readers that wait for messages.
            process.join(0 if sys.exc_info()[0] else c.PATIENCE)
            process.kill()
        contender.close()


def latency(quick, say):
    """Half the time of a message of 1 kB to another process and back, between two channels of one reader."""
    values = {"corecast": [], "multiprocessing.Pipe": []}
    for turn in range(3 if quick else 9):
        for name, play in (("corecast", _ping_corecast), ("multiprocessing.Pipe", _ping_pipe)):
            say(f"latency: {name}, turn {turn + 1}")
            values[name].append(play(2_000 if quick else 20_000))
    yield {"case": "1000 bytes there and back", "unit": "us", "more_is_better": False, "values": values}


def _echo_corecast(there, back):
    receiver = corecast.Receiver(there, timeout=c.PATIENCE)
    sender = corecast.Sender(back, create=False, timeout=c.PATIENCE)
    for message in receiver:
        with message as view:
            sender.send(view)


def _ping_corecast(rounds):
    names = [f"bench-{os.getpid()}-{uuid.uuid4().hex[:8]}" for _ in range(2)]
    with corecast.Sender(names[0], max_bytes=1000) as sender, corecast.Receiver(names[1], create=True, max_bytes=1000) as receiver:
        process = c.context().Process(target=_echo_corecast, args=names, daemon=True)
        process.start()

        def receive():
            with receiver.recv(c.PATIENCE) as view:
                return view[0]

        return _ping(sender.send, receive, rounds)


def _echo_pipe(end):
    while data := end.recv_bytes():
        end.send_bytes(data)


def _ping_pipe(rounds):
    context = c.context()
    here, there = context.Pipe()
    process = context.Process(target=_echo_pipe, args=(there,), daemon=True)
    process.start()
    took = _ping(here.send_bytes, here.recv_bytes, rounds)
    process.kill()
    return took


def _ping(send, receive, rounds):
    data = bytes(1000)
    times = []
    for _ in range(rounds // 10):
        send(data)
        receive()
    for _ in range(rounds):
        begin = time.perf_counter()
        send(data)
        receive()
        times.append(time.perf_counter() - begin)
    return 1e6 * statistics.median(times)


def _idle_reader(reader, opened, end):
    receive = reader.open()
    opened.send_bytes(b"opened")
    message = receive()
    del message
    begin, used = time.perf_counter(), time.process_time()
    message = receive()
    del message
    end.send_bytes(struct.pack("<dd", time.process_time() - used, time.perf_counter() - begin))


def idle(quick, say):
    """The share of a CPU that a reader uses while it waits for a second or more."""
    values = {}
    seconds = 1 if quick else 3
    for turn in range(1 if quick else 5):
        for kind in (c.Corecast, c.Queue, c.Ring):
            say(f"idle: {kind.name}, turn {turn + 1}")
            context = c.context()
            contender = kind(context, 1, 1000)
            opened, end = context.Pipe(duplex=False), context.Pipe(duplex=False)
            process = context.Process(target=_idle_reader, args=(contender.reader(0), opened[1], end[1]), daemon=True)
            process.start()
            opened[0].recv_bytes()
            contender.send(bytes(10))
            time.sleep(seconds)
            contender.send(bytes(10))
            used, waited = struct.unpack("<dd", end[0].recv_bytes())
            if waited < seconds / 2:
                raise AssertionError(f"the reader of {kind.name} waited for {waited:.3f} of {seconds} s")
            values.setdefault(kind.name, []).append(100 * used / waited)
            process.kill()
            contender.close()
    yield {"case": "a reader that waits", "unit": "% of a CPU", "more_is_better": False, "values": values}


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


def barrier(quick, say):
    """A barrier among four processes."""
    values = {"corecast": [], "multiprocessing.Barrier": []}
    size, context = 4, c.context()
    for turn in range(3 if quick else 9):
        for name in values:
            say(f"barrier: {name}, turn {turn + 1}")
            end, theirs = context.Pipe(duplex=False)
            rounds = 500 if quick else 5000
            if name == "corecast":
                target, arguments = _meet_corecast, (f"bench-{os.getpid()}-{uuid.uuid4().hex[:8]}", size, rounds, theirs)
            else:
                target, arguments = _meet_barrier, (context.Barrier(size), rounds, theirs)
            processes = [context.Process(target=target, args=arguments, daemon=True) for _ in range(size)]
            for process in processes:
                process.start()
            times = [struct.unpack("<d", end.recv_bytes())[0] for _ in range(size)]
            for process in processes:
                process.join(c.PATIENCE)
            values[name].append(1e6 * statistics.median(times))
    yield {"case": "4 processes", "unit": "us", "more_is_better": False, "values": values}


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


def allreduce(quick, say):
    """The sum of 1 MiB of float32 among two processes."""
    values, skipped = {"corecast": []}, {}
    size, rounds = 2, 50 if quick else 500
    if subprocess.run([sys.executable, "-c", "import numpy"], capture_output=True).returncode != 0:
        say("SKIPPED: allreduce: numpy is not installed")
        return
    has_mpi = subprocess.run([sys.executable, "-c", "from mpi4py import MPI"], capture_output=True).returncode == 0
    if has_mpi and shutil.which("mpirun"):
        values["mpi4py"] = []
    else:
        skipped["mpi4py"] = "mpi4py or mpirun is not installed"
    for turn in range(3 if quick else 9):
        say(f"allreduce: turn {turn + 1}")
        name = f"bench-{os.getpid()}-{uuid.uuid4().hex[:8]}"
        command = [sys.executable, "-c", _ALLREDUCE_OURS, name, str(size), str(rounds)]
        members = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(size)]
        values["corecast"].append(float("".join(member.communicate()[0] for member in members)))
        if "mpi4py" in values:
            environment = {**os.environ, "OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
            command = ["mpirun", "-n", str(size), sys.executable, "-c", _ALLREDUCE_MPI, str(rounds)]
            done = subprocess.run(command, capture_output=True, text=True, env=environment)
            if done.returncode != 0:
                del values["mpi4py"]
                skipped["mpi4py"] = f"mpirun failed: {done.stderr.strip().splitlines()[-1:]}"
            else:
                values["mpi4py"].append(float(done.stdout))
    yield {"case": "1 MiB of float32, 2 processes", "unit": "us", "more_is_better": False, "values": values, "skipped": skipped}
