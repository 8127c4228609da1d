"""Seeding and determinism; facts of the environment."""

from __future__ import annotations

import os

import torch

from trueline.model.json_value import Json


def seed(seed: int, *, deterministic: bool = True) -> list[str]:
    """Seed torch; returns the message ids of what remains nondeterministic."""
    torch.manual_seed(seed)
    free: list[str] = []
    if deterministic:
        torch.use_deterministic_algorithms(True, warn_only=True)
        torch.backends.cudnn.benchmark = False
        torch.backends.cudnn.deterministic = True
        if torch.cuda.is_available() and not os.environ.get("CUBLAS_WORKSPACE_CONFIG"):
            free.append("random.free_cublas")
    return free


def circumstances() -> dict[str, Json]:
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
