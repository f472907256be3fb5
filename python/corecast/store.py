"""A client of the stores that ``corecast kv serve`` serves: that of redis-py, which has to be installed (``pip install redis``).

``corecast.store.Client("accounts")`` is a `redis.Redis` for the store of that name, with ``compare_and_set``::

    import corecast.store

    accounts = corecast.store.Client("accounts")
    accounts[b"alice"] = b"100"
    accounts.compare_and_set(b"alice", b"100", b"90")   # True
    accounts.incrby(b"alice", 5)                        # 95

A process that wants reads without a message takes a copy of the same store: `corecast.Replicated.join`.
"""

import os
import socket

try:
    import redis
    from redis.backoff import NoBackoff
    from redis.retry import Retry
except ModuleNotFoundError as error:
    raise ModuleNotFoundError("corecast.store needs the package redis: pip install redis", name="redis") from error

from . import _corecast, _errors

__all__ = ["Client"]


class Client(redis.Redis):
    """A client of the store that is served under a name, or at the path of a socket, which has a slash.

    Has all methods of `redis.Redis` whose commands the store knows (``docs/cli.md`` lists them), raises that package's
    exceptions, and takes its options; each reply is waited for up to `timeout` seconds, or for ever with None. Threads may
    share it.

    No command is sent again by itself, as an increment could then be made twice. When the process that served this client is
    killed, the command under way raises `redis.ConnectionError`, and was carried out or not; the next one goes to another
    process. Where all commands may be repeated, pass `retry`.

    Raises `corecast.NotFound` where no store is served.
    """

    def __init__(self, store, *, timeout=10.0, **options):
        path = os.fspath(store)
        path = path if "/" in path else os.fspath(_corecast.store_socket(path))
        options.setdefault("retry", Retry(NoBackoff(), 0))
        # The store speaks the second version of the protocol, and redis-py 8 begins with the third.
        super().__init__(unix_socket_path=path, protocol=2, socket_timeout=timeout, **options)
        try:
            self.ping()
        except redis.RedisError as error:
            self.close()
            if _is_served(path):
                raise
            raise _errors.NotFound(f"no store is served at {path}: `corecast kv serve NAME` serves one under a name") from error

    def compare_and_set(self, key, old, new):
        """Gives a key the value `new` if it has exactly the value `old`, or none where `old` is None. True if it was set."""
        if old is None:
            return bool(self.set(key, new, nx=True))
        return bool(self.execute_command("CAS", key, old, new))

    def pipeline(self, transaction=False, shard_hint=None):
        """As that of `redis.Redis`, for pipelines that are no transactions, which the store does not have."""
        if transaction:
            raise ValueError("transaction is True: the store has none, expected False")
        return super().pipeline(transaction=False, shard_hint=shard_hint)


def _is_served(path):
    """False if nobody listens at the path of a socket; True where that is not known."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(path)
        except (FileNotFoundError, NotADirectoryError, ConnectionRefusedError):
            return False
        except OSError:
            return True
    return True
