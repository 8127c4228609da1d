"""What calls and attributes of the frameworks give, as the rows of ``given.toml`` and ``public_names.toml`` tell."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Any


@cache
def functions_give() -> Mapping[str, str]:
    """What functions give that give no single tensor, by full name."""
    return _turned("functions")


@cache
def tensors_give() -> Mapping[str, str]:
    """What methods and attributes of tensors give that give no single tensor, by their own names."""
    return _turned("of_tensors")


@cache
def modules_give() -> Mapping[str, str]:
    """What methods and attributes of modules give, by their own names."""
    return _turned("of_modules")


@cache
def layers_give() -> Mapping[str, str]:
    """What layers give when they are called, where that is not one tensor."""
    return _turned("layers")


@cache
def constants() -> Mapping[str, str]:
    """What plain values in the frameworks' modules are, by full name."""
    return _turned("constants")


@cache
def roles() -> Mapping[str, str]:
    """What objects of a class are, by its full name, where its place does not say it."""
    return _turned("roles")


@cache
def packages() -> Mapping[str, str]:
    """Of which framework a package is, or that it is built on one, or that it has nothing to do with tensors."""
    return _turned("packages")


@cache
def argument_words() -> Mapping[str, tuple[str, ...]]:
    """PyTorch's words for arguments, and MindSpore's."""
    return MappingProxyType({name: tuple(words.split()) for name, words in _given()["arguments"].items()})


@cache
def public_names() -> Mapping[str, frozenset[str]]:
    """The names that modules and classes of the frameworks offer, by full name."""
    return MappingProxyType({name: frozenset(words.split()) for name, words in _public()["names"].items()})


@cache
def modules() -> frozenset[str]:
    """The modules of the frameworks: a name of one is no use of an API."""
    return frozenset(_public()["packages"]["names"].split())


@cache
def _public() -> Mapping[str, Any]:
    return _read("public_names.toml")


@cache
def _given() -> Mapping[str, Any]:
    return _read("given.toml")


def _read(name: str) -> Mapping[str, Any]:
    return tomllib.loads(resources.files("trueline.apitable").joinpath(name).read_text("utf-8"))


def _turned(theme: str) -> Mapping[str, str]:
    return MappingProxyType({name: kind for kind, names in _given()[theme].items() for name in names.split()})
