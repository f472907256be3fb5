"""Wrong use, and names that belong to others: each error names the input and says what was expected."""

import os
import re
import stat
import subprocess
import sys
import tempfile

import numpy as np
import pytest

import corecast
from conftest import PATIENCE, answer
from corecast import objects

NOBODY = 65534


def ends(name):
    """An open end of each kind, and a call of it."""
    publisher = corecast.Publisher(name, max_bytes=100)
    subscriber = corecast.Subscriber(name, timeout=PATIENCE)
    sender = corecast.Sender(name + "-one", max_bytes=100)
    receiver = corecast.Receiver(name + "-one", timeout=PATIENCE)
    group = corecast.Group.create(name + "-group", 1)
    return {
        "publisher": (publisher, lambda: publisher.send(b"")),
        "subscriber": (subscriber, lambda: subscriber.recv(0)),
        "sender": (sender, lambda: sender.send(b"")),
        "receiver": (receiver, lambda: receiver.recv(0)),
        "group": (group, group.barrier),
    }


def test_a_closed_end_says_so(name):
    for kind, (end, call) in ends(name).items():
        end.close()
        end.close()
        with pytest.raises(corecast.Closed, match=f"this {kind} has been closed"):
            call()


@pytest.mark.parametrize("kind", ["publisher", "sender"])
def test_a_message_that_is_too_long_says_both_lengths(name, kind):
    opened = ends(name)
    end, _ = opened[kind]
    longest = end.max_bytes
    for send in (
        lambda: end.send(bytes(longest + 1)),
        lambda: end.reserve(longest + 1),
        lambda: objects.send(end, np.zeros(longest, dtype=np.uint8)),
    ):
        with pytest.raises(corecast.TooLarge, match=rf"\d+ bytes.*{longest}"):
            send()
    end.send(bytes(longest))


@pytest.mark.parametrize("bad", ["text", 7, None, ["list"], {}])
def test_data_without_bytes_are_refused_by_their_type(name, bad):
    for end in ("publisher", "sender"):
        with pytest.raises(TypeError, match=re.escape(f"'{type(bad).__name__}'")):
            ends(name + end)[end][0].send(bad)


@pytest.mark.parametrize("wait", ["Subscriber(name).recv", "Receiver(name, create=True).recv", "Group.create(name, 2, timeout=60)"])
def test_an_interpreter_ends_while_a_thread_waits(name, spawn, wait):
    program = f"""
import sys, threading, time, corecast
name = sys.argv[1]
publisher = corecast.Publisher(name) if "Subscriber" in {wait!r} else None
begun = threading.Event()
def work():
    begun.set()
    end = corecast.{wait}
    end()
threading.Thread(target=work, daemon=True).start()
begun.wait()
print("ends")
"""
    assert answer(spawn(program, name)) == "ends"


@pytest.fixture
def folder(monkeypatch):
    """A folder of names, which all users may enter."""
    with tempfile.TemporaryDirectory() as path:
        os.chmod(path, 0o755)
        monkeypatch.setenv("XDG_RUNTIME_DIR", path)
        yield os.path.join(path, "corecast")


def test_a_folder_that_others_may_write_is_refused(folder, name):
    os.mkdir(folder)
    os.chmod(folder, 0o777)
    for opening in (corecast.Publisher, lambda name: corecast.Subscriber(name, timeout=0), lambda name: corecast.Group.create(name, 1)):
        with pytest.raises(corecast.Error, match=f"{folder}.*mode 777.*expected"):
            opening(name)
    assert stat.S_IMODE(os.stat(folder).st_mode) == 0o777 and os.listdir(folder) == []


def as_nobody(program, *arguments, **options):
    """The error that a program raises as another user, which has imported the package before."""
    start = f"import os, sys, corecast; os.setgroups([]); os.setgid({NOBODY}); os.setuid({NOBODY})\n"
    catch = "try:\n    " + program + "\nexcept corecast.Error as error:\n    print(error)"
    done = subprocess.run([sys.executable, "-c", start + catch, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE, **options)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


needs_root = pytest.mark.skipif(os.getuid() != 0, reason="SKIPPED: names of other users: only root can be another user")


@needs_root
def test_names_of_another_user_are_refused(folder, name):
    with corecast.Publisher(name):
        for program in ("corecast.Subscriber(sys.argv[1], timeout=0)", "corecast.Publisher(sys.argv[1])"):
            assert folder in as_nobody(program, name), program
        # Its own folder, which does not let the host of this one in.
        os.chown(folder, NOBODY, NOBODY)
        with pytest.raises(corecast.Error, match=f"{folder}: a directory of user {NOBODY}, expected one of user 0"):
            corecast.Subscriber(name, timeout=0)
        said = as_nobody("corecast.Subscriber(sys.argv[1], timeout=0)", name)
        assert folder in said and "not trusted" in said or "cannot" in said, said
        os.chown(folder, 0, 0)
        assert corecast.Subscriber(name, timeout=PATIENCE).name == name


@needs_root
def test_an_inherited_region_of_another_user_is_refused():
    publisher = corecast.Publisher()
    fd = publisher.share()
    said = as_nobody("corecast.Subscriber.from_fd(int(sys.argv[1]))", fd, pass_fds=[fd])
    os.close(fd)
    assert f"descriptor {fd}" in said and ("ermission" in said or "owned by user 0" in said), said
