"""How one list of files differs from another, the reference."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from trueline.data.manifest.shifting import Shift, find_shift
from trueline.formats.manifest.listed import FAST, MD5, UNKNOWN, Manifest, Unread

# Files of no content are all alike, which says nothing.
_EMPTY: Final = {
    MD5: bytes.fromhex("d41d8cd98f00b204e9800998ecf8427e"),
    FAST: bytes.fromhex("99aa06d3014798d86001c324468d497f"),
}


@dataclass(frozen=True, slots=True)
class Changed:
    """A file of both lists that is not the same: its sizes, None where unknown."""

    path: str
    size: int | None
    other_size: int | None


@dataclass(frozen=True, slots=True)
class Lone:
    """A file of one list only; ``twin`` is a file of the other list with the same content that both lists have."""

    path: str
    twin: str | None = None


@dataclass(frozen=True, slots=True)
class Renamed:
    """The same content under another name."""

    path: str
    other_path: str


@dataclass(frozen=True, slots=True)
class Difference:
    """What is other than in the reference. ``by`` counts by what files of the same name were compared:
    md5, xxh3_128, size or name; ``unread`` are files of the reference that could not be read."""

    missing: Sequence[Lone]
    extra: Sequence[Lone]
    changed: Sequence[Changed]
    renamed: Sequence[Renamed]
    unread: Sequence[Unread]
    same: int
    by: Mapping[str, int]
    shift: Shift

    @property
    def count(self) -> int:
        """How many files are other than they should be."""
        return len(self.missing) + len(self.extra) + len(self.changed) + len(self.renamed) + len(self.unread)


def differ(reference: Manifest, other: Manifest) -> Difference:
    """Holds a list against the reference; names are the reference's, those of extra files the other's own."""
    shift = find_shift(reference.paths, other.paths)
    here = {shift.of_reference(name): place for place, name in enumerate(reference.paths)}
    there = {shift.of_other(name): place for place, name in enumerate(other.paths)}
    changed: list[Changed] = []
    by: dict[str, int] = {}
    only_here: list[int] = []
    same = 0
    for name, place in here.items():
        at = there.get(name)
        if at is None:
            only_here.append(place)
            continue
        how, equal = _compare(reference, place, other, at)
        by[how] = by.get(how, 0) + 1
        if equal:
            same += 1
        else:
            sizes = (reference.sizes[place], other.sizes[at])
            changed.append(Changed(reference.paths[place], *(size if size != UNKNOWN else None for size in sizes)))
    only_there = [place for name, place in there.items() if name not in here]
    unread_there = {shift.of_other(unread.path): unread for unread in other.unread}
    unread = [
        unread_there[name]
        for place in only_here
        if (name := shift.of_reference(reference.paths[place])) in unread_there
    ]
    only_here = [place for place in only_here if shift.of_reference(reference.paths[place]) not in unread_there]
    renamed, only_here, only_there = _renamed(reference, only_here, other, only_there)
    return Difference(
        list(_lone(reference, only_here, other)),
        list(_lone(other, only_there, reference)),
        changed,
        renamed,
        unread,
        same,
        by,
        shift,
    )


def _compare(a: Manifest, at: int, b: Manifest, there: int) -> tuple[str, bool]:
    """By what two files can be compared, and whether they are the same by that."""
    for kind in (MD5, FAST):
        first, second = a.digest(kind, at), b.digest(kind, there)
        if first is not None and second is not None:
            return kind, first == second
    if UNKNOWN not in (a.sizes[at], b.sizes[there]):
        return "size", a.sizes[at] == b.sizes[there]
    return "name", True


def _shared_kind(a: Manifest, b: Manifest) -> str | None:
    return next((kind for kind in (MD5, FAST) if kind in a.hashes and kind in b.hashes), None)


def _content(manifest: Manifest, kind: str, places: Sequence[int]) -> Iterator[tuple[bytes, int]]:
    for place in places:
        digest = manifest.digest(kind, place)
        if digest is not None and digest != _EMPTY[kind]:
            yield digest, place


def _renamed(
    a: Manifest, only_a: Sequence[int], b: Manifest, only_b: Sequence[int]
) -> tuple[list[Renamed], list[int], list[int]]:
    """The pairs of the same content among files of one list only, and what is left on both sides."""
    kind = _shared_kind(a, b)
    if kind is None:
        return [], list(only_a), list(only_b)
    waiting: dict[bytes, list[int]] = {}
    for digest, place in _content(b, kind, only_b):
        waiting.setdefault(digest, []).append(place)
    found: dict[int, int] = {}
    for digest, place in _content(a, kind, only_a):
        if waiting.get(digest):
            found[place] = _likest(a.paths[place], b, waiting[digest])
    taken = set(found.values())
    pairs = [Renamed(a.paths[place], b.paths[at]) for place, at in found.items()]
    return pairs, [path for path in only_a if path not in found], [path for path in only_b if path not in taken]


def _likest(name: str, other: Manifest, candidates: list[int]) -> int:
    """Of files of the same content the one that is called the same elsewhere, else the first."""
    last = name.rpartition("/")[2]
    best = next(
        (candidate for candidate in candidates if other.paths[candidate].rpartition("/")[2] == last), candidates[0]
    )
    candidates.remove(best)
    return best


def _lone(manifest: Manifest, places: Sequence[int], other: Manifest) -> Iterator[Lone]:
    kind = _shared_kind(manifest, other)
    twins: dict[bytes, str] = {}
    if kind is not None and places:
        wanted = {digest for digest, _ in _content(manifest, kind, places)}
        for digest, place in _content(other, kind, range(len(other.paths))):
            if digest in wanted:
                twins.setdefault(digest, other.paths[place])
    for place in places:
        own = manifest.digest(kind, place) if kind is not None else None
        yield Lone(manifest.paths[place], twins.get(own) if own is not None else None)


def duplicates(manifest: Manifest) -> list[Sequence[str]]:
    """Names of files with the same content, group by group in the order of their first names."""
    kind = next((kind_of_hash for kind_of_hash in (MD5, FAST) if kind_of_hash in manifest.hashes), None)
    if kind is None:
        return []
    first: dict[bytes, int] = {}
    groups: dict[bytes, list[str]] = {}
    for digest, place in _content(manifest, kind, range(len(manifest.paths))):
        if digest not in first:
            first[digest] = place
        else:
            groups.setdefault(digest, [manifest.paths[first[digest]]]).append(manifest.paths[place])
    return sorted(groups.values(), key=lambda names: names[0])
