"""What an object of a framework's class is, and what its methods and its call give."""

from __future__ import annotations

from functools import cache
from typing import Final

from trueline.apitable.given import (
    functions_give,
    layers_give,
    modules_give,
    packages,
    public_names,
    roles,
    tensors_give,
)
from trueline.script.canonical import canonical
from trueline.script.uses.value import (
    ARRAY,
    NOTHING,
    NUMBER,
    OTHER,
    SEVERAL_TENSORS,
    SIZE,
    TENSORS,
    TEXT,
    Instance,
    Mapped,
    Several,
    Tuple,
    Value,
    instance,
)

# Under which class the methods of a role are known.
BASES: Final = {
    ("torch", "tensor"): "torch.Tensor",
    ("torch", "module"): "torch.nn.Module",
    ("torch", "optimizer"): "torch.optim.Optimizer",
    ("torch", "schedule"): "torch.optim.lr_scheduler.LRScheduler",
    ("torch", "loader"): "torch.utils.data.DataLoader",
    ("mindspore", "tensor"): "mindspore.Tensor",
    ("mindspore", "module"): "mindspore.nn.Cell",
    ("mindspore", "optimizer"): "mindspore.nn.Optimizer",
    ("mindspore", "schedule"): "mindspore.experimental.optim.lr_scheduler.LRScheduler",
    ("mindspore", "dataset"): "mindspore.dataset.Dataset",
}
_MODULES: Final = {"torch": instance("torch.nn.Module"), "mindspore": instance("mindspore.nn.Cell")}
_PLACES: Final = (
    ("torch.optim.lr_scheduler.", "schedule"),
    ("mindspore.experimental.optim.lr_scheduler.", "schedule"),
    ("torch.optim.", "optimizer"),
    ("mindspore.experimental.optim.", "optimizer"),
    ("mindspore.mint.optim.", "optimizer"),
    ("torch.nn.parallel.", "module"),
    ("torch.nn.functional.", "tensor"),
    ("torch.nn.utils.", "other"),
    ("torch.nn.init.", "tensor"),
    ("torch.nn.", "module"),
    ("mindspore.nn.", "module"),
    ("mindspore.mint.nn.functional.", "tensor"),
    ("mindspore.mint.nn.", "module"),
    ("mindspore.ops.", "module"),
    ("mindspore.dataset.vision.", "transform"),
    ("mindspore.dataset.transforms.", "transform"),
    ("mindspore.dataset.audio.", "transform"),
    ("mindspore.dataset.text.", "transform"),
    ("mindspore.dataset.", "dataset"),
    ("torch.utils.data.", "dataset"),
    ("torchvision.datasets.", "dataset"),
    ("torchvision.transforms.", "transform"),
    ("torchaudio.transforms.", "module"),
    ("torchvision.ops.", "module"),
    ("torchvision.models.", "module"),
    ("timm.", "module"),
    ("mindcv.", "module"),
)


@cache
def framework_of(name: str) -> str:
    """torch or mindspore for a name of either, the package for one that is built on them, else nothing."""
    package = name.partition(".")[0]
    kind = packages().get(package, "")
    if kind in TENSORS:
        return kind
    return package if kind.startswith("built_on") else ""


@cache
def family_of(name: str) -> str:
    """The framework whose tensors a package's functions give."""
    kind = packages().get(name.partition(".")[0], "")
    return "mindspore" if kind.endswith("mindspore") else "torch" if kind.endswith("torch") else ""


@cache
def role_of(type: str) -> str:
    """tensor, module, optimizer, schedule, loader, dataset, transform …; empty where it is none of them."""
    type = canonical(type)
    found = roles().get(type)
    if found is not None:
        return "module" if found in ("modules", "network") else found
    return next((role for beginning, role in _PLACES if type.startswith(beginning)), "")


@cache
def base_of(type: str) -> str:
    """The class under which the methods of an object are known: torch.Tensor, torch.nn.Module …"""
    return BASES.get((family_of(type), role_of(type)), type)


@cache
def has_attribute(base: str, attribute: str) -> bool:
    """Whether a class of a framework offers it."""
    return attribute in public_names().get(base, frozenset())


@cache
def of_tensor(family: str, attribute: str, with_dim: bool = False) -> Value | None:
    """What a tensor's method gives when it is called, or its attribute."""
    return _named(tensors_give().get(attribute, "tensor"), family, with_dim=with_dim)


@cache
def of_module(family: str, attribute: str, receiver: Value) -> Value | None:
    """What a module's method gives when it is called, or its attribute."""
    kind = modules_give().get(attribute, "unknown")
    return receiver if kind == "same" else _named(kind, family)


def called(name: str, *, with_dim: bool = False) -> Value | None:
    """What a call of a function or class of a framework gives."""
    return _called(canonical(name), with_dim)


@cache
def _called(name: str, with_dim: bool) -> Value | None:
    family = family_of(name)
    if not family:
        return ARRAY if name.startswith("numpy.") else None
    kind = functions_give().get(name)
    if kind is not None:
        return _named(kind, family, with_dim=with_dim)
    if name.startswith(("torch.Tensor.", "mindspore.Tensor.")):
        return of_tensor(family, name.rpartition(".")[2], with_dim)
    package, _, word = name.rpartition(".")
    role = role_of(name)
    if role == "tensor":
        return TENSORS[family]
    if word[:1].isupper():
        return instance(name)
    if package in ("torchvision.models", "mindcv.models") or word == "create_model":
        return _MODULES[family]
    if _gives_tensors(package):
        return TENSORS[family]
    return None


def _gives_tensors(package: str) -> bool:
    return package in (
        "torch",
        "torch.nn.functional",
        "torch.nn.init",
        "torch.linalg",
        "torch.fft",
        "torch.special",
        "torch.nn.utils.rnn",
        "mindspore.ops",
        "mindspore.mint",
        "mindspore.mint.nn.functional",
        "mindspore.mint.linalg",
        "mindspore.mint.special",
        "mindspore.numpy",
        "torchvision.ops",
        "torchvision.transforms.functional",
        "torchaudio.functional",
    )


@cache
def object_called(type: str) -> Value | None:
    """What the call of an object gives: a module's, a transform's, a primitive's."""
    family, role = family_of(type), role_of(type)
    kind = layers_give().get(canonical(type))
    if kind is not None:
        return _named(kind, family)
    if role == "module" and family:
        return TENSORS[family]
    return None


def module_of(family: str) -> Instance:
    """Any module of a framework."""
    return _MODULES[family]


def _named(kind: str, family: str, *, with_dim: bool = False) -> Value | None:
    if kind == "with_dim":
        kind = "tensors" if with_dim else "tensor"
    if kind == "tensor":
        return TENSORS[family]
    if kind == "tensors":
        return SEVERAL_TENSORS[family]
    if kind == "named_tensors":
        return Several(Tuple((TEXT, TENSORS[family])))
    if kind == "modules":
        return Several(_MODULES[family])
    if kind == "named_modules":
        return Several(Tuple((TEXT, _MODULES[family])))
    plain: dict[str, Value] = {
        "number": NUMBER,
        "str": TEXT,
        "numpy": ARRAY,
        "size": SIZE,
        "list": Several(NUMBER),
        "dict": Mapped(TENSORS[family]),
        "other": OTHER,
        "none": NOTHING,
    }
    return plain.get(kind)
