"""Opens in another process what was pickled here: an end, or a copy, of the same name."""

from . import _corecast

_PATIENCE = 30.0  # seconds; the process that hosts the name runs already


def subscriber(name, policy):
    return _corecast.Subscriber(name, policy=policy, timeout=_PATIENCE)


def publisher(name):
    return _corecast.Publisher.join(name, timeout=_PATIENCE)


def sender(name):
    return _corecast.Sender(name, timeout=_PATIENCE)


def receiver(name):
    return _corecast.Receiver(name, timeout=_PATIENCE)


def replicated(name):
    return _corecast.Replicated.join(name, timeout=_PATIENCE)
