"""Which finding follows from which: only roots are counted and shown on top."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from trueline.model.finding import Conclusion, Finding, Where

_BY: Final = "by"
_SCRIPT: Final = "script"
_READ: Final = (_SCRIPT, "script + run")
_BOTH_SCRIPTS: Final = "script + bench_script"


def _not_later(root: Where, other: Where) -> bool:
    """The root was there when the other one showed; what has no step was there from the beginning."""
    return other.step is None or (root.step or 0) <= other.step


def _written(root: Finding, other: Finding) -> bool:
    """The root is a number that the source itself shows to be absurd, and the other one was only seen to happen."""
    return _is_read(root) and not _is_read(other)


def _happened(root: Finding, other: Finding) -> bool:
    """The other one was seen to happen: a number that is absurd as it is written follows from nothing."""
    del root
    return not _is_read(other)


def _is_read(one: Finding) -> bool:
    return one.extra.get("by") == "script"


def _compared(root: Finding, other: Finding) -> bool:
    """The other one is only a difference from the benchmark's script."""
    del root
    return other.extra.get(_BY) == _BOTH_SCRIPTS


def _same_line(root: Where, other: Where) -> bool:
    """One line is at fault; what only a run has seen of it has another place, or none."""
    return (root.file, root.line) == (other.file, other.line) or other.step is not None


def _began_before(root: Where, other: Where) -> bool:
    """The root was there before a run has seen the other one: by the script, or in a step before."""
    return other.step is not None and (root.step is None or root.step < other.step)


def _seen_later(root: Where, other: Where) -> bool:
    """The root was there when a run has seen the other one."""
    return other.step is not None and _not_later(root, other)


def _shows_in_run(root: Where, other: Where) -> bool:
    """What a run has shown; what reading has found has a line of its own to answer for."""
    del root
    return other.step is not None


def _beside_a_run(root: Finding, other: Finding) -> bool:
    """The other one is only that two runs are not alike: whatever is wrong makes them so."""
    return other.extra.get("by") == "run + bench_run" and root.extra.get("by") != "run + bench_run"


def _is_beside_a_script(one: Finding) -> bool:
    return one.extra.get("by") == "script + bench_script"


@dataclass(frozen=True, slots=True)
class Rule:
    """Findings of ``code`` follow from one of ``root`` where places and what they are allow it (root, other)."""

    code: str
    root: str
    when: Callable[[Where, Where], bool] | None = None
    given: Callable[[Finding, Finding], bool] | None = None
    # Only where the root is one of these sentences.
    said: Sequence[str] = ()


_WITHOUT_END: Final = ("cg_04.script.raw_logarithms", "cg_04.script.not_bounded", "cg_04.not_logarithms")
# The first rule that fits names the root, so nearer causes stand before farther ones.
RULES: Final[Sequence[Rule]] = (
    # Numbers that are not finite in the data make everything after them so.
    Rule("mp.01", "ds.01", _not_later),
    Rule("hp.01", "ds.01", _not_later, _happened),
    # So do markers such as 999, which no normalisation was meant for.
    Rule("dp.01", "ds.01", _not_later, _happened),
    # What is wrong with a dataset makes it another one than the benchmark's.
    *(
        Rule("ds.04", root)
        for root in ("ds.01", "ds.02", "ds.03", "tr.10", "tr.07", "dp.01", "dp.02", "dp.04", "dp.05")
    ),
    Rule("ds.02", "tr.10", None, _happened),
    Rule("ds.02", "ds.01", _same_line),
    # Weights that are zero, or lost on the way, give gradients that are zero.
    Rule("cg.02", "wi.01"),
    Rule("cg.03", "wi.01"),
    Rule("tr.13", "wi.01"),
    # Without a gradient to begin with, none arrives; a loss that takes the wrong numbers may have none.
    Rule("tr.02", "tr.01"),
    Rule("tr.02", "cg.04"),
    Rule("cg.02", "tr.06"),
    Rule("hp.02", "tr.06"),
    Rule("hp.02", "tr.02"),
    # A term of the loss that is only a number: the layers behind it get nothing, and lead nowhere.
    Rule("cg.02", "tr.02", _same_line),
    Rule("cg.03", "tr.02", _same_line),
    # A layer that stands in another one's place leaves that one out; what is left out gets no gradient.
    Rule("cg.03", "cg.01", _same_line),
    Rule("tr.13", "cg.03", _same_line),
    Rule("tr.13", "cg.02", _same_line),
    # Layers that are shared, cut off, made anew or compared otherwise lead elsewhere than in the benchmark; gradients
    # that are added up make the batch of an update larger than there.
    *(Rule("cg.03", root, None, _beside_a_run) for root in ("cg.01", "cg.02", "cg.04", "tr.02", "tr.13")),
    Rule("hp.03", "tr.03", None, _beside_a_run),
    # Training data in evaluation comes with its augmentations; a seed that is set anew gives the same order again.
    Rule("dp.02", "tr.07", _shows_in_run),
    Rule("dp.03", "tr.14", _shows_in_run),
    # Logarithms that add up over the samples are none of classes; layers that a network does not know keep their mode.
    Rule("cg.04", "tr.11", _shows_in_run),
    Rule("tr.09", "tr.13", _shows_in_run),
    # Inputs of thousands put units where they have no slope.
    Rule("cg.02", "dp.01", _not_later),
    Rule("tr.13", "dp.01", _not_later),
    # What runs away, or does not move, is past its best or still falling whatever the number of epochs.
    Rule("hp.02", "hp.01"),
    Rule("hp.02", "mp.01"),
    # A rate that throws the weights far away leaves units without a slope, and overflows at every loss scale.
    Rule("cg.02", "hp.01", None, _written, said=("hp_01.script.high",)),
    Rule("tr.13", "hp.01", None, _written, said=("hp_01.script.high",)),
    Rule("mp.02", "hp.01", None, _written),
    # A loss scale that is too high, or inputs of thousands, overflow.
    Rule("mp.01", "mp.02", _not_later),
    Rule("mp.01", "dp.01", _not_later),
    Rule("mp.01", "hp.01"),
    # A loss that falls without end ends in numbers that are not finite; what is not finite cannot be computed again.
    Rule("mp.01", "cg.04", _began_before, said=_WITHOUT_END),
    Rule("cg.04", "mp.01", _seen_later),
    Rule("cg.04", "ds.01", _seen_later),
    # Weights that go into another network make two networks of the benchmark's one.
    Rule("tr.06", "wi.02", None, _compared),
    # A penalty that is wrong makes the loss another one than the benchmark's.
    Rule("cg.04", "mp.04", None, _compared),
    Rule("hp.01", "dp.01", _not_later, _happened),
    # Gradients that were never cleared, or clipped while scaled, throw the training as a high rate does.
    Rule("hp.01", "tr.01", None, _happened),
    Rule("hp.01", "mp.03", None, _happened),
    Rule("hp.01", "mp.02", None, _happened),
    # Weights that no gradient reaches, or that nobody updates, stay where they are as with a rate that is too low.
    Rule("hp.01", "tr.02", None, _happened),
    Rule("hp.01", "tr.06", None, _happened),
    # One seed for every worker and every pass draws the same order each time; what is evaluated as it is trained on is
    # augmented as well.
    Rule("dp.03", "tr.14"),
    Rule("dp.02", "tr.07"),
)


def with_roots(findings: Iterable[Finding], rules: Sequence[Rule] = RULES) -> list[Finding]:
    """The findings again, those that follow from another one with its code; what a check has said itself stays."""
    told = list(findings)
    found = [one for one in told if one.conclusion is Conclusion.FOUND]
    rooted = [_with_root(one, found, rules) if one.conclusion is Conclusion.FOUND else one for one in told]
    circling = _circling(rooted)
    return [replace(one, because=None) if one.code in circling else one for one in rooted]


def _with_root(one: Finding, found: Sequence[Finding], rules: Sequence[Rule]) -> Finding:
    if one.because is not None:
        # A root that nobody has found is none.
        return one if any(other.code == one.because for other in found) else replace(one, because=None)
    known = next((other for other in found if _tells_it_itself(other, one)), None)
    if known is not None:
        return replace(one, because=known.code)
    for rule in rules:
        if rule.code == one.code and any(_fits(rule, other, one) for other in found):
            return replace(one, because=rule.root)
    return one


def _tells_it_itself(root: Finding, other: Finding) -> bool:
    """What a script shows by itself to be wrong on a line is why it differs there from the benchmark's."""
    if root.extra.get(_BY) not in _READ or other.extra.get(_BY) != _BOTH_SCRIPTS or root.because is not None:
        return False
    same = (root.where.file, root.where.line) == (other.where.file, other.where.line)
    return same and root.where.line is not None and root.code != other.code


def _circling(findings: Sequence[Finding]) -> set[str]:
    """Codes that follow only from each other: what nobody begins with is no root of anything."""
    because: dict[str, set[str | None]] = {}
    for one in findings:
        if one.conclusion is Conclusion.FOUND:
            because.setdefault(one.code, set()).add(one.because)
    led: set[str | None] = {None}
    while more := {code for code, roots in because.items() if code not in led and roots & led}:
        led |= more
    return set(because) - led


def _fits(rule: Rule, root: Finding, other: Finding) -> bool:
    # What says itself that it follows from the other is not its root.
    if root.code != rule.root or root.because == other.code:
        return False
    # What the source itself shows does not follow from its being unlike the benchmark's.
    if _is_beside_a_script(root) and _is_read(other):
        return False
    if (rule.said and root.message.id not in rule.said) or (rule.given is not None and not rule.given(root, other)):
        return False
    return rule.when is None or rule.when(root.where, other.where)
