"""Ways to send one message to several processes, and the list of those that are here.

A contender is a class with

- `name`, `payload` ("bytes" or "objects"), and `how`: the copies of one message and how its readers wait;
- `missing()`: the reason why it cannot run here, or None;
- `inherited(context)`: the two ends of something that a reader process must inherit, or None;
- `Contender(size, ends)` in the sending process, with the sender's ends of what each reader inherited;
- `reader(number)`: a picklable object whose `open(end)` gives, in the reader process, a function that returns the next message,
  and one that closes;
- `send(message)` and `close()`.

One that `runs_alone` has `stream` in the place of the last four.
"""

from . import mpi, ours, packages, ring, standard

ALL = [
    ours.Send,
    ours.Reserve,
    ring.Raw,
    standard.Queue,
    standard.Pipe,
    packages.Zmq,
    packages.Iceoryx,
    mpi.Mpi,
    ours.Objects,
    ring.Engine,
    standard.QueueOfObjects,
    standard.PipeOfObjects,
    packages.Torch,
]


def available(part, *payloads):
    """The contenders of a part that are here, the first one of corecast first, and the reasons why others are not."""
    kinds = [kind for kind in ALL if part in kind.parts and kind.payload in payloads]
    skipped = {kind.name: kind.missing() for kind in kinds if kind.missing()}
    return [kind for kind in kinds if kind.name not in skipped], skipped


def message(payload, size, first=0):
    """A message of `size` bytes, the first of which is `first`: bytes, or an array of numpy."""
    if payload == "bytes":
        return bytes([first]) + bytes(size - 1)
    import numpy

    array = numpy.zeros(size, dtype=numpy.uint8)
    array[0] = first
    return array
