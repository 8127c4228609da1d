"""The values of a model's parameters and buffers, out of it and into it."""

from __future__ import annotations

from trueline.adapters.guest.faults import said_for
from trueline.kernel.array import Array
from trueline.pair.child.checkpoints import kept_by
from trueline.pair.child.host import Host
from trueline.pair.questions.model import GetWeights, PutWeights


def get_weights(host: Host, question: GetWeights) -> dict[str, Array]:
    """The values of the named ones, or of all, by the names a checkpoint has."""
    kept = kept_by(host.adapter.name, host.model)
    names = list(kept) if question.names is None else question.names
    with said_for(host.side, "describing"):
        return {name: host.adapter.values.to_numpy(kept[name], copy=True) for name in names}


def put_weights(host: Host, question: PutWeights) -> None:
    """Overwrite the named ones in place."""
    kept = kept_by(host.adapter.name, host.model)
    with said_for(host.side, "loading"):
        for name, array in question.weights.items():
            host.adapter.values.assign(kept[name], array)
