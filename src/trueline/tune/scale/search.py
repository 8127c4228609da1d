"""The course of the experiment: the script as it is, then with the scale that is suggested, until that is confirmed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from trueline.model.json_value import JsonObject
from trueline.model.message import Message, message
from trueline.model.numbers import decode
from trueline.record.run_mode import Experiment
from trueline.tune.scale.seen import Seen, scaled_by_hand, seen_in
from trueline.tune.scale.suggesting import Suggestion, suggest
from trueline.tune.told import Update, Word, update_of
from trueline.tune.trained import check_trained, failure_of
from trueline.tune.trial import Trial

_TRIES: Final = 6
# So many updates without half precision, and there will be none.
_PATIENCE: Final = 5
_SMALLER: Final = (-12, -24)
Progress = Callable[[int, Message], None]


@dataclass(frozen=True, slots=True)
class Searched:
    """What was found: the run as it is, the suggestion, and the run with it where one was confirmed."""

    own: Seen
    suggestion: Suggestion | None
    tried: Seen | None
    confirmed: bool
    interrupted: bool
    assume_half: bool
    failed: str | None = None

    @property
    def finest(self) -> Seen:
        """The run whose gradients show most: the fewest of them have vanished."""
        return self.tried if self.confirmed and self.tried is not None else self.own


@dataclass(frozen=True, slots=True)
class Search:
    """What runs the script once, under a name, and how long each run is."""

    run_one: Callable[[str, Experiment, Callable[[Word], bool]], Trial]
    steps: int
    every: int
    assume_half: bool
    progress: Progress

    def run(self) -> Searched:
        """All of it."""
        first = self._trial("own", {}, message("tune_scale.running_own"), self._is_hopeless)
        check_trained(first)
        own = self._with_hidden_scale(seen_in(first.words, assume_half=self.assume_half))
        found = Searched(own, None, None, False, first.interrupted, self.assume_half, failure_of(first))
        if not own.looked or not (own.half or self.assume_half):
            return found
        found = replace(found, suggestion=suggest([own]))
        return found if first.interrupted or not own.half or found.suggestion is None else self._confirm(found)

    def _with_hidden_scale(self, own: Seen) -> Seen:
        """A scale by hand shows in the numbers, unless they are all lost to it: then with losses made smaller."""
        if not own.half or own.scaler is not None or own.lost_share < 1:
            return own
        for power in _SMALLER:
            trial = self._trial(
                f"smaller{power}", {"scale": 2.0**power}, message("tune_scale.running_own"), lambda _: False
            )
            scaler = seen_in(trial.words).scaler
            if scaler is not None:
                return scaled_by_hand(own, scaler)
            if trial.interrupted:
                break
        return own

    def _confirm(self, found: Searched) -> Searched:
        """Try what is suggested; what is learnt from it may suggest another one."""
        runs = [found.own]
        for number in range(_TRIES):
            assert found.suggestion is not None
            trial = self._try(number, found)
            seen = seen_in(trial.words, assume_half=self.assume_half)
            if trial.interrupted or not seen.updates:
                return replace(found, interrupted=trial.interrupted, failed=found.failed or failure_of(trial))
            runs.append(seen)
            again = suggest(runs)
            # What a scaler has made larger since is not what was suggested.
            tried = found.suggestion.scale
            lost = any(update.lost and update.scale <= tried for update in seen.updates if not update.own_fault)
            settled = again is None or again.power == found.suggestion.power or number == _TRIES - 1
            if not lost and settled:
                return replace(found, tried=seen, confirmed=True)
            found = replace(found, tried=seen, suggestion=again or found.suggestion)
        return found

    def _try(self, number: int, found: Searched) -> Trial:
        wanted = found.suggestion
        assert wanted is not None
        settings = {"scale": wanted.scale, "factor": wanted.factor, "window": wanted.window}
        scaler = found.own.scaler
        if scaler is not None and scaler.kind is None:
            settings["own"] = scaler.scale
        said = message("tune_scale.running_tried", power=wanted.power)
        return self._trial(f"scale-{number}", settings, said, lambda update: _is_lost(update, wanted.scale))

    def _trial(self, name: str, settings: JsonObject, saying: Message, stop: Callable[[Update], bool]) -> Trial:
        self.progress(0, saying)

        def heard(word: Word) -> bool:
            update = update_of(word)
            if update is None:
                return False
            self.progress(update.step + 1, saying)
            return stop(update)

        experiment = Experiment("scale", self.steps, {"every": self.every, **settings})
        return self.run_one(name, experiment, heard)

    def _is_hopeless(self, update: Update) -> bool:
        """Nothing is in half precision, and nobody wants to know what would be if it were."""
        return not self.assume_half and update.step + 1 >= _PATIENCE and not update.fields.get("half", False)


def _is_lost(update: Update, scale: float) -> bool:
    """A scale that is too high for one update is not the one."""
    lost = bool(update.fields.get("nonfinite")) or update.skipped
    return lost and decode(update.fields.get("scale", scale)) <= scale
