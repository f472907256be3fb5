"""Ends of channels for asyncio: waiting for a message suspends the task, not the event loop.

>>> import asyncio, corecast, corecast.aio
>>> async def main():
...     with corecast.Publisher("docs-aio", max_bytes=100) as publisher:
...         reader = corecast.aio.Subscriber("docs-aio", timeout=5)
...         publisher.send(b"soon")
...         with await reader.recv() as view:
...             return bytes(view)
>>> asyncio.run(main())
b'soon'
"""

import asyncio

from . import _corecast, _errors

__all__ = ["Receiver", "Subscriber"]


class _End:
    """Waits by the descriptor of an end of a channel, which it hands to the loop for as long as a task waits."""

    def __init__(self, end):
        #: The end that it is of.
        self.end = end
        self._is_waited_for = False

    async def recv(self, timeout=None):
        """The next message, waited for up to `timeout` seconds. One task at a time may wait.

        Raises as the end's own `recv`; `corecast.Timeout` in the place of `asyncio.TimeoutError`.
        """
        message = self.end.try_recv()
        if message is not None:
            return message
        if self._is_waited_for:
            raise _errors.Busy("another task waits for this end: open one for each task")
        self._is_waited_for = True
        try:
            return await asyncio.wait_for(self._wait(), timeout)
        except asyncio.TimeoutError:
            raise _errors.Timeout("nothing happened until the limit of the wait") from None
        finally:
            self._is_waited_for = False

    async def _wait(self):
        loop = asyncio.get_running_loop()
        fd = self.end.fileno()
        while True:
            if not self.end.arm():
                ready = loop.create_future()
                loop.add_reader(fd, lambda: ready.done() or ready.set_result(None))
                try:
                    await ready
                finally:
                    loop.remove_reader(fd)
            message = self.end.try_recv()
            if message is not None:
                return message

    def __aiter__(self):
        return self

    async def __anext__(self):
        try:
            return await self.recv()
        except _errors.Closed:
            raise StopAsyncIteration from None

    def close(self):
        """As that of the end."""
        self.end.close()

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.close()


class Subscriber(_End):
    """A :class:`corecast.Subscriber` whose `recv` is awaited; takes the same arguments, or a subscriber that is open already."""

    def __init__(self, name, **options):
        is_open = isinstance(name, _corecast.Subscriber)
        super().__init__(name if is_open else _corecast.Subscriber(name, **options))


class Receiver(_End):
    """A :class:`corecast.Receiver` whose `recv` is awaited; takes the same arguments, or a receiver that is open already."""

    def __init__(self, name, **options):
        is_open = isinstance(name, _corecast.Receiver)
        super().__init__(name if is_open else _corecast.Receiver(name, **options))


