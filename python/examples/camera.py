"""A camera and three consumers: frames are written once, in place. One consumer must not miss any, one may, and one sleeps too long.

    python camera.py --frames 300
"""

import argparse
import os
import subprocess
import sys
import time

import numpy as np

import corecast

SHAPE = (480, 640, 3)


def consume(channel, kind):
    policy = {"recorder": None, "preview": "lossy", "slow": 0.02}[kind]
    camera = corecast.Subscriber(channel, policy=policy, timeout=30)
    print(f"{kind} has come", flush=True)
    seen, missed = 0, 0
    while True:
        try:
            with camera.recv() as view:
                frame = np.frombuffer(view, dtype=np.uint8).reshape(SHAPE)
                seen += int(frame[0, 0, 0] == frame[-1, -1, -1])
                del frame
        except corecast.Lagged as lagged:
            missed += lagged.missed
        except corecast.Closed:
            print(f"{kind}: {seen} whole frames, {missed} missed", flush=True)
            return
        if kind == "slow":
            time.sleep(0.05)


def film(frames):
    channel = f"camera-{os.getpid()}"
    size = int(np.prod(SHAPE))
    with corecast.Publisher(channel, max_bytes=size, slots=8, overwrite=True) as camera:
        command = [sys.executable, __file__, "--channel", channel, "--kind"]
        consumers = [subprocess.Popen([*command, kind], stdout=subprocess.PIPE, text=True) for kind in ("recorder", "preview", "slow")]
        for consumer in consumers:
            consumer.stdout.readline()
        begin = time.perf_counter()
        for number in range(frames):
            with camera.reserve(size) as room:
                np.frombuffer(room, dtype=np.uint8)[:] = number % 256
        print(f"{frames} frames of {size} bytes, {frames / (time.perf_counter() - begin):.0f} a second")
    for consumer in consumers:
        print(consumer.communicate()[0].strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--frames", type=int, default=300)
    parser.add_argument("--channel", help=argparse.SUPPRESS)
    parser.add_argument("--kind", help=argparse.SUPPRESS)
    options = parser.parse_args()
    return consume(options.channel, options.kind) if options.channel else film(options.frames)


if __name__ == "__main__":
    sys.exit(main())
