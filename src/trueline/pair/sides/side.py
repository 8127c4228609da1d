"""A user's model in a process of its own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from trueline.adapters.guest.guest import Guest
from trueline.kernel.array import Array
from trueline.pair.sides.described import Described, Loaded


class Side(Guest):
    """The model of one entry point; ``child/host.py`` lists what it can be asked for."""

    HOST: ClassVar[str] = "trueline.pair.child.host"

    def describe(self, *, summaries: bool = False) -> Described:
        """What the model consists of; with ``summaries`` the numbers of its values too."""
        content, _ = self.ask({"do": "describe", "summaries": summaries})
        try:
            return Described.from_json(content["described"])
        except (ValueError, KeyError) as error:
            raise self.garbled(error) from None

    def load(self, path: Path, *, strict: bool = True) -> Loaded:
        """Load a weight file the framework's own way.

        What the file or the model lacks is told, not raised; another shape is a trouble, and only told where not
        ``strict``.
        """
        content, _ = self.ask({"do": "load", "path": str(path.absolute()), "strict": strict})
        try:
            return Loaded.from_json(content["loaded"])
        except (ValueError, KeyError) as error:
            raise self.garbled(error) from None

    def forward(
        self, arrays: Sequence[Array], *, train: bool = False, perturbed: int | None = None, ulps: int = 1
    ) -> list[Array]:
        """The tensors of the output, in order; the model stays as it was.

        ``perturbed`` is a seed: inputs and layers are then moved by ``ulps`` rounding units at most.
        """
        asked = {"do": "forward", "train": train, "perturbed": perturbed, "ulps": ulps}
        return self.ask(asked, arrays)[1]

    def ops(self, arrays: Sequence[Array]) -> frozenset[str]:
        """The names of the operators that these inputs go through, in lower case."""
        content, _ = self.ask({"do": "ops"}, arrays)
        return frozenset(str(one) for one in content["ops"])
