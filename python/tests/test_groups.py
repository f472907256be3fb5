"""Groups among processes, and the machine."""

import json

import numpy as np
import pytest

import corecast
from conftest import PATIENCE, answer

PROLOGUE = """
import sys, numpy as np, corecast
group = corecast.Group.create(sys.argv[1], int(sys.argv[2]), rank=int(sys.argv[3]), timeout=60)
me, n = group.rank, group.size
"""


def everybody(spawn, name, size, program):
    """The last lines of all members, by rank."""
    members = [spawn(PROLOGUE + program, name, size, rank) for rank in range(size)]
    return [answer(member) for member in members]


def test_operations(name, spawn):
    program = """
group.barrier()
assert group.broadcast({"from": me}, root=1) == {"from": 1}
array = np.full(1000, me, dtype=np.int32)
assert group.broadcast(array, root=2) is array and (array == 2).all()
assert group.allreduce(me + 1) == n * (n + 1) // 2
assert group.allreduce("abc"[me], op=lambda a, b: a + b) == "abc"
assert group.reduce(me, "max", root=1) == (n - 1 if me == 1 else None)
assert group.gather(me, root=2) == ([0, 1, 2] if me == 2 else None)
assert group.allgather(b"x" * me) == [b"", b"x", b"xx"]
assert group.scatter(["a", "bb", None] if me == 0 else None) == ["a", "bb", None][me]
part = group.scatter_array(np.arange(6.0) if me == 0 else None, out=np.zeros(2))
assert list(part) == [2.0 * me, 2.0 * me + 1]
out = np.zeros(100_000, dtype=np.float32)
assert group.allreduce(np.full(100_000, me + 1, dtype=np.float32), out=out) is out and (out == 6).all()
matrices = group.allreduce(np.array([[1, me], [0, 1]]), op=np.matmul)
assert matrices.tolist() == [[1, 3], [0, 1]]
try:
    group.scatter([1, 2] if me == 0 else None)
except ValueError as error:
    print(error)
"""
    said = "2 values cannot be scattered among 3 members: expected one for each"
    assert everybody(spawn, name, 3, program) == [said] * 3


def test_all_kinds_of_numbers(name, spawn):
    program = """
kinds = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128".split()
done = 0
for kind in kinds:
    values = [np.array([1, 0, 1] if kind == "bool" else [3, 5, 7 - rank], dtype=kind) for rank in range(n)]
    for op, reference in [("sum", np.add), ("prod", np.multiply), ("min", np.minimum), ("max", np.maximum),
                          ("and", np.bitwise_and), ("or", np.bitwise_or), ("xor", np.bitwise_xor)]:
        is_bits = op in ("and", "or", "xor")
        if kind == "bool" and op in ("sum", "prod") or is_bits and kind[0] in "fc" or kind[0] == "c" and op in ("min", "max"):
            try:
                group.allreduce(values[me], op)
                raise SystemExit(f"{kind} {op}")
            except TypeError as error:
                assert f"no operation '{op}'" in str(error)
            continue
        expected = values[0]
        for value in values[1:]:
            expected = reference(expected, value).astype(kind)
        assert np.array_equal(group.allreduce(values[me], op), expected), (kind, op)
        result = group.reduce(values[me], op, root=1)
        assert (result is None) == (me != 1) and (me != 1 or np.array_equal(result, expected))
        done += 1
print(done)
"""
    assert everybody(spawn, name, 2, program) == ["77"] * 2


def test_refusals(name):
    with corecast.Group.create(name, 1) as group:
        with pytest.raises(ValueError, match="op is 'mean': expected"):
            group.allreduce(np.zeros(3), "mean")
        with pytest.raises(ValueError, match="op is 'mean': expected"):
            group.allreduce(3, "mean")
        with pytest.raises(TypeError, match="format"):
            group.allreduce(np.zeros(3, dtype="S5"))
        with pytest.raises(TypeError, match="format"):
            group.allreduce(np.zeros(3, dtype=">f8"))
        with pytest.raises((BufferError, ValueError), match="contiguous"):
            group.allreduce(np.zeros((4, 4)), out=np.zeros((8, 8))[::2, ::2])
        with pytest.raises(ValueError, match="expected the same"):
            group.allreduce(np.zeros(3), out=np.zeros(4))
        with pytest.raises(ValueError, match="rank 3"):
            group.broadcast(1, root=3)
    with pytest.raises(corecast.Closed):
        group.barrier()
    with pytest.raises(ValueError, match="size is 0"):
        corecast.Group.create(name, 0)
    with pytest.raises(corecast.NotFound, match="corecast run"):
        corecast.Group.from_env()
    with pytest.raises(corecast.Timeout, match="missing"):
        corecast.Group.create(name + "-2", 2, timeout=0.1)


def test_a_member_that_is_killed_is_named_and_left_behind(name, spawn):
    program = """
import os, signal
group.barrier()
if me == 1:
    os.kill(os.getpid(), signal.SIGKILL)
try:
    group.barrier(60)
except corecast.MemberLost as lost:
    assert lost.rank == 1 and lost.loss == "died", lost
rest, gone = group.shrink(60)
print(rest.allreduce(me), gone, rest.size)
"""
    members = [spawn(PROLOGUE + program, name, 3, rank) for rank in range(3)]
    assert [answer(members[rank]) for rank in (0, 2)] == ["2 [1] 2"] * 2


def test_a_limit_names_the_missing(name, spawn):
    program = """
if me == 0:
    try:
        group.barrier(0.2)
    except corecast.Timeout as late:
        print(late.missing, flush=True)
else:
    sys.stdin.readline()
"""
    first, second = (spawn(PROLOGUE + program, name, 2, rank) for rank in range(2))
    assert answer(first) == "(1,)"
    second.communicate("\n", timeout=PATIENCE)


def test_the_machine_and_a_plan():
    model = corecast.machine()
    n = len(model.cpus)
    assert model.send().shape == model.receive().shape == (n, n) and model.kind in ("measured", "assumed", "derived")
    assert corecast.Machine(model.text).cpus == model.cpus and model.name in model._repr_html_()
    if n < 2:
        pytest.skip("SKIPPED: a plan of trees needs two CPUs")
    plan = corecast.plan("broadcast", model, effort="quick", root=model.cpus[1])
    reached = {plan.root}.union(*plan.children.values())
    assert plan.root == model.cpus[1] and reached == set(model.cpus) and plan.predicted > 0
    assert json.loads(plan.text)["op"] == "broadcast" and str(plan.root) in plan.explain() and plan.explain()[:20] in plan._repr_html_()
    for bad, why in [({"operation": "gossip"}, "gossip"), ({"shape": "star9"}, "star9"), ({"root": 99999}, "99999"), ({"effort": "much"}, "much")]:
        with pytest.raises(ValueError, match=why):
            corecast.plan(**{"model": model, **bad})
    with pytest.raises(ValueError):
        corecast.Machine("{}") and corecast.plan("broadcast", corecast.Machine("{}"))
