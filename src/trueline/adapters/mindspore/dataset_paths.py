"""Paths given to MindSpore's own readers, which open files outside of Python."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Final

from trueline.adapters.mindspore.internals import datasets
from trueline.adapters.nouns import Function, Loader
from trueline.adapters.patching import Patches

_ATTRIBUTES: Final = ("dataset_dir", "dataset_file", "dataset_files", "annotation_file")


def watch(receive: Callable[[str], None]) -> Patches:
    """Report every path that a pipeline names, whenever one is started."""
    patches = Patches()

    def make(original: Function) -> Function:
        def start(dataset: Loader, *args: object, **kwargs: object) -> object:
            for path in paths(dataset):
                receive(path)
            return original(dataset, *args, **kwargs)

        return start

    patches.wrap(datasets.Dataset, "create_ir_tree", make)
    return patches


def paths(dataset: Loader) -> Iterator[str]:
    """The paths given to the sources of a pipeline, as written."""
    for name in _ATTRIBUTES:
        given = getattr(dataset, name, None)
        for path in given if isinstance(given, list | tuple) else (given,):
            if isinstance(path, str) and path:
                yield path
    for child in getattr(dataset, "children", ()):
        yield from paths(child)
