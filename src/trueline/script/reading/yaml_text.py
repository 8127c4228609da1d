"""YAML out of foreign files: what it says when all its aliases are written out is known before that is done."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final, Protocol

# With aliases written out; a file of the largest size that is read, and without aliases, has fewer.
MAX_VALUES: Final = 1 << 20
# libyaml's composer calls itself for every level, until the process dies of it.
MAX_DEPTH: Final = 100
# Longer numbers are no settings, and PyYAML's work for them grows with the square of their length.
MAX_DIGITS: Final = 1000
_NUMBERS: Final = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
# PyYAML's own parser takes half a minute for a megabyte, libyaml's less than a second.
_LARGEST_WITHOUT_C: Final = 1 << 15


class YamlMark(Protocol):
    """Where a node begins or ends."""

    line: int


class YamlNode(Protocol):
    """What is asked of PyYAML's nodes: a text, a list of nodes, or pairs of them."""

    tag: str
    value: str | Sequence[YamlNode | tuple[YamlNode, YamlNode]]
    start_mark: YamlMark
    end_mark: YamlMark


def yaml_node(text: str) -> YamlNode | None:
    """A text as PyYAML's nodes, which know their lines; JSON is YAML to it. None where that cannot be had.

    A ValueError where its aliases make more of it than is worth reading.
    """
    try:
        import yaml
    except ImportError:
        return None
    loader = getattr(yaml, "CSafeLoader", None)
    if loader is None and len(text) > _LARGEST_WITHOUT_C:
        return None
    loader = loader or yaml.SafeLoader
    try:
        _check_depth(text, yaml.parse, loader)
        node: YamlNode | None = yaml.compose(text, loader)
    except (yaml.YAMLError, RecursionError):
        return None
    if node is not None:
        _check_expanded(node)
    return node


def yaml_value(node: YamlNode) -> object:
    """What nodes that were looked at stand for; a ValueError where that is nothing."""
    import yaml

    try:
        value: object = yaml.constructor.SafeConstructor().construct_document(node)
        return value
    except (yaml.YAMLError, TypeError, AttributeError, KeyError, IndexError) as error:
        raise ValueError(str(error)) from None


def _check_depth(text: str, parse: Callable[..., Iterator[object]], loader: object) -> None:
    """A ValueError for a text that is nested deeper than any settings are."""
    flows = text.count("[") + text.count("{")
    # Every level of a block stands further to the right, but for a list in a mapping.
    if flows + 2 * max(map(len, text.splitlines()), default=0) <= MAX_DEPTH:
        return
    depth = 0
    for event in parse(text, loader):
        name = type(event).__name__
        depth += name.endswith(("SequenceStartEvent", "MappingStartEvent"))
        depth -= name.endswith(("SequenceEndEvent", "MappingEndEvent"))
        if depth > MAX_DEPTH:
            raise ValueError("nested too deeply")


def _check_expanded(root: YamlNode) -> None:
    """A ValueError for more values than are worth reading, and for a node that is inside of itself."""
    sizes: dict[int, int] = {}
    waiting: list[tuple[YamlNode, bool]] = [(root, False)]
    entered: set[int] = set()
    while waiting:
        node, done = waiting.pop()
        if id(node) in sizes:
            continue
        inside = _inside(node)
        if done:
            sizes[id(node)] = 1 + sum(sizes[id(child)] for child in inside)
            if sizes[id(node)] > MAX_VALUES:
                raise ValueError("too many values")
            continue
        if id(node) in entered:
            raise ValueError("a value inside of itself")
        entered.add(id(node))
        if isinstance(node.value, str) and node.tag in _NUMBERS and len(node.value) > MAX_DIGITS:
            raise ValueError("too many digits")
        waiting.append((node, True))
        waiting += [(child, False) for child in inside if id(child) not in sizes]


def _inside(node: YamlNode) -> list[YamlNode]:
    if isinstance(node.value, str):
        return []
    return [part for child in node.value for part in (child if isinstance(child, tuple) else (child,))]
