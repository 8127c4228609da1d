"""Loss scales watched, and another one tried: what gradients are, update by update, and what the scaler does."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from trueline.adapters.nouns import Network, Optimizer, Value
from trueline.adapters.scalers import Beginning, Scaler
from trueline.adapters.tree import leaves
from trueline.model.json_value import Json
from trueline.tune.child.gradients import Halves, Taken, read_array
from trueline.tune.child.observer import ExperimentObserver

if TYPE_CHECKING:
    from trueline.adapters.protocol import Adapter
    from trueline.record.run_mode import Experiment
    from trueline.tune.child.teller import Teller

_HALF = "float16"
_BRAIN = "bfloat16"


class ScaleObserver(ExperimentObserver):
    """Settings: ``every`` how many updates gradients are looked at whole; ``scale`` to try, with ``factor`` and
    ``window`` for a scaler that adapts; ``own`` the script's own scale where it is one that nobody tells of."""

    def __init__(self, adapter: Adapter, experiment: Experiment, teller: Teller) -> None:
        super().__init__(adapter, experiment, teller)
        settings = experiment.settings
        self._every = max(int(settings.get("every", 1)), 1)
        self._tried: float | None = settings.get("scale")
        self._own = float(settings.get("own", 1.0))
        self._scale = self._own
        self._adapts = False
        self._halves = Halves()
        self._known: set[int] = set()
        self._backward = False
        self._noted = 0
        self._brain = False
        self._begin_taking()
        self._placed = [adapter.loss_scale.watch_scalers(self._begin_scaler)]
        if self._tried is not None:
            self._placed.append(adapter.loss_scale.multiply_losses(lambda: self._factor))

    def leave(self) -> None:
        """Scalers and losses are the script's own again."""
        for placed in self._placed:
            placed.remove()

    def _begin_taking(self) -> None:
        self._half, self._other, self._activations = Taken(), Taken(), Taken()
        self._passes = 0
        self._clip: Value = None

    @property
    def _whole(self) -> bool:
        """Whether gradients of the coming update are looked at whole."""
        return self.updates % self._every == 0

    @property
    def _factor(self) -> float:
        """What is to be put on the loss besides the script's own scale; a scaler that adapts has begun with it."""
        return 1.0 if self._tried is None or self._adapts else self._tried / self._scale

    @property
    def wants_calls(self) -> bool:
        """What every module returns is of interest, for the gradients that come to it."""
        return self._whole

    def _begin_scaler(self, scaler: Scaler) -> Beginning | None:
        line = scaler.line.line_json() if scaler.line is not None else {"file": None, "line": None}
        self.teller.tell(
            "scaler", kind=scaler.kind, scale=scaler.scale, factor=scaler.factor, window=scaler.window, **line
        )
        if self._tried is None or not scaler.dynamic:
            return None
        self._adapts = True
        settings = self.experiment.settings
        return Beginning(self._tried, float(settings["factor"]), int(settings["window"]))

    # ---- what is heard

    def scale(self, value: Value) -> None:
        """The scale in force for the coming backward pass."""
        self._scale = self.adapter.values.read(value) if not isinstance(value, int | float) else float(value)

    def called(self, module: Network, args: Sequence[Value], kwargs: Mapping[str, Value]) -> None:
        """A module is called: the gradients of its parameters are looked at from now on."""
        if id(module) not in self._known and not self._backward and self.adapter.values.training(module):
            self._known.add(id(module))
            with self._told_trouble():
                self._meet(module)

    def _meet(self, module: Network) -> None:
        for tensor in self.adapter.values.tensors(module):
            if tensor.trainable and id(tensor.value) not in self._known:
                self._known.add(id(tensor.value))
                self.adapter.loss_scale.on_parameter_gradient(tensor.value, self._taker(tensor.value))

    def _taker(self, parameter: Value) -> Callable[[Value], Value]:
        def take(gradient: Value) -> Value:
            with self._told_trouble():
                self._take(parameter, gradient)
                return gradient / self._factor if self._factor != 1 else gradient

        return take

    def _take(self, parameter: Value, gradient: Value) -> None:
        array = read_array(self.adapter.values, gradient)
        if array is not None:
            taken = self._half if self._halves.came_through(parameter, array) else self._other
            taken.add(array, self._scale * self._factor, whole=self._whole)

    def returned(self, module: Network, args: Sequence[Value], kwargs: Mapping[str, Value], output: Value) -> None:
        """A module has returned something, to which a gradient may come."""
        if self._whole and not self._backward:
            with self._told_trouble():
                self._listen(output)

    def _listen(self, output: Value) -> None:
        values = self.adapter.values
        for _, tensor in leaves(output, values.is_tensor):
            kind = values.dtype(tensor)
            self._brain = self._brain or kind == _BRAIN
            if kind == _HALF:
                self._halves.seen = True
                self.adapter.hooks.on_gradient(tensor, self._take_activation)

    def _take_activation(self, gradient: Value) -> None:
        with self._told_trouble():
            array = read_array(self.adapter.values, gradient)
            if array is not None:
                self._activations.add(array, self._scale * self._factor, whole=True)

    def backward_began(self) -> None:
        """What is called within it is only computed again."""
        self._backward = True
        self._passes += 1

    def backward_ended(self) -> None:
        """The gradients are there."""
        self._backward = False

    def clipped(self, kind: str, limit: float, norm: Value) -> None:
        """Gradients are clipped, and their norm is known before that."""
        self._clip = norm

    def step_began(self, optimizer: Optimizer, gradients: Sequence[tuple[Value, Value]] | None) -> None:
        """The gradients since the last update are this one's; a second optimizer of it finds them noted."""
        with self._told_trouble():
            if self.updates != self._noted:
                self._noted = self.updates
                self._note_gradients(optimizer, gradients)

    def _note_gradients(self, optimizer: Optimizer, given: Sequence[tuple[Value, Value]] | None) -> None:
        fields: dict[str, Json] = {"scale": self._scale * self._factor, "half": self._halves.seen, "brain": self._brain}
        if self._half.exponents.total or self._other.exponents.total:
            fields["gradients"] = {
                "half": self._half.to_json(),
                "other": self._other.to_json(),
                "activations": self._activations.to_json(),
            }
            fields["hand"] = self._by_hand(optimizer, given)
        else:
            fields["largest"] = self._half.largest
            fields["largest_other"] = self._other.largest
        fields["nonfinite"] = self._half.nonfinite or self._other.nonfinite or self._activations.nonfinite
        self.note(**fields)
        self._begin_taking()

    def _by_hand(self, optimizer: Optimizer, given: Sequence[tuple[Value, Value]] | None) -> float | None:
        """How much larger gradients were after backward than when they were stepped with, or clipped: a scale."""
        values = self.adapter.values
        settings = [group.settings for group in values.groups(optimizer)]
        divided = next((group["loss_scale"] for group in settings if "loss_scale" in group), 1)
        norm = self._clip
        if norm is None and given:
            norm = values.norm([gradient for _, gradient in given])
        if norm is None or self._passes != 1:
            return None
        stepped = values.read(norm) / float(divided)
        squares = self._half.squares + self._other.squares
        return float(squares**0.5 / self._factor / stepped) if stepped > 0 else None
