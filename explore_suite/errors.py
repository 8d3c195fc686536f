"""Errors that the user can fix: commands print them as one line, without a traceback."""

from typing import ClassVar


class UserError(Exception):
    """Wrong input; the command prints the message alone, without a traceback, and exits."""

    exit_code: ClassVar[int] = 2


class RunLockedError(UserError):
    """Raised for a run that another process is writing."""

    exit_code = 75  # EX_TEMPFAIL of sysexits.h: nothing is wrong, try again later


class SettingError(UserError, ValueError):
    """A setting outside its range; the message names it."""


class RenderingUnavailableError(UserError, RuntimeError):
    """Rendering does not work on this machine; the message says what to install or to set."""
