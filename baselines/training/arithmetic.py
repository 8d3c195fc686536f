"""What decides the last digits of torch's float32 arithmetic: the CPU's instruction set, the BLAS.

With others, sums are rounded in another order, and learning lets the difference grow: a run repeats
bit for bit only on the same CPU capability and versions.
"""

import os
import re

import torch

CAPABILITY, BLAS = "capability", "blas"  # names in the `machine` of a header
_MKL_BRANCH = "MKL_CBWR"  # environment variable that makes MKL use another instruction set


def arithmetic() -> dict[str, str]:
    """The CPU capability that torch's kernels use here, such as AVX512, and the BLAS it has."""
    blas, branch = blas_of(torch.__config__.show()), os.environ.get(_MKL_BRANCH)
    return {
        CAPABILITY: torch.backends.cpu.get_cpu_capability(),
        BLAS: f"{blas} {_MKL_BRANCH}={branch}" if branch else blas,
    }


def blas_of(build: str) -> str:
    """Name and, if given, version of the BLAS, from torch's description of its own build."""
    name = re.search(r"\bBLAS_INFO=(\w+)", build)
    if name is None:
        return "unknown"
    version = re.search(r"(?:Math Kernel Library Version|OpenBLAS) v?([0-9][0-9.]*)", build)
    return f"{name[1]} {version[1]}" if version else name[1]
