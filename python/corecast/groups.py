"""Groups of processes: barrier, broadcast, reduce, gather and more, along trees that were planned for the machine."""

import functools
import operator
import pickle
import struct

from . import _corecast

__all__ = ["Group"]

#: Predefined operations on single numbers.
_NUMBER_OPS = {
    "sum": operator.add,
    "prod": operator.mul,
    "min": min,
    "max": max,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
}
_TOO_LONG = 2**62


class Group:
    """This process as one of the members of a group. All members call the same operations in the same order.

    An operation that raises `Timeout`, or is interrupted by Ctrl-C, is not finished: this member can only leave then, by `close`. After
    `MemberLost` the members that are left go on by `shrink`. One thread at a time may use a member.

    >>> import corecast
    >>> with corecast.Group.create("docs-group", 1) as group:
    ...     group.barrier()
    ...     group.allreduce(3), group.allgather("me")
    (3, ['me'])
    """

    def __init__(self, place):
        self._place = place
        #: This member's number, from 0.
        self.rank = place.rank
        #: The number of members.
        self.size = place.size

    @classmethod
    def from_env(cls, *, timeout=60.0):
        """The member that this process is by ``corecast run -n N -- python ...``, once all have come, in at most `timeout` seconds."""
        return cls(_corecast.Place.from_env(timeout))

    @classmethod
    def create(cls, name, size, *, rank=None, timeout=60.0, pin=False):
        """Joins the group of `size` processes of this user that meet under `name`, as member `rank` or the first that is free, once all
        have come, in at most `timeout` seconds. The first to come founds it. `pin` binds the calling thread to a CPU for good.
        """
        return cls(_corecast.Place.by_name(name, size, rank, timeout, pin))

    def barrier(self, timeout=None):
        """Returns when all members have called it."""
        self._place.barrier(timeout)

    def broadcast(self, value=None, root=0, timeout=None):
        """Gives all members the root's value.

        An array, or another writable buffer of the same length at all members, is overwritten in place and returned. Any other object
        is pickled at the root; the others' values are ignored.
        """
        if _is_writable(value):
            self._place.broadcast(value, root, timeout)
            return value
        data = bytearray(pickle.dumps(value, protocol=5)) if self.rank == root else None
        return pickle.loads(self._broadcast_bytes(data, root, timeout))

    def reduce(self, value, op="sum", root=0, timeout=None):
        """Combines all members' values at the root, and returns the result there and None elsewhere: see `allreduce`."""
        return self._reduce(value, op, root, None, timeout)

    def allreduce(self, value, op="sum", *, out=None, timeout=None):
        """Combines all members' values and returns the result, the same at all of them.

        `value` is an array of numbers (of numpy, or another buffer; the same type and length at all members), or any object. `op` is
        "sum", "prod", "min", "max", "and", "or", "xor", or a callable of two values. Arrays are combined along a tree, in the order of the
        plan; with a callable, and for other objects, each member gets all values and combines them by rank.

        The result of an array is a new one, or `out`, which may be the array itself.
        """
        return self._reduce(value, op, None, out, timeout)

    def gather(self, value, root=0, timeout=None):
        """All members' objects at the root, as a list by rank; None elsewhere."""
        data = pickle.dumps(value, protocol=5)
        all_data = self._place.gather(data, root, timeout)
        return None if all_data is None else [pickle.loads(data) for data in all_data]

    def allgather(self, value, timeout=None):
        """All members' objects at all members, as a list by rank."""
        all_data = self._place.gather(pickle.dumps(value, protocol=5), 0, timeout)
        data = bytearray(pickle.dumps(all_data, protocol=5)) if self.rank == 0 else None
        return [pickle.loads(data) for data in pickle.loads(self._broadcast_bytes(data, 0, timeout))]

    def scatter(self, values=None, root=0, timeout=None):
        """This member's of the root's objects, of which there is one for each member.

        Raises `ValueError` at all members if the root gives another number.
        """
        parts = None
        if self.rank == root:
            parts = list(values) if values is not None else []
            parts = [pickle.dumps(part, protocol=5) for part in parts] if len(parts) == self.size else len(parts)
        lengths = self.broadcast([len(part) for part in parts] if isinstance(parts, list) else parts, root, timeout)
        if isinstance(lengths, int):
            raise ValueError(f"{lengths} values cannot be scattered among {self.size} members: expected one for each")
        longest = max(lengths)
        data = b"".join(part.ljust(longest, b"\0") for part in parts) if self.rank == root else None
        own = bytearray(longest)
        self._place.scatter(data, own, root, timeout)
        return pickle.loads(memoryview(own)[: lengths[self.rank]])

    def scatter_array(self, array=None, *, out, root=0, timeout=None):
        """Fills the array `out`, of the same length at all members, with this member's part of the root's array, and returns it."""
        self._place.scatter(array, out, root, timeout)
        return out

    def shrink(self, timeout=None):
        """After `MemberLost`: a group of the members that are left, in the order of their ranks. All of them call it.

        Returns the group and the ranks, in this one, of the members that are gone. This one is of no use any more.
        """
        place, gone = self._place.shrink(timeout)
        return type(self)(place), gone

    def close(self):
        """Leaves the group. Members that wait for this one get `MemberLost`."""
        self._place.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()

    def __repr__(self):
        return f"Group(rank {self.rank} of {self.size})"

    def _broadcast_bytes(self, data, root, timeout):
        """The bytes of the root's bytearray."""
        length = bytearray(struct.pack("<q", len(data) if data is not None else 0))
        self._place.broadcast(length, root, timeout)
        (length,) = struct.unpack("<q", length)
        if not 0 <= length < _TOO_LONG:
            raise ValueError(f"the root's length is {length}: the members call different operations")
        if data is None:
            data = bytearray(length)
        self._place.broadcast(data, root, timeout)
        return data

    def _reduce(self, value, op, root, out, timeout):
        if not _is_array(value):
            if out is not None:
                raise TypeError(f"out is for arrays, and the value is a {type(value).__name__}")
            return self._reduce_objects(value, op, root, timeout)
        if callable(op):
            result = self._reduce_objects(value, op, root, timeout)
            if out is None or result is None:
                return result
            memoryview(out).cast("B")[:] = memoryview(result).cast("B")
            return out
        if out is None:
            out = value.copy() if hasattr(value, "copy") else bytearray(value)
        elif out is not value:
            _copy_into(out, value)
        self._place.combine(out, op, root, timeout)
        return out if root is None or self.rank == root else None

    def _reduce_objects(self, value, op, root, timeout):
        combine = op if callable(op) else _NUMBER_OPS.get(op)
        if combine is None:
            raise ValueError(f"op is {op!r}: expected one of {', '.join(_NUMBER_OPS)}, or a callable of two values")
        values = self.allgather(value, timeout) if root is None else self.gather(value, root, timeout)
        return None if values is None else functools.reduce(combine, values)


def _is_array(value):
    """True for writable buffers and arrays of numpy; bytes are objects."""
    if isinstance(value, (bytes, str, int, float, complex, bool)):
        return False
    try:
        memoryview(value).release()
    except TypeError:
        return False
    return True


def _is_writable(value):
    if isinstance(value, (bytes, str, int, float, complex, bool)) or value is None:
        return False
    try:
        with memoryview(value) as view:
            return not view.readonly
    except TypeError:
        return False


def _copy_into(out, value):
    """Copies an array over one of the same type and length."""
    with memoryview(value) as source, memoryview(out) as target:
        if (source.format, source.nbytes) != (target.format, target.nbytes):
            raise ValueError(
                f"out has {target.nbytes} bytes of format {target.format!r}, the value {source.nbytes} of {source.format!r}: expected the same"
            )
        if hasattr(out, "__setitem__") and hasattr(out, "shape"):
            out[...] = value
        else:
            target.cast("B")[:] = source.cast("B")
