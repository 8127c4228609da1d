"""A plan carried out: what the target cannot hold is refused by name before a byte is written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from trueline.formats.kinds import Format
from trueline.formats.making import Progress, check_room
from trueline.formats.outgoing import Outgoing
from trueline.formats.printable import printable
from trueline.formats.saving import Saved, cannot_hold, save
from trueline.formats.weights import Weights
from trueline.migrate.keeping import Kept, arrays_of
from trueline.migrate.keeping import keep as keep_sections
from trueline.migrate.modules import Naming
from trueline.migrate.plan import Dropped, Move, Plan
from trueline.migrate.planning import Wish, plan
from trueline.model.message import Message, message
from trueline.model.trouble import BadUsage

_SHOWN: Final = 80
_WEIGHTS: Final = ("weight", "gamma")


def _without_unheld(plan: Plan, format: Format) -> Plan:
    """The plan without empty arrays where the target would drop them; a BadUsage for anything else it cannot hold."""
    trouble = _trouble(plan, format)
    dropped: list[Dropped] = []
    moves = []
    for move, array in zip(plan.moves, plan.outgoing(), strict=True):
        why = trouble(array)
        if why is None:
            moves.append(move)
        elif array.count == 0:
            dropped += [Dropped(name, why) for name in move.held.names]
        else:
            raise _refused(move.held.names[0] if move.held.names else move.name, why)
    return replace(plan, moves=moves, dropped=[*plan.dropped, *dropped])


def _trouble(plan: Plan, format: Format) -> Callable[[Outgoing], Message | None]:
    """What neither the format nor the framework that reads it can hold."""
    trouble = cannot_hold(format)
    if format is not Format.SAFETENSORS or plan.naming is not Naming.MINDSPORE:
        return trouble
    # MindSpore reads these files too, and one array it does not know spoils the whole.
    mindspore = cannot_hold(Format.CKPT)
    return lambda outgoing: trouble(outgoing) or (mindspore(outgoing) if outgoing.count else None)


def _refused(name: str, why: Message) -> BadUsage:
    return BadUsage("convert.cannot_hold", why=why, name=_pattern(name))


def _pattern(name: str) -> str:
    """What ``--drop`` takes for a name, short and fit to be typed: a question mark stands for any character."""
    wild = "".join(f"[{one}]" if one in "*[" else one for one in printable(name, _SHOWN))
    return f"{wild}*" if len(name) > _SHOWN else wild


@dataclass(frozen=True, slots=True)
class Prepared:
    """A conversion that only has to be written: what becomes of the model, and what is kept beside it."""

    plan: Plan
    kept: Kept
    format: Format
    nested: str = ""

    @property
    def dropped(self) -> list[Dropped]:
        """All that is not in the result."""
        return [*self.plan.dropped, *self.kept.dropped]

    def write(
        self, path: Path, *, force: bool = False, progress: Progress | None = None, shard_bytes: int | None = None
    ) -> None:
        """Write the result."""
        kept, arrays = self.kept, self.plan.outgoing()
        more = _holdable(kept, self.format)
        beside = arrays_of(kept.beside if kept.tree is None else kept.tree)
        check_room(path, sum(outgoing.nbytes for outgoing in (*arrays, *more, *beside)))
        metadata = {"format": "pt" if self.plan.naming is Naming.TORCH else "ms"}
        saved = Saved(arrays, kept.beside, more, kept.others, self.nested or "state_dict", metadata, kept.tree)
        save(path, self.format, saved, force=force, progress=progress, shard_bytes=shard_bytes)


def prepare(weights: Weights, format: Format, wish: Wish, keep: Sequence[str]) -> Prepared:
    """What is to be written where; a BadUsage for what cannot be."""
    found = _without_unheld(plan(weights, format, wish), format)
    if not found.moves and found.whole:
        raise BadUsage("convert.nothing_left")
    return Prepared(found, keep_sections(weights, found, format, keep), format, weights.nested)


def _holdable(kept: Kept, format: Format) -> Sequence[Outgoing]:
    trouble = cannot_hold(format)
    for outgoing in kept.more:
        why = trouble(outgoing)
        if why is not None:
            raise _refused(outgoing.name, why)
    return kept.more


def zero_weights(done: Plan) -> list[Message]:
    """What is to be said of weights that are all zero: outputs prove nothing of what lies behind them."""
    moves = [move for move in done.moves if move.held.leaf.endswith(_WEIGHTS) and move.held.names and _is_zero(move)]
    if not moves:
        return []
    return [message("convert.zero_weights", count=len(moves), name=moves[0].held.names[0])]


def _is_zero(move: Move) -> bool:
    return not any(piece.any() for piece in move.outgoing().pieces())
