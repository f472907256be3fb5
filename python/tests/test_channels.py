"""Publishers and subscribers, senders and receivers, in one process and among several."""

import gc
import os
import pickle
import signal
import threading
import time
import warnings

import numpy as np
import pytest

import corecast
from conftest import PATIENCE, answer

READ_ALL = """
import sys, corecast
reader = corecast.Subscriber(sys.argv[1], timeout=60)
print("ready", flush=True)
count, total = 0, 0
for message in reader:
    with message as view:
        count += 1
        total += sum(view[:8])
print(count, total)
"""

HOST = """
import sys, corecast
publisher = corecast.Publisher(sys.argv[1], max_bytes=1000, when_alone="wait")
publisher.send(b"before the end")
print("sent", flush=True)
sys.stdin.read()
"""


@pytest.fixture
def pair(name):
    publisher = corecast.Publisher(name, max_bytes=1 << 20, slots=4)
    subscriber = corecast.Subscriber(name, timeout=PATIENCE)
    yield publisher, subscriber
    subscriber.close()
    publisher.close()


@pytest.mark.parametrize("size", [0, 1, 48, 49, 240, 241, 1000, 1 << 20])
def test_messages_of_all_lengths_come_as_they_were_sent(pair, size):
    publisher, subscriber = pair
    data = np.random.default_rng(size).integers(0, 256, size, dtype=np.uint8)
    for _ in range(10):
        publisher.send(data)
        with subscriber.recv(PATIENCE) as view:
            assert bytes(view) == data.tobytes()
        with publisher.reserve(size) as room:
            room[:] = data.tobytes()
        assert subscriber.recv_bytes(PATIENCE) == data.tobytes()


def test_a_message_is_read_in_place_and_kept_until_its_arrays_are_gone(pair):
    publisher, subscriber = pair
    publisher.send(np.arange(1000.0))
    message = subscriber.recv(PATIENCE)
    array = np.frombuffer(message, dtype=float)
    assert not array.flags.writeable
    with pytest.raises(BufferError, match="still in use"):
        message.release()
    del message
    assert array.sum() == 499500.0 and subscriber.open_messages == 1
    del array
    gc.collect()
    assert subscriber.open_messages == 0


def test_a_reliable_reader_with_open_messages_holds_up_the_publisher(pair):
    publisher, subscriber = pair
    held = []
    for number in range(4):
        publisher.send(b"%d" % number)
        held.append(subscriber.recv(PATIENCE))
    with pytest.raises(corecast.Timeout):
        publisher.send(b"one too many", timeout=0.01)
    held[0].release()
    publisher.send(b"now there is room", timeout=PATIENCE)
    assert subscriber.recv_bytes(PATIENCE) == b"now there is room"


def test_a_lossy_reader_is_told_what_it_missed(name):
    with corecast.Publisher(name, max_bytes=100, slots=4, overwrite=True) as publisher:
        subscriber = corecast.Subscriber(name, policy="lossy", timeout=PATIENCE)
        for number in range(10):
            publisher.send(b"%d" % number)
        with pytest.raises(corecast.Lagged) as lagged:
            subscriber.recv(PATIENCE)
        rest = []
        while (message := subscriber.try_recv()) is not None:
            rest.append(int(bytes(message)))
        assert rest == list(range(10))[lagged.value.missed :] and lagged.value.missed >= 6


def test_what_is_not_contiguous_is_copied_with_a_warning(pair):
    publisher, subscriber = pair
    array = np.arange(100).reshape(10, 10)
    with pytest.warns(corecast.CopyWarning, match="not contiguous"):
        publisher.send(array[:, ::2])
    assert np.array_equal(np.frombuffer(subscriber.recv_bytes(), dtype=array.dtype), array[:, ::2].ravel())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        publisher.send(array)


def test_room_sends_nothing_after_an_error_or_a_cancel(pair):
    publisher, subscriber = pair
    with pytest.raises(ZeroDivisionError):
        with publisher.reserve(1000) as room:
            room[0] = 1 // 0
    room = publisher.reserve(1000)
    with pytest.raises(corecast.Busy, match="reserved"):
        publisher.send(b"another")
    room.cancel()
    with pytest.raises(ValueError, match="committed or cancelled"):
        room.commit()
    assert subscriber.try_recv() is None
    room = publisher.reserve(1000)
    array = np.frombuffer(room.memory, dtype=np.uint8)
    with pytest.raises(BufferError):
        room.commit()
    del array
    room.commit()
    assert len(subscriber.recv(PATIENCE)) == 1000


def test_refusals_name_the_input(pair, name):
    publisher, subscriber = pair
    with pytest.raises(corecast.TooLarge, match="1048577 bytes"):
        publisher.send(bytes((1 << 20) + 1))
    with pytest.raises(ValueError, match="timeout is -1"):
        subscriber.recv(timeout=-1)
    with pytest.raises(ValueError, match="overwrites|policy"):
        corecast.Subscriber(name, policy="lossy", timeout=PATIENCE)
    with pytest.raises(ValueError, match="policy is hurried"):
        corecast.Subscriber(name, policy="hurried")
    with pytest.raises(corecast.NotFound, match="nobody hosts"):
        corecast.Subscriber(name + "-not", timeout=0)
    with pytest.raises(corecast.Exists):
        corecast.Publisher(name)
    with pytest.raises(ValueError, match="slots is 0: expected 1 to"):
        corecast.Publisher(name + "-other", slots=0)
    with pytest.raises(ValueError, match="bad|name"):
        corecast.Publisher("a/b")
    with pytest.raises(TypeError, match="recv"):
        corecast.Message()
    with pytest.raises(TypeError, match="buffer|bytes-like"):
        publisher.send("text")
    with pytest.raises(corecast.Exists, match="taken"):
        corecast.Publisher.join(name)


def test_a_closed_end_says_so(name):
    publisher = corecast.Publisher(name, max_bytes=100)
    subscriber = corecast.Subscriber(name, timeout=PATIENCE)
    publisher.send(b"the last one")
    publisher.close()
    with pytest.raises(corecast.Closed):
        publisher.send(b"")
    assert [bytes(message) for message in subscriber] == [b"the last one"]
    with pytest.raises(corecast.Closed):
        subscriber.recv()
    subscriber.close()
    with pytest.raises(corecast.Closed, match="has been closed"):
        subscriber.recv()


def test_other_threads_run_while_one_waits_and_may_not_use_its_end(pair):
    publisher, subscriber = pair
    got = []
    thread = threading.Thread(target=lambda: got.append(subscriber.recv_bytes(PATIENCE)))
    thread.start()
    deadline = time.monotonic() + PATIENCE
    while True:
        try:
            assert subscriber.try_recv() is None
        except corecast.Busy:
            break
        assert time.monotonic() < deadline
    publisher.send(b"for the thread")
    thread.join(PATIENCE)
    assert got == [b"for the thread"]


def test_a_message_may_be_dropped_while_another_thread_waits(pair):
    publisher, subscriber = pair
    publisher.send(b"held")
    held = subscriber.recv(PATIENCE)
    thread = threading.Thread(target=lambda: subscriber.recv(PATIENCE).release())
    thread.start()
    held.release()
    for number in range(20):
        publisher.send(b"%d" % number, timeout=PATIENCE)
        if number == 0:
            thread.join(PATIENCE)
        else:
            subscriber.recv(PATIENCE).release()
    assert subscriber.open_messages == 0


def test_ctrl_c_ends_a_wait(pair):
    _, subscriber = pair
    main = threading.get_ident()
    timer = threading.Timer(0.05, lambda: signal.pthread_kill(main, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        subscriber.recv(PATIENCE)
    assert subscriber.try_recv() is None


def test_a_signal_handler_may_not_use_the_end_that_it_interrupts(pair):
    _, subscriber = pair
    seen = []

    def handler(*_):
        with pytest.raises(corecast.Busy, match="interrupts"):
            subscriber.try_recv()
        seen.append(True)

    before = signal.signal(signal.SIGALRM, handler)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(corecast.Timeout):
            subscriber.recv(1.0)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert seen == [True]


def test_three_processes_read_every_message(name, spawn):
    with corecast.Publisher(name, max_bytes=100_000) as publisher:
        readers = [spawn(READ_ALL, name) for _ in range(3)]
        for reader in readers:
            assert reader.stdout.readline() == "ready\n"
        data = np.ones(100_000, dtype=np.uint8)
        for _ in range(200):
            publisher.send(data, timeout=PATIENCE)
    assert [answer(reader) for reader in readers] == ["200 1600"] * 3


def test_a_reader_that_is_killed_holds_up_nobody(name, spawn):
    with corecast.Publisher(name, max_bytes=100, slots=4) as publisher:
        reader = spawn(READ_ALL, name)
        assert reader.stdout.readline() == "ready\n"
        reader.send_signal(signal.SIGSTOP)
        for number in range(4):
            publisher.send(b"%d" % number)
        with pytest.raises(corecast.Timeout):
            publisher.send(b"no room", timeout=0.01)
        reader.kill()
        publisher.send(b"room again", timeout=PATIENCE)
        assert reader.pid not in [who["pid"] for who in publisher.participants() if who["alive"]]


@pytest.mark.parametrize("size", [14, 600])
def test_a_publisher_that_shall_wait_for_readers_does(name, size):
    with corecast.Publisher(name, max_bytes=1000, when_alone="wait") as publisher:
        with pytest.raises(corecast.Timeout):
            publisher.send(bytes(size), timeout=0.01)
        thread = threading.Thread(target=lambda: publisher.send(bytes(size), timeout=PATIENCE))
        thread.start()
        assert corecast.Subscriber(name, timeout=PATIENCE).recv_bytes(PATIENCE) == bytes(size)
        thread.join(PATIENCE)


def test_a_publisher_that_is_killed_is_told(name, spawn):
    host = spawn(HOST, name)
    subscriber = corecast.Subscriber(name, timeout=PATIENCE)
    assert subscriber.recv_bytes(PATIENCE) == b"before the end"
    host.kill()
    with pytest.raises(corecast.Died):
        subscriber.recv(PATIENCE)


def test_a_descriptor_is_inherited(spawn):
    publisher = corecast.Publisher(max_bytes=100)
    fd = publisher.share()
    program = "import sys, corecast; r = corecast.Subscriber.from_fd(int(sys.argv[1])); print('ready', flush=True); print(r.recv_bytes(60))"
    child = spawn(program, fd, pass_fds=[fd])
    os.close(fd)
    assert child.stdout.readline() == "ready\n"
    publisher.send(b"by descriptor")
    assert answer(child) == "b'by descriptor'"
    with pytest.raises(TypeError, match="no name"):
        pickle.dumps(publisher)


def test_a_forked_child_opens_its_own(name):
    publisher = corecast.Publisher(name, max_bytes=1000)
    subscriber = corecast.Subscriber(name, timeout=PATIENCE)
    publisher.send(b"x" * 500)
    message = subscriber.recv(PATIENCE)
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        said = []
        for use in (lambda: subscriber.recv(0), lambda: publisher.send(b""), lambda: bytes(message)):
            try:
                use()
                said.append("used")
            except corecast.Forked:
                said.append("refused")
        del message
        gc.collect()
        own = corecast.Subscriber(name, timeout=PATIENCE)
        os.write(write, repr(said).encode())
        said = own.recv_bytes(PATIENCE)
        os.write(write, said)
        os._exit(0)
    os.close(write)
    assert os.read(read, 1000) == b"['refused', 'refused', 'refused']"
    publisher.send(b" and got one")
    assert os.read(read, 1000) == b" and got one"
    os.waitpid(pid, 0)
    assert bytes(message) == b"x" * 500


def test_one_to_one(name):
    with corecast.Sender(name, max_bytes=1000) as sender, corecast.Receiver(name, timeout=PATIENCE) as receiver:
        for size in [0, 1, 56, 57, 1000]:
            data = bytes(range(256)) * 4
            sender.send(data[:size])
            with receiver.recv(PATIENCE) as view:
                assert bytes(view) == data[:size]
            with sender.reserve(size, PATIENCE) as room:
                room[:] = data[:size]
            message = receiver.recv(PATIENCE)
            with pytest.raises(corecast.Busy, match="open"):
                receiver.recv(0)
            assert bytes(message) == data[:size]
            message.release()
        with pytest.raises(corecast.Timeout):
            receiver.recv(0.01)
        with pytest.raises(corecast.TooLarge):
            sender.send(bytes(5000))
        with pytest.raises(corecast.Exists):
            corecast.Receiver(name, timeout=PATIENCE)
        receiver.close()
        with pytest.raises(corecast.Closed):
            sender.send(b"nobody")


def test_an_interpreter_ends_while_a_thread_waits(name, spawn):
    program = """
import sys, threading, corecast
publisher = corecast.Publisher(sys.argv[1])
subscriber = corecast.Subscriber(sys.argv[1])
threading.Thread(target=subscriber.recv, daemon=True).start()
print("ends")
"""
    assert answer(spawn(program, name)) == "ends"
