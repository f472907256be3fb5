"""A message to another process and back: the time of both ways, with an answer as long as the message."""

import statistics
import tempfile
import time

import corecast

from .contenders.common import PATIENCE, fresh_name, spawning, without
from .load import busy

_SIZES = [1, 1000, 64_000, 1_000_000, 10_000_000]


class _Ours:
    """A channel each way."""

    name = "corecast"
    how = "1 copy each way, answered from where it lies; both spin shortly, then sleep"

    def __init__(self, size):
        self.names = [fresh_name(), fresh_name()]
        self.sender = corecast.Sender(self.names[0], max_bytes=size)
        self.receiver = corecast.Receiver(self.names[1], create=True, max_bytes=size)
        self.echo, self.arguments = _echo_ours, self.names

    def play(self, data):
        self.sender.send(data)
        with self.receiver.recv(PATIENCE) as view:
            return view[0]

    def close(self):
        self.sender.close()
        self.receiver.close()


def _echo_ours(there, back):
    receiver = corecast.Receiver(there, timeout=PATIENCE)
    sender = corecast.Sender(back, create=False, timeout=PATIENCE)
    for message in receiver:
        with message as view:
            sender.send(view)


class _Pipe:
    """A duplex pipe."""

    name = "multiprocessing.Pipe"
    how = "2 copies in the kernel each way; both sleep"

    def __init__(self, size):
        self.end, there = spawning().Pipe()
        self.echo, self.arguments = _echo_pipe, [there]

    def play(self, data):
        self.end.send_bytes(data)
        return self.end.recv_bytes()[0]

    def close(self):
        self.end.close()


def _echo_pipe(end):
    while data := end.recv_bytes():
        end.send_bytes(data)


class _Queue:
    """A queue each way."""

    name = "multiprocessing.Queue"
    how = "a pickle, a thread and a pipe each way; both sleep"

    def __init__(self, size):
        self.there, self.back = spawning().Queue(), spawning().Queue()
        self.echo, self.arguments = _echo_queue, [self.there, self.back]

    def play(self, data):
        self.there.put(data)
        return self.back.get()[0]

    def close(self):
        self.there.close()
        self.back.close()


def _echo_queue(there, back):
    while data := there.get():
        back.put(data)


class _Zmq:
    """A pair of sockets over ipc."""

    name = "pyzmq, ipc"
    how = "a socket: 2 copies in the kernel each way; both sleep"

    def __init__(self, size):
        import zmq

        self.folder, self.context = tempfile.TemporaryDirectory(), zmq.Context()
        self.socket = self.context.socket(zmq.PAIR)
        self.socket.bind(f"ipc://{self.folder.name}/pair")
        self.echo, self.arguments = _echo_zmq, [f"ipc://{self.folder.name}/pair"]

    def play(self, data):
        self.socket.send(data)
        return self.socket.recv(copy=False).buffer[0]

    def close(self):
        self.socket.close(linger=0)
        self.context.term()
        self.folder.cleanup()


def _echo_zmq(address):
    import zmq

    socket = zmq.Context.instance().socket(zmq.PAIR)
    socket.connect(address)
    while True:
        socket.send(socket.recv(copy=False))


def roundtrip(options, say):
    """There and back, between two processes."""
    why = without("zmq")
    kinds = [_Ours, _Pipe, _Queue] + ([] if why else [_Zmq])
    for is_loaded in options.loads or ([False] if options.quick else [False, True]):
        for size in options.sizes or ([1000] if options.quick else _SIZES):
            case = f"{size:,} bytes there and back{', beside busy processes' if is_loaded else ''}"
            found = {kind.name: [] for kind in kinds}
            with busy(is_loaded):
                for turn in range(3 if options.quick else 9):
                    for kind in kinds[turn % len(kinds) :] + kinds[: turn % len(kinds)]:
                        say(f"roundtrip: {case}: {kind.name}, turn {turn + 1}")
                        found[kind.name].append(_once(kind, size, 0.05 if options.quick else 0.2))
            yield {
                "case": case,
                "bytes": size,
                "load": is_loaded,
                "unit": "us",
                "more_is_better": False,
                "contenders": [{"name": kind.name, "how": kind.how, "values": found[kind.name]} for kind in kinds],
                "skipped": [{"name": _Zmq.name, "why": why}] if why else [],
            }


def _once(kind, size, seconds):
    """The median, in microseconds, of the trips of some time; the other process is warm by then."""
    end = kind(size)
    process = spawning().Process(target=end.echo, args=end.arguments, daemon=True)
    process.start()
    try:
        data, times = b"\x01" + bytes(size - 1), []
        for _ in range(5):
            end.play(data)
        until = time.perf_counter() + seconds
        while (begin := time.perf_counter()) < until or len(times) < 10:
            if end.play(data) != 1:
                raise AssertionError(f"{kind.name}: another message came back")
            times.append(time.perf_counter() - begin)
        return 1e6 * statistics.median(times)
    finally:
        process.kill()
        process.join()
        end.close()
