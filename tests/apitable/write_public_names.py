"""Writes ``apitable/public_names.toml``: the names that the installed frameworks offer."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path
from types import ModuleType

TARGET = Path(__file__).parents[2] / "src/trueline/apitable/public_names.toml"
MODULES = (
    "torch",
    "torch.nn",
    "torch.nn.functional",
    "torch.nn.init",
    "torch.nn.utils",
    "torch.optim",
    "torch.optim.lr_scheduler",
    "torch.utils.data",
    "torch.distributed",
    "torch.autograd",
    "torch.linalg",
    "torch.fft",
    "torch.special",
    "mindspore",
    "mindspore.nn",
    "mindspore.ops",
    "mindspore.mint",
    "mindspore.mint.nn",
    "mindspore.mint.nn.functional",
    "mindspore.mint.optim",
    "mindspore.mint.linalg",
    "mindspore.mint.special",
    "mindspore.mint.distributed",
    "mindspore.experimental.optim",
    "mindspore.experimental.optim.lr_scheduler",
    "mindspore.communication",
    "mindspore.common.initializer",
    "mindspore.dataset",
    "mindspore.dataset.vision",
    "mindspore.dataset.transforms",
    "mindspore.dataset.audio",
    "mindspore.dataset.text",
    "mindspore.train",
    "mindspore.amp",
)
CLASSES = (
    "torch.Tensor",
    "torch.nn.Module",
    "torch.optim.Optimizer",
    "torch.optim.lr_scheduler.LRScheduler",
    "torch.utils.data.DataLoader",
    "mindspore.Tensor",
    "mindspore.Parameter",
    "mindspore.nn.Cell",
    "mindspore.nn.Optimizer",
    "mindspore.experimental.optim.Optimizer",
    "mindspore.dataset.Dataset",
)


def main() -> None:
    """Write the file."""
    lines = ["# The public names of PyTorch and MindSpore, by module and class; tests/apitable/write_public_names.py"]
    lines += _versions()
    packages: set[str] = set()
    lines.append("\n[names]")
    for name in MODULES:
        module = importlib.import_module(name)
        found = [word for word in dir(module) if _is_offered(module, word, packages, name)]
        lines.append(f'"{name}" = "{" ".join(sorted(found))}"')
    for name in CLASSES:
        package, _, word = name.rpartition(".")
        found = [one for one in dir(getattr(importlib.import_module(package), word)) if not one.startswith("_")]
        lines.append(f'"{name}" = "{" ".join(sorted(found))}"')
    loaded = {name for name in sys.modules if name.split(".")[0] in ("torch", "mindspore") and name.count(".") < 4}
    packages |= {name for name in loaded if not any(part.startswith("_") for part in name.split("."))}
    lines.append(f'\n[packages]\nnames = "{" ".join(sorted(packages))}"')
    TARGET.write_text("\n".join(lines) + "\n", "utf-8")


def _versions() -> list[str]:
    import mindspore
    import torch

    return [f"# PyTorch {torch.__version__}, MindSpore {mindspore.__version__}"]


def _is_offered(module: ModuleType, word: str, packages: set[str], name: str) -> bool:
    if word.startswith("_"):
        return False
    value = getattr(module, word, None)
    if isinstance(value, ModuleType):
        if value.__name__ == f"{name}.{word}":
            packages.add(value.__name__)
        return False
    owner = inspect.getmodule(value)
    root = (getattr(value, "__module__", None) or (owner.__name__ if owner else "") or name).split(".")[0]
    if word in ("absolute_import", "TYPE_CHECKING"):
        return False
    return root in ("torch", "mindspore", "builtins") or not callable(value)


if __name__ == "__main__":
    main()
