"""A clip acts on the gradients that the next update applies, and its limit holds for them."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from typing import Final

from trueline.checks.engine.check import check, na
from trueline.checks.evidence.looks import is_recorded_whole
from trueline.checks.laws.engine import judged, law
from trueline.checks.laws.law import Breach, Law, Lines
from trueline.formats.run_folder.reader import RankFolder, Run
from trueline.model.events import BackwardEvent, ClipEvent, Event, StepEvent, UnscaleEvent, ZeroGradEvent
from trueline.model.finding import Finding
from trueline.model.location import Location

# What is seen once may be an accident of the step.
_TURNS: Final = 2
_ABOVE: Final = 1.01  # of a norm over its limit, but for rounding
_SAME: Final = 1e-3  # between two norms of the same gradients


def _limit(clip: ClipEvent) -> float | None:
    """The limit of a clip that is meant to act."""
    limit = clip.limit
    if isinstance(limit, bool) or not isinstance(limit, int | float) or not math.isfinite(limit) or limit <= 0:
        return None
    return float(limit)


@law
class ClipsSomething(Law):
    """A clip before an update with gradients is given gradients."""

    hears = (ClipEvent, StepEvent)

    def __init__(self, rank: RankFolder, lines: Lines) -> None:
        super().__init__(rank, lines)
        self._empty: list[Location] = []
        self._waiting: list[ClipEvent] = []
        self._places: dict[int, Location] = {}

    def hear(self, event: Event, /) -> Iterator[Breach]:
        if isinstance(event, ClipEvent):
            if event.count is not None and _limit(event) is not None:
                self._waiting.append(event)
                self._places[id(event)] = self.at(event)
            return
        assert isinstance(event, StepEvent)
        waiting, self._waiting = self._waiting, []
        places, self._places = self._places, {}
        if not waiting or not event.grad_norm:
            return
        self.looked += 1
        # Of several clips in a step each may be of another part, which has its turn another time.
        if any(clip.count for clip in waiting):
            self._empty = []
            return
        self._empty.append(places[id(waiting[0])])
        if len(self._empty) == _TURNS:
            yield Breach("tr_18.nothing", self._empty[0], measured=0, evidence=[{"norm": event.grad_norm}], params={})


@law
class ClipsBeforeTheUpdate(Law):
    """Between a clip and the update that follows there is no backward pass, and no clearing of what was clipped."""

    hears = (BackwardEvent, ClipEvent, StepEvent, ZeroGradEvent)

    def __init__(self, rank: RankFolder, lines: Lines) -> None:
        super().__init__(rank, lines)
        self._order: list[tuple[Event, Location]] = []
        self._turns: Counter[str] = Counter()
        self._first: dict[str, Location] = {}
        self._kinds: set[int] = set()

    def hear(self, event: Event, /) -> Iterator[Breach]:
        if isinstance(event, StepEvent):
            self._kinds.add(event.optimizer)
        self._order.append((event, self.at(event)))
        if not isinstance(event, StepEvent):
            return
        order, self._order = self._order, []
        clips = [place for place, (earlier, _) in enumerate(order) if isinstance(earlier, ClipEvent)]
        if not clips or len(self._kinds) > 1:
            return
        self.looked += 1
        told = self._told(order, clips)
        for name in list(self._turns):
            if name != told:
                del self._turns[name]
        if told is None:
            return
        self._first.setdefault(told, order[clips[0]][1])
        self._turns[told] += 1
        if self._turns[told] == _TURNS:
            # A second pass over what was clipped, as sharpness-aware methods make it, may be meant.
            sure = told != "before_last"
            yield Breach(f"tr_18.{told}", self._first[told], sure=sure, evidence=[earlier.name for earlier, _ in order])

    def _told(self, order: list[tuple[Event, Location]], clips: list[int]) -> str | None:
        """What is wrong with where the clips of an update stand."""
        backwards = [place for place, (earlier, _) in enumerate(order) if isinstance(earlier, BackwardEvent)]
        cleared = [place for place, (earlier, _) in enumerate(order) if isinstance(earlier, ZeroGradEvent)]
        if not backwards or clips[-1] > backwards[-1]:
            return None
        if clips[-1] < backwards[0]:
            # What is clipped before the first backward pass are the gradients of the update before.
            return "after_update" if cleared and clips[-1] < cleared[0] else "before_backward"
        return "before_last"


@law
class HoldsItsLimit(Law):
    """The gradients of an update that were clipped as one are not longer than the limit."""

    hears = (BackwardEvent, ClipEvent, UnscaleEvent, StepEvent)

    def __init__(self, rank: RankFolder, lines: Lines) -> None:
        super().__init__(rank, lines)
        self._clips: list[tuple[ClipEvent, Location]] = []
        self._over: list[tuple[Location, float, float]] = []

    def hear(self, event: Event, /) -> Iterator[Breach]:
        if isinstance(event, ClipEvent):
            self._clips.append((event, self.at(event)))
        elif isinstance(event, StepEvent):
            clips, self._clips = self._clips, []
            if len(clips) == 1 and event.grad_norm is not None:
                yield from self._judged(*clips[0], event.grad_norm)
        else:
            # What comes after it changes the gradients: another law speaks of that.
            self._clips = []

    def _judged(self, clip: ClipEvent, where: Location, used: float) -> Iterator[Breach]:
        limit = _limit(clip)
        if limit is None or clip.kind != "norm" or clip.norm is None or not math.isfinite(used):
            return
        if clip.norm <= limit:
            return
        self.looked += 1
        # Gradients of the same length as before it are the same gradients.
        if used <= limit * _ABOVE or abs(used - clip.norm) > _SAME * clip.norm:
            self._over = []
            return
        self._over.append((where, used, limit))
        if len(self._over) == _TURNS:
            first, measured, bound = self._over[0]
            params = {"norm": f"{measured:.4g}", "most": f"{bound:.4g}"}
            yield Breach("tr_18.over", first, measured=measured, limit=bound, params=params)


@law
class ClipsWhatIsUpdated(Law):
    """Of the gradients that an update applies some went through the clip before it."""

    hears = (ClipEvent, StepEvent)

    def __init__(self, rank: RankFolder, lines: Lines) -> None:
        super().__init__(rank, lines)
        self._clips: list[tuple[ClipEvent, Location]] = []
        self._beside: dict[int, list[tuple[Location, float, float]]] = {}

    def hear(self, event: Event, /) -> Iterator[Breach]:
        if isinstance(event, ClipEvent):
            self._clips.append((event, self.at(event)))
            return
        assert isinstance(event, StepEvent)
        clips, self._clips = self._clips, []
        limits = [limit for clip, _ in clips if clip.count and (limit := _limit(clip)) is not None]
        if event.clipped is None or not limits or event.grad_norm is None:
            return
        self.looked += 1
        # What is short enough needs no clip, and another optimizer's turn may come in the same step.
        if event.clipped or event.grad_norm <= max(limits):
            self._beside.pop(event.optimizer, None)
            return
        beside = self._beside.setdefault(event.optimizer, [])
        beside.append((clips[0][1], event.grad_norm, max(limits)))
        if len(beside) == _TURNS:
            where, norm, limit = beside[0]
            params = {"norm": f"{norm:.4g}", "most": f"{limit:.4g}"}
            yield Breach("tr_18.others", where, measured=norm, limit=limit, params=params)


@check("tr.18", "gradients are not clipped as asked for")
def from_laws(run: Run) -> Iterator[Finding]:
    """Where clips stand, what they are given, and what the optimizer applies."""
    clips = any(True for number in run.ranks for _ in run.rank(number).events(ClipEvent))
    if not clips and is_recorded_whole(run):
        yield na("tr_18.no_clip")
        return
    laws = (ClipsSomething, ClipsBeforeTheUpdate, HoldsItsLimit, ClipsWhatIsUpdated)
    yield from judged(run, *laws, kept="tr_18.kept", unseen="tr_18.unseen")
