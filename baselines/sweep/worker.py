"""What a process of a local sweep executes: `explore-suite train`, which ends with its sweep."""

import os
import signal
import sys
import threading

from explore_suite.__main__ import main


def work() -> int:
    """Trains by the flags in sys.argv; standard input must be a pipe that the sweep holds open."""
    threading.Thread(target=_stop_with_the_sweep, daemon=True).start()
    return main(["train", *sys.argv[1:]])


def _stop_with_the_sweep() -> None:
    """Waits for the end of the pipe, which the system closes however the sweep ended."""
    while os.read(sys.stdin.fileno(), 1):
        pass
    os.kill(os.getpid(), signal.SIGTERM)  # the run ends its episode and saves a checkpoint
