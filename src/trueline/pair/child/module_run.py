"""One module by itself, as it is or with one thing changed, on given arrays; the model stays as it was."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Final

from trueline.adapters.guest.faults import first_line
from trueline.adapters.nouns import Network, Value
from trueline.adapters.tree import leaves
from trueline.kernel.array import Array
from trueline.model.trouble import Trouble
from trueline.pair.child.changing import Changing
from trueline.pair.child.host import Host
from trueline.pair.questions.module_run import Ran, RunModule

_SHORT_FLOATS: Final = ("float16", "bfloat16")


def run_module(host: Host, question: RunModule) -> Ran:
    """Outputs, and with ``gout`` the gradients; ``failed`` is what the try raised, where it could not be done."""
    try:
        return _Trying(host, question).ran()
    except Exception as error:  # noqa: BLE001 - a changed module may fail in any way, which is an answer too
        traceback.print_exception(error)
        text = error.message.text("en") if isinstance(error, Trouble) else first_line(error)
        return Ran(failed=f"{type(error).__name__}: {text}")


class _Trying:
    def __init__(self, host: Host, question: RunModule) -> None:
        self.host, self.question, self.change = host, question, question.change
        self.values, self.build = host.adapter.values, host.adapter.build
        module = dict(self.values.modules(host.model))[question.path]
        self.changing = Changing(host.adapter, module, question.change, question.lacking)
        self.dropped: list[Array | None] = []

    def ran(self) -> Ran:
        """Run, with the change."""
        module = self.changing.made()
        train = self.question.train
        self.host.adapter.state.seed(self.question.seed, deterministic=False)
        with self.changing.applied(module), self.build.undisturbed(module, train), self._dropping(module):
            outputs, gin, grads = self._run(module)
            after = {} if not train else self._buffers(module)
        dtypes = sorted({self.values.dtype(tensor.value) for tensor in self.values.tensors(module)})
        return Ran(outputs, gin, grads, after, dtypes, dropped=self.dropped)

    def _dropping(self, module: Network) -> AbstractContextManager[None]:
        """In the block each dropout drops what it does, nothing, or what is wished, in their order."""
        wished = self.question.dropout
        steady = self.host.adapter.steady
        if self.question.masks is not None:
            return steady.without_dropout(module, self._unseen, self._masked)
        if wished is True:
            return nullcontext()
        if wished is False:
            return steady.without_dropout(module)
        remaining = iter(wished)
        return steady.without_dropout(module, lambda share: next(remaining, share))

    def _unseen(self, _: float) -> float:
        """A dropout inside a function of the framework."""
        self.dropped.append(None)
        return 0.0

    def _masked(self, value: Value, _: float) -> Value:
        """What a dropout is given, masked as is asked for."""
        masks, place = self.question.masks or (), len(self.dropped)
        self.dropped.append(self.values.to_numpy(value, copy=True))
        mask = masks[place] if place < len(masks) else None
        return value if mask is None else value * self.values.from_numpy(mask, like=value)

    def _run(self, module: Network) -> tuple[Sequence[Array], Sequence[Array | None], Mapping[str, Array]]:
        given = [self._tensor(array) for array in self.changing.padded(self.question.inputs)]
        call = self._call(module)
        trained = (tensor for tensor in self.values.tensors(module) if tensor.trainable and not tensor.buffer)
        named = {tensor.name: tensor.value for tensor in trained}
        gout = self.question.gout
        if gout is None:
            with self.host.adapter.autograd.without_gradient():
                return self._forward(call, given), [], {}
        pulled = self.host.adapter.autograd.vjp(call, given, list(named.values()), gout)
        grads = {name: grad for name, grad in zip(named, pulled.grads, strict=True) if grad is not None}
        return pulled.outputs, self._cropped(pulled.gin), grads

    def _tensor(self, array: Array) -> Value:
        """An input as the module takes it: of shorter floats where its weights are."""
        floating = (tensor.value for tensor in self.values.tensors(self.changing.module))
        first = next((value for value in floating if "float" in self.values.dtype(value)), None)
        short = first is not None and "float" in array.dtype.name and self.values.dtype(first) in _SHORT_FLOATS
        return self.values.from_numpy(array, like=first if short else None)

    def _forward(self, call: Callable[..., Value], given: Sequence[Value]) -> list[Array]:
        tensors = leaves(call(*given), self.values.is_tensor)
        return [self.values.to_numpy(tensor, copy=True) for _, tensor in tensors]

    def _call(self, module: Network) -> Callable[..., Value]:
        template = self.host.templates.get((self.question.path, self.question.call))
        if template is None or template.count != len(self.question.inputs):
            called: Callable[..., Value] = module
            return called

        def call(*tensors: Value) -> Value:
            args, kwargs = template.filled(tensors)
            return module(*args, **kwargs)

        return call

    def _cropped(self, gin: Sequence[Array | None]) -> list[Array | None]:
        pads = self.change.pads
        if not pads or not gin or gin[0] is None:
            return list(gin)
        first: Array = gin[0]
        for axis, (before, after) in enumerate(pads, first.ndim - len(pads)):
            first = first.take(range(before, first.shape[axis] - after), axis)
        return [first, *gin[1:]]

    def _buffers(self, module: Network) -> dict[str, Array]:
        buffers = (tensor for tensor in self.values.tensors(module) if tensor.buffer)
        return {tensor.name: self.values.to_numpy(tensor.value, copy=True) for tensor in buffers}
