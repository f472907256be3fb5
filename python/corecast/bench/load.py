"""Foreign load: processes that compute all the time, one for each CPU that this process may use."""

import contextlib
import os
import subprocess
import sys

# It ends with its parent.
_BUSY = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    for _ in range(100_000):\n        pass\n"


@contextlib.contextmanager
def busy(is_wanted=True):
    """Keeps all CPUs busy meanwhile, if that is wanted."""
    count = len(os.sched_getaffinity(0)) if is_wanted else 0
    processes = [subprocess.Popen([sys.executable, "-c", _BUSY]) for _ in range(count)]
    try:
        yield count
    finally:
        for process in processes:
            process.kill()
            process.wait()
