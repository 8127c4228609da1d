"""What is missing, extra, changed and renamed is named, nothing else is, and by what files were compared is said."""

from __future__ import annotations

from array import array
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from trueline.data.manifest.difference import Changed, Lone, Renamed, differ, duplicates
from trueline.formats.manifest.listed import FAST, MD5, UNKNOWN, Digests, Manifest, Unread


def listed(
    files: Mapping[str, int], *, kind: str | None = MD5, sizes: bool = True, unread: tuple[str, ...] = ()
) -> Manifest:
    """Files by name, each with a number for its content."""
    names = sorted(files)
    digests = Digests.room_for(len(names))
    for place, name in enumerate(names):
        digests[place] = (files[name] + 1).to_bytes(16, "big")
    known = array("q", (100 + files[name] if sizes else UNKNOWN for name in names))
    skipped = [Unread(name, "forbidden") for name in unread]
    return Manifest("", names, known, {kind: digests} if kind is not None else {}, skipped)


REFERENCE = {"a/1": 1, "a/2": 2, "b/3": 3, "b/4": 4}


def test_the_same_files_differ_in_nothing() -> None:
    found = differ(listed(REFERENCE), listed(REFERENCE))
    assert (found.count, found.same, found.by) == (0, 4, {MD5: 4})


def test_everything_that_was_planted_is_named() -> None:
    other = {"a/1": 9, "a/2": 2, "c/three": 3, "new": 7, "copy": 2}
    found = differ(listed(REFERENCE), listed(other))
    assert found.changed == [Changed("a/1", 101, 109)]
    assert found.missing == [Lone("b/4")]
    assert found.renamed == [Renamed("b/3", "c/three")]
    assert found.extra == [Lone("copy", "a/2"), Lone("new")]
    assert found.same == 1


def test_a_file_whose_content_is_there_as_another_one_is_missing_and_said_to_be() -> None:
    found = differ(listed({"a": 1, "b": 1, "c": 2}), listed({"a": 1, "c": 2}))
    assert found.missing == [Lone("b", "a")]


def test_of_equal_contents_the_one_of_the_same_last_name_was_moved() -> None:
    found = differ(listed({"x/1.png": 5, "x/2.png": 5, "k": 0}), listed({"y/2.png": 5, "y/1.png": 5, "k": 0}))
    assert found.renamed == [Renamed("x/1.png", "y/1.png"), Renamed("x/2.png", "y/2.png")]


def test_what_could_not_be_read_there_is_not_called_missing() -> None:
    found = differ(listed(REFERENCE), listed({"a/1": 1, "a/2": 2, "b/3": 3}, unread=("b/4",)))
    assert (found.missing, found.unread) == ([], [Unread("b/4", "forbidden")])
    assert found.count == 1


@pytest.mark.parametrize(
    ("kind", "sizes", "by"), [(MD5, False, MD5), (FAST, True, FAST), (None, True, "size"), (None, False, "name")]
)
def test_files_are_compared_by_what_both_sides_know(kind: str | None, sizes: bool, by: str) -> None:
    found = differ(listed(REFERENCE), listed({**REFERENCE, "a/1": 8}, kind=kind, sizes=sizes))
    other = differ(listed(REFERENCE, kind=kind, sizes=sizes), listed({**REFERENCE, "a/1": 8}, kind=kind, sizes=sizes))
    assert other.by == {by: 4}
    assert [one.path for one in other.changed] == ([] if by == "name" else ["a/1"])
    if kind == FAST:
        # One has MD5 only, the other the fast hash only: sizes are what both know.
        assert found.by == {"size": 4}


def test_empty_files_are_not_taken_for_each_other() -> None:
    def empty(*names: str) -> Manifest:
        digests = Digests.room_for(len(names))
        for place in range(len(names)):
            digests[place] = bytes.fromhex("d41d8cd98f00b204e9800998ecf8427e")
        return Manifest("", sorted(names), array("q", [0] * len(names)), {MD5: digests})

    found = differ(empty("a", "k"), empty("b", "k"))
    assert (found.missing, found.extra, found.renamed) == ([Lone("a")], [Lone("b")], [])
    assert duplicates(empty("a", "b")) == []


def test_duplicates_are_grouped() -> None:
    assert duplicates(listed({"c": 1, "a": 2, "b": 1, "d": 1})) == [["b", "c", "d"]]


@pytest.mark.parametrize(
    ("before", "after", "off"),
    [
        ("", "/data/set/", ("", "/data/set/")),
        ("imagenet/", "", ("imagenet/", "")),
        ("/a/set/", "/b/copy/", ("/a/set/", "/b/copy/")),
        ("", "", ("", "")),
    ],
)
def test_lists_that_begin_elsewhere_are_put_together(before: str, after: str, off: tuple[str, str]) -> None:
    reference = {before + name: content for name, content in REFERENCE.items()}
    other = {after + name: content for name, content in REFERENCE.items() if name != "b/4"}
    other[after + "a/1"] = 70
    found = differ(listed(reference), listed(other))
    assert ([one.path for one in found.changed], [one.path for one in found.missing]) == (
        [before + "a/1"],
        [before + "b/4"],
    )
    assert (found.shift.reference, found.shift.other) == off


def test_a_part_of_the_set_named_from_the_root_finds_its_place() -> None:
    other = {f"/data/set/{name}": content for name, content in REFERENCE.items() if name.startswith("a/")}
    found = differ(listed(REFERENCE), listed(other))
    assert ([one.path for one in found.missing], found.same) == (["b/3", "b/4"], 2)


def test_a_folder_that_was_renamed_is_a_difference() -> None:
    found = differ(listed({"train/1": 1, "train/2": 2}), listed({"training/1": 1, "training/2": 2}))
    assert found.renamed == [Renamed("train/1", "training/1"), Renamed("train/2", "training/2")]


FILES = st.dictionaries(
    st.text("ab/", min_size=1, max_size=4).map(lambda name: f"k/{name}"), st.integers(0, 3), max_size=8
)


@given(FILES, FILES)
def test_every_file_of_both_sides_is_accounted_for_once(left: dict[str, int], right: dict[str, int]) -> None:
    found = differ(listed(left), listed(right))
    of_reference = [
        *(one.path for one in found.missing),
        *(one.path for one in found.changed),
        *(one.path for one in found.renamed),
    ]
    assert len(of_reference) + found.same == len(left)
    assert len(set(of_reference)) == len(of_reference)
    assert len(found.extra) + len(found.changed) + len(found.renamed) + found.same == len(right)
    back = differ(listed(right), listed(left))
    assert (len(back.missing), len(back.extra), len(back.changed), len(back.renamed)) == (
        len(found.extra),
        len(found.missing),
        len(found.changed),
        len(found.renamed),
    )
