"""What differs between two optimizers, as blames: sentences, values, and the edit to make."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from trueline.model.json_value import Json
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.pair.aligning.aligned import Aligned
from trueline.pair.aligning.param_pair import ParamPair
from trueline.pair.blame import Blame, Cause, Stage
from trueline.pair.parameters.param_words import common_module, said_of
from trueline.pair.update.causes import Difference
from trueline.pair.update.fit import LIMIT

_SAME_RATE: Final = 1e-5
_MOST_SHOWN: Final = 64


@dataclass(frozen=True, slots=True)
class Compared:
    """The pairs that both optimizers were compared on, their classes, and the lines that built them."""

    aligned: Aligned
    pairs: Sequence[ParamPair]
    bench: str
    port: str
    line: Location | None
    other_line: Location | None

    def blame(self, cause: Cause, text: Message, places: Sequence[int], **more: Any) -> Blame:
        """A blame that names these parameters."""
        paths = [self.pairs[place].port_path for place in places]
        others = [self.pairs[place].bench_path for place in places]
        some = len(places) < len(self.pairs)
        return Blame(
            Stage.UPDATE,
            cause,
            text,
            common_module(paths) if some else "",
            common_module(others) if some else "",
            line=self.line,
            other_line=self.other_line,
            evidence=tuple(paths[:_MOST_SHOWN]) if some else (),
            **more,
        )

    def said(self, places: Sequence[int]) -> Message:
        """Which parameters these are."""
        return said_of(self.aligned.port, [self.pairs[place].port_path for place in places], len(self.pairs))


def membership_blames(compared: Compared, bench: Sequence[bool | None], port: Sequence[bool | None]) -> Iterator[Blame]:
    """Parameters that only one of both optimizers updates."""
    places = range(len(bench))
    left_out = [place for place in places if bench[place] and port[place] is False]
    if left_out:
        text = message("pair_update.left_out", parameters=compared.said(left_out), optimizer=compared.port)
        edit = message("pair_update.edit_left_out", optimizer=compared.port)
        yield compared.blame(Cause.NOT_UPDATED, text, left_out, bench=True, port=False, confirmed=True, edit=edit)
    added = [place for place in places if bench[place] is False and port[place]]
    if added:
        text = message("pair_update.added", parameters=compared.said(added), optimizer=compared.port)
        edit = message("pair_update.edit_added", optimizer=compared.port)
        yield compared.blame(Cause.NOT_UPDATED, text, added, bench=False, port=True, confirmed=True, edit=edit)


def rate_blames(compared: Compared, bench: Sequence[float | None], port: Sequence[float | None]) -> Iterator[Blame]:
    """Learning rates that differ, by both values."""
    places: dict[tuple[float, float], list[int]] = {}
    for place, (there, here) in enumerate(zip(bench, port, strict=True)):
        if there is not None and here is not None and not math.isclose(there, here, rel_tol=_SAME_RATE):
            places.setdefault((there, here), []).append(place)
    for (there, here), members in places.items():
        words = {"bench": there, "port": here, "parameters": compared.said(members)}
        yield compared.blame(
            Cause.LEARNING_RATE,
            message("pair_update.learning_rate", **words),
            members,
            bench=there,
            port=here,
            # With one and the same rate for both, every step was compared: nothing but the rate is another here.
            confirmed=True,
            measured=abs(here - there) / there if there else math.inf,
            limit=_SAME_RATE,
            left=0.0,
            edit=message("pair_update.edit_learning_rate", **words),
        )


def difference_blames(
    compared: Compared,
    differences: Sequence[Difference],
    bench: Sequence[bool | None],
    port: Sequence[bool | None],
) -> Iterator[Blame]:
    """One blame per difference; ``bench`` and ``port`` say which parameters decay there."""
    # With parameters that decay on both sides, one that decays on one side only is a matter of groups.
    groups = any(bench) and any(port)
    for difference in differences:
        if difference.knob == "weight_decay" and groups and not (difference.bench and difference.port):
            yield _decay_groups(compared, difference)
        else:
            yield _difference(compared, difference)


def _decay_groups(compared: Compared, difference: Difference) -> Blame:
    words = {"parameters": compared.said(difference.places), "bench": difference.bench, "port": difference.port}
    name = "decays" if difference.port else "decays_not"
    return compared.blame(
        Cause.DECAY_GROUPS,
        message(f"pair_update.{name}", **words),
        difference.places,
        **_numbers(difference),
        edit=message(f"pair_update.edit_{name}", **words),
    )


def _difference(compared: Compared, difference: Difference) -> Blame:
    words = {
        "knob": message(f"pair_update.knob_{difference.knob}"),
        "bench": _value(difference.knob, difference.bench),
        "port": _value(difference.knob, difference.port),
        "optimizer": compared.port,
    }
    if difference.knob == "family":
        words |= {"bench": compared.bench, "port": compared.port}
    text = message("pair_update.difference", parameters=compared.said(difference.places), **words)
    return compared.blame(
        difference.cause, text, difference.places, **_numbers(difference), edit=_edit(compared, difference, words)
    )


def _numbers(difference: Difference) -> dict[str, Any]:
    return {
        "bench": str(difference.bench) if isinstance(difference.bench, str) else difference.bench,
        "port": str(difference.port) if isinstance(difference.port, str) else difference.port,
        "confirmed": difference.confirmed,
        "latent": difference.latent,
        "measured": max(difference.effect, difference.on_tiny) if difference.latent else difference.effect,
        "limit": LIMIT,
        "left": difference.left,
    }


def _value(knob: str, value: object) -> Any:
    if knob in ("eps_form", "decay_form"):
        return message(f"pair_update.{knob}_{value}")
    return message("pair_update.yes" if value else "pair_update.no") if isinstance(value, bool) else value


def _edit(compared: Compared, difference: Difference, words: Mapping[str, Json]) -> Message:
    if difference.knob == "family":
        return message("pair_update.edit_unexplained", bench=compared.bench)
    port_is_mindspore = compared.aligned.port.framework == "mindspore"
    if difference.knob in ("eps_form", "bias_correction") and port_is_mindspore and difference.bench in ("after", True):
        return message("pair_update.edit_mindspore_adam", optimizer=compared.port)
    if difference.knob == "nesterov" and port_is_mindspore and compared.port == "Momentum" and difference.bench:
        return message("pair_update.edit_mindspore_nesterov")
    return message("pair_update.edit_difference", **words)


def unexplained_blame(compared: Compared, gaps: Mapping[int, float], same_name: bool) -> Blame:
    """Steps that no known form explains."""
    apart = [place for place, gap in gaps.items() if gap > LIMIT]
    level = max(gaps.values())
    words = {"bench": compared.bench, "port": compared.port, "level": level, "parameters": compared.said(apart)}
    edit = message("pair_update.edit_unexplained", bench=compared.bench) if not same_name else None
    return compared.blame(
        Cause.OPTIMIZER,
        message("pair_update.unexplained", **words),
        apart,
        bench=compared.bench,
        port=compared.port,
        measured=level,
        limit=LIMIT,
        edit=edit,
    )
