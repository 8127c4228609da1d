"""What is said of one use: what becomes of it, why, and what to do."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.locale import language
from trueline.migrate.lab.report import conditions_words
from trueline.migrate.scan.counterparts import Route
from trueline.migrate.scan.judging import Judged, Verdict
from trueline.migrate.scan.scanned import is_documented
from trueline.model.message import Message, message


def outcome_said(judged: Judged) -> Message:
    """What becomes of it, in a word or two."""
    if judged.verdict is Verdict.UNMEASURED:
        label = judged.pair.documented if judged.pair is not None else "same_name"
        return message("scan.unmeasured_as", documented=Message(f"scan.documented_{label}"))
    return Message(f"scan.verdict_{judged.verdict.value}")


def supported_said(judged: Judged) -> Message:
    """The guide's third column: yes, no, or under which condition."""
    if judged.verdict is Verdict.MAPS or is_documented(judged):
        return message("scan.supported")
    if judged.verdict is Verdict.MISSING:
        return message("scan.not_supported")
    return outcome_said(judged)


def todo_said(judged: Judged) -> Message | str:
    """What to do, as far as it is known."""
    said = list(_todo(judged))
    if not said:
        return ""
    found: Message = said[0]
    for more in said[1:]:
        found = message("scan.and_then", first=found, second=more)
    return found


def _todo(judged: Judged) -> Iterator[Message]:
    for relied in judged.relied:
        values = {"argument": relied.argument, "here": relied.here, "there": relied.there}
        if relied.write:
            yield message("scan.relied", write=relied.write, **values)
        else:
            yield message("scan.relied_without", **values)
    if judged.relied and not judged.whole:
        yield message("scan.not_all_seen")
    if judged.verdict in (Verdict.DIFFERS, Verdict.RAISES) and judged.row is not None and judged.row.differences:
        # The difference that this call meets, not one of NaN or of another type.
        example = (judged.met or judged.row.differences)[0].example
        yield message("scan.example", torch=example.torch, gives=example.torch_gives, other=example.mindspore_gives)
    if judged.written:
        yield message("scan.written", arguments=", ".join(judged.written))
    if judged.left_out:
        yield message("scan.leave_out", arguments=", ".join(judged.left_out))
    if judged.only_for:
        yield message("scan.only_for", conditions=conditions_words(judged.only_for))
    if judged.pair is not None and judged.counterparts.route is Route.OUT_OF_PLACE:
        yield message("scan.out_of_place")
    if judged.pair is not None and judged.counterparts.route is Route.FUNCTION:
        yield message("scan.as_function")
    if judged.way is not None:
        yield message("scan.way", text=judged.way.said(language()))
