"""Objects that batch samples, reported at construction, so that another batch size can be requested.

Users construct loaders in loops and functions: a ``site`` identifies the user's call stack of a construction, and is
the same in every run of the script.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from trueline.adapters.identity import ByIdentity
from trueline.adapters.lines import user_line, user_lines
from trueline.adapters.nouns import Foreign, Loader, Value
from trueline.model.location import Location


@dataclass(frozen=True, slots=True)
class Batcher:
    """One batcher: its number in order of construction, its kind, batch size and location.

    ``size`` is None where it is no number that could be another one; ``why`` then says who decides instead: the
    ``dataset``, a ``sampler``, a ``function``, or the ``length`` of samples.
    """

    number: int
    kind: str
    size: int | None
    site: str
    line: Location | None
    why: str | None = None


# Which size it is to have; None for its own.
Resize = Callable[[Batcher], int | None]


class Batchers:
    """The batchers constructed while watched, by the object that holds each."""

    def __init__(self, resize: Resize, package: str) -> None:
        self._resize = resize
        self._package = package
        self._numbers: ByIdentity[int] = ByIdentity()
        self._next = 0

    def ask(self, holder: object, kind: str, size: int | None, why: str | None = None) -> int | None:
        """A batcher of this size is being constructed in ``holder``: the size to use instead, None to keep it."""
        frame = sys._getframe(1)
        self._numbers.set(holder, self._next)
        batcher = Batcher(
            self._next,
            kind,
            size,
            _site(user_lines(self._package, frame=frame)),
            user_line(self._package, frame=frame),
            why,
        )
        self._next += 1
        wanted = self._resize(batcher)
        return wanted if size is not None and wanted != size else None

    def number(self, holder: object) -> int | None:
        """The number of the batcher held by an object."""
        return self._numbers.get(holder)


def _site(lines: list[Location]) -> str:
    text = "\n".join(f"{line.file}:{line.line}" for line in lines)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:16]


def building(
    batchers: Batchers, is_reporting: Callable[[], bool]
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Wraps a loader's constructor that has ``batch_size``, ``sampler`` and ``batch_sampler`` parameters."""

    def make(original: Callable[..., None]) -> Callable[..., None]:
        signature = inspect.signature(original)

        def begin(loader: Loader, *args: object, **kwargs: object) -> None:
            if not is_reporting():
                original(loader, *args, **kwargs)
                return
            try:
                given = signature.bind(loader, *args, **kwargs)
            except TypeError:
                # The constructor itself says what is wrong with the arguments.
                original(loader, *args, **kwargs)
                return
            _resize_arguments(batchers, loader, given.arguments)
            original(*given.args, **given.kwargs)

        return begin

    return make


def _resize_arguments(batchers: Batchers, loader: Loader, given: dict[str, Value]) -> None:
    kind = type(loader).__name__
    sampler = given.get("batch_sampler")
    if sampler is None and given.get("batch_size", 1) is None:
        # Nothing is put together here, unless the sampler hands out the indexes of whole batches.
        sampler = given.get("sampler")
        if _own_size(sampler) is None:
            batchers.ask(loader, kind, None, "dataset")
            return
    if sampler is None:
        wanted = batchers.ask(loader, kind, _number(given.get("batch_size", 1)))
        if wanted is not None:
            given["batch_size"] = wanted
        return
    size = _own_size(sampler)
    wanted = batchers.ask(loader, kind, size, None if size is not None else "sampler")
    if wanted is not None:
        # In place: the script may ask the sampler for its length.
        sampler.batch_size = wanted


def _own_size(sampler: Foreign) -> int | None:
    return _number(getattr(sampler, "batch_size", None))


def _number(value: Value) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else None


def held(arguments: Mapping[str, object]) -> tuple[int | None, str | None]:
    """The size passed to a batch operator, or the reason why there is none: a function decides."""
    size = _number(arguments.get("batch_size"))
    return (size, None) if size is not None else (None, "function")
