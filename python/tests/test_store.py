"""Replicated dictionaries, alone and among processes that are killed and stopped, and clients of `corecast kv`."""

import os
import pickle
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time

import pytest

import corecast
from conftest import PATIENCE, answer

#: Enough for all values here, and little to be set aside.
SMALL = 1 << 16

#: Joins the dictionary that its first argument names, and does what each line of its input says.
MEMBER = """
import sys, corecast
d = corecast.Replicated.join(sys.argv[1], timeout=60)
print("ready", flush=True)
for line in sys.stdin:
    print(eval(line), flush=True)
"""


@pytest.fixture
def words(name):
    with corecast.Replicated.create(name, replicas=4, bulk_bytes=SMALL) as made:
        yield made


@pytest.fixture
def member(spawn):
    """Starts a process that has joined a dictionary."""

    def start(name, program=MEMBER):
        process = spawn(program, name)
        line = process.stdout.readline()
        assert line == "ready\n", process.communicate()[1]
        return process

    return start


def ask(process, expression):
    process.stdin.write(expression + "\n")
    process.stdin.flush()
    return process.stdout.readline().rstrip("\n")


def until(condition):
    """Waits for something that other processes do soon."""
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def of_pid(words, pid):
    """What the dictionary knows of another process."""
    (found,) = [who for who in words.participants() if who["pid"] == pid]
    return found


def test_a_dictionary_of_one_process(words):
    words[b"a"] = b"1"
    assert (words[b"a"], words.get(b"a"), words.get_local(b"a"), b"a" in words, len(words)) == (b"1", b"1", b"1", True, 1)
    assert (words.get(b"b"), words.get(b"b", 7), words.get_local(b"b", "none"), b"b" in words) == (None, 7, "none", False)
    assert [words.set(b"a", b"2", only_if=when) for when in ("absent", "present", None)] == [False, True, True]
    assert [words.compare_and_set(b"a", old, b"3") for old in (None, b"1", b"2")] == [False, False, True]
    assert words.compare_and_set(b"b", None, bytearray(b"\0" * 30_000)) and words.get(b"b") == b"\0" * 30_000
    assert (words.increment(b"n"), words.increment(b"n", -43), words[b"n"]) == (1, -42, b"-42")
    assert (words.append(b"log", b"one "), words.append(memoryview(b"log"), b"two"), words[b"log"]) == (4, 7, b"one two")
    words.update({b"x": b"X", b"y": b""})
    words.update([(b"z", b"Z")])
    words.update({})
    assert words.get_many([b"z", b"none", b"y"]) == [b"Z", None, b""]
    assert sorted(words) == sorted(words.keys()) == [b"a", b"b", b"log", b"n", b"x", b"y", b"z"]
    assert words.delete(b"a", b"b", b"c") == 2 and words.delete() == 0
    assert dict(words.items()) == dict(words) == {b"log": b"one two", b"n": b"-42", b"x": b"X", b"y": b"", b"z": b"Z"}
    assert sorted(words.values()) == [b"", b"-42", b"X", b"Z", b"one two"]
    del words[b"x"]
    for refused in (lambda: words[b"x"], lambda: words.__delitem__(b"x")):
        with pytest.raises(KeyError, match="b'x'"):
            refused()
    (me,) = words.participants()
    assert me["pid"] == os.getpid() and me["me"] and me["leader"] and me["member"] and me["alive"] and not me["died"]


@pytest.mark.parametrize(
    ("call", "kind", "why"),
    [
        (lambda d: d["text"], TypeError, "bytes-like object is required, not 'str'"),
        (lambda d: d.set(b"a", 7), TypeError, "bytes-like object is required, not 'int'"),
        (lambda d: d.set(b"", b""), ValueError, "1 to 1024 bytes, not 0"),
        (lambda d: d.get(b"a" * 1025), ValueError, "1 to 1024 bytes, not 1025"),
        (lambda d: d.set(b"a", bytes(17 << 20)), corecast.TooLarge, "at most 16777216 bytes, not 17825792"),
        (lambda d: d.set(b"a", bytes(SMALL)), corecast.TooLarge, "at most 65536"),
        (lambda d: d.set(b"a", b"", only_if="new"), ValueError, "only_if is 'new': expected 'absent', 'present'"),
        (lambda d: d.update([b"abc"]), ValueError, "length 3; 2 is required"),
        (lambda d: d.update(7), TypeError, "not iterable"),
        (lambda d: d.update({b"a": b"", "b": b""}), TypeError, "not 'str'"),
        (lambda d: d.get_many(b"a" * 3 for _ in range(65_537)), ValueError, "at most 65536"),
        (lambda d: d.increment(b"word"), ValueError, "value of b'word' is no integer"),
        (lambda d: d.increment(b"one", 2**63 - 1), OverflowError, "value of b'one' and 9223372036854775807"),
        (lambda d: d.increment(b"one", 2**63), OverflowError, None),
        (lambda d: d.increment(b"one", 0.5), TypeError, None),
        (lambda d: d.get(b"a", timeout=-1), ValueError, "timeout is -1"),
        (lambda d: d.set(b"a", b"", timeout=0), corecast.Timeout, "not begun"),
        (lambda d: corecast.Replicated.create(d.name), corecast.Exists, "hosted by another process"),
        (lambda d: corecast.Replicated.create("a/b"), ValueError, "bad name"),
        (lambda d: corecast.Replicated.create("x", replicas=0), ValueError, "replicas is 0: expected 1 to 1023"),
        (lambda d: corecast.Replicated.create("x", bulk_bytes=5), ValueError, "5 bytes"),
        (lambda d: corecast.Replicated.create("x", fsync="often"), ValueError, "fsync is 'often': expected 'always'"),
        (lambda d: corecast.Replicated.join(d.name + "-none", timeout=0.05), corecast.NotFound, "nobody hosts"),
    ],
)
def test_bad_input_is_named_and_changes_nothing(words, call, kind, why):
    words.update({b"one": b"1", b"word": b"w"})
    with pytest.raises(kind, match=why):
        call(words)
    assert dict(words.items()) == {b"one": b"1", b"word": b"w"}


def test_a_channel_is_no_dictionary(name):
    with corecast.Publisher(name), pytest.raises(corecast.Corrupt, match="no replicated state"):
        corecast.Replicated.join(name)


def test_more_processes_than_places_are_told(name):
    with corecast.Replicated.create(name, replicas=1, bulk_bytes=SMALL):
        with pytest.raises(corecast.Error, match="all 1 slots"):
            corecast.Replicated.join(name, timeout=1)


def test_a_read_shows_each_write_that_returned_elsewhere(words, member):
    other = member(words.name)
    for number in range(100):
        words[b"here"] = b"%d" % number
        assert ask(other, "d[b'here'], d.set(b'there', d[b'here'])") == f"(b'{number}', True)"
        assert (words[b"there"], words.get_many([b"there", b"here"])) == (b"%d" % number, [b"%d" % number] * 2)


def test_changes_of_processes_and_threads_all_count(words, member):
    """Also those that are made by reading first, where the key has not changed since."""
    once = "[d.increment(b'n') for _ in range(100)] and [add(d) for _ in range(50)] and None"
    program = """
def add(d):
    while True:
        old = d.get(b"m", b"0")
        if d.compare_and_set(b"m", old if b"m" in d else None, b"%d" % (int(old) + 1)):
            return True
"""
    others = [member(words.name, program + MEMBER) for _ in range(2)]
    for other in others:
        other.stdin.write(once + "\n")
        other.stdin.flush()
    threads = [threading.Thread(target=lambda: [words.increment(b"n") for _ in range(100)]) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [other.stdout.readline() for other in others] == ["None\n"] * 2
    assert (words[b"n"], words[b"m"]) == (b"500", b"100")


def test_no_read_shows_a_part_of_an_update(words, member):
    words.update({b"a": b"0", b"b": b"0"})
    other = member(words.name, "last = [b'0', b'0']\n" + MEMBER)
    other.stdin.write("[d.update({b'a': b'%d' % n, b'b': b'%d' % n}) for n in range(1, 300)] and None\n")
    other.stdin.flush()
    seen = 0
    while seen != 299:
        first, second = words.get_many([b"a", b"b"])
        assert first == second and int(first) >= seen
        seen = int(first)
        assert len(set(words.values())) == 1
    assert other.stdout.readline() == "None\n"


def test_a_killed_process_is_named_and_the_others_go_on(name, spawn, member):
    """Though it made the dictionary, leads and hosts the name."""
    program = MEMBER.replace("join(sys.argv[1], timeout=60)", f"create(sys.argv[1], replicas=3, bulk_bytes={SMALL})")
    maker = member(name, program)
    other = member(name)
    with corecast.Replicated.join(name) as words:
        words[b"before"] = b"1"
        assert of_pid(words, maker.pid)["leader"]
        maker.kill()
        words[b"after"] = b"2"
        assert ask(other, "d[b'before'], d[b'after'], d.increment(b'after')") == "(b'1', b'2', 3)"
        until(lambda: not of_pid(words, maker.pid)["member"])
        dead = of_pid(words, maker.pid)
        assert dead["died"] and not dead["alive"] and not dead["leader"]
        # Its place is free, and its name leads to the others.
        third = member(name)
        assert ask(third, "sorted(d.items())") == "[(b'after', b'3'), (b'before', b'1')]"
        # One that takes its leave did not die.
        assert ask(third, "d.close()") == "None"
        gone = of_pid(words, third.pid)
        assert not gone["member"] and not gone["alive"] and not gone["died"]
        other.kill()
        words[b"alone"] = b"4"
        assert len(words) == 3


def test_a_stopped_process_holds_nobody_up_and_catches_up(words, member):
    others = [member(words.name) for _ in range(2)]
    others[0].send_signal(signal.SIGSTOP)
    for number in range(100):
        words[b"n"] = b"%d" % number
    assert ask(others[1], "d[b'n']") == "b'99'"
    until(lambda: of_pid(words, others[0].pid)["stopped"])
    others[0].send_signal(signal.SIGCONT)
    assert ask(others[0], "d[b'n']") == "b'99'"


def test_waiting_lets_other_threads_go_on(name):
    joined = []
    waiter = threading.Thread(target=lambda: joined.append(corecast.Replicated.join(name, timeout=PATIENCE)))
    waiter.start()
    with corecast.Replicated.create(name, replicas=2, bulk_bytes=SMALL) as words:
        waiter.join()
        with joined[0] as other:
            other[b"a"] = b"1"
            assert words[b"a"] == b"1"


def test_ctrl_c_ends_a_wait(spawn, name):
    process = spawn("import sys, corecast\nprint('ready', flush=True)\ncorecast.Replicated.join(sys.argv[1], timeout=None)", name)
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert "KeyboardInterrupt" in err


def test_a_forked_child_is_told_and_does_no_harm(words):
    words[b"a"] = b"1"
    child = os.fork()
    if child == 0:
        calls = [lambda: words[b"a"], lambda: words.set(b"a", b"2"), len, words.participants, words.close]
        told = 0
        for call in calls:
            try:
                call(words) if call is len else call()
            except corecast.Forked:
                told += 1
        os._exit(told)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
    words[b"a"] = b"3"
    assert words[b"a"] == b"3"


def test_another_process_gets_a_copy_of_its_own_by_pickle(words):
    words[b"a"] = b"1"
    with pickle.loads(pickle.dumps(words)) as copy:
        copy[b"a"] = b"2"
        assert (words[b"a"], copy.name, len(words.participants())) == (b"2", words.name, 2)


def test_a_closed_dictionary_is_told(words):
    assert repr(words) == f'Replicated("{words.name}")'
    words.close()
    words.close()
    assert repr(words) == f'Replicated("{words.name}", closed)'
    for call in (lambda: words[b"a"], lambda: words.set(b"a", b""), words.items, words.participants):
        with pytest.raises(corecast.Closed, match="dictionary has been closed"):
            call()


def test_files_outlive_all_processes(name, spawn, tmp_path):
    program = f"""
import os, signal, sys, corecast
d = corecast.Replicated.create(sys.argv[1], bulk_bytes={SMALL}, folder=sys.argv[2], fsync="never")
d[b"a"] = b"kept"
os.kill(os.getpid(), signal.SIGKILL)
"""
    process = spawn(program, name, tmp_path)
    process.communicate(timeout=PATIENCE)
    assert process.returncode == -signal.SIGKILL
    with corecast.Replicated.create(name, bulk_bytes=SMALL, folder=tmp_path, fsync="never") as words:
        assert words.items() == [(b"a", b"kept")]


def program_of_the_shell():
    """The program `corecast`, as built beside the package or installed."""
    root = pathlib.Path(__file__).parents[2]
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", root / "target"))
    built = [target / profile / "corecast" for profile in ("debug", "release")]
    return next((str(path) for path in built if path.exists()), None) or shutil.which("corecast")


@pytest.fixture
def served(name):
    """The name of a store that processes serve."""
    program = program_of_the_shell()
    if program is None:
        pytest.skip("SKIPPED: stores of `corecast kv` need the program corecast: cargo build -p corecast-cli")
    pytest.importorskip("redis", reason="SKIPPED: clients of `corecast kv` need the package redis")
    command = [program, "kv", "serve", name, "--replicas", "2", "--bulk", str(SMALL)]
    with subprocess.Popen(command, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        assert server.stdout.readline().startswith(f"serving {name}")
        yield name
        server.terminate()


def test_a_client_of_a_store(served):
    import redis

    from corecast import store

    with store.Client(served) as client:
        client[b"a"] = b"1"
        assert (client[b"a"], b"a" in client, client.incr("n", 5), client.delete("none")) == (b"1", True, 5, 0)
        assert [client.compare_and_set("a", old, "2") for old in (None, "0", "1")] == [False, False, True]
        assert client.compare_and_set("b", None, bytes(range(256))) and client.get("b") == bytes(range(256))
        assert client.pipeline().set("x", 1).incr("x").get("x").execute() == [True, 2, b"2"]
        assert client.mget("x", "none") == [b"2", None] and client.dbsize() == 4
        with pytest.raises(redis.ResponseError, match="1 to 1024 bytes"):
            client.set("", 1)
        with pytest.raises(redis.ResponseError, match="unknown command 'HSET'"):
            client.hset("h", "f", "v")
        with pytest.raises(ValueError, match="transaction is True"):
            client.pipeline(transaction=True)
    with pytest.raises(corecast.NotFound, match="no store is served at .*kv serve NAME"):
        store.Client(served + "-none")
    with pytest.raises(corecast.NotFound, match="no store is served at"):
        store.Client(f"{os.sep}none{os.sep}socket")
    with pytest.raises(ValueError, match="bad name"):
        store.Client("a b")


def test_a_store_is_a_dictionary_and_outlives_a_killed_process(served):
    import redis

    from corecast import store

    with store.Client(served) as client, corecast.Replicated.join(served) as copy:
        client["a"] = "1"
        assert copy[b"a"] == b"1"
        copy[b"b"] = b"2"
        assert client["b"] == b"2"
        (leader,) = [who["pid"] for who in copy.participants() if who["leader"]]
        os.kill(leader, signal.SIGKILL)
        done, lost = 0, 0
        while done < 10:
            try:
                client.incr("n")
                done += 1
            except redis.ConnectionError:
                lost += 1
        # The one under way when its process died was counted or not.
        assert lost <= 1 and done <= int(copy[b"n"]) <= done + lost


def test_a_client_sends_no_change_twice(tmp_path):
    """To a server that takes an increment and ends the connection, as one does whose process is killed."""
    redis = pytest.importorskip("redis", reason="SKIPPED: clients of `corecast kv` need the package redis")
    from corecast import store

    path, requests = str(tmp_path / "socket"), []

    def serve(stream):
        with stream, stream.makefile("rb") as lines:
            for head in lines:
                words = [lines.read(int(lines.readline()[1:]) + 2)[:-2] for _ in range(int(head[1:]))]
                requests.append(words[0])
                if words[0] == b"INCRBY":
                    return
                stream.sendall(b"+OK\r\n")

    def accept(listener):
        try:
            while True:
                threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
        except OSError:
            return  # it was shut down

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        listener.listen()
        threading.Thread(target=accept, args=(listener,), daemon=True).start()
        with store.Client(path) as client:
            with pytest.raises(redis.ConnectionError):
                client.incr("n")
            assert requests.count(b"INCRBY") == 1
            assert client.set("a", 1)
        listener.shutdown(socket.SHUT_RDWR)


def test_without_redis_the_client_says_so():
    program = "import sys\nsys.modules['redis'] = None\nimport corecast.store"
    ended = subprocess.run([sys.executable, "-c", program], text=True, capture_output=True, timeout=PATIENCE)
    assert "corecast.store needs the package redis: pip install redis" in ended.stderr
