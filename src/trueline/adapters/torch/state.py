"""Capture and restore a training state, fix randomness, and tell a run's circumstances."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from trueline.adapters.nouns import Array, State
from trueline.adapters.torch import keeping, values


def capture(model: Any, optimizers: Sequence[Any] = ()) -> State:
    """Weights, buffers, optimizers and torch's random generators."""
    arrays: dict[str, Array] = {}
    plain: dict[str, Any] = {}
    lost: list[str] = []
    trees = {"model": model.state_dict()} | {f"optimizer.{at}": one.state_dict() for at, one in enumerate(optimizers)}
    for at, tree in trees.items():
        for path, value in _flatten(tree, (at,)):
            name = "/".join(map(str, path))
            if values.is_tensor(value):
                arrays[name] = values.to_numpy(value, copy=True)
            elif value is None or isinstance(value, bool | int | float | str):
                plain[name] = value
            else:
                lost.append(name)
    arrays["rng/cpu"] = torch.get_rng_state().numpy().copy()
    if torch.cuda.is_available() and torch.cuda.is_initialized():
        for place, one in enumerate(torch.cuda.get_rng_state_all()):
            arrays[f"rng/cuda.{place}"] = one.numpy().copy()
    return State(arrays, plain, lost)


def _flatten(tree: Any, path: tuple[Any, ...]) -> Iterator[tuple[tuple[Any, ...], Any]]:
    if isinstance(tree, Mapping):
        for name, item in tree.items():
            yield from _flatten(item, (*path, name))
    elif isinstance(tree, list | tuple):
        for place, item in enumerate(tree):
            yield from _flatten(item, (*path, place))
    else:
        yield path, tree


def _filled(tree: Any, path: tuple[Any, ...], state: State) -> Any:
    """The tree with every leaf replaced by the captured one, in the shape that load_state_dict wants."""
    if isinstance(tree, Mapping):
        return {name: _filled(item, (*path, name), state) for name, item in tree.items()}
    if isinstance(tree, list | tuple):
        return type(tree)(_filled(item, (*path, place), state) for place, item in enumerate(tree))
    name = "/".join(map(str, path))
    if name in state.arrays:
        return values.from_numpy(state.arrays[name])
    return state.plain.get(name, tree)


def restore(state: State, model: Any, optimizers: Sequence[Any] = ()) -> None:
    """Bring model, optimizers and random generators back."""
    model.load_state_dict(_filled(model.state_dict(), ("model",), state))
    for at, optimizer in enumerate(optimizers):
        found = optimizer.state_dict()
        groups = _filled(found["param_groups"], (f"optimizer.{at}", "param_groups"), state)
        optimizer.load_state_dict({"state": _optimizer_state(state, f"optimizer.{at}/state/"), "param_groups": groups})
    if "rng/cpu" in state.arrays:
        torch.set_rng_state(torch.from_numpy(state.arrays["rng/cpu"].copy()))
    for name, array in state.arrays.items():
        if name.startswith("rng/cuda."):
            torch.cuda.set_rng_state(torch.from_numpy(array.copy()), int(name.removeprefix("rng/cuda.")))


def _optimizer_state(state: State, prefix: str) -> dict[int, dict[str, Any]]:
    """Per parameter; empty where the optimizer had not stepped yet when it was captured."""
    found: dict[int, dict[str, Any]] = {}
    for source in (state.arrays, state.plain):
        for name, value in source.items():
            if name.startswith(prefix):
                place, _, slot = name.removeprefix(prefix).partition("/")
                held = values.from_numpy(value) if isinstance(value, np.ndarray) else value
                found.setdefault(int(place), {})[slot] = held
    return found


def keeper() -> keeping.Keeper:
    """A new one, with nothing kept."""
    return keeping.Keeper()


def seed(seed: int, *, deterministic: bool = True) -> list[str]:
    """Fix torch's randomness; returns the message ids of what stays free."""
    torch.manual_seed(seed)
    free: list[str] = []
    if deterministic:
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.backends.cudnn.benchmark = False
        torch.backends.cudnn.deterministic = True
        if torch.cuda.is_available() and not os.environ.get("CUBLAS_WORKSPACE_CONFIG"):
            free.append("random.free_cublas")
    return free


def circumstances() -> dict[str, Any]:
    """Versions, device, precision, mode, seeds and flags."""
    device = "cuda" if torch.cuda.is_available() and torch.cuda.is_initialized() else "cpu"
    autocast = torch.is_autocast_enabled(device)
    return {
        "framework": "torch",
        "versions": {"torch": str(torch.__version__)},
        "device": device,
        "precision": f"autocast {_name(torch.get_autocast_dtype(device))}"
        if autocast
        else _name(torch.get_default_dtype()),
        "mode": "eager",
        "seeds": {"torch": torch.initial_seed()},
        "flags": {
            "deterministic_algorithms": torch.are_deterministic_algorithms_enabled(),
            "cudnn_benchmark": torch.backends.cudnn.benchmark,
            "cudnn_deterministic": torch.backends.cudnn.deterministic,
            "float32_matmul_precision": torch.get_float32_matmul_precision(),
            "threads": torch.get_num_threads(),
        },
    }


def _name(dtype: torch.dtype) -> str:
    return str(dtype).removeprefix("torch.")


def rank() -> tuple[int, int] | None:
    """(rank, world size) of the process group, or of the launcher's environment."""
    distributed = torch.distributed
    if distributed.is_available() and distributed.is_initialized():
        return int(distributed.get_rank()), int(distributed.get_world_size())
    if os.environ.get("RANK", "").isdigit() and os.environ.get("WORLD_SIZE", "").isdigit():
        return int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    return None
