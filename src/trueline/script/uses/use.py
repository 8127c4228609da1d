"""One use of an API in a source: where it stands, what it is called, and how it is called."""

from __future__ import annotations

from enum import StrEnum
from typing import NamedTuple


class UseKind(StrEnum):
    """How an API is used."""

    CALL = "call"  # nn.Conv2d(3, 8, 3), torch.cat(parts)
    METHOD = "method"  # x.view(2, -1), optimizer.step()
    ATTRIBUTE = "attribute"  # x.shape, model.training
    VALUE = "value"  # act_layer=nn.GELU, torch.float32
    PARTIAL = "partial"  # functools.partial(nn.LayerNorm, eps=1e-6): the arguments are those given to it
    INDIRECT = "indirect"  # a call through a name of the script: act_layer(), where that stands for nn.GELU
    BASE = "base"  # class Net(nn.Module)
    DECORATOR = "decorator"  # @torch.no_grad()
    ANNOTATION = "annotation"  # x: torch.Tensor, isinstance(x, torch.Tensor): the name of a type
    UNDECIDED = "undecided"  # x.view(2, -1), where nothing says what x is


class Argument(NamedTuple):
    """An argument as it is written; ``name`` is None where it is given by place, ``*`` and ``**`` for unpacked ones.

    Columns are those of ``ast``: offsets in UTF-8.
    """

    name: str | None
    text: str
    line: int
    column: int
    end_line: int
    end_column: int


class Call(NamedTuple):
    """The arguments of a call, and where its closing bracket ends."""

    arguments: tuple[Argument, ...]
    end_line: int
    end_column: int

    @property
    def unpacked(self) -> bool:
        """Whether ``*`` or ``**`` gives arguments that are not to be seen."""
        return any(argument.name in ("*", "**") for argument in self.arguments)


class Use(NamedTuple):
    """One use; its place is that of the name: ``nn.Conv2d`` of ``nn.Conv2d(3, 8, 3)``, ``x.view`` of ``x.view(2)``.

    ``name`` is canonical (``torch.Tensor.view``; ``.view`` where the receiver is not known), ``full`` the name as the
    imports resolve it. ``receiver`` is the source of what a method is called on. ``scope`` is the function or method
    around it, ``Net.forward``; empty at the top of a file.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    name: str
    full: str
    framework: str  # torch, mindspore, or a package built on one of them: timm
    kind: UseKind
    call: Call | None = None
    receiver: str = ""
    scope: str = ""

    @property
    def decided(self) -> bool:
        """Whether it is known what is used."""
        return self.kind is not UseKind.UNDECIDED

    @property
    def end(self) -> tuple[int, int]:
        """Where the name ends."""
        return self.end_line, self.end_column
