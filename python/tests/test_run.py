"""Groups of processes that `corecast run` starts, where that program is built."""

import os
import shutil
import subprocess
import sys

import pytest

from conftest import PATIENCE

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TARGET = os.environ.get("CARGO_TARGET_DIR", os.path.join(ROOT, "target"))


def program():
    """The program `corecast`: that of the variable CORECAST, of this checkout, or of the path."""
    built = [os.path.join(TARGET, kind, "corecast") for kind in ("debug", "release")]
    found = [path for path in [os.environ.get("CORECAST"), *built] if path and os.access(path, os.X_OK)]
    return found[0] if found else shutil.which("corecast")


def test_members_of_corecast_run_find_their_group():
    corecast_program = program()
    if corecast_program is None:
        pytest.skip("SKIPPED: groups of `corecast run`: the program is not built; build it with `cargo build -p corecast-cli`")
    # Each line is written at once, as all members write to one pipe.
    member = """
import os, corecast
with corecast.Group.from_env() as group:
    os.write(1, b"sum %d of %d by %d\\n" % (group.allreduce(group.rank + 1), group.size, group.rank))
"""
    command = [corecast_program, "run", "-n", "3", "--", sys.executable, "-c", member]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
    assert done.returncode == 0, done.stderr
    lines = sorted(line[line.index("sum") :] for line in done.stdout.splitlines() if "sum" in line)
    assert lines == [f"sum 6 of 3 by {rank}" for rank in range(3)], done.stdout
