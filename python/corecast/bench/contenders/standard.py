"""The channels of the standard library: a queue or a pipe for each reader."""

from .common import SLOTS, Contender, without


class Queue(Contender):
    """A `multiprocessing.Queue` for each reader."""

    name = "multiprocessing.Queue"
    how = "a pickle and a pipe for each reader: 2 copies and 2 through the kernel each; readers sleep"

    @staticmethod
    def inherited(context):
        queue = context.Queue(SLOTS)
        return queue, queue

    def __init__(self, size, ends):
        self.queues = ends

    def reader(self, number):
        return _QueueReader()

    def send(self, message):
        for queue in self.queues:
            queue.put(message)

    def close(self):
        """The queues are those of the reader processes."""


class _QueueReader:
    def open(self, end):
        return end.get, lambda: None


class QueueOfObjects(Queue):
    name = "Queue of objects"
    parts = ("stream", "latency")
    payload = "objects"

    @staticmethod
    def missing():
        return without("numpy")


class Pipe(Contender):
    """A `multiprocessing.Pipe` for each reader."""

    name = "multiprocessing.Pipe"
    how = "bytes through a pipe for each reader: 2 copies in the kernel each; readers sleep"

    @staticmethod
    def inherited(context):
        receiving, sending = context.Pipe(duplex=False)
        return sending, receiving

    def __init__(self, size, ends):
        self.pipes = ends

    def reader(self, number):
        return _PipeReader()

    def send(self, message):
        for pipe in self.pipes:
            pipe.send_bytes(message)

    def close(self):
        """The pipes are those of the reader processes."""


class _PipeReader:
    def open(self, end):
        return end.recv_bytes, lambda: None


class PipeOfObjects(Pipe):
    name = "Pipe of objects"
    parts = ("stream", "latency")
    payload = "objects"
    how = "a pickle and a pipe for each reader: 2 copies and 2 through the kernel each; readers sleep"

    @staticmethod
    def missing():
        return without("numpy")

    def reader(self, number):
        return _ObjectPipeReader()

    def send(self, message):
        for pipe in self.pipes:
            pipe.send(message)


class _ObjectPipeReader:
    def open(self, end):
        return end.recv, lambda: None
