"""Processes that run one function each, started by a server that forks and has opened no channel."""

import multiprocessing
import os
import signal
import traceback

#: Seconds in which a process of this program answers on a busy machine.
PATIENCE = 120.0
_CONTEXT = multiprocessing.get_context("forkserver")
_CONTEXT.set_forkserver_preload(["corecast.objects", "numpy"])


class Child:
    """A process that runs `function(say, *arguments)`, and gives what that says, and its result."""

    def __init__(self, function, *arguments):
        self._pipe, other = _CONTEXT.Pipe()
        self._process = _CONTEXT.Process(target=_run, args=(other, function, arguments), daemon=True)
        self._process.start()
        other.close()

    def kill(self):
        """Ends it at once."""
        os.kill(self._process.pid, signal.SIGKILL)

    @property
    def pid(self):
        """The number of its process."""
        return self._process.pid

    def hear(self):
        """The next value that it says."""
        if not self._pipe.poll(PATIENCE):
            raise TimeoutError(f"process {self._process.pid} says nothing")
        kind, value = self._pipe.recv()
        if kind == "error":
            raise RuntimeError(f"process {self._process.pid}:\n{value}")
        return value

    def expect(self, word):
        """Waits for it to say a word."""
        said = self.hear()
        if said != word:
            raise RuntimeError(f"process {self._process.pid} says {said!r} in the place of {word!r}")

    def say(self, value):
        """Gives it a value."""
        self._pipe.send(value)

    def result(self):
        """The value that the function returns, once it has ended."""
        value = self.hear()
        self.end()
        return value

    def end(self):
        """Waits until it is gone."""
        self._process.join(PATIENCE)
        if self._process.exitcode is None:
            raise TimeoutError(f"process {self._process.pid} does not end")
        self._process.close()
        self._pipe.close()


def _run(pipe, function, arguments):
    say = _Speech(pipe)
    try:
        pipe.send(("result", function(say, *arguments)))
    except BaseException:
        pipe.send(("error", traceback.format_exc()))


class _Speech:
    """The words of a child to its parent."""

    def __init__(self, pipe):
        self._pipe = pipe

    def __call__(self, value):
        self._pipe.send(("word", value))

    def hear(self):
        """The next value of the parent."""
        return self._pipe.recv()
