"""Heat that spreads over a plate, by processes that each have some of its rows.

    corecast run -n 4 -- python stencil.py
    python stencil.py --members 4        # without the program `corecast`
"""

import argparse
import os
import subprocess
import sys

import numpy as np

import corecast


def spread(group, size, steps):
    """Returns the heat of the whole plate after so many steps, and the last change of any of its points."""
    first, last = size * group.rank // group.size, size * (group.rank + 1) // group.size
    rows = np.zeros((last - first + 2, size))
    if group.rank == 0:
        rows[1] = 100.0
    change = 0.0
    for _ in range(steps):
        # The rows at the borders of all members; each takes its neighbours'.
        borders = group.allgather((rows[1].copy(), rows[-2].copy()))
        if group.rank > 0:
            rows[0] = borders[group.rank - 1][1]
        if group.rank + 1 < group.size:
            rows[-1] = borders[group.rank + 1][0]
        new = rows.copy()
        new[1:-1, 1:-1] = (rows[:-2, 1:-1] + rows[2:, 1:-1] + rows[1:-1, :-2] + rows[1:-1, 2:]) / 4
        if group.rank == 0:
            new[1] = rows[1]
        if group.rank + 1 == group.size:
            new[-2] = rows[-2]
        change = group.allreduce(float(np.abs(new - rows).max()), "max")
        rows = new
    return group.allreduce(np.array([rows[1:-1].sum()]))[0], change


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--size", type=int, default=200)
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--members", type=int, help="start as many processes; by default this is one of `corecast run`")
    parser.add_argument("--name", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.members and not options.name:
        command = [sys.executable, *sys.argv, "--name", f"stencil-{os.getpid()}"]
        members = [subprocess.Popen(command) for _ in range(options.members)]
        return max(member.wait() for member in members)
    group = corecast.Group.create(options.name, options.members) if options.name else corecast.Group.from_env()
    with group:
        heat, change = spread(group, options.size, options.steps)
        if group.rank == 0:
            print(f"heat {heat:.6f} after {options.steps} steps by {group.size} members, last change {change:.6f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
