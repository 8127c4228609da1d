"""Two pipelines of the same raw data, operator by operator: where they part, and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from trueline.adapters.guest.trouble import SideTrouble
from trueline.data.pipeline.evidence import read_line
from trueline.data.pipeline.passing import Passed, Passing
from trueline.kernel.array import Array
from trueline.model.message import Message, message
from trueline.pair.blame import Blame, Cause, Setting, Stage
from trueline.pair.data.blames import Lines, compare_field, is_label
from trueline.pair.data.forms import alike
from trueline.pair.data.passages import Batches, Chance, Passage, chance_of
from trueline.pair.data.stage import compare_batches, once
from trueline.pair.data.steps import compare_passages
from trueline.pair.questions.parts import Step

_SEEDS: Final = (0, 0, 1)


@dataclass(frozen=True, slots=True)
class Beside:
    """Two pipelines: what each made of the samples, what is blamed, and why nothing more can be said."""

    bench: Passage
    port: Passage
    blames: Sequence[Blame]
    open: Sequence[Message]
    samples: int


def put_beside(bench: Passing, port: Passing, count: int) -> Beside:
    """The first ``count`` samples of both, from raw to what comes out at the end."""
    lines = Lines(*(read_line(pipeline.facts.get("line")) for pipeline in (bench, port)))
    names = str(bench.entry), str(port.entry)
    runs = [_runs(pipeline, count) for pipeline in (bench, port)]
    common = [index for index in runs[1][0].indexes if index in runs[0][0].indexes]
    if not common:
        raise SideTrouble("data_pair.no_samples", side=names[1])
    said = [text for name, side in zip(names, runs, strict=True) if (text := _failing(name, side[0])) is not None]
    (there, there_batches), (here, here_batches) = (
        _told([run.only(common) for run in side], pipeline.facts)
        for side, pipeline in zip(runs, (bench, port), strict=True)
    )
    blames: list[Blame] = [*_facts(bench.facts, port.facts, lines)]
    if len(there_batches.fields) != len(here_batches.fields):
        numbers = {"bench": len(there_batches.fields), "port": len(here_batches.fields)}
        blames.append(_blame(Cause.DATA, message("pair_parts.data_fields", **numbers), lines, **numbers))
    if there.steps and here.steps and _same_raw(there, here):
        found, why, _ = compare_passages(there, here, lines, names, port.onward)
        blames += found
        said += [why] if why is not None else []
        blames += _others(there_batches, here_batches, lines)
    elif len(there_batches.fields) == len(here_batches.fields):
        looked = compare_batches(there_batches, here_batches, lines, names)
        blames += looked.blames
        said += [looked.skipped] if looked.skipped is not None else []
    return Beside(there, here, once(blames), list({str(text): text for text in said}.values()), len(here.states))


def _others(there: Batches, here: Batches, lines: Lines) -> list[Blame]:
    """Sizes of batches, and the fields beside the first: labels, and what else a sample has."""
    blames: list[Blame] = []
    if there.sizes and here.sizes and there.sizes != here.sizes:
        numbers = {"bench": _listed(there.sizes), "port": _listed(here.sizes)}
        blames.append(_blame(Cause.DATA, message("data_pair.sizes", **numbers), lines, **numbers))
    fields = min(len(there.fields), len(here.fields))
    for place in range(1, fields):
        port, bench = here.fields[place], there.fields[place]
        chance = there.chance is not Chance.NONE or here.chance is not Chance.NONE
        label = is_label(bench, place, fields)
        blames += compare_field(port, bench, chance=chance, lines=lines, is_label=label) or []
    return blames


def _listed(sizes: Sequence[int]) -> str:
    return ", ".join(map(str, sizes))


def _runs(pipeline: Passing, count: int) -> list[Passed]:
    """The first samples, with one seed, again, and with another."""
    length = pipeline.facts["length"]
    wanted = list(range(min(count, length) if length is not None else count))
    return [pipeline.passed(wanted, seed) for seed in _SEEDS]


def _failing(name: str, passed: Passed) -> Message | None:
    """The first sample that is not there."""
    missing = next((at for at, index in enumerate(passed.indexes) if at != index), None)
    return message("data_pair.fails", side=name, sample=missing) if missing is not None else None


def _told(runs: Sequence[Passed], facts: Mapping[str, Any]) -> tuple[Passage, Batches]:
    flat = [[array for sample in (*run.states, *run.fields) for array in sample] for run in runs]
    chance = chance_of(flat)
    steps = [Step(step["name"], step["settings"], read_line(step["line"])) for step in runs[0].steps]
    return Passage(steps, runs[0].states, chance), Batches(_columns(runs[0]), _sizes(facts), chance)


def _columns(passed: Passed) -> list[list[Array]]:
    """The samples' values field by field, of as many fields as all of them have."""
    fewest = min(len(field) for field in passed.fields)
    return [[field[place] for field in passed.fields] for place in range(fewest)]


def _sizes(facts: Mapping[str, Any]) -> list[int] | None:
    """The size of the first batch and of the last, where batches are made and their number is known."""
    size, length = facts["batch_size"], facts["length"]
    if not size or not length:
        return None
    last = length % size
    return [min(size, length), *([last] if last and not facts["drop_last"] and length > size else [])]


def _same_raw(there: Passage, here: Passage) -> bool:
    """Whether both begin with the same samples in the same order, so that steps can be held against each other."""
    count = min(len(there.states), len(here.states))
    pairs = [(here.states[at][0], there.states[at][0]) for at in range(count)]
    return len(there.states) == len(here.states) and all(a.shape == b.shape and alike([a], [b]) for a, b in pairs)


def _facts(bench: Mapping[str, Any], port: Mapping[str, Any], lines: Lines) -> list[Blame]:
    """What both say of themselves: how many samples, and whether they are shuffled."""
    blames = []
    if None not in (bench["length"], port["length"]) and bench["length"] != port["length"]:
        numbers = {"bench": bench["length"], "port": port["length"]}
        blames.append(_blame(Cause.DATA, message("data_pair.length", **numbers), lines, **numbers))
    shuffled = [bool(one["shuffles"]) for one in (bench, port)]
    if shuffled[0] != shuffled[1]:
        text = message("data_pair.only_bench_shuffles") if shuffled[0] else message("data_pair.only_port_shuffles")
        numbers = {"bench": bench["sampler"], "port": port["sampler"]}
        blames.append(_blame(Cause.SAMPLE_ORDER, text, lines, **numbers))
    return blames


def _blame(cause: Cause, text: Message, lines: Lines, *, bench: Setting, port: Setting) -> Blame:
    return Blame(
        Stage.DATA, cause, text, bench=bench, port=port, confirmed=True, line=lines.port, other_line=lines.bench
    )
