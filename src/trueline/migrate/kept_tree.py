"""A nested file of torch.save as it is, with the model's weights replaced by the converted ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from trueline.formats.outgoing import Outgoing
from trueline.formats.stored import Stored
from trueline.formats.weights import LEFT_OUT, Keys, Nested
from trueline.migrate.plan import Dropped
from trueline.model.message import message

_PLAIN: Final = (bool, int, float, str, type(None))


def kept_tree(
    whole: Nested, model: Mapping[str, Outgoing], wanted: Callable[[str], bool]
) -> tuple[dict[Any, object], list[Dropped]]:
    """The tree with what is ``wanted`` by its key at the top; what cannot be written again as it is, is named."""
    dropped: list[Dropped] = []
    home = whole.home

    def leaf(keys: Keys, value: object) -> object:
        if keys in whole.model or not _kept(keys[0]):
            return LEFT_OUT
        if isinstance(value, Stored):
            # An array beside the model below the same key is another part of the file.
            return Outgoing.of(value, ".".join(keys)) if wanted(keys[0]) else LEFT_OUT
        if isinstance(value, _PLAIN):
            return value
        dropped.append(Dropped(".".join(keys), message("convert.not_plain")))
        return LEFT_OUT

    def _kept(top: str) -> bool:
        return wanted(top) or home[:1] == (top,)

    tree = {key: one for key, one in whole.rebuilt(leaf).items() if _kept(str(key))}
    place = tree
    for key in home:
        place = place.setdefault(next((one for one in place if str(one) == key), key), {})
    place.update(model)
    return tree, dropped
