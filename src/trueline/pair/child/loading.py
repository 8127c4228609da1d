"""A weight file into the model: the framework's own way where it knows the format, else through TrueLine's readers."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from trueline.adapters.guest.faults import said_for
from trueline.adapters.guest.trouble import SideTrouble
from trueline.adapters.guest.wire import Content
from trueline.adapters.protocol import Adapter, Values
from trueline.formats.kinds import Format, look
from trueline.formats.opening import open_weights
from trueline.formats.weights import Weights
from trueline.kernel.array import Array
from trueline.model.trouble import Trouble
from trueline.pair.child.checkpoints import Checkpoints, checkpoints_of
from trueline.pair.child.host import Answer, Host
from trueline.pair.sides.described import Loaded, Misfit

_READ_HERE = "trueline"
_WEIGHTS = (Format.PTH, Format.PTH_SHARDS, Format.CKPT, Format.SAFETENSORS, Format.NPZ)


def answer_load(host: Host, content: Content, _: list[Array]) -> Answer:
    """The JSON of a Loaded."""
    return {"loaded": _load(host.side, host.model, host.adapter, Path(content["path"]), content["strict"])}, []


def _load(side: str, model: Any, adapter: Adapter, path: Path, strict: bool) -> dict[str, Any]:
    """With ``strict`` another shape than the model's is a trouble."""
    found = look(path)
    if found.format not in _WEIGHTS:
        raise SideTrouble("side.no_weights", side=side, path=str(path))
    weights = open_weights(found)
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
        unfit = {one.name for one in misfits}
        fitting = {name: one for name, one in tensors.items() if name in own and name not in unfit}
        missing = _put(checkpoints, adapter.values, model, own, fitting, by)
        return Loaded(
            by,
            len(fitting),
            _really_missing(adapter.values, own, missing, fitting, unfit),
            [name for name in tensors if name not in own],
            misfits,
        ).to_json()


def _tensors(checkpoints: Checkpoints, weights: Weights) -> tuple[str, Mapping[str, Any]]:
    found = checkpoints.read(weights.path, weights.format, weights.nested)
    return found if found is not None else (_READ_HERE, weights.model)


def _misfits(values: Values, tensors: Mapping[str, Any], own: Mapping[str, Any]) -> Iterator[Misfit]:
    for name, one in tensors.items():
        if name in own:
            here, there = tuple(int(side) for side in one.shape), values.shape(own[name])
            if here != there:
                yield Misfit(name, here, there)


def _put(
    checkpoints: Checkpoints, values: Values, model: Any, own: Mapping[str, Any], fitting: Mapping[str, Any], by: str
) -> list[str]:
    if by != _READ_HERE:
        return checkpoints.put(model, fitting)
    for name, one in fitting.items():
        values.assign(own[name], one.array())
    return [name for name in own if name not in fitting]


def _really_missing(
    values: Values, own: Mapping[str, Any], missing: Sequence[str], fitting: Mapping[str, Any], unfit: set[str]
) -> list[str]:
    """Without what was given under another name of the same tensor."""
    given = {values.identity(own[name]) for name in fitting}
    return [
        name for name in missing if name not in unfit and (name not in own or values.identity(own[name]) not in given)
    ]


def _size(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape)) or "()"
