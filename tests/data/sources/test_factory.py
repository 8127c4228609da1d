"""Datasets of the frameworks by module:factory, run in a process of their own."""

from __future__ import annotations

import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from data.sources.digits import digits, joined

from trueline.data.source import Picture
from trueline.data.sources.opening import open_source
from trueline.model.trouble import Trouble

HERE = Path(__file__).parent
pytestmark = pytest.mark.usefixtures("warm_guests")


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("project")
    for name in ("plain_sets.py", "torch_sets.py", "mindspore_sets.py"):
        shutil.copy(HERE / "project" / name, root)
    images, labels = digits()
    np.save(root / "images.npy", images)
    np.save(root / "labels.npy", labels)
    return root


@pytest.fixture(autouse=True)
def inside(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project)


def test_a_map_style_dataset_of_torch_has_indexes() -> None:
    images, labels = digits()
    source = open_source("torch_sets:Digits")
    assert (source.kind, source.fields, source.label, source.length) == ("factory", ["0", "1"], "1", 100)
    assert np.array_equal(joined(source, "0"), images[:100])
    assert np.array_equal(joined(source, "1"), labels[:100])
    taken = source.take([99, 4])
    assert np.array_equal(taken[0]["0"], images[99])
    assert taken[1]["1"] == labels[4]
    with pytest.raises(IndexError):
        source.take([100])


def test_the_batches_of_a_loader_are_samples_again() -> None:
    images, _ = digits()
    source = open_source("torch_sets.py:loader")
    assert (source.fields, source.label) == (["0", "1"], "1")
    first = joined(source, "0")
    assert Counter(one.tobytes() for one in first) == Counter(one.tobytes() for one in images[:100])
    # The same pass again, so that an index means the same sample.
    assert np.array_equal(first, joined(source, "0"))
    taken = source.take([40, 2])
    assert np.array_equal(taken[0]["0"], first[40])
    assert not np.array_equal(first, images[:100])


def test_texts_pictures_and_sequences_come_through_and_what_raises_is_stepped_over() -> None:
    images, _ = digits()
    source = open_source("torch_sets:Named")
    assert source.fields == ["image", "text", "tokens", "label", "nothing"]
    assert source.label == "label"
    pictures = joined(source, "image")
    assert pictures[7] is None
    assert isinstance(pictures[3], Picture)
    assert (pictures[3].mode, pictures[3].width) == ("L", 8)
    assert np.array_equal(pictures[3].pixels, images[3])
    assert joined(source, "text")[:2] == ["a 0", "a 1"]
    assert [len(one) for one in joined(source, "tokens")[8:11]] == [9, 10, 11]
    assert joined(source, "nothing")[:3] == [1.5, None, 1.5]
    assert source.skipped.counts == {"sample_raised": 1}
    (place,) = source.skipped.places["sample_raised"]
    assert place.startswith("7: ")
    assert "ValueError: sample seven is rotten (torch_sets.py:" in place


def test_texts_in_batches_and_lists_of_different_shapes() -> None:
    source = open_source("torch_sets:texts_in_batches")
    assert joined(source, "0") == [f"text {at}" for at in range(10)]
    assert joined(source, "1").tolist() == [at % 3 for at in range(10)]
    boxes = open_source("torch_sets:detection")
    assert boxes.fields == ["0", "1.boxes", "1.id"]
    assert [one.shape for one in joined(boxes, "0")] == [(3, 4 + at, 5) for at in range(6)]
    assert [one.shape for one in joined(boxes, "1.boxes")] == [(at, 4) for at in range(6)]


def test_streams_and_generators_are_read_more_than_once() -> None:
    stream = open_source("plain_sets:Stream")
    assert joined(stream, "y").tolist() == joined(stream, "y").tolist() == [0, 1, 2, 3, 4]
    assert stream.label == "y"
    source = open_source("plain_sets:generator")
    assert np.array_equal(joined(source, "1"), digits()[1][:24])
    assert np.array_equal(source.take([20])[0]["0"], digits()[0][20])


def test_a_process_that_dies_ends_the_pass_and_not_the_scan() -> None:
    source = open_source("plain_sets:Crashing")
    assert np.array_equal(joined(source, "1"), digits()[1][:11])
    assert source.skipped.counts == {"pass_ended": 1}
    (place,) = source.skipped.places["pass_ended"]
    assert "after 11 samples" in place
    assert "SIGSEGV" in place
    assert source.take([3]) == [{"0": None, "1": None}]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("plain_sets:nothing_here", "there is no nothing_here"),
        ("plain_sets:number", "no dataset but of type int"),
        ("plain_sets:needs", "requires arguments: root"),
        ("plain_sets:empty", "it has no sample"),
        ("plain_sets:always_raises", "KeyError: 'no such file'"),
        ("plain_sets:raises_first", "IndexError: only integers"),
        ("plain_sets:Wordless", "raised Unspeakable: (KeyError in __str__)"),
        ("plain_sets:Sizeless", "RuntimeError: no length today (plain_sets.py:"),
        ("plain_sets:Negative", "ValueError: __len__() should return >= 0"),
        ("plain_sets:Endless", "OverflowError: cannot fit 'int'"),
        ("plain_sets:Interrupting", "KeyboardInterrupt"),
        ("no_such_module:loader", "there is no module no_such_module"),
    ],
)
def test_what_is_no_dataset_is_said_in_one_line(text: str, said: str) -> None:
    with pytest.raises(Trouble) as raised:
        open_source(text)
    assert said in str(raised.value)
    assert "\n" not in str(raised.value)


def test_datasets_of_mindspore() -> None:
    images, labels = digits()
    source = open_source("mindspore_sets:batches")
    assert (source.fields, source.label) == (["image", "label", "text"], "label")
    first, told, texts = joined(source, "image"), joined(source, "label"), joined(source, "text")
    known = {image.tobytes(): label for image, label in zip(images[:60], labels[:60], strict=True)}
    assert len(first) == len(known) == 60
    assert [known[one.tobytes()] for one in first] == told.tolist()
    assert texts == [f"数字 {one}" for one in told]
    assert np.array_equal(source.take([50])[0]["image"], first[50])
    assert not np.array_equal(first, images[:60])
