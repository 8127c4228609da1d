"""The loss stage: the same outputs and labels into both losses, and into NumPy's."""

from __future__ import annotations

from collections.abc import Sequence

from trueline.kernel.array import Array
from trueline.model.message import Message, message
from trueline.pair.blame import Stage, StageResult, StageVerdict
from trueline.pair.loss.answers import Answered, Compared, Failed, ask, compare, taken_by_both
from trueline.pair.loss.blames import blames_of
from trueline.pair.loss.cases import OPTIONAL, CaseName, cases
from trueline.pair.loss.ignored import ignoring
from trueline.pair.loss.suspects import LossComparison
from trueline.pair.questions.parts import GiveBatches
from trueline.pair.sides.parts import Parts, skipped
from trueline.pair.sides.side import Side


def loss_stage(
    bench: Side, port: Side, parts: Parts, *, outputs: Sequence[Array] | None = None, seed: int = 0
) -> StageResult:
    """Compare value and gradient of both losses; ``outputs`` of the benchmark say which shape the losses take."""
    if not parts.both("loss"):
        return skipped(Stage.LOSS, parts, "loss")
    labels = _labels(bench, parts)
    taken = taken_by_both(bench, port, outputs, labels, seed)
    abouts = [ask(side, [], kind)[1] for side, kind in ((bench, taken.bench), (port, taken.port))]
    ignored = ignoring(labels, taken.layout.classes, abouts[0], abouts[1])
    chosen = list(cases(taken.layout, taken.given, taken.bench, ignored.tried, seed))
    if taken.bench is not taken.port:
        chosen = [case for case in chosen if case.name not in (CaseName.IGNORED, CaseName.SOFT)]
    there, here = ask(bench, chosen, taken.bench)[0], ask(port, chosen, taken.port)[0]
    for answers in (there, here):
        if isinstance(answers[0], Failed):
            raise answers[0].trouble
    compared = [compare(*one) for one in zip(chosen, there, here, strict=True)]
    judged = [case for case in compared if case.case.name not in OPTIONAL]
    apart = [case for case in judged if case.apart and case.case.name is not CaseName.EXTREME]
    blames = ignored.blames(*abouts)
    if apart:
        blames += blames_of(LossComparison(compared, abouts[0], abouts[1], ignored.real))
    if blames:
        text = message("pair_parts.loss_told", count=len(judged))
        if apart:
            text = message("pair_parts.loss_found", apart=len(apart), count=len(judged))
        return StageResult(Stage.LOSS, StageVerdict.FOUND, text, blames)
    level = max(case.level for case in judged if not case.apart)
    text = message("pair_parts.loss_passed", count=len(judged), level=level, but=_extreme(judged))
    return StageResult(Stage.LOSS, StageVerdict.PASSED, text, rules_out=message("pair_parts.loss_rules_out"))


def _extreme(judged: Sequence[Compared]) -> Message | str:
    """Outputs in the hundreds overflow in some losses of the frameworks' own: reported, and no fault."""
    for compared in judged:
        if compared.apart and isinstance(compared.bench, Answered) and isinstance(compared.port, Answered):
            return message(
                "pair_parts.loss_but", bench=float(compared.bench.value.mean()), port=float(compared.port.value.mean())
            )
    return ""


def _labels(bench: Side, parts: Parts) -> Array | None:
    """Real labels, where the file with parts has batches."""
    if not parts.both("batches"):
        return None
    return bench.answer(GiveBatches("batches", 1)).batches[0][-1]
