"""What TrueLine changed in a project's run, and what it said wrongly about it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from project import Evidence, Project, Run

NUMBER = re.compile(r"[-+]?(?:\d+(?:[.,:]\d+)*(?:[eE][-+]?\d+)?|\bnan\b|\binf\b)", re.IGNORECASE)
# A long fraction looks like an address behind its point; a short one, as of a thread, has a letter in it.
ADDRESS = re.compile(r"0x[0-9a-fA-F]+|(?<!\.)\b(?:[0-9a-f]{16,}|(?=[0-9]*[a-f])[0-9a-f]{8,})\b")
STEERING = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
# A bar is drawn again when some time has passed: what is drawn over, or what a line of the log comes behind, is chance.
DRAWN_OVER = re.compile(r"[^\r\n]*\d%\|[^\r\n]*(?=\r)|[^\r\n]*?\d%\|[^\r\n\]]*\[[^\r\n\]]*\](?=[^\r\n])")
# What a progress bar draws, and how long it says it took.
BAR = re.compile(r"[#█▏▎▍▌▋▊▉━╸╺─ ]{2,}|[\d.?]+ ?(?:\w+/s|s/\w+|it)\b")
DURATION = re.compile(
    r"\d*\.?\d+ ?(?:ms|s|sec|seconds)\b"
    r"|(?:\w*(?:time|elapsed|took|per_second|ms/batch|sps)|\bdata)\b\W*[\d:.]+(?:e[-+]?\d+)?(?: *\( *[\d:.]+\))?",
    re.IGNORECASE,
)
OWN = "trueline:"


def lines(printed: str) -> list[str]:
    """Lines as a terminal shows them, of a progress bar the last drawing."""
    return [
        line.strip() for line in re.split(r"[\r\n]+", DRAWN_OVER.sub("", STEERING.sub("", printed))) if line.strip()
    ]


def shape(line: str) -> str:
    """A line without its numbers, addresses and bars."""
    return " ".join(NUMBER.sub("#", BAR.sub(" ", ADDRESS.sub("@", line))).split())


def stable(one: str, other: str) -> bool:
    """Whether two plain runs print the same number of lines of the same shapes, so that numbers can be compared."""
    return [shape(line) for line in lines(one)] == [shape(line) for line in lines(other)]


def changed_numbers(first: str, second: str, under: str, varies: bool = False) -> list[str]:
    """Numbers that both plain runs print alike and the run under TrueLine does not; shapes where lines vary."""
    if varies or not stable(first, second):
        lost = {shape(line) for line in lines(first)} & {shape(line) for line in lines(second)}
        lost -= {shape(line) for line in lines(under)}
        return sorted(f"missing: {line}" for line in lost)
    ours = lines(under)
    if len(ours) != len(lines(first)):
        return [f"{len(lines(first))} lines printed plainly, {len(ours)} under TrueLine"]
    found = []
    for one, other, mine in zip(lines(first), lines(second), ours, strict=True):
        if shape(one) != shape(mine):
            found.append(f"{one!r} became {mine!r}")
            continue
        numbers = zip(*(NUMBER.findall(DURATION.sub("#", line)) for line in (one, other, mine)), strict=True)
        if any(a == b != c for a, b, c in numbers):
            found.append(f"{one!r} became {mine!r}")
    return found


def comparable(evidence: Evidence, varies: bool = False) -> str:
    """How much of the output can be compared: all of it, what does not vary, or its shape only."""
    first, second = (one.out for one in evidence.plain)
    if first == second:
        return "all"
    return "stable numbers" if stable(first, second) and not varies else "shape"


def added_lines(evidence: Evidence, under: Run, varies: bool = False) -> list[str]:
    """Lines that no plain run prints and that are not TrueLine's; of stderr only where the output varies."""
    known = {shape(line) for one in evidence.plain for line in (*lines(one.out), *lines(one.err))}
    printed = lines(under.err) if varies else [*lines(under.out), *lines(under.err)]
    return [line for line in printed if shape(line) not in known and OWN not in line]


def lost_lines(evidence: Evidence, under: Run) -> list[str]:
    """Lines of stderr that both plain runs print and the run under TrueLine does not."""
    first, second = ({shape(line) for line in lines(one.err)} for one in evidence.plain)
    lost = (first & second) - {shape(line) for line in lines(under.err)}
    return sorted(lost)


def changed_files(evidence: Evidence, under: Run) -> list[str]:
    """Files that both plain runs write alike (weights, logs) and the run under TrueLine does not."""
    first, second = (one.files for one in evidence.plain)
    same = {name: mark for name, mark in first.items() if second.get(name) == mark}
    return [name for name, mark in same.items() if under.files.get(name) != mark]


def steps(answer: Mapping[str, Any] | None) -> int | None:
    """The number of steps that an answer tells."""
    told = None if answer is None else answer.get("steps")
    return told if isinstance(told, int) else None


def all_clear(answer: Mapping[str, Any] | None) -> bool:
    """Whether the watcher says that everything was finite."""
    return answer is not None and any(one.get("message_id") == "watch.fine" for one in answer.get("findings", []))


def failed_by_itself(answer: Mapping[str, Any]) -> bool:
    """Whether the watcher says that everything was finite until the script ended with an error of its own."""
    return any(one.get("message_id") == "watch.script_failed" for one in answer.get("findings", []))


def made(project: Project, run: Run) -> tuple[int, ...]:
    """The steps that a run is known to have made; nothing where that is not known."""
    if not project.steps_from:
        return project.steps
    told = re.findall(project.steps_from, run.out)
    return (int(told[-1]),) if told else ()


def wrong(project: Project, evidence: Evidence) -> list[str]:
    """What is not as it must be; nothing where recording and watching are as they promise."""
    first, second = evidence.plain
    if first.exit != second.exit or first.exit is None:
        return [f"the project itself is not stable: exit {first.exit}, then {second.exit}"]
    found = []
    if evidence.run.exit != first.exit:
        found.append(f"run: exit {evidence.run.exit} instead of {first.exit}")
    for name, under in (("run", evidence.run), ("watch", evidence.watch)):
        if name == "watch" and project.nan:
            continue
        numbers = changed_numbers(first.out, second.out, under.out, project.varies)
        if numbers:
            found.append(f"{name}: output changed: {numbers[0][:160]}")
        files = changed_files(evidence, under)
        if files:
            found.append(f"{name}: written file changed: {', '.join(files[:3])}")
        noise = added_lines(evidence, under, project.varies)
        if noise:
            found.append(f"{name}: lines added: {noise[0][:160]} ({len(noise)})")
        lost = lost_lines(evidence, under)
        if lost:
            found.append(f"{name}: lines lost: {lost[0][:160]} ({len(lost)})")
    return found + wrong_recording(project, evidence) + wrong_watching(project, evidence)


def wrong_recording(project: Project, evidence: Evidence) -> list[str]:
    """What the run folder lacks."""
    if evidence.run.answer is None:
        return ["run: no answer"]
    found = []
    if evidence.run.answer.get("off"):
        found.append(f"run: recording was off: {evidence.run.answer['off']}")
    told = {"run": steps(evidence.run.answer), "show": steps(evidence.shown)}
    right = made(project, evidence.run)
    for name, number in told.items():
        if not number and not project.unseen:
            found.append(f"{name}: not recorded")
        elif right and number not in right:
            found.append(f"{name}: {number} steps instead of {' or '.join(map(str, right))}")
    return found


def wrong_watching(project: Project, evidence: Evidence) -> list[str]:
    """False alarms and false all-clears."""
    under, answer = evidence.watch, evidence.watch.answer
    if answer is None:
        return ["watch: no answer"]
    if project.unseen:
        return ["watch: FALSE ALL-CLEAR over steps that are not seen"] if all_clear(answer) else []
    if project.nan:
        if answer.get("first") is None and evidence.plain[0].exit and under.exit and not all_clear(answer):
            return []  # It died of its own error on the way to the loss, and nothing is said to be fine.
        if answer.get("first") is None:
            return [f"watch: {'FALSE ALL-CLEAR' if all_clear(answer) else 'no hit'}: {answer.get('conclusion')}"]
        return [] if under.exit else ["watch: a hit, and exit 0"]
    found = []
    told, right = steps(answer), made(project, under)
    if answer.get("first") is not None:
        found.append(f"watch: false alarm: {answer.get('conclusion')}")
    elif all_clear(answer) and (not told or (right and told < min(right))):
        found.append(f"watch: FALSE ALL-CLEAR over {told} steps, {' or '.join(map(str, right))} were made")
    elif all_clear(answer) and right and told not in right:
        found.append(f"watch: {told} steps instead of {' or '.join(map(str, right))}")
    elif not all_clear(answer) and not (under.exit and told in right and failed_by_itself(answer)):
        found.append(f"watch: {answer.get('conclusion')}")
    if under.exit != evidence.plain[0].exit:
        found.append(f"watch: exit {under.exit} instead of {evidence.plain[0].exit}")
    if not project.steps_from and told != steps(evidence.run.answer):
        found.append(f"watch: {told} steps, run: {steps(evidence.run.answer)}")
    return found
