"""A soak of the package: messages by the million and processes killed by the thousand, after which nothing may be left.

    python python/tests/soak --messages 1000000 --kills 1000

All data are checked. The survivors of each kill must be told within `--within` seconds. After the first tenth of the messages, and after the
first of the kills, no process may hold more memory, descriptors, mappings or threads than then, and no name may be left over at the end.
"""

import argparse
import collections
import gc
import os
import random
import sys
import tempfile
import time


def main():
    parser = argparse.ArgumentParser(prog="soak", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=1_000_000, help="messages and operations of groups, in all")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, help="of the instants and choices; a random one by default")
    parser.add_argument("--within", type=float, default=1.0, help="seconds in which a survivor is told")
    options = parser.parse_args()
    if options.messages < 100 or options.kills < 0:
        parser.error(f"--messages {options.messages} --kills {options.kills}: expected at least 100 and 0")
    with tempfile.TemporaryDirectory(prefix="corecast-soak-") as folder:
        # Names of this run only, for its children, too.
        os.environ["XDG_RUNTIME_DIR"] = folder
        return soak(options, [os.path.join(folder, "corecast"), "/dev/shm"])


def soak(options, folders):
    """Returns the exit code."""
    import kills
    import traffic
    import watch
    from children import Child

    seed = random.randrange(2**32) if options.seed is None else options.seed
    print(f"seed {seed}", flush=True)
    os.mkdir(folders[0], mode=0o700)
    before, found = watch.names(folders), []
    for part, share in ((traffic.broadcast, 60), (traffic.ask, 30), (traffic.meet, 10)):
        count, begin = options.messages * share // 100, time.monotonic()
        leaks = part(Child, f"soak-{part.__name__}", count)
        found += show(leaks, part.__name__)
        print(f"{part.__name__}: {count} messages in {time.monotonic() - begin:.1f} s, {len(leaks)} leaks", flush=True)
    if options.kills:
        found += kill_many(options, seed, kills, watch)
    Child(kills.host_once, "soak-last").result()
    found += show(watch.left_over(before, folders), "left over")
    print(f"{len(found)} leaks")
    return 1 if found else 0


def kill_many(options, seed, kills, watch):
    """Kills, and returns the words for each leak."""
    told = collections.defaultdict(list)
    begin = time.monotonic()
    run = kills.Kills("soak-kills", random.Random(seed), options.within)
    warm = max(options.kills // 10, len(run.SCENARIOS))
    for number in range(options.kills):
        if number == warm:
            gc.collect()
            held = watch.held()
        scenario, seconds = run.one()
        told[scenario].append(seconds)
    gc.collect()
    leaks = watch.growth(held, watch.held()) if options.kills > warm else []
    run.close()
    print(f"{options.kills} kills in {time.monotonic() - begin:.1f} s, {len(leaks)} leaks")
    for scenario, all_seconds in told.items():
        known = [seconds for seconds in all_seconds if seconds is not None]
        early = len(all_seconds) - len(known)
        if scenario in run.GO_ON:
            # Nobody waits for these, nor knows whether they had opened their end.
            last = f"the others' next messages took at most {1e3 * max(known):.1f} ms"
        else:
            last = f"survivors told after at most {1e3 * max(known):.1f} ms" if known else "nobody to tell"
            last = f"{early} of them before it had opened its end: {last}"
        print(f"  {len(all_seconds)} times a {scenario}: {last}")
    return show(leaks, "kills")


def show(leaks, where):
    """Prints the leaks, and returns them."""
    for leak in leaks:
        print(f"{where}: {leak}", file=sys.stderr)
    return leaks


if __name__ == "__main__":
    sys.exit(main())
