"""A weight file into the model: the framework's own way where it knows the format, else through TrueLine's readers."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from trueline.adapters.guest.faults import said_for
from trueline.adapters.guest.trouble import SideTrouble
from trueline.adapters.nouns import Network, Value
from trueline.adapters.protocol import Adapter, Values
from trueline.formats.kinds import Format, look
from trueline.formats.opening import open_weights
from trueline.formats.weights import Weights
from trueline.model.trouble import Trouble
from trueline.pair.child.checkpoints import Checkpoints, checkpoints_of
from trueline.pair.child.host import Host
from trueline.pair.questions.described import Load, Loaded, Misfit

_READ_HERE = "trueline"
_WEIGHTS = (Format.PTH, Format.PTH_SHARDS, Format.CKPT, Format.SAFETENSORS, Format.NPZ)


def load(host: Host, question: Load) -> Loaded:
    """Read the file, and give the model what fits."""
    return _load(host.side, host.model, host.adapter, Path(question.path), question.strict)


def _load(side: str, model: Network, adapter: Adapter, path: Path, strict: bool) -> Loaded:
    """With ``strict`` another shape than the model's is a trouble."""
    looked = look(path)
    if looked.format not in _WEIGHTS:
        raise SideTrouble("side.no_weights", side=side, path=str(path))
    weights = open_weights(looked)
    checkpoints = checkpoints_of(adapter.name)
    try:
        by, tensors = _tensors(checkpoints, weights)
    except (Trouble, KeyboardInterrupt):
        raise
    except Exception as error:  # noqa: BLE001 - frameworks raise anything at a file they do not like
        traceback.print_exception(error)
        # What lies beside the weights need not please the framework; TrueLine's reader has read them.
        by, tensors = _READ_HERE, weights.model
    with said_for(side, "loading"):
        own = checkpoints.kept(model)
        misfits = list(_misfits(adapter.values, tensors, own))
        if misfits and strict:
            first = misfits[0]
            raise SideTrouble(
                "side.misfit",
                side=side,
                path=str(path),
                name=first.name,
                found=_size(first.in_file),
                wanted=_size(first.in_model),
            )
        unfit = {misfit.name for misfit in misfits}
        fitting = {name: tensor for name, tensor in tensors.items() if name in own and name not in unfit}
        missing = _put(checkpoints, adapter.values, model, own, fitting, by)
        return Loaded(
            by,
            len(fitting),
            _really_missing(adapter.values, own, missing, fitting, unfit),
            [name for name in tensors if name not in own],
            misfits,
        )


def _tensors(checkpoints: Checkpoints, weights: Weights) -> tuple[str, Mapping[str, Value]]:
    found = checkpoints.read(weights.path, weights.format, weights.nested)
    return found if found is not None else (_READ_HERE, weights.model)


def _misfits(values: Values, tensors: Mapping[str, Value], own: Mapping[str, Value]) -> Iterator[Misfit]:
    for name, tensor in tensors.items():
        if name in own:
            here, there = tuple(int(side) for side in tensor.shape), values.shape(own[name])
            if here != there:
                yield Misfit(name, here, there)


def _put(
    checkpoints: Checkpoints,
    values: Values,
    model: Network,
    own: Mapping[str, Value],
    fitting: Mapping[str, Value],
    by: str,
) -> list[str]:
    if by != _READ_HERE:
        return checkpoints.put(model, fitting)
    for name, tensor in fitting.items():
        values.assign(own[name], tensor.array())
    return [name for name in own if name not in fitting]


def _really_missing(
    values: Values, own: Mapping[str, Value], missing: Sequence[str], fitting: Mapping[str, Value], unfit: set[str]
) -> list[str]:
    """Without what was given under another name of the same tensor."""
    given = {values.identity(own[name]) for name in fitting}
    return [
        name for name in missing if name not in unfit and (name not in own or values.identity(own[name]) not in given)
    ]


def _size(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "()"
