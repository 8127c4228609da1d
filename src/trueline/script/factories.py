"""Functions of libraries that build whole networks, and what these have in them."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

_FACTORIES: Final = frozenset(
    ("timm.create_model", "timm.models.create_model", "torchvision.models.get_model", "torch.hub.load",
     "mindcv.create_model", "mindcv.models.create_model", "mindspore_hub.load")
)  # fmt: skip
_NOT_NETWORKS: Final = ("get_", "list_")
_ZOOS: Final = ("torchvision.models.", "timm.models.", "mindcv.models.")
# Of these every one normalises by batches or drops values, whatever it is called with.
_ACTING: Final = (
    "resnet", "resnext", "wide_resnet", "densenet", "mobilenet", "efficientnet", "mnasnet", "shufflenet", "googlenet",
    "inception", "regnet", "vgg", "alexnet", "squeezenet", "deeplab", "fcn_",
)  # fmt: skip


@lru_cache(maxsize=65536)
def is_factory(name: str) -> bool:
    """Whether a function gives a network: of a library's zoo, or by its name or a file with weights."""
    if name in _FACTORIES or is_pretrained(name):
        return True
    last = name.rpartition(".")[2]
    return name.startswith(_ZOOS) and last[:1].islower() and not last.startswith(_NOT_NETWORKS)


def is_pretrained(name: str) -> bool:
    """Whether it is a network of transformers with weights: in evaluation mode, whatever it is made for."""
    owner, _, last = name.rpartition(".")
    kind = owner.rpartition(".")[2]
    known = kind.startswith(("AutoModel", "TFAutoModel")) or kind.endswith("Model") or "For" in kind
    return name.startswith("transformers.") and last == "from_pretrained" and known


def acts_by_mode(name: str, asked: object) -> bool:
    """Whether what a factory gives does other things in training; ``asked`` is the name given to it, if it is known."""
    if is_pretrained(name):
        return True
    called = name.rpartition(".")[2] if name.startswith(_ZOOS) and name not in _FACTORIES else asked
    return isinstance(called, str) and called.startswith(_ACTING)
