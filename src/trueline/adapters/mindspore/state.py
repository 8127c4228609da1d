"""Seeding and determinism; facts of the environment."""

from __future__ import annotations

import os

import mindspore as ms
from mindspore import communication, context, dataset

from trueline.adapters.mindspore.build import built_cells
from trueline.adapters.mindspore.internals import is_communicating
from trueline.model.json_value import Json


def seed(seed: int, *, deterministic: bool = True) -> list[str]:
    """Seed MindSpore; returns the message ids of what remains nondeterministic."""
    ms.set_seed(seed)
    dataset.config.set_seed(seed)
    free = ["mindspore.free_first_calls"] if context.get_context("device_target") == "CPU" else []
    if deterministic:
        context.set_context(deterministic="ON")
        if not _one_thread_per_operator():
            free.append("mindspore.free_threads")
    return free


def _one_thread_per_operator() -> bool:
    """On CPU a kernel's number of threads is tuned while it runs, and Dropout's mask depends on it.

    It can be said only once in a process: False where the script has said something already.
    """
    global _threads_fixed
    tuning = getattr(getattr(getattr(ms, "device_context", None), "cpu", None), "op_tuning", None)
    if _threads_fixed or tuning is None or context.get_context("device_target") != "CPU":
        return True
    try:
        tuning.threads_num(1)
    except RuntimeError:
        return False
    _threads_fixed = True
    return True


_threads_fixed = False


def threads_are_fixed() -> bool:
    """Whether ``seed`` has set every operator to one thread."""
    return _threads_fixed


def circumstances() -> dict[str, Json]:
    """Versions, device, precision, mode, seeds and flags."""
    return {
        "framework": "mindspore",
        "versions": {"mindspore": str(ms.__version__)},
        "device": str(context.get_context("device_target")).lower(),
        "precision": _precision(),
        "mode": "graph" if context.get_context("mode") == ms.GRAPH_MODE else "pynative",
        "seeds": {"mindspore": ms.get_seed(), "dataset": int(dataset.config.get_seed())},
        "flags": {
            "deterministic": context.get_context("deterministic") == "ON",
            "pynative_synchronize": bool(context.get_context("pynative_synchronize")),
            "dataset_workers": int(dataset.config.get_num_parallel_workers()),
        },
    }


def _precision() -> str:
    """The precision of the cells constructed so far."""
    mixed = {cell.mixed_precision_type for cell in built_cells() if getattr(cell, "mixed_precision_type", None)}
    return "mixed " + ", ".join(sorted(str(precision.name).lower() for precision in mixed)) if mixed else "float32"


def rank() -> tuple[int, int] | None:
    """(rank, world size) of the process group, or of the launcher's environment; None for msrun's scheduler."""
    if is_communicating():
        return int(communication.get_rank()), int(communication.get_group_size())
    if os.environ.get("MS_ROLE", "MS_WORKER") != "MS_WORKER":
        return None
    own = os.environ.get("MS_NODE_ID") or os.environ.get("RANK_ID", "")
    world = os.environ.get("MS_WORKER_NUM") or os.environ.get("RANK_SIZE", "")
    return (int(own), int(world)) if own.isdigit() and world.isdigit() else None
