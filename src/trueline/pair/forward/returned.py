"""What both networks return: the number of tensors, and how these are put together."""

from __future__ import annotations

from typing import Final

from trueline.model.message import Message, message
from trueline.pair.blame import Blame, Cause, Stage
from trueline.pair.questions.recording import Returned

_SHOWN: Final = 6


def other_outputs(bench: Returned, port: Returned) -> Blame | None:
    """Another number of tensors than the benchmark's, which nothing makes the same."""
    if len(bench.names) == len(port.names):
        return None
    words = _both(bench, port)
    text, edit = message("pair_stage.other_outputs", **words), message("pair_stage.other_outputs_edit", **words)
    return Blame(Stage.FORWARD, Cause.UNKNOWN, text, bench=len(bench.names), port=len(port.names), edit=edit)


def returned_otherwise(bench: Returned, port: Returned) -> Message | None:
    """What there is to say where the tensors are not put together alike; a tuple is a list, a record a dict."""
    if (bench.form, bench.names) == (port.form, port.names):
        return None
    same = len(bench.names) == len(port.names)
    return message("pair_stage.returned_in_order" if same else "pair_stage.returned_more", **_both(bench, port))


def _both(bench: Returned, port: Returned) -> dict[str, Message]:
    return {"bench": _in_words(bench), "port": _in_words(port)}


def _in_words(returned: Returned) -> Message:
    count = len(returned.names)
    if returned.form == "tensor":
        return message("pair_stage.returned_tensor")
    if returned.form == "sequence":
        return message("pair_stage.returned_several", kind=returned.kind, count=count)
    names = ", ".join(returned.names[:_SHOWN]) + (", …" if count > _SHOWN else "")
    return message("pair_stage.returned_named", kind=returned.kind, count=count, names=names)
