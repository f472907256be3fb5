"""A short draw of the soak, which `python python/tests/soak` runs whole."""

import os
import subprocess
import sys

SOAK = os.path.join(os.path.dirname(__file__), "soak")


def test_nothing_is_left_after_messages_and_kills():
    # The limit of a survivor is that of a busy machine.
    command = [sys.executable, SOAK, "--messages", "6000", "--kills", "24", "--within", "60"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0 and done.stdout.endswith("\n0 leaks\n"), done.stdout + done.stderr
