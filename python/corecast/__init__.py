"""Zero-copy broadcast channels, groups and replicated dictionaries among processes, and the machine as measured.

- :class:`Publisher`, :class:`Subscriber`: each message is written once and read in place by all readers;
- :class:`Sender`, :class:`Receiver`: from one process to one other;
- :class:`Group`: barrier, broadcast, reduce, gather and more among processes;
- :class:`Replicated`: a dictionary that outlives any of its processes; :mod:`corecast.store`: a client of ``corecast kv``;
- :func:`machine`, :func:`measure`, :func:`plan`: what messages cost between CPUs, and trees;
- :mod:`corecast.objects`: Python objects as messages; :mod:`corecast.aio`: the same for asyncio.
"""

from ._corecast import Message, Publisher, Receiver, Replicated, Room, Sender, Subscriber
from .groups import Group
from .machines import Machine, Plan, machine, measure, plan
from ._errors import (
    Busy,
    Closed,
    CopyWarning,
    Corrupt,
    Died,
    Error,
    Exists,
    Expelled,
    Forked,
    Lagged,
    MemberLost,
    NotFound,
    Timeout,
    TooLarge,
)

__all__ = [
    "Busy",
    "Closed",
    "CopyWarning",
    "Corrupt",
    "Died",
    "Error",
    "Exists",
    "Expelled",
    "Forked",
    "Group",
    "Lagged",
    "Machine",
    "MemberLost",
    "Message",
    "NotFound",
    "Plan",
    "Publisher",
    "Receiver",
    "Replicated",
    "Room",
    "Sender",
    "Subscriber",
    "Timeout",
    "TooLarge",
    "machine",
    "measure",
    "plan",
]
