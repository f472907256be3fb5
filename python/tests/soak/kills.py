"""Processes that are killed at random instants, each by one of six scenarios, and the ends that must be told of it."""

import random
import threading
import time

import corecast
import payload
import traffic
from children import PATIENCE, Child

#: Seconds within which a victim that lives opens its end.
SHORT = 0.3


class Late(Exception):
    """A survivor was not told in time."""


class Killer:
    """Kills a child at a random instant after it begins to open its end: in the middle of that, or while it works."""

    def __init__(self, child, chance, longest=0.2):
        self._child, self._delay = child, longest * chance.random() ** 2
        child.expect("begin")
        #: The instant of its death; None before.
        self.at = None
        self._thread = threading.Thread(target=self._kill)
        self._thread.start()

    def _kill(self):
        time.sleep(self._delay)
        # Before the kill, so that no survivor can be told earlier.
        at = time.monotonic()
        self._child.kill()
        self.at = at

    def until_silent(self, call):
        """Repeats a call until one that began after the death ends by `Timeout`: the victim had not opened its end."""
        while True:
            was_dead = self.at is not None
            try:
                call()
            except corecast.Timeout:
                if was_dead:
                    self.told_after()
                    return

    def told_after(self):
        """Seconds from the death until now, where the caller was just told of it."""
        now = time.monotonic()
        self._thread.join()
        self._child.end()
        return now - self.at


def hold_up(receive):
    """Receives for ever, and keeps some messages open for a while."""
    series, held = payload.Series(), []
    while True:
        message = receive(PATIENCE)
        if len(held) < 2 and random.random() < 0.3:
            held.append(message)
            continue
        for kept in held:
            series.take(kept)
        held.clear()
        series.take(message)


def pour(send, source):
    """Sends for ever."""
    number = 0
    while True:
        send(source, number)
        number += 1


def victim_reader(say, name, seed):
    say("begin")
    random.seed(seed)
    hold_up(corecast.Subscriber(name, timeout=PATIENCE).recv)


def victim_host(say, name, source):
    say("begin")
    publisher = corecast.Publisher(name, max_bytes=payload.MAX_BYTES, slots=8, when_alone="wait")
    pour(lambda *which: payload.send(publisher, *which, PATIENCE), source)


def victim_publisher(say, name, source):
    say("begin")
    publisher = corecast.Publisher.join(name, timeout=PATIENCE)
    pour(lambda *which: payload.send(publisher, *which, PATIENCE), source)


def victim_sender(say, name, source):
    say("begin")
    sender = corecast.Sender(name, create=False, timeout=PATIENCE)
    pour(lambda *which: payload.send(sender, *which, PATIENCE), source)


def victim_receiver(say, name):
    say("begin")
    receiver, series = corecast.Receiver(name, timeout=PATIENCE), payload.Series()
    while True:
        series.take(receiver.recv(PATIENCE))


def victim_member(say, name, size, rank):
    say("begin")
    group, number = corecast.Group.create(name, size, rank=rank, timeout=PATIENCE), 0
    while True:
        traffic.one_operation(group, number)
        number += 1


def survivor_reader(say, name):
    """Reads what is published until the channel is closed, and returns the number of messages."""
    series, count = payload.Series(), 0
    with corecast.Subscriber(name, timeout=PATIENCE) as subscriber:
        say("ready")
        for message in subscriber:
            series.take(message)
            del message
            count += 1
    return count


def survivor_member(say):
    """Joins one group after the other, by the words of the parent, until one of them is None."""
    while (order := say.hear()) is not None:
        say(outlive(*order))


def outlive(name, size, rank, victim):
    """Works in a group until a member dies, and goes on with the others. Returns the instant when this one was told; None if the group
    did not come into being."""
    try:
        group = corecast.Group.create(name, size, rank=rank, timeout=1.0)
    except corecast.Timeout:
        return None
    except corecast.MemberLost as lost:
        # It died while the others came.
        check_lost(lost, rank, victim)
        return None
    with group:
        number = 0
        try:
            while True:
                traffic.one_operation(group, number)
                number += 1
        except corecast.MemberLost as lost:
            told = time.monotonic()
            check_lost(lost, rank, victim)
        rest, gone = group.shrink(PATIENCE)
        with rest:
            if gone != [victim]:
                raise payload.Damaged(f"member {victim} died, and shrink says {gone}") from None
            for number in range(12):
                traffic.one_operation(rest, number)
    return told


def check_lost(lost, rank, victim):
    """That a member was told of the one that died."""
    if lost.rank != victim:
        raise payload.Damaged(f"member {victim} died, and member {rank} was told of {lost.rank}")


class Kills:
    """The channels that outlive all kills, and one scenario after the other."""

    def __init__(self, name, chance, limit):
        self._name, self._chance, self._limit = name, chance, limit
        self._count = 0
        self._publisher = corecast.Publisher(name, max_bytes=payload.MAX_BYTES, slots=8, readers=6, publishers=4)
        self._sent = 0
        self._witness = Child(survivor_reader, name)
        self._witness.expect("ready")
        self._joint = name + "-joint"
        self._joined = corecast.Publisher(self._joint, max_bytes=payload.MAX_BYTES, slots=8, readers=2, publishers=3)
        self._own = corecast.Subscriber(self._joint, timeout=PATIENCE)
        self._series, self._joint_sent = payload.Series(), 0
        self._colleague = Child(survivor_member)

    #: The scenarios, in turns.
    SCENARIOS = ("reader", "host", "publisher", "sender", "receiver", "member")
    #: Those after whose deaths the others go on without being told.
    GO_ON = ("reader", "publisher")

    def one(self):
        """Kills one process. Returns the scenario, and the seconds until the slowest survivor was told; None if the victim had not come
        so far that there was anything to tell."""
        scenario = self.SCENARIOS[self._count % len(self.SCENARIOS)]
        self._count += 1
        told = getattr(self, "kill_" + scenario)(f"{self._name}-{self._count}")
        if told is not None and told > self._limit:
            raise Late(f"kill {self._count}, a {scenario}: told after {told:.3f} s, expected at most {self._limit} s")
        return scenario, told

    def close(self):
        """Ends the survivors, which have missed nothing."""
        self._publisher.close()
        count = self._witness.result()
        if count != self._sent:
            raise payload.Damaged(f"the reader that nobody killed has {count} messages of {self._sent}")
        self._own.close()
        self._joined.close()
        self._colleague.say(None)
        self._colleague.result()

    def kill_reader(self, name):
        """A reader dies, some of whose messages are open: the publisher is held up no longer than the limit."""
        victim = Child(victim_reader, self._name, self._chance.random())
        killer = Killer(victim, self._chance)
        slowest = 0.0
        while True:
            was_dead = killer.at is not None
            begin = max(time.monotonic(), killer.at or 0)
            for _ in range(20):
                payload.send(self._publisher, 0, self._sent, PATIENCE)
                self._sent += 1
            slowest = max(slowest, time.monotonic() - begin) if was_dead else 0.0
            if was_dead:
                killer.told_after()
                return slowest

    def kill_host(self, name):
        """A publisher dies that has made the channel: its two readers get what it sent, and then `Died`."""
        killer = Killer(Child(victim_host, name, self._count), self._chance)
        try:
            readers = [corecast.Subscriber(name, timeout=SHORT) for _ in range(2)]
        except (corecast.NotFound, corecast.Timeout, corecast.Died):
            # It died before both have come.
            killer.told_after()
            return None
        seen = [payload.Series() for _ in readers]
        try:
            while True:
                for reader, series in zip(readers, seen):
                    series.take(reader.recv(PATIENCE))
        except corecast.Died:
            pass
        for reader, series in zip(readers, seen):
            with reader:
                drain(reader, series)
        told = killer.told_after()
        if all(series.next for series in seen) and seen[0].next != seen[1].next:
            raise payload.Damaged(f"two readers of one publisher got up to {seen[0].next} and {seen[1].next}")
        return told

    def kill_publisher(self, name):
        """One of two publishers dies: the other one goes on, and so does the reader."""
        killer = Killer(Child(victim_publisher, self._joint, self._count), self._chance)
        while True:
            was_dead = killer.at is not None
            begin = time.monotonic()
            goal = self._joint_sent + 10
            while self._joint_sent < goal:
                try:
                    payload.send(self._joined, 0, self._joint_sent, 0.001)
                    self._joint_sent += 1
                except corecast.Timeout:
                    pass
                while (message := self._own.try_recv()) is not None:
                    self._series.take(message)
            while self._series.next[0] < goal:
                self._series.take(self._own.recv(PATIENCE))
            if was_dead:
                took = time.monotonic() - begin
                killer.told_after()
                return took

    def kill_sender(self, name):
        """A sender dies: its receiver gets what it sent, and then `Died`."""
        killer, series = Killer(Child(victim_sender, name, self._count), self._chance), payload.Series()
        with corecast.Receiver(name, create=True, max_bytes=payload.MAX_BYTES) as receiver:
            try:
                killer.until_silent(lambda: series.take(receiver.recv(SHORT)))
            except corecast.Died:
                return killer.told_after()
            # Nobody has taken the other end.
            with corecast.Sender(name, create=False, timeout=0) as sender:
                sender.send(b"still there")
                if receiver.recv_bytes(PATIENCE) != b"still there":
                    raise payload.Damaged("the first message of a second sender")
            return None

    def kill_receiver(self, name):
        """A receiver dies: its sender's next call raises `Died`."""
        killer, number = Killer(Child(victim_receiver, name), self._chance), 0

        def send_next():
            nonlocal number
            payload.send(sender, 0, number, SHORT)
            number += 1

        with corecast.Sender(name, max_bytes=payload.MAX_BYTES) as sender:
            try:
                killer.until_silent(send_next)
            except corecast.Died:
                return killer.told_after()
            with corecast.Receiver(name, timeout=0) as receiver:
                series = payload.Series()
                while series.next.get(0) != number:
                    series.take(receiver.recv(PATIENCE))
            return None

    def kill_member(self, name):
        """A member of a group of three dies: both others are told its rank, and go on without it."""
        victim, mine, other = self._chance.sample(range(3), 3)
        killer = Killer(Child(victim_member, name, 3, victim), self._chance)
        self._colleague.say((name, 3, other, victim))
        told = [outlive(name, 3, mine, victim), self._colleague.hear()]
        killer.told_after()
        if None in told:
            return None
        return max(told) - killer.at


def drain(reader, series):
    """Receives until the publisher is known to be dead."""
    try:
        while True:
            series.take(reader.recv(PATIENCE))
    except corecast.Died:
        return


def host_once(say, name):
    """Hosts a name for a moment, which removes those of processes that were killed with nobody to outlive them."""
    corecast.Publisher(name).close()
