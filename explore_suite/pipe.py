"""Whoever read our output has seen enough, as in `explore-suite list | head`: say no more."""

import os
import sys

CLOSED = 141  # exit code of a program that a closed pipe ends: 128 + SIGPIPE


def say_no_more() -> None:
    """Lets all further output go nowhere, so that Python does not complain of it at its end."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
