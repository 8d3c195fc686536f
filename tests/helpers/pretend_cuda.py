"""A CUDA device that is not there: tensors on the CPU that behave as if they lay on a GPU.

What a GPU would refuse is refused: mixing with tensors of the host, NumPy views, a generator of the
wrong device, and its state. What it would compute is computed on the CPU, so results can be
compared bit for bit.
"""

import contextlib
import hashlib
from collections.abc import Iterator
from typing import Any, ClassVar

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_flatten, tree_map

CUDA = torch.device("cuda")
_TO_HOST = {torch.Tensor.cpu, torch.Tensor.tolist, torch.Tensor.item, torch.Tensor.__float__,
            torch.Tensor.__int__, torch.Tensor.__bool__, torch.Tensor.__len__}  # fmt: skip
# About the tensor itself, which an alias without the pretence would not pass on.
_OF_ITSELF = {torch.Tensor.requires_grad_, torch.Tensor.is_leaf.__get__,
              torch.Tensor.grad.__get__, torch.Tensor.grad.__set__}  # fmt: skip
_host_generator = torch.Generator
_STATE_BYTES = 16  # of a GPU's generator: its seed and how far it is


class PretendTensor(torch.Tensor):
    """A tensor on the pretended device."""

    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None) -> Any:
        kwargs = dict(kwargs or {})
        name = getattr(function, "__name__", str(function))
        if name in ("numpy", "__array__"):
            raise TypeError("can't convert cuda tensor to numpy; use .cpu() first")
        if function == torch.Tensor.device.__get__:
            return CUDA
        leaves, _ = tree_flatten((args, kwargs))
        _refuse_mixtures(name, leaves)
        if function in _OF_ITSELF:
            with torch._C.DisableTorchFunctionSubclass():
                return _pretend(function(*args, **kwargs))
        plain_args, plain_kwargs = tree_map(_plain, (args, kwargs))
        goes_home = function in _TO_HOST or _asks_for(leaves, "cpu")
        with torch._C.DisableTorchFunctionSubclass():
            result = function(*plain_args, **plain_kwargs)
        if goes_home:  # a copy, as it would be
            return result.clone() if isinstance(result, torch.Tensor) else result
        if isinstance(args[0] if args else None, PretendTensor) and result is plain_args[0]:
            return args[0]  # in place
        return tree_map(_pretend, result)


class _Factories(TorchFunctionMode):
    """Makes what is asked for on `cuda` there, by means of the host."""

    def __torch_function__(self, function, types, args=(), kwargs=None) -> Any:
        kwargs = dict(kwargs or {})
        leaves, _ = tree_flatten((args, kwargs))
        # as_tensor alone does not ask its tensor who is to handle it.
        handled = function is not torch.as_tensor and any(
            isinstance(leaf, PretendTensor) for leaf in leaves
        )
        names_device = getattr(function, "__name__", "") in ("device", "_parse_to")
        if handled or names_device or not _asks_for(leaves, "cuda"):
            return function(*args, **kwargs)
        generator = kwargs.get("generator")
        if generator is not None and not isinstance(generator, PretendGenerator):
            raise RuntimeError("expected a 'cuda' device type for generator but found 'cpu'")
        args, kwargs = tree_map(_plain, (args, kwargs))
        return tree_map(_pretend, function(*args, **kwargs))


class PretendGenerator(torch.Generator):
    """A generator on the pretended device; its stream is the host's, for comparison.

    Its state is as short as a GPU's, so that no generator of the host takes it; nor does it take
    theirs. It is a mark only, by which the state of the host's generator is found again.
    """

    _marked: ClassVar[dict[bytes, torch.Tensor]] = {}

    def get_state(self) -> torch.Tensor:
        state = super().get_state()
        mark = hashlib.blake2b(state.numpy().tobytes(), digest_size=_STATE_BYTES).digest()
        self._marked[mark] = state
        return torch.frombuffer(bytearray(mark), dtype=torch.uint8)

    def set_state(self, new_state: torch.Tensor) -> None:
        if len(new_state) != _STATE_BYTES:
            raise RuntimeError("RNG state is wrong size")
        super().set_state(self._marked[new_state.numpy().tobytes()])


@contextlib.contextmanager
def pretend_cuda(monkeypatch) -> Iterator[None]:
    """Within it, `device="cuda"` works."""

    def generator(device: Any = "cpu") -> Any:
        return PretendGenerator() if torch.device(device).type == "cuda" else _host_generator()

    monkeypatch.setattr(torch, "Generator", generator)
    # Module.to() makes new parameters instead of changing the data of the host's.
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    try:
        with _Factories():
            yield
    finally:
        torch.__future__.set_overwrite_module_params_on_conversion(False)


def _plain(value: Any) -> Any:
    if isinstance(value, PretendTensor):
        return value.as_subclass(torch.Tensor)
    if isinstance(value, torch.device) and value.type == "cuda":
        return torch.device("cpu")
    return "cpu" if isinstance(value, str) and value.startswith("cuda") else value


def _pretend(value: Any) -> Any:
    if isinstance(value, PretendTensor) or not isinstance(value, torch.Tensor):
        return value
    return value.as_subclass(PretendTensor)


def _asks_for(leaves: list[Any], kind: str) -> bool:
    return any(
        (isinstance(leaf, torch.device) and leaf.type == kind)
        or (isinstance(leaf, str) and leaf.split(":")[0] == kind)
        for leaf in leaves
    )


def _refuse_mixtures(name: str, leaves: list[Any]) -> None:
    """A tensor of the host may only be copied to the device, or be a single number."""
    if name in (
        "copy_",
        "__setitem__",
        "set_",
        "to",
        "type_as",
        "_has_compatible_shallow_copy_type",
    ):
        return
    for leaf in leaves:
        if isinstance(leaf, torch.Tensor) and not isinstance(leaf, PretendTensor) and leaf.ndim:
            raise RuntimeError(f"{name}: expected all tensors to be on cuda, found one on the cpu")
        if isinstance(leaf, _host_generator) and not isinstance(leaf, PretendGenerator):
            raise RuntimeError(f"{name}: expected a 'cuda' device type for generator")
