"""``convert --verify``: both models with their files, fed the same, their outputs held against noise."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from trueline.adapters.guest.trouble import SideTrouble
from trueline.kernel.array import Array
from trueline.model.finding import Conclusion, Finding
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.model.report import Text
from trueline.model.trouble import BadUsage
from trueline.pair.sides.inputs import guess_inputs, make_inputs, parse_input
from trueline.pair.sides.side import Side
from trueline.pair.verify import Verified, verify

OUTPUTS = "pr.01"


def fed(bench: Side, source: Path, inputs: Sequence[str]) -> list[Array]:
    """What both models are fed: as the user says, else as the first layer tells; the file is in the first by then."""
    bench.load(source)
    if inputs:
        arrays = make_inputs([parse_input(one) for one in inputs])
        bench.forward(arrays)
        return arrays
    guessed = guess_inputs(bench.describe())
    if guessed is None:
        raise BadUsage("convert.verify_no_input", model=str(bench.entry))
    arrays = guessed
    try:
        bench.forward(arrays)
    except SideTrouble as trouble:
        if trouble.message.id != "side.raised_running":
            raise
        shapes = ", ".join("x".join(map(str, array.shape)) for array in arrays)
        raise BadUsage("convert.verify_bad_guess", reason=str(trouble), shapes=shapes) from None
    return arrays


def verified(sides: Sequence[Side], source: Path, output: Path, arrays: Sequence[Array]) -> dict[str, object]:
    """What a verification adds to the answer: findings, fields of the JSON and blocks."""
    bench, port = sides
    findings = [one for one in (_load(bench, source), _load(port, output)) if one is not None]
    if findings:
        return {"findings": findings, "fields": {"verified": None}}
    found = verify(bench, port, arrays)
    names = {"bench": str(bench.entry), "port": str(port.entry)}
    finding, text = _verdict(found, names)
    return {
        "findings": [finding] if finding is not None else [],
        "fields": {"verified": found.to_json()},
        "blocks": [Text(text)] if text is not None else [],
    }


def _load(side: Side, path: Path) -> Finding | None:
    loaded = side.load(path)
    # Counters that torch itself does without.
    missing = [name for name in loaded.missing if not name.endswith("num_batches_tracked")]
    if not missing and not loaded.unexpected:
        return None
    text = message(
        "convert.verify_unloaded",
        file=path.name,
        model=str(side.entry),
        missing=len(missing),
        unexpected=len(loaded.unexpected),
        name=[*missing, *loaded.unexpected][0],
    )
    return Finding(OUTPUTS, Conclusion.FOUND, text, where=Location(side=str(side.entry)))


def _verdict(found: Verified, names: dict[str, str]) -> tuple[Finding | None, Message | None]:
    worst = found.worst
    if found.counts[0] != found.counts[1] or worst is None:
        text = message("convert.verify_count", here=found.counts[0], there=found.counts[1], **names)
        return Finding(OUTPUTS, Conclusion.FOUND, text), None
    level, floor = f"{worst.level:.2g}", f"{worst.floor.value:.2g}"
    if worst.verdict.value == "differs":
        times = f"{worst.level / worst.floor.value:.3g}" if worst.floor.value else "inf"
        text = message("convert.verify_differs", level=level, times=times, floor=floor, **names)
        advice = message("convert.verify_advice")
        finding = Finding(OUTPUTS, Conclusion.FOUND, text, advice=advice, measured=worst.level, limit=worst.floor.value)
        return finding, None
    if all(output.blind for output in found.outputs):
        return None, message("convert.verified_blind")
    if worst.verdict.value == "equal":
        return None, message("convert.verified_equal", **names)
    return None, message("convert.verified_noise", level=level, floor=floor, **names)
