"""The values of a model's parameters and buffers, out of it and into it."""

from __future__ import annotations

from trueline.adapters.guest.faults import said_for
from trueline.adapters.guest.wire import Content
from trueline.kernel.array import Array
from trueline.pair.child.checkpoints import kept_by
from trueline.pair.child.host import Answer, Host


def answer_get(host: Host, content: Content, _: list[Array]) -> Answer:
    """The values of the named ones, or of all, by the names a checkpoint has."""
    kept = kept_by(host.adapter.name, host.model)
    names = content.get("names") or list(kept)
    with said_for(host.side, "describing"):
        return {"names": names}, [host.adapter.values.to_numpy(kept[name], copy=True) for name in names]


def answer_put(host: Host, content: Content, arrays: list[Array]) -> Answer:
    """Overwrite the named ones in place."""
    kept = kept_by(host.adapter.name, host.model)
    with said_for(host.side, "loading"):
        for name, array in zip(content["names"], arrays, strict=True):
            host.adapter.values.assign(kept[name], array)
    return {}, []
