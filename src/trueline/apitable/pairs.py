"""Which call of torch is which of MindSpore, what is documented of the two, and what the lab has measured of them.

``documented.jsonl`` holds the pairs of MindSpore's documentation, ``undocumented.jsonl`` those that are known besides;
``measured.jsonl`` is what ``make api-table`` has found out about each on the versions that its first line names.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import Final

import msgspec

from trueline.apitable.literals import UNKNOWN, same, value_of

TORCH: Final = "torch"
# Begins a condition that names an argument which must be given.
ARGUMENT: Final = "argument:"
# Differences that end a program: an error, or no kernel on the device.
REFUSED: Final = frozenset({"raises", "kernel"})
# Differences that nothing tells a user of.
_SILENT: Final = frozenset({"values", "gradient", "shape", "dtype"})
MINDSPORE: Final = "mindspore"


class Outcome(StrEnum):
    """What became of a pair: see ``Measured``."""

    EQUAL = "equal"  # values and gradients agree within noise, also with all defaults left implicit
    EQUAL_WITH = "equal_with"  # they agree once the arguments of ``needs`` are given
    DIFFERS = "differs"  # they disagree for ordinary inputs, whatever is given
    RAISES = "raises"  # MindSpore raises for ordinary inputs that torch takes
    NO_KERNEL = "no_kernel"  # MindSpore has no kernel for it on the device it was measured on
    MISSING = "missing"  # one framework does not have it
    UNMEASURED = "unmeasured"  # nobody has run it: needs files, several processes, or a package that is not there


class Kind(StrEnum):
    """What is called."""

    FUNCTION = "function"
    METHOD = "method"
    LAYER = "layer"
    LOSS = "loss"
    OPTIMIZER = "optimizer"
    SCHEDULE = "schedule"
    INITIALISER = "initialiser"
    TRANSFORM = "transform"
    DISTRIBUTION = "distribution"
    DATA = "data"
    RANKS = "ranks"


class Documented(msgspec.Struct, frozen=True, omit_defaults=True):
    """A pair of names. Parameters are name and default, as Python source; None where there is no default."""

    torch: str
    mindspore: str
    style: str  # classic | mint
    documented: str  # consistent | names_differ | defaults_differ | differs | none
    torch_parameters: tuple[tuple[str, str | None], ...] = ()
    mindspore_parameters: tuple[tuple[str, str | None], ...] = ()

    def of(self, framework: str) -> str:
        """The name in one of the two."""
        return self.torch if framework == TORCH else self.mindspore

    def parameters(self, framework: str) -> tuple[tuple[str, str | None], ...]:
        """The parameters in one of the two."""
        return self.torch_parameters if framework == TORCH else self.mindspore_parameters

    @property
    def kind(self) -> Kind:
        """What is called."""
        return kind_of(self.torch)


class Example(msgspec.Struct, frozen=True, omit_defaults=True):
    """The smallest call found for which both disagree: source of both calls, and what each gives, in short."""

    torch: str
    mindspore: str
    torch_gives: str
    mindspore_gives: str
    inputs: str = ""
    distance: float | None = None


class Needed(msgspec.Struct, frozen=True, omit_defaults=True):
    """An argument whose default differs, and what to write so that both do the same.

    ``for_torch`` is what to write in MindSpore's call to get what torch does by default (``approximate=False``),
    ``for_mindspore`` what to write in torch's to get what MindSpore does; "" where neither has an argument for it.
    """

    argument: str
    torch_default: str
    mindspore_default: str
    for_torch: str = ""
    for_mindspore: str = ""


class Decisive(msgspec.Struct, frozen=True, omit_defaults=True):
    """Values of an argument that decide whether both disagree: those with which they did, and those with which not.

    ``others`` is what a value does that was not drawn: disagrees where only the default agreed, agrees where only one
    of several values disagreed, None where neither is so.
    """

    bad: tuple[str, ...]
    fine: tuple[str, ...]
    others: bool | None = None

    def met_by(self, text: str) -> bool | None:
        """Whether both disagree for a value as it is written; None where that is not known."""
        value = value_of(text)
        if value is UNKNOWN:
            return None
        known = [(value_of(one), met) for values, met in ((self.bad, True), (self.fine, False)) for one in values]
        alike = [(one, met) for one, met in known if one is not UNKNOWN and same(value, one)]
        if not alike:
            return self.others
        # 2 and 2.0 may be refused or not; 3 and (3, 3) too.
        return next((met for one, met in alike if type(one) is type(value)), None)


class Difference(msgspec.Struct, frozen=True, omit_defaults=True):
    """How both disagree: ``what`` is values, gradient, shape, dtype, width, raises, kernel or precision.

    ``when`` holds the conditions of the smallest example, those of ``migrate/lab/conditions.py``: none for ordinary
    inputs; "argument:NAME" where the argument must be given, "default:NAME" where it must be left out. ``values`` says
    of arguments in ``when`` with which values; any will do where it does not. Where an argument of ``unless`` is given,
    there is no such difference.
    """

    what: str
    when: tuple[str, ...]
    example: Example
    cases: int = 1
    values: dict[str, Decisive] = {}
    unless: tuple[str, ...] = ()

    @property
    def is_ordinary(self) -> bool:
        """Whether it shows with ordinary inputs, whatever else is left out."""
        return all(word.startswith(ARGUMENT) for word in self.when)

    def met_by(self, argument: str, text: str) -> bool | None:
        """Whether an argument that must be given is met by what is written for it; None where that is not known."""
        return self.values[argument].met_by(text) if argument in self.values else True

    def met_in(self, given: Mapping[str, str]) -> bool | None:
        """Whether a call with these arguments meets all that must be given; None where that is not known."""
        if any(name in given for name in self.unless):
            return False
        names = [word.removeprefix(ARGUMENT) for word in self.when if word.startswith(ARGUMENT)]
        met = [self.met_by(name, given[name]) if name in given else False for name in names]
        return False if False in met else None if None in met else True


class Measured(msgspec.Struct, frozen=True, omit_defaults=True):
    """What the lab has found out about one pair.

    ``outcome`` speaks of ordinary inputs (finite float32 of one or more elements); where both disagree only under a
    condition (NaN, empty, integer, half precision …), ``differences`` says so beside an outcome of equal.
    """

    torch: str
    mindspore: str
    outcome: Outcome
    certainty: str = "possible"  # certain | likely | possible
    needs: tuple[Needed, ...] = ()
    renamed: dict[str, str] = {}  # torch's argument: MindSpore's, where the names differ
    differences: tuple[Difference, ...] = ()
    cases: int = 0
    agreed: int = 0
    disagreed: int = 0
    refused: int = 0  # MindSpore raised where torch did not
    note: str = ""

    def maps(self, given: Mapping[str, str]) -> bool:
        """Whether a call with these arguments of torch's does the same, with what is needed written."""
        if self.outcome not in (Outcome.DIFFERS, Outcome.EQUAL, Outcome.EQUAL_WITH):
            return False
        for difference in self.differences:
            if not difference.is_ordinary:
                continue
            met = difference.met_in(given)
            refused = difference.what in REFUSED and bool(difference.values)
            # What may disagree silently is not risked; what may be refused would be so loudly.
            if (difference.what in _SILENT and met is not False) or (refused and met is True):
                return False
        return True


class Machine(msgspec.Struct, frozen=True, omit_defaults=True):
    """Where a table was measured: the first line of its file."""

    torch_version: str = ""
    mindspore_version: str = ""
    device: str = "cpu"
    seed: int = 0
    cases: int = 0


class Table(msgspec.Struct, frozen=True):
    """A measured table, by both names."""

    machine: Machine
    rows: dict[tuple[str, str], Measured]


def kind_of(torch_name: str) -> Kind:
    """What a call of torch is, by its name."""
    package, _, word = torch_name.rpartition(".")
    if package == "torch.Tensor":
        return Kind.METHOD
    if package == "torch.optim.lr_scheduler":
        return Kind.SCHEDULE
    if package == "torch.optim":
        return Kind.OPTIMIZER
    if package == "torch.nn.init":
        return Kind.INITIALISER
    if package == "torch.nn" and word[:1].isupper():
        return Kind.LOSS if word.endswith("Loss") else Kind.LAYER
    if package.startswith("torch.distributions"):
        return Kind.DISTRIBUTION
    if ".transforms" in package:
        return Kind.TRANSFORM
    if package.startswith("torch.distributed"):
        return Kind.RANKS
    if ".datasets" in package or package.startswith(("torch.utils.data", "torchtext.data")):
        return Kind.DATA
    return Kind.FUNCTION


@cache
def documented() -> tuple[Documented, ...]:
    """All pairs: those of the documentation, and those that are known besides."""
    folder = resources.files("trueline.apitable")
    decoder = msgspec.json.Decoder(Documented)
    files = (folder.joinpath(name).read_bytes() for name in ("documented.jsonl", "undocumented.jsonl"))
    return tuple(decoder.decode(line) for content in files for line in content.splitlines())


@cache
def pairs_by_name() -> Mapping[str, tuple[Documented, ...]]:
    """The pairs that a full name of either framework is in: ``torch.nn.GELU``, ``mindspore.nn.GELU``."""
    found: dict[str, list[Documented]] = {}
    for pair in documented():
        for name in (pair.torch, pair.mindspore):
            found.setdefault(name, []).append(pair)
    return MappingProxyType({name: tuple(pairs) for name, pairs in found.items()})


@cache
def measured() -> Table:
    """The table that comes with this TrueLine; empty where there is none."""
    place = resources.files("trueline.apitable").joinpath("measured.jsonl")
    return decoded(place.read_bytes()) if place.is_file() else Table(Machine(), {})


def row_of(pair: Documented, table: Table | None = None) -> Measured:
    """What is measured of a pair."""
    found = (table or measured()).rows.get((pair.torch, pair.mindspore))
    return found or Measured(pair.torch, pair.mindspore, Outcome.UNMEASURED)


def decoded(content: bytes) -> Table:
    """A measured table from the bytes of its file; msgspec.DecodeError where it is none."""
    lines = content.splitlines()
    machine = msgspec.json.decode(lines[0], type=Machine) if lines else Machine()
    decoder = msgspec.json.Decoder(Measured)
    rows = [decoder.decode(line) for line in lines[1:]]
    return Table(machine, {(row.torch, row.mindspore): row for row in rows})


def table_bytes(machine: Machine, rows: Iterable[Measured]) -> bytes:
    """The file of a measured table: one row a line, in the order of the names."""
    ordered = sorted(rows, key=lambda row: (row.torch, row.mindspore))
    return b"".join(msgspec.json.encode(line) + b"\n" for line in (machine, *ordered))
