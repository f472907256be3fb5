"""Messages by the million, with a look at what all processes hold after the first tenth and at the end."""

import numpy as np

import corecast
import payload
import watch

#: Seconds in which a process of this program answers on a busy machine.
PATIENCE = 120.0
READERS = 3


class Watched:
    """What this process holds once it is warm, and how much more it holds at the last message."""

    def __init__(self, total):
        self._count, self._warm, self._total = 0, max(1, total // 10), total
        #: The words for each leak, after the last message.
        self.leaks = None

    def step(self):
        """Counts one message."""
        self._count += 1
        if self._count == self._warm:
            self._before = watch.held()
        if self._count == self._total:
            self.leaks = watch.growth(self._before, watch.held())


def broadcast(start, name, count):
    """One publisher, whose messages three processes read."""
    with corecast.Publisher(name, max_bytes=payload.MAX_BYTES) as publisher:
        readers = [start(read_all, name, count) for _ in range(READERS)]
        for reader in readers:
            reader.expect("ready")
        watched = Watched(count)
        for number in range(count):
            payload.send(publisher, 0, number, PATIENCE)
            watched.step()
        for reader in readers:
            # One that is left would take over the name, and have a descriptor more.
            reader.expect("seen")
    return watched.leaks + [f"reader: {leak}" for reader in readers for leak in reader.result()]


def read_all(say, name, count):
    """A reader of `broadcast`."""
    series, watched = payload.Series(), Watched(count)
    with corecast.Subscriber(name, timeout=PATIENCE) as subscriber:
        say("ready")
        received = 0
        for message in subscriber:
            series.take(message)
            del message
            watched.step()
            received += 1
            if received == count:
                say("seen")
        if received != count:
            raise payload.Damaged(f"{received} messages of {count} came")
        return watched.leaks


def ask(start, name, count):
    """Questions to one process and its answers, by a channel each."""
    with corecast.Sender(name + "-to", max_bytes=payload.MAX_BYTES) as sender:
        with corecast.Receiver(name + "-from", create=True, max_bytes=payload.MAX_BYTES) as receiver:
            peer = start(answer, name, count // 2)
            series, watched = payload.Series(), Watched(count // 2)
            for number in range(count // 2):
                payload.send(sender, 0, number, PATIENCE)
                series.take(receiver.recv(PATIENCE))
                watched.step()
            return watched.leaks + [f"peer: {leak}" for leak in peer.result()]


def answer(say, name, count):
    """The process that `ask` asks."""
    series, watched = payload.Series(), Watched(count)
    with corecast.Receiver(name + "-to", timeout=PATIENCE) as receiver:
        with corecast.Sender(name + "-from", create=False, timeout=PATIENCE) as sender:
            for _ in range(count):
                payload.send(sender, 1, series.take(receiver.recv(PATIENCE)), PATIENCE)
                watched.step()
            return watched.leaks


def meet(start, name, count):
    """Operations of a group of three processes."""
    members = [start(operate, name, rank, count) for rank in range(1, READERS)]
    found = operate(None, name, 0, count)
    return found + [f"member: {leak}" for member in members for leak in member.result()]


def operate(say, name, rank, count):
    """A member of the group of `meet`."""
    watched = Watched(count)
    with corecast.Group.create(name, READERS, rank=rank, timeout=PATIENCE) as group:
        for number in range(count):
            one_operation(group, number)
            watched.step()
        group.barrier(PATIENCE)
        return watched.leaks


def one_operation(group, number, timeout=PATIENCE):
    """Runs an operation, which one is by its number, and checks the result."""
    n, me, root = group.size, group.rank, number % group.size
    kind = number % 6
    if kind == 0:
        group.barrier(timeout)
        return
    if kind == 1:
        result, expected = group.allreduce(me + number, timeout=timeout), n * number + n * (n - 1) // 2
    elif kind == 2:
        array = group.allreduce(np.full(100, me + number, dtype=np.int64), timeout=timeout)
        result, expected = array.tolist(), [n * number + n * (n - 1) // 2] * 100
    elif kind == 3:
        result, expected = group.broadcast([number] if me == root else None, root, timeout), [number]
    elif kind == 4:
        result, expected = group.gather(me + number, root, timeout), [rank + number for rank in range(n)] if me == root else None
    else:
        result = group.scatter([number + rank for rank in range(n)] if me == root else None, root, timeout)
        expected = me + number
    if result != expected:
        raise payload.Damaged(f"operation {number} of a group of {n} gave {result} in the place of {expected}")
