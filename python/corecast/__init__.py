"""Zero-copy broadcast channels and groups among processes, and the machine as measured.

- :class:`Publisher`, :class:`Subscriber`: each message is written once and read in place by all readers;
- :class:`Sender`, :class:`Receiver`: from one process to one other;
- :class:`Group`: barrier, broadcast, reduce, gather and more among processes;
- :func:`machine`, :func:`measure`, :func:`plan`: what messages cost between CPUs, and trees;
- :mod:`corecast.objects`: Python objects as messages; :mod:`corecast.aio`: the same for asyncio.
"""

from ._corecast import Message, Publisher, Receiver, Room, Sender, Subscriber
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
    "Room",
    "Sender",
    "Subscriber",
    "Timeout",
    "TooLarge",
    "machine",
    "measure",
    "plan",
]
