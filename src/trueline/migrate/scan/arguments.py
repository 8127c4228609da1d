"""What a call gives explicitly, and on which defaults it relies."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from trueline.apitable.literals import same, value_of
from trueline.apitable.pairs import MINDSPORE, TORCH, Documented, Measured, Needed
from trueline.apitable.synonyms import synonyms
from trueline.migrate.scan.layer_values import layers_apart
from trueline.script.uses.use import Call, Use, UseKind

# Arguments that do not change what is computed.
UNCOUNTED: Final = frozenset(
    (
        "dtype",
        "device",
        "requires_grad",
        "out",
        "layout",
        "generator",
        "name",
        "pin_memory",
        "foreach",
        "fused",
        "memory_format",
        "weight_init",
        "bias_init",
        "data_format",
        "inplace",
    )
)


# Arguments that say where and how torch computes.
OF_TORCH_ALONE: Final = frozenset(
    ("device", "inplace", "generator", "layout", "pin_memory", "requires_grad", "memory_format", "non_blocking")
)


@dataclass(frozen=True, slots=True)
class Given:
    """The arguments of a call by name; ``whole`` is False where some are not to be seen."""

    values: Mapping[str, str]
    whole: bool


@dataclass(frozen=True, slots=True)
class Relied:
    """A default that a call relies on and that differs in the other framework."""

    argument: str
    here: str
    there: str
    write: str  # what to write in the other framework's call


def given_by(use: Use, parameters: tuple[tuple[str, str | None], ...]) -> Given:
    """The arguments of a use by the names of the API's parameters."""
    call = use.call
    if call is None or use.kind in (UseKind.VALUE, UseKind.BASE):
        return Given({}, whole=False)
    # By place where the names are not known.
    names = [name for name, _ in parameters] or [f"#{place}" for place in range(len(call.arguments))]
    values = dict(_named(call, names))
    return Given(values, not call.unpacked and use.kind is not UseKind.PARTIAL)


def _named(call: Call, names: list[str]) -> Iterator[tuple[str, str]]:
    place = 0
    for argument in call.arguments:
        if argument.name is None:
            if place < len(names):
                if names[place].startswith("*"):
                    continue
                yield names[place], argument.text
            place += 1
        elif argument.name not in ("*", "**"):
            yield argument.name, argument.text


def relied_on(row: Measured, given: Given, source: str) -> Iterator[Relied]:
    """The defaults that differ by measurement and are not given."""
    for need in row.needs:
        # ``pad_mode='valid', padding=0``: what MindSpore calls it, in one argument or several.
        theirs = {written.partition("=")[0].strip() for written in need.for_torch.split(", ")}
        if need.argument in given.values or (theirs | {row.renamed.get(need.argument, "")}) & set(given.values):
            continue
        if source == TORCH and any(theirs & set(synonyms(name)) for name in given.values):
            # Another form of the call has another name for it: correction for unbiased.
            continue
        if source == TORCH:
            yield Relied(need.argument, need.torch_default, need.mindspore_default, need.for_torch)
        else:
            argument = need.for_torch.partition("=")[0] or need.argument
            yield Relied(argument, need.mindspore_default, need.torch_default, _of_a_kind(need))


def _of_a_kind(need: Needed) -> str:
    """What to write in torch's call; nothing where the value is none of the kind that torch takes there."""
    written = value_of(need.for_mindspore.partition("=")[2])
    return need.for_mindspore if type(written) is type(value_of(need.torch_default)) else ""


def documented_reliance(pair: Documented, given: Given, source: str) -> Iterator[Relied]:
    """The same by the two signatures, of a pair that was not measured."""
    target = MINDSPORE if source == TORCH else TORCH
    names = (pair.of(source), pair.of(target))
    apart = layers_apart(names, (pair.parameters(source), pair.parameters(target)), ({}, {}))
    if apart is not None:
        for one in apart:
            if one.argument not in given.values:
                yield Relied(one.argument, one.first, one.second, one.write)
        return
    if pair.documented != "defaults_differ":
        return
    theirs = dict(pair.parameters(target))
    for name, default in pair.parameters(source):
        other = theirs.get(name)
        if default is None or other is None or name in given.values or name in UNCOUNTED:
            continue
        if not same(value_of(default), value_of(other)):
            yield Relied(name, default, other, f"{name}={default}")
