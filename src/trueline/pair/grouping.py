"""Causes as a reader counts them: the same edit of the same kind of layer is one, however many lines it takes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from trueline.model.location import Location
from trueline.model.message import Message
from trueline.pair.attributes.latent_dropout import same_strength
from trueline.pair.blame import Blame, Cause, Stage, also_in, moves_curve

# What a cause in a layer explains of the table of parameters.
_OF_PARAMETERS: Final = (Cause.MISSING_PARAMETER, Cause.EXTRA_PARAMETER, Cause.SHAPE)
# Arguments that no parameter's presence or shape depends on.
_SHAPELESS: Final = frozenset(
    {
        Cause.EPS,
        Cause.MOMENTUM,
        Cause.PADDING,
        Cause.STRIDE,
        Cause.DILATION,
        Cause.CEIL_MODE,
        Cause.COUNT_PAD,
        Cause.DROPOUT,
        Cause.INTERPOLATION,
        Cause.ALIGN_CORNERS,
        Cause.DTYPE,
        Cause.BATCH_FIRST,
    }
)


@dataclass(frozen=True, slots=True)
class Group:
    """One cause: what the stages blame for it, and what only follows from it; numbered from 1.

    ``found``: it is a cause, and not a suspicion.
    """

    number: int
    blames: Sequence[Blame]
    following: Sequence[Blame] = ()
    found: bool = True

    @property
    def first(self) -> Blame:
        """The one whose sentence is said of all."""
        return self.blames[0]

    @property
    def stages(self) -> list[Stage]:
        """The stages that show it, in order."""
        return sorted({blame.stage for blame in self.blames}, key=list(Stage).index)

    @property
    def worst(self) -> Blame:
        """The one with the largest effect."""
        return max(self.blames, key=lambda blame: blame.measured if blame.measured is not None else -1.0)

    @property
    def modules(self) -> list[str]:
        """The port's modules that it holds for."""
        return list(dict.fromkeys(path for blame in self.blames for path in modules_of(blame)))

    @property
    def lines(self) -> list[Location]:
        """The port's lines."""
        return _distinct(blame.line for blame in self.blames)

    @property
    def other_lines(self) -> list[Location]:
        """The benchmark's lines."""
        return _distinct(blame.other_line for blame in self.blames)


@dataclass(frozen=True, slots=True)
class Grouped:
    """All that was blamed, in order: ``groups`` are causes, then suspicions; ``common`` follows from several of them.

    ``roots`` are, for each blame, those that it follows from; ``found`` says which are found, and not suspected.
    """

    blames: Sequence[Blame]
    groups: Sequence[Group]
    common: Sequence[Blame]
    roots: Sequence[Sequence[Blame]]
    numbers: Sequence[int | None]
    found: Sequence[bool]

    @property
    def causes(self) -> list[Group]:
        """What was found."""
        return [group for group in self.groups if group.found]

    @property
    def suspects(self) -> list[Group]:
        """What was not confirmed."""
        return [group for group in self.groups if not group.found]


def grouped(blamed: Iterable[Blame]) -> Grouped:
    """Confirmed ones first, then what moves the loss; each with what follows from it."""
    blames = sorted(blamed, key=lambda blame: (not blame.confirmed, blame.latent, not moves_curve(blame)))
    roots = [_roots(blame, blames) for blame in blames]
    found = _found(blames)
    members: dict[object, list[Blame]] = {}
    first_found: dict[object, bool] = {}
    for blame, above, is_found in zip(blames, roots, found, strict=True):
        if not above:
            members.setdefault(_same(blame), []).append(blame)
            first_found[_same(blame)] = first_found.get(_same(blame), False) or is_found
    ordered = sorted(members, key=lambda key: not first_found[key])
    number_of = {key: number for number, key in enumerate(ordered, 1)}
    numbers = [
        number_of[_same(blame)] if not above else _only(number_of.get(_same(root)) for root in above)
        for blame, above in zip(blames, roots, strict=True)
    ]
    following: dict[int | None, list[Blame]] = {}
    for blame, above, number in zip(blames, roots, numbers, strict=True):
        if above:
            following.setdefault(number, []).append(blame)
    groups = [
        Group(number_of[key], members[key], following.get(number_of[key], ()), first_found[key]) for key in ordered
    ]
    return Grouped(blames, groups, following.get(None, ()), roots, numbers, found)


def _found(blames: Sequence[Blame]) -> list[bool]:
    """What is found: causes, and in a part of the training that has none what was measured to differ.

    Nothing is called equal beside a difference that was measured, explained or not.
    """
    explained = {_part(blame.stage) for blame in blames if counts(blame) and not blame.latent}
    return [counts(blame) or (differs(blame) and _part(blame.stage) not in explained) for blame in blames]


def _part(stage: Stage) -> Stage:
    """Forward and backward are one network: what one does explains the other."""
    return Stage.FORWARD if stage is Stage.BACKWARD else stage


def differs(blame: Blame) -> bool:
    """Whether numbers on ordinary inputs show a difference, and not only how the two are built."""
    if blame.latent or blame.unfelt:
        return False
    if blame.stage is Stage.DATA:
        # Between other shapes nothing can be measured.
        return True
    if blame.measured is None:
        return False
    if blame.cause is Cause.DROPOUT:
        return blame.limit is not None and not same_strength(blame.measured, blame.limit)
    return blame.measured > (blame.limit or 0.0)


def counts(blame: Blame) -> bool:
    """Whether a blame is found: confirmed, or a difference that nothing explains."""
    return not blame.unfelt and (blame.confirmed or blame.cause is Cause.UNKNOWN)


def modules_of(blame: Blame) -> list[str]:
    """The port's modules that a blame holds for."""
    return [blame.module, *also_in(blame)]


def sized(blame: Blame) -> tuple[str, str] | None:
    """The sizes of input at which both sides are equal, and at which they differ, where it depends on that."""
    for each in blame.evidence:
        if isinstance(each, dict) and "differs_at" in each:
            return each["equal_at"], each["differs_at"]
    return None


def _same(blame: Blame) -> object:
    """What two blames share that one kind of edit takes away: the cause, what is said of it, and the edit.

    Which stage shows a layer's argument, and whether ordinary inputs do, is another matter.
    """
    edit = _text(blame.edit_alone)
    if blame.general is not None:
        of_layers = blame.stage in (Stage.FORWARD, Stage.BACKWARD)
        return None if of_layers else blame.stage, blame.cause, blame.confirmed, _text(blame.general), edit
    # Where the sentence names its module, another module is another cause.
    return blame.stage, blame.cause, blame.confirmed, _text(blame.message), edit, blame.latent, blame.module


def _text(said: Message | None) -> str:
    return said.text("en") if said is not None else ""


def _only(numbers: Iterable[int | None]) -> int | None:
    """The number, where there is one and no other."""
    distinct = set(numbers)
    return distinct.pop() if len(distinct) == 1 else None


def _roots(blame: Blame, blames: Sequence[Blame]) -> list[Blame]:
    """What a blame follows from.

    A curve follows from all causes that move it, suspected ones too; a parameter that lacks from its layer's.
    """
    if blame.stage is Stage.CURVE:
        return [candidate for candidate in blames if moves_curve(candidate)]
    if blame.stage is not Stage.PARAMETERS or blame.cause not in _OF_PARAMETERS:
        return []
    layers = [
        candidate
        for candidate in blames
        if candidate.stage is Stage.FORWARD
        and counts(candidate)
        and not candidate.latent
        and candidate.cause not in _SHAPELESS
    ]
    # A layer's own argument explains its parameters before anything around it does.
    own = [candidate for candidate in layers if candidate.confirmed and blame.module in modules_of(candidate)]
    near = own or [
        candidate for candidate in layers if any(_near(path, blame.module) for path in modules_of(candidate))
    ]
    return near[:1]


def _near(a: str, b: str) -> bool:
    return a == b or (bool(a) and b.startswith(f"{a}.")) or (bool(b) and a.startswith(f"{b}."))


def _distinct(lines: Iterable[Location | None]) -> list[Location]:
    return list(dict.fromkeys(line for line in lines if line is not None))
