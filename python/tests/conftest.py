"""What all tests use: names that nobody else has, and processes that end."""

import os
import subprocess
import sys
import uuid

import pytest

#: The longest wait for something that happens at once on an idle machine.
PATIENCE = 60.0


@pytest.fixture
def name():
    """A name for a channel or group."""
    return f"test-{os.getpid()}-{uuid.uuid4().hex[:8]}"


@pytest.fixture
def spawn():
    """Starts programs of Python, which are killed at the end of the test."""
    running = []

    def start(program, *arguments, **options):
        command = [sys.executable, "-c", program, *map(str, arguments)]
        process = subprocess.Popen(command, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        running.append(process)
        return process

    yield start
    for process in running:
        process.kill()
        process.communicate()


def answer(process):
    """The output of a program that ends by itself."""
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    return out.strip()
