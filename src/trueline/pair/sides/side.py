"""A user's model in a process of its own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from trueline.adapters.guest.guest import Guest
from trueline.adapters.guest.wire import Content
from trueline.kernel.array import Array
from trueline.model.message import Message, message
from trueline.pair.questions.described import Describe, Described, Load, Loaded
from trueline.pair.questions.model import Forward, Operators
from trueline.pair.questions.question import Answer, Question, answer_type, pack, unpack


class Side(Guest):
    """The model of one entry point; ``questions/`` is what it can be asked for."""

    HOST: ClassVar[str] = "trueline.pair.child.host"
    _ops: Mapping[str, Sequence[str]] | None = None

    def answer(self, question: Question[Answer]) -> Answer:
        """What its process answers to a question."""
        asked, given = pack(question)
        content, arrays = self.ask({"do": type(question).__name__, "question": asked}, given)
        try:
            return unpack(answer_type(type(question)), content["answer"], arrays)
        except (ValueError, KeyError) as error:
            raise self.garbled(error) from None

    def left_out(self) -> list[Message]:
        """What of the user's modules was not run when they were imported, once it is built; a sentence for each."""
        return [each for content in self.build_reply().get("left_out", ()) for each in _left_out(content)]

    def describe(self, *, summaries: bool = False) -> Described:
        """What the model consists of; with ``summaries`` the numbers of its values too."""
        return self.answer(Describe(summaries))

    def load(self, path: Path, *, strict: bool = True) -> Loaded:
        """Load a weight file the framework's own way.

        What the file or the model lacks is in the answer; another shape is a trouble, and in the answer only where not
        ``strict``.
        """
        return self.answer(Load(str(path.absolute()), strict))

    def forward(
        self, inputs: Sequence[Array], *, train: bool = False, perturbed: int | None = None, ulps: int = 1
    ) -> Sequence[Array]:
        """The tensors of the output, in order; the model stays as it was.

        ``perturbed`` is a seed: inputs and layers are then moved by ``ulps`` rounding units at most.
        """
        return self.answer(Forward(inputs, train, perturbed, ulps))

    def ops(self, inputs: Sequence[Array]) -> Mapping[str, Sequence[str]]:
        """The names of the operators that inputs go through, in lower case, by the module that runs them.

        Asked once: inputs of another size go through the same.
        """
        if self._ops is None:
            self._ops = self.answer(Operators(inputs)).by_module
        return self._ops


def _left_out(content: Content) -> Iterator[Message]:
    words = {name: content[name] for name in ("file", "line", "call", "lines", "count")}
    yield message("side.left_out", **words)
    for name, line in content["stale"]:
        yield message("side.left_out_again", file=content["file"], name=name, line=line)
