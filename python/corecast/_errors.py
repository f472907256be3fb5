"""The exceptions of this package. All derive from :class:`Error`."""


class Error(Exception):
    """Anything that corecast refuses or cannot do."""


class Closed(Error, EOFError):
    """The other end has left, and everything that it sent has been received."""


class Died(Error, ConnectionError):
    """The process at the other end was killed, or ended without a goodbye."""


class Lagged(Error):
    """The reader fell behind; the next receive goes on with the oldest message that is left."""

    def __init__(self, message, missed=0):
        super().__init__(message)
        #: The number of messages that it will never see.
        self.missed = missed


class TooLarge(Error, ValueError):
    """The message is longer than the channel was made for."""


class Corrupt(Error):
    """Another process wrote what no end of the protocol writes. Stop trusting this channel."""


class Forked(Error):
    """The object belongs to the parent of this forked process. Open it anew in the child, by its name."""


class Busy(Error):
    """Another thread, or a call that this one interrupts, uses the same object."""


class NotFound(Error, LookupError):
    """No process of this user hosts the name."""


class Exists(Error):
    """Another process hosts the name."""


class Timeout(Error, TimeoutError):
    """The wait was over before anything happened."""

    def __init__(self, message, missing=()):
        super().__init__(message)
        #: For an operation of a group: the ranks that have not begun it.
        self.missing = tuple(missing)


class MemberLost(Error, ConnectionError):
    """A member of the group died, left, or called something else. `Group.shrink` makes a group of the others."""

    def __init__(self, message, rank=None, loss=None):
        super().__init__(message)
        #: The rank of the member that was lost.
        self.rank = rank
        #: Its fate in words, such as "died".
        self.loss = loss


class Expelled(Error, ConnectionError):
    """The group has put this process's copy of a dictionary out, for example as dead. `Replicated.join` takes another one; whether a
    change that raised this was made is not known."""


class CopyWarning(UserWarning):
    """An array was not contiguous, so its bytes were copied before they were sent."""
