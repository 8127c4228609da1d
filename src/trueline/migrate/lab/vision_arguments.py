"""Arguments of torchvision's transforms whose values MindSpore writes in another way."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

_PACKAGE: Final = "mindspore.dataset.vision"
_INTERPOLATIONS: Final = {"bilinear": "BILINEAR", "nearest": "NEAREST", "bicubic": "BICUBIC"}
_BORDERS: Final = {"constant": "CONSTANT", "edge": "EDGE", "reflect": "REFLECT", "symmetric": "SYMMETRIC"}


def vision_argument(name: str, argument: str, value: Any) -> dict[str, Any] | None:
    """What an argument of a transform is in MindSpore's; None where it is no special one."""
    if not name.startswith(_PACKAGE):
        return None
    if argument == "interpolation":
        spelled = "resample" if name.endswith(("RandomRotation", "RandomAffine")) else argument
        return {spelled: _named("Inter", _INTERPOLATIONS, value)}
    if argument == "padding_mode":
        return {argument: _named("Border", _BORDERS, value)}
    if argument in ("brightness", "contrast", "saturation", "hue") and not isinstance(value, tuple):
        # torch's one number is how far the factor goes to both sides of 1.
        return {argument: (max(0.0, 1 - value), 1 + value)}
    return None


def _named(package: str, words: Mapping[str, str], value: str) -> dict[str, str]:
    return {"name": f"{_PACKAGE}.{package}.{words[value]}"}
