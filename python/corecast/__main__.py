"""``python -m corecast``: this machine; ``python -m corecast bench``: channels and groups against what Python has."""

import argparse
import sys

import corecast


def main(arguments=None):
    """Returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m corecast", description=__doc__.replace("``", ""))
    commands = parser.add_subparsers(dest="command")
    bench = commands.add_parser("bench", help="time channels and groups against those of other libraries")
    bench.add_argument("--quick", action="store_true", help="a tenth of the time")
    bench.add_argument("--json", action="store_true", help="one object of JSON in the place of the tables")
    bench.add_argument("--only", metavar="PART", help="one part: stream, latency, roundtrip, idle, barrier or allreduce")
    bench.add_argument("--bytes", metavar="N", type=int, nargs="+", help="lengths of messages in the place of the usual ones")
    bench.add_argument("--readers", metavar="N", type=int, nargs="+", help="numbers of readers in the place of the usual ones")
    bench.add_argument("--load", choices=["without", "beside"], help="only without, or only beside, busy processes on all CPUs")
    options = parser.parse_args(arguments)
    if options.command == "bench":
        from corecast.bench import run

        loads = None if options.load is None else [options.load == "beside"]
        return run(
            quick=options.quick, as_json=options.json, only=options.only, sizes=options.bytes, readers=options.readers, loads=loads
        )
    model = corecast.machine()
    print(f"{model.name}: {len(model.cpus)} CPUs, costs {model.kind}, in {model.unit}")
    if len(model.cpus) > 1:
        print(corecast.plan("broadcast", model, effort="quick").explain(), end="")
    if model.kind != "measured":
        print("`python -c 'import corecast; corecast.measure()'` measures it")
    return 0


if __name__ == "__main__":
    sys.exit(main())
