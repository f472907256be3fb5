"""A scheduler and its workers, as in an inference engine: each step is broadcast once, and the results are gathered.

    python decode_loop.py --workers 3 --steps 1000

One worker is killed in the middle. The scheduler is told within a second, and the others go on.
"""

import argparse
import os
import signal
import subprocess
import sys
import time

import corecast
from corecast import objects


def work(channel, number):
    """Receives steps, and answers each with a number of its own."""
    steps = corecast.Subscriber(channel, timeout=30)
    answers = corecast.Sender(f"{channel}-{number}", create=False, timeout=30)
    answers.send(b"ready")
    for message in steps:
        step = objects.loads(message)
        tokens = step["tokens"]  # these lie in the channel
        objects.send(answers, {"step": step["step"], "sum": sum(tokens[number :: step["workers"]])})
        del tokens, step, message


def schedule(workers, steps, victim):
    """Broadcasts the steps and gathers the answers of the workers that are left."""
    channel = f"decode-{os.getpid()}"
    with corecast.Publisher(channel, max_bytes=1 << 16) as publisher:
        answers = {number: corecast.Receiver(f"{channel}-{number}", create=True, max_bytes=4096) for number in range(workers)}
        processes = [subprocess.Popen([sys.executable, __file__, "--channel", channel, "--number", str(n)]) for n in range(workers)]
        for receiver in answers.values():
            receiver.recv_bytes(timeout=60)
        begin = time.perf_counter()
        for step in range(steps):
            objects.send(publisher, {"step": step, "workers": workers, "tokens": bytes(range(256))})
            if step == steps // 2 and victim is not None:
                processes[victim].send_signal(signal.SIGKILL)
            for number, receiver in list(answers.items()):
                try:
                    answer = objects.recv(receiver, timeout=60)
                    if answer["step"] != step:
                        raise RuntimeError(f"worker {number} answered step {answer['step']} in the place of {step}")
                except corecast.Died:
                    print(f"worker {number} died in step {step}; the others go on")
                    del answers[number]
        took = time.perf_counter() - begin
        print(f"{steps} steps by {workers} workers, {len(answers)} of which are left: {1e6 * took / steps:.1f} us a step")
    for process in processes:
        process.wait(60)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--workers", type=int, default=3)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--kill", type=int, default=1, help="the worker that is killed; -1 for none")
    parser.add_argument("--channel", help=argparse.SUPPRESS)
    parser.add_argument("--number", type=int, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.channel is not None:
        return work(options.channel, options.number)
    if options.workers < 1 or options.steps < 1:
        parser.error(f"--workers {options.workers} --steps {options.steps}: expected at least one of each")
    return schedule(options.workers, options.steps, options.kill if 0 <= options.kill < options.workers else None)


if __name__ == "__main__":
    sys.exit(main())
