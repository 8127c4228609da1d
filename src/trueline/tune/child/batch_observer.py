"""Other batch sizes, in the loaders that feed training, with learning rates to match."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from trueline.adapters.batchers import Batcher
from trueline.adapters.nouns import Loader, Network, Optimizer, Value
from trueline.model.numbers import plain
from trueline.tune.child.feeding import Feeding, samples_in
from trueline.tune.child.observer import ExperimentObserver, end_here

if TYPE_CHECKING:
    from trueline.adapters.nouns import LoaderFacts
    from trueline.adapters.protocol import Adapter, HeldRates
    from trueline.record.run_mode import Experiment
    from trueline.tune.child.teller import Teller

_FACTS = ("kind", "dataset", "batch_size", "sampler", "drop_last", "samples")


class BatchObserver(ExperimentObserver):
    """Settings: ``size`` of the batchers built at ``sites`` (all there, or those whose turn it is), ``rate`` the factor
    on every learning rate, ``samples`` after which the script ends."""

    def __init__(self, adapter: Adapter, experiment: Experiment, teller: Teller) -> None:
        super().__init__(adapter, experiment, teller)
        settings = experiment.settings
        self._size: int | None = settings.get("size")
        self._sites: Mapping[str, Sequence[int] | None] = settings.get("sites", {})
        self._rate = float(settings.get("rate", 1.0))
        self._most: int | None = settings.get("samples")
        self._built: dict[str, int] = {}
        self._held: list[tuple[Optimizer, HeldRates]] = []
        self._feeding = Feeding()
        self._behind: dict[int, tuple[Sequence[int], Mapping[str, object]]] = {}
        self._told: set[int] = set()
        self._entered: int | None = None
        self._passes = 0
        self._samples = 0
        self._trained = 0
        self._batching = adapter.batching.watch(self._resize)

    def leave(self) -> None:
        """Loaders are as the script builds them."""
        self._batching.remove()

    def _resize(self, batcher: Batcher) -> int | None:
        turn = self._built.get(batcher.site, 0)
        self._built[batcher.site] = turn + 1
        line = batcher.line.line_json() if batcher.line is not None else {"file": None, "line": None}
        about = {"kind": batcher.kind, "size": batcher.size, "why": batcher.why, **line}
        self.teller.tell("batcher", number=batcher.number, site=batcher.site, turn=turn, **about)
        turns = self._sites.get(batcher.site, ())
        return self._size if turns is None or turn in turns else None

    # ---- which loader feeds training

    def loader_began(self, loader: Loader, facts: LoaderFacts) -> None:
        """An iteration over data begins."""
        self._behind[id(loader)] = (self._batching.behind(loader), facts)

    def fetched(self, loader: Loader, batch: Value, indexes: Sequence[int] | None) -> None:
        """A batch is there; whether it is trained on shows later."""
        self._feeding.fetched(loader, batch)

    def loader_ended(self, loader: Loader) -> None:
        """There are no more."""
        evaluated = self._feeding.ended(loader)
        if evaluated:
            self.teller.tell("evaluates", samples=evaluated)

    def called(self, module: Network, args: Sequence[Value], kwargs: Mapping[str, Value]) -> None:
        """A network is called: what goes into it is a batch too, where there is no loader."""
        if self._entered is None and self.adapter.values.training(module):
            self._entered = samples_in((args, dict(kwargs)))

    def backward_began(self) -> None:
        """What was fetched, or went in, is trained on."""
        with self._told_trouble():
            self._train()

    def _train(self) -> None:
        sizes = []
        for loader, samples in self._feeding.trained():
            sizes.append(samples)
            if loader not in self._told and self._feeding.surely(loader):
                self._told.add(loader)
                batchers, facts = self._behind.get(loader, ((), {}))
                self.teller.tell(
                    "feeds", batchers=list(batchers), came=samples, **plain({name: facts.get(name) for name in _FACTS})
                )
        if not sizes and not self._feeding.has_loaders:
            sizes = [self._entered or 0]
        self._entered = None
        # A backward pass without a batch of its own goes through the one before once more.
        if sizes:
            self._samples += max(sizes)
            self._passes += 1

    # ---- learning rates and the end

    def _begin_update(self, number: int) -> None:
        if self._most is not None and self._trained >= self._most:
            self.tell_open()
            end_here(self.teller)
        super()._begin_update(number)

    def began(self, optimizer: Optimizer, update: int) -> None:
        """Step with rates that go with the batch."""
        del update
        held = self._hold(optimizer)
        if self._rate != 1:
            held.use([rate * self._rate for rate in held.own()])

    def ended(self, optimizer: Optimizer, update: int, *, skipped: bool) -> None:
        """The script finds its own rates again."""
        del update, skipped
        self._hold(optimizer).release()

    def _hold(self, optimizer: Optimizer) -> HeldRates:
        for known, held in self._held:
            if known is optimizer:
                return held
        held = self.adapter.rates.hold(optimizer)
        self._held.append((optimizer, held))
        self.teller.tell("rates", rates=[rate * self._rate for rate in held.peak()])
        return held

    def step_ended(self, optimizer: Optimizer, skipped: bool) -> None:
        """What was trained on since the last update is this one's."""
        with self._told_trouble():
            if not self._passes:
                # A step compiled as a whole tells of no backward pass.
                self._train()
            if optimizer is self._held[0][0]:
                self.note(samples=self._samples, passes=self._passes)
                self._trained += self._samples
                self._samples = self._passes = 0
        super().step_ended(optimizer, skipped)
