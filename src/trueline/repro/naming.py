"""From an experiment's differences to the free source, in the words of a user's script and with its line."""

from __future__ import annotations

import linecache
import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final

from trueline.model.finding import Certainty
from trueline.model.location import Location
from trueline.model.message import Message, message
from trueline.repro import consumers as kinds
from trueline.repro.consumers import Consumer, dropouts
from trueline.repro.free import Free, drives_word
from trueline.repro.randomness_log import LogEntry
from trueline.repro.reading import line_in_function, line_in_sources, random_line
from trueline.repro.set_order import lines_by_hash
from trueline.repro.trials import Trial

_TIME: Final = re.compile(r"\btime\b|time_ns|datetime|perf_counter|monotonic|clock|\bnow\(")
_SEEDING: Final = {
    "python": "random.seed(0)",
    "numpy": "numpy.random.seed(0)",
    "torch": "torch.manual_seed(0)",
    "mindspore": "mindspore.set_seed(0)",
    "mindspore.dataset": "mindspore.dataset.config.set_seed(0)",
}


def of_stream(stream: str, base: Trial, found: Sequence[Consumer]) -> Iterator[Free]:
    """A generator of the process that the script does not seed in time."""
    for consumer in (_functional(base, known) for known in found):
        source = _values_by(stream, base) if consumer.drives == kinds.VALUES else consumer.drives
        line = _line(stream, source, base, consumer)
        yield _stream(source, stream, consumer, line, base)
    framework = stream in ("torch", "mindspore")
    early = any(consumer.drives in (kinds.WEIGHTS, kinds.ORDER) for consumer in found)
    if framework and early and base.log.first("seed", stream=stream) is None:
        # What comes later in the same stream cannot be told apart by its values, but it is the same stream.
        for module in dropouts(base)[:1]:
            consumer = Consumer(kinds.DROPOUT, found[0].difference, module, module.built_at)
            yield _stream(kinds.DROPOUT, stream, consumer, module.built_at, base, Certainty.LIKELY)


def _functional(base: Trial, consumer: Consumer) -> Consumer:
    """What no module shows, from the lines between the calls."""
    drawn = random_line(base, consumer.difference.module) if consumer.drives == kinds.OPERATOR else None
    if drawn is None:
        return consumer
    return replace(consumer, drives=kinds.DROPOUT if drawn[1] else consumer.drives, line=drawn[0], module=None)


def _stream(
    source: str,
    stream: str,
    consumer: Consumer,
    line: Location | None,
    base: Trial,
    certainty: Certainty = Certainty.CERTAIN,
) -> Free:
    name = consumer.module.path or consumer.module.type if consumer.module is not None else consumer.difference.key
    type_name = consumer.module.type if consumer.module is not None else ""
    functional = source == kinds.DROPOUT and consumer.module is None
    said = message(
        "repro.free_functional_dropout" if functional else f"repro.free_{source}",
        generator=message(f"repro.generator_{stream.replace('.', '_')}"),
        module=name,
        type=type_name,
        step=consumer.difference.step,
        key=consumer.difference.key,
    )
    seeding = _SEEDING[stream]
    if base.info is not None and base.info.framework == "mindspore" and stream == "numpy":
        seeding = _SEEDING["mindspore"]
    return Free(
        source, stream, consumer.drives, line, said, message("repro.advice_seed", seeding=seeding), consumer, certainty
    )


def _values_by(stream: str, base: Trial) -> str:
    """A framework seeds the generators of its data workers from its own."""
    if stream not in ("torch", "mindspore.dataset"):
        return kinds.VALUES
    if base.log.first("draw", moment="worker") is not None:
        return "worker_seeds"
    if stream != "torch":
        return kinds.VALUES
    many = base.info is not None and any(loader.get("workers") for loader in base.info.loaders)
    return "worker_seeds" if many else kinds.VALUES


def _line(stream: str, source: str, base: Trial, consumer: Consumer) -> Location | None:
    log = base.log
    if source == kinds.ORDER:
        drawn = log.first("draw", stream=stream, moment="data") or log.first("draw", stream=stream)
        return _line_of(_loader(base) or drawn) or line_in_sources(base)
    if source == "worker_seeds":
        drawn = log.first("draw", moment="worker")
        return _line_of(drawn) or _item(base)
    if source == kinds.VALUES:
        drawn = log.first("draw", stream=stream, moment="data") or log.first("draw", stream=stream)
        return _line_of(drawn) or _item(base)
    if source in (kinds.RATES, kinds.ENDING):
        return _line_of(log.first("draw", stream=stream))
    if source == kinds.OPERATOR:
        return _line_of(log.first("draw", stream=stream, moment="train")) or consumer.line
    return consumer.line


def _line_of(entry: LogEntry | None) -> Location | None:
    return entry.line if entry is not None else None


def _loader(base: Trial) -> LogEntry | None:
    """Where the order of the training data is decided: a shuffle, or the first loader that shuffles."""
    built = list(base.log.of("loader"))
    shuffles = [entry for entry in built if entry["kind"] == "ShuffleDataset"] or [
        entry for entry in built if entry["shuffle"]
    ]
    return next(iter(shuffles or built), None)


def _item(base: Trial) -> Location | None:
    for entry in base.log.of("loader"):
        if isinstance(item := entry["item"], dict):
            definition = Location(item["file"], item["line"])
            return line_in_function(definition) or definition
    return _line_of(_loader(base))


def of_seed(entry: LogEntry, values: Sequence[object], consumer: Consumer | None) -> Free:
    """A seed that the script computes, and that is another one in every run."""
    text = linecache.getline(entry.line.file, entry.line.line) if entry.line is not None else ""
    by_time = _TIME.search(text) is not None
    shown = ", ".join(str(value) for value in values[:2])
    drives = consumer.drives if consumer is not None else kinds.ENDING
    said: Message
    if by_time:
        said = message("repro.free_time_seed", values=shown, drives=drives_word(drives))
    else:
        said = message("repro.free_varying_seed", values=shown, drives=drives_word(drives))
    source = "time_seed" if by_time else "varying_seed"
    return Free(source, entry["stream"], drives, entry.line, said, message("repro.advice_constant"), consumer)


def of_fresh(entry: LogEntry, consumer: Consumer) -> Free:
    """A generator that the script makes without a seed."""
    said = message("repro.free_unseeded_generator", kind=entry["stream"], drives=drives_word(consumer.drives))
    advice = message("repro.advice_generator")
    return Free("unseeded_generator", entry["stream"], consumer.drives, entry.line, said, advice, consumer)


def of_hash(base: Trial, consumer: Consumer) -> Free:
    """Python's hash seed."""
    lines = lines_by_hash([str(entry["path"]) for entry in base.log.of("source")])
    said = message("repro.free_set_order", drives=drives_word(consumer.drives))
    advice = message("repro.advice_sorted")
    sure = Certainty.CERTAIN if len(lines) == 1 else Certainty.LIKELY
    return Free("set_order", "hash", consumer.drives, lines[0] if lines else None, said, advice, consumer, sure)


def of_clock(base: Trial, consumer: Consumer) -> Free:
    """The time, computed with."""
    said = message("repro.free_clock", drives=drives_word(consumer.drives))
    line = _line_of(base.log.first("clock"))
    return Free("clock", "clock", consumer.drives, line, said, message("repro.advice_constant"), consumer)


def of_threads(consumer: Consumer) -> Free:
    """Sums in another order."""
    said = message("repro.free_threads", key=consumer.difference.key, step=consumer.difference.step)
    return Free("threads", "threads", consumer.drives, consumer.line, said, message("repro.advice_threads"), consumer)


def of_operator(base: Trial, consumer: Consumer) -> Free:
    """An operator that is deterministic only when asked."""
    warned = base.log.first("warning")
    operator = _operator(warned) or (consumer.module.type if consumer.module is not None else consumer.difference.key)
    said = message("repro.free_nondeterministic_op", op=operator, key=consumer.difference.key)
    line = _line_of(warned) or consumer.line
    advice = message("repro.advice_deterministic")
    return Free("nondeterministic_op", operator, consumer.drives, line, said, advice, consumer)


def _operator(warned: LogEntry | None) -> str | None:
    """``index_add_cuda_ does not have a deterministic implementation, but you set …``."""
    if warned is None:
        return None
    found = re.match(r"(\S+) does not have a deterministic", str(warned["text"]))
    return found[1] if found is not None else None
