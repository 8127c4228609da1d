"""Conversion of tensors to and from NumPy, and the structure of a network."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import ml_dtypes
import numpy as np
import torch
from torch import nn

from trueline.adapters.identity import walk
from trueline.adapters.nouns import (
    Foreign,
    Group,
    Network,
    Normalised,
    Optimizer,
    Tensor,
    Unreadable,
    Value,
    check_expanded,
)
from trueline.adapters.plain import held, is_plain
from trueline.adapters.torch import internals
from trueline.adapters.torch.internals import write_count
from trueline.kernel.array import Array
from trueline.model.describing import described
from trueline.model.json_value import Json

SPECTRAL_NORM = "spectral_norm"
_WRAPPERS = {
    "DistributedDataParallel": "module",
    "DataParallel": "module",
    internals.COMPILED: internals.COMPILED_INNER,
}
_BYTES_OF = {torch.bfloat16: (torch.int16, ml_dtypes.bfloat16)}
for _name, _dtype in (("float8_e4m3fn", ml_dtypes.float8_e4m3fn), ("float8_e5m2", ml_dtypes.float8_e5m2)):
    if hasattr(torch, _name):
        _BYTES_OF[getattr(torch, _name)] = (torch.uint8, _dtype)


def is_tensor(value: object) -> bool:
    """Whether a value is a tensor."""
    return isinstance(value, torch.Tensor)


def is_module(value: object) -> bool:
    """Whether a value is a module."""
    return isinstance(value, nn.Module)


def local(tensor: Value) -> Value:
    """The local shard of a sharded tensor, else the tensor itself, detached."""
    plain = tensor.detach()
    return plain.to_local() if hasattr(plain, "to_local") else plain


def to_numpy(tensor: Value, *, copy: bool = False) -> Array:
    """The tensor's values; without ``copy`` the memory may be shared."""
    try:
        return _values(tensor, copy)
    except (RuntimeError, NotImplementedError, ValueError, TypeError) as error:
        raise Unreadable(str(error)) from error


def _values(tensor: Value, copy: bool) -> Array:
    own = local(tensor)
    if own.layout is not torch.strided:
        own = own.to_dense()
    if own.is_quantized:
        own = own.dequantize()
    check_expanded(own.shape, own.stride(), own.element_size())
    own = own.resolve_conj().resolve_neg()
    moved = own if own.device.type == "cpu" else own.cpu()
    as_bytes = _BYTES_OF.get(moved.dtype)
    if as_bytes is not None:
        array: Array = moved.view(as_bytes[0]).numpy().view(as_bytes[1])
    else:
        array = moved.numpy()
    if copy and moved is own:
        return np.array(array, copy=True, order="K")
    return array


def from_numpy(array: Array, *, like: Value = None) -> Value:
    """A new tensor, on the device and with the dtype of ``like`` if given."""
    owned = np.array(array, copy=True, order="C")
    if not owned.dtype.isnative:
        owned = owned.astype(owned.dtype.newbyteorder("="))
    for dtype, (carrier, seen) in _BYTES_OF.items():
        if owned.dtype == seen:
            tensor = torch.from_numpy(owned.view(np.uint8 if carrier is torch.uint8 else np.int16)).view(dtype)
            break
    else:
        tensor = torch.from_numpy(owned)
    return tensor if like is None else tensor.to(device=like.device, dtype=like.dtype)


def assign(tensor: Value, array: Array) -> None:
    """Overwrite a tensor in place."""
    with writing(tensor):
        local(tensor).copy_(from_numpy(array))


@contextmanager
def writing(tensor: Value) -> Iterator[None]:
    """In this block a tensor can be overwritten without a gradient; inference tensors only in inference mode."""
    with torch.inference_mode(tensor.is_inference()), torch.no_grad():
        yield


def read(scalar: Value) -> float:
    """A scalar as a Python number; synchronises with the device."""
    return float(scalar)


def keep(scalar: Value) -> Value:
    """A copy of a scalar, or of a tensor's mean."""
    if not is_tensor(scalar):
        return float(scalar)
    own = local(scalar)
    return own.clone() if own.numel() == 1 else own.mean(dtype=torch.float64)


def norm(tensors: Sequence[Value]) -> Value:
    """The L2 norm over all tensors together."""
    dense = [own.coalesce().values() if own.is_sparse else own for own in map(local, tensors)]
    if not dense:
        return 0.0
    norms = internals.norms(dense)
    if len({(norm_of_tensor.device, norm_of_tensor.dtype) for norm_of_tensor in norms}) > 1:
        home = norms[0].device
        norms = [norm_of_tensor.to(home, torch.float64) for norm_of_tensor in norms]
    return torch.linalg.vector_norm(torch.stack(norms).to(torch.float64))


def total(tensors: Sequence[Value]) -> Value:
    """The sum of all elements: the cheapest number that is NaN or Inf if any element is."""
    dense = [own.coalesce().values() if own.is_sparse else own for own in map(local, tensors)]
    if not dense:
        return 0.0
    sums = [tensor.detach().sum() for tensor in dense]
    home = sums[0].device
    return torch.stack([sum_of_tensor.to(home, torch.float64) for sum_of_tensor in sums]).sum()


def identity(tensor: Value) -> int:
    """Equal for tensors with the same storage address; an empty one is identified by itself."""
    try:
        own = local(tensor)
        if own.layout is not torch.strided or own.numel() == 0:
            return id(tensor)
        return int(own.data_ptr()) or id(tensor)
    except (RuntimeError, NotImplementedError, ValueError):
        return id(tensor)


def version(tensor: Value) -> int | None:
    """The number of in-place writes; None for inference tensors."""
    return None if tensor.is_inference() else int(write_count(tensor))


def node(tensor: Value) -> Foreign:
    """The autograd node that produced the tensor; None for a leaf."""
    return tensor.grad_fn


def gradient(parameter: Value) -> Value:
    """The gradient accumulated at a parameter; None where there is none."""
    return parameter.grad if parameter.is_leaf else None


def nodes_before(node: Foreign) -> list[Foreign]:
    """The autograd nodes whose outputs a node consumes."""
    return [before for before, _ in node.next_functions if before is not None]


def tensors(root: Network) -> Iterator[Tensor]:
    """Parameters, then buffers, by path; shared ones under each of their names."""
    try:
        # Wrappers strip their own part of the names in these.
        parameters = list(root.named_parameters(remove_duplicate=False))
        buffers = list(root.named_buffers(remove_duplicate=False))
    except Exception:  # noqa: BLE001 - they ask modules for their hash, and a user's class may have its own
        parameters, buffers = list(_owned(root, internals.parameters)), list(_owned(root, internals.buffers))
    for name, parameter in parameters:
        yield Tensor(name, parameter, bool(parameter.requires_grad))
    for name, buffer in buffers:
        yield Tensor(name, buffer, False, buffer=True)


def _owned(root: Network, registry: Callable[[Network], Mapping[str, Value]]) -> Iterator[tuple[str, Value]]:
    for path, module in modules(root):
        for leaf, tensor in registry(module).items():
            if tensor is not None:
                name = described(str, leaf)
                yield f"{path}.{name}" if path else name, tensor


def modules(root: Network) -> Iterator[tuple[str, Network]]:
    """All modules from the root down, each once."""
    return walk(root, internals.submodules)


def has_weights(module: Network) -> bool:
    """Whether a module has parameters; scripted and quantized ones may hold weights in other forms."""
    if isinstance(module, torch.jit.ScriptModule):
        return True
    return any(
        any(map(_is_there, internals.parameters(part).values())) or _is_quantized(part) for _, part in modules(module)
    )


def _is_there(parameter: Value) -> bool:
    return parameter is not None


def _is_quantized(module: Network) -> bool:
    return _held(module, internals.QUANTIZED_WEIGHTS) is not None


def _held(module: Network, name: str, default: object = None) -> Foreign:
    return held(module, name, default, registries=internals.REGISTRIES)


def normalised(root: Network) -> Iterator[Normalised]:
    """The weights under spectral norm, each with its matrix and the vectors as the last call has left them."""
    for path, module in modules(root):
        lists = internals.submodules(module).get("parametrizations")
        for held_list in lists.values() if isinstance(lists, nn.ModuleDict) else ():
            for found in held_list:
                if isinstance(found, internals.SPECTRAL_PARAMETRIZATION):
                    vectors = internals.spectral_vectors(found)
                    if vectors is not None:
                        matrix = internals.spectral_matrix(found, held_list.original.detach())
                        yield Normalised(path, SPECTRAL_NORM, matrix, *vectors, found.training)
        for hook in internals.forward_pre_hooks(module):
            if isinstance(hook, internals.SPECTRAL_HOOK):
                weight, left, right = (getattr(module, f"{hook.name}_{part}") for part in ("orig", "u", "v"))
                matrix = hook.reshape_weight_to_matrix(weight.detach())
                yield Normalised(path, SPECTRAL_NORM, matrix, left, right, module.training)


def unwrap(module: Network) -> Network:
    """The network inside a wrapper, else the module itself."""
    name = _WRAPPERS.get(type(module).__name__)
    inner = None if name is None else _held(module, name)
    return unwrap(inner) if isinstance(inner, nn.Module) else module


def attributes(module: Network) -> dict[str, Json]:
    """The plain public attributes that determine a module's behaviour."""
    plain = {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in vars(module).items()
        if type(name) is str and not name.startswith("_") and name != "training" and is_plain(value)
    }
    if isinstance(module, nn.Module) and _held(module, "bias", 0) is None:
        plain["bias"] = False
    return plain


def training(module: Network) -> bool:
    """Whether the module is in training mode and gradients would be recorded."""
    return bool(module.training) and torch.is_grad_enabled()


def groups(optimizer: Optimizer) -> list[Group]:
    """The parameter groups with their plain settings."""
    return [
        Group(
            {
                name: float(value) if is_tensor(value) and value.numel() == 1 else value
                for name, value in group.items()
                if name != "params" and (is_plain(value) or (is_tensor(value) and value.numel() == 1))
            },
            list(group["params"]),
        )
        for group in optimizer.param_groups
    ]


def is_fresh(optimizer: Optimizer) -> bool:
    """Whether an optimizer has no state yet."""
    return not getattr(optimizer, "state", None)


def dtype(tensor: Value) -> str:
    """The NumPy name of the dtype."""
    return str(tensor.dtype).removeprefix("torch.")


def shape(tensor: Value) -> tuple[int, ...]:
    """The shape; () where it is not known yet, or ragged."""
    try:
        return tuple(int(size) for size in tensor.shape)
    except (RuntimeError, ValueError):
        return ()
