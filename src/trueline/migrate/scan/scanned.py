"""A whole scan: every use judged, counted and grouped."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from trueline.apitable.pairs import MINDSPORE, TORCH, Table
from trueline.migrate.scan.graph_mode import Limit, limits_of
from trueline.migrate.scan.judging import Judged, Verdict, judge
from trueline.migrate.scan.networks import SubNetwork, port_order
from trueline.model.message import message
from trueline.script.uses.found import FileUses
from trueline.script.uses.use import UseKind

_OTHER: Final = {TORCH: MINDSPORE, MINDSPORE: TORCH}
# Documented as the same, where nothing was measured.
SAME_BY_DOCUMENTS: Final = ("consistent", "names_differ")


@dataclass(frozen=True)
class Scan:
    """What was found in a project."""

    files: Sequence[FileUses]
    judged: Sequence[Judged]
    networks: Sequence[SubNetwork]
    limits: Sequence[Limit]
    # The frameworks that are left, and the one that is gone to.
    source: str
    target: str

    @cached_property
    def counts(self) -> Mapping[Verdict, int]:
        """How many uses have each verdict."""
        return Counter(one.verdict for one in self.judged)

    @cached_property
    def by_file(self) -> Mapping[str, FileUses]:
        """The files by their shown names."""
        return {file.file: file for file in self.files}

    @property
    def total(self) -> int:
        """The uses of the framework itself, decided or not."""
        return len(self.judged) - self.counts.get(Verdict.OUTSIDE, 0)

    @property
    def mapped(self) -> int:
        """The uses that map for this call: measured, structural, or the same by the documents."""
        return self.counts.get(Verdict.MAPS, 0) + sum(1 for one in self.judged if is_documented(one))

    @property
    def decided(self) -> int:
        """The uses of which it is known what they use."""
        return self.total - self.counts.get(Verdict.UNDECIDED, 0)

    @property
    def skipped(self) -> list[tuple[str, str]]:
        """Files, and cells of notebooks, that could not be read, each with the reason."""
        found = [(file.file, file.trouble) for file in self.files if file.trouble is not None]
        no_python = message("scan.no_python").text()
        for file in self.files:
            found += [(f"{file.file}[{number}]", no_python) for number in (file.cells.left_out if file.cells else ())]
        return found

    def by_name(self, *verdicts: Verdict) -> list[tuple[Judged, list[Judged]]]:
        """The uses with these verdicts by API and counterpart, the most frequent first: one of them, and all."""
        groups: dict[tuple[str, str], list[Judged]] = {}
        for one in self.judged:
            if one.verdict in verdicts:
                groups.setdefault((one.use.name, one.counterpart), []).append(one)
        return sorted(((group[0], group) for group in groups.values()), key=lambda group: -len(group[1]))


def is_documented(judged: Judged) -> bool:
    """Whether a use that was not measured is documented as the same."""
    if judged.verdict is not Verdict.UNMEASURED:
        return False
    return judged.pair is None or judged.pair.documented in SAME_BY_DOCUMENTS


def scan(
    files: Iterable[FileUses], to: str | None = None, style: str | None = None, table: Table | None = None
) -> Scan:
    """Judge all uses of files; ``to`` is the framework that is gone to, else each file's imports decide."""
    read = list(files)
    judged: list[Judged] = []
    limits: list[Limit] = []
    sources: Counter[str] = Counter()
    for file in read:
        source = _source_of(file, to)
        sources[source] += len(file.uses)
        for use in file.uses:
            if use.kind is UseKind.ANNOTATION or use.framework == _OTHER.get(source):
                continue
            judged.append(judge(use, style, table))
        limits += limits_of(file)
    source = _OTHER[to] if to is not None else sources.most_common(1)[0][0] if sources else TORCH
    return Scan(read, judged, port_order(read), limits, source, _OTHER[source])


def _source_of(file: FileUses, to: str | None) -> str:
    if to is not None:
        return _OTHER[to]
    used = Counter(use.framework for use in file.uses if use.framework in _OTHER)
    return used.most_common(1)[0][0] if used else TORCH
