"""Starts Python processes that import the same code as this one, whatever their folder."""

import os
import sys


def python_command(code: str, *arguments: str) -> list[str]:
    """The command that runs `code` in a new process, with `arguments` in its sys.argv[1:].

    Like a process of `multiprocessing`, the new one gets this one's sys.path. With `python -m` or a
    plain `python -c` the working directory would come first: another checkout there would be run
    instead of this code, and a file such as torch.py would shadow a package.
    """
    path = [os.path.abspath(entry) for entry in sys.path]  # noqa: PTH100 - "" is the folder here
    return [sys.executable, "-P", "-c", f"import sys; sys.path[:] = {path!r}; {code}", *arguments]
