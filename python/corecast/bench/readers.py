"""The processes that receive: started once, they do one job after the other, so that a case costs no start of Python."""

import time
import traceback
import zlib
from multiprocessing import shared_memory

import corecast

from .contenders import ALL
from .contenders.common import PATIENCE, spawning

#: The first byte of the last message of a job.
LAST = 255


class Readers:
    """Reader processes, which end with the `with` block."""

    def __init__(self, count):
        context = spawning()
        self.ends = [{} for _ in range(count)]
        self.controls, self.processes = [], []
        self.progress = shared_memory.SharedMemory(create=True, size=8 * count)
        self.counts = self.progress.buf.cast("Q")
        for number in range(count):
            theirs = {}
            for kind in ALL:
                pair = None if kind.missing() else kind.inherited(context)
                self.ends[number][kind.name], theirs[kind.name] = pair or (None, None)
            control, their_control = context.Pipe()
            arguments = (number, their_control, theirs, self.progress.name)
            self.processes.append(context.Process(target=_work, args=arguments, daemon=True))
            self.processes[-1].start()
            self.controls.append(control)

    def __enter__(self):
        return self

    def __exit__(self, kind, error, trace):
        if kind is None:
            for control in self.controls:
                control.send(None)
        for process in self.processes:
            # After an error nobody waits for readers that wait for messages.
            process.join(PATIENCE if kind is None else 0)
            process.kill()
            process.join()
        self.counts.release()
        self.progress.close()
        self.progress.unlink()

    def begin(self, kind, size, count, job):
        """Opens a contender for the first `count` readers, who begin a job of this module: the contender, when all are ready."""
        contender = kind(size, [ends[kind.name] for ends in self.ends[:count]])
        for number, control in enumerate(self.controls[:count]):
            self.counts[number] = 0
            control.send((job, kind.name, contender.reader(number)))
        for control in self.controls[:count]:
            _answer(control, kind.name)
        return contender

    def finish(self, contender, count):
        """The results of the readers, who have got the last message."""
        results = [_answer(control, contender.name) for control in self.controls[:count]]
        for control in self.controls[:count]:
            # Each has closed its end.
            _answer(control, contender.name)
        contender.close()
        return results

    def wait(self, count, messages):
        """Waits until all have got so many messages."""
        deadline = time.monotonic() + PATIENCE
        while min(self.counts[:count]) < messages:
            if time.monotonic() > deadline:
                raise corecast.Timeout(f"readers have {list(self.counts[:count])} of {messages} messages after {PATIENCE:.0f} s")
            time.sleep(50e-6)


class OnDemand:
    """Reader processes that start when a part asks for them, and serve all parts of a `with` block."""

    def __init__(self, count):
        self.count, self.running = count, None

    def start(self):
        """The reader processes."""
        if self.running is None:
            self.running = Readers(self.count)
        return self.running

    def __enter__(self):
        return self

    def __exit__(self, *error):
        if self.running is not None:
            self.running.__exit__(*error)


def _answer(control, name):
    if not control.poll(PATIENCE):
        raise corecast.Timeout(f"a reader of {name} gave no answer within {PATIENCE:.0f} s")
    kind, answer = control.recv()
    if kind == "error":
        raise RuntimeError(f"a reader of {name} failed: {answer}")
    return answer


def _work(number, control, ends, progress):
    """A reader process."""
    memory = shared_memory.SharedMemory(progress)
    counts = memory.buf.cast("Q")
    while (order := control.recv()) is not None:
        job, name, reader = order
        try:
            receive, close = reader.open(ends[name])
            control.send(("ready", None))
            control.send(("result", job(receive, counts, number)))
            del receive
            close()
            control.send(("closed", None))
        except Exception:
            # Said here, too, as the sender may wait in a contender for ever.
            traceback.print_exc()
            control.send(("error", traceback.format_exc()))
    counts.release()
    memory.close()


def _look(message):
    """The first byte of a message; the last one is looked at, too."""
    with memoryview(message) as view:
        first, _last = view[0], view[-1]
    return first


def receive_all(receive, counts, number):
    """Looks at both ends of each message: how many came, and the share of a CPU that was used from the first one on."""
    first = _look(receive())
    begin, used, count = time.perf_counter(), time.process_time(), 1
    while first != LAST:
        first = _look(receive())
        count += 1
    return count, (time.process_time() - used) / max(time.perf_counter() - begin, 1e-9)


def note_times(receive, counts, number):
    """The time at which each message was there, by the clock that all processes of a machine share."""
    times, first = [], 0
    while first != LAST:
        first = _look(receive())
        times.append(time.perf_counter())
        counts[number] = len(times)
    return times


def idle(receive, counts, number):
    """The CPU seconds and the seconds between the first message and the second."""
    _look(receive())
    begin, used = time.perf_counter(), time.process_time()
    counts[number] = 1
    _look(receive())
    return time.process_time() - used, time.perf_counter() - begin


def checksums(receive, counts, number):
    """The checksum and the length of each message."""
    sums, first = [], 0
    while first != LAST:
        with memoryview(receive()) as view:
            first = view[0]
            sums.append((zlib.crc32(view), view.nbytes))
    return sums
