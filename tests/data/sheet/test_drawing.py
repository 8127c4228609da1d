"""Contact sheets: everything within the paper, letters that fit, what is broken marked."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from trueline.data.sheet.cards import Card, CardGroup
from trueline.data.sheet.drawing import ContactSheet
from trueline.data.sheet.lettering import Lettering
from trueline.data.sheet.pixels import show_array
from trueline.data.sheet.thumbnails import series_image, thumbnail
from trueline.model.message import message

RED = (179, 38, 30)


def image(value: int = 90, size: tuple[int, int] = (8, 8)) -> Any:
    return show_array(np.full((*size, 3), value, np.uint8))


def sheet(groups: list[CardGroup]) -> Any:
    return ContactSheet(message("sheet.title", name="x"), [message("sheet.how", seed=0)], groups)


def groups(*sizes: int) -> list[CardGroup]:
    return [
        CardGroup(f"label {place}", 99, [Card(at, f"label {place}", picture=image(place + 1)) for at in range(size)])
        for place, size in enumerate(sizes)
    ]


def colours(picture: Any) -> set[tuple[int, ...]]:
    return {tuple(one) for one in np.unique(np.asarray(picture).reshape(-1, 3), axis=0).tolist()}


@pytest.mark.parametrize("sizes", [(5,) * 10, (3,) * 10 + (2,) * 10, (50,), (1,), (13, 13, 12, 12), (1,) * 50])
def test_every_card_is_on_the_paper_and_in_a_place_of_its_own(sizes: tuple[int, ...]) -> None:
    picture = sheet(groups(*sizes)).picture()
    pixels = np.asarray(picture)
    grey = pixels[..., 0][(pixels[..., 0] == pixels[..., 1]) & (pixels[..., 1] == pixels[..., 2])]
    counts = np.bincount(grey, minlength=256)
    # Each thumbnail is 112 dots wide and high, in its label's grey.
    assert counts[1 : len(sizes) + 1].tolist() == [size * 112 * 112 for size in sizes]
    margin = np.concatenate(
        [pixels[:, :15].reshape(-1, 3), pixels[:, -15:].reshape(-1, 3), pixels[-15:].reshape(-1, 3)]
    )
    assert (margin == 255).all()


def test_few_labels_stand_side_by_side() -> None:
    assert sheet(groups(*[5] * 10)).picture().height < sheet(groups(*[10] * 10)).picture().height


def test_a_broken_sample_is_a_marked_tile_with_its_reason() -> None:
    broken = Card(1, "a", broken=message("sources.picture_broken"))
    with_it = sheet([CardGroup("a", 2, [Card(0, "a", picture=image()), broken])]).picture()
    assert RED in colours(with_it)
    assert RED not in colours(sheet(groups(2)).picture())


def test_texts_and_rows_stand_under_each_other() -> None:
    texts = [CardGroup("a", 2, [Card(0, "a", text="short"), Card(1, "a", text="long " * 500)])]
    rows = [CardGroup(None, 2, [Card(0, None, facts=[("age", "3"), ("name", "x")])])]
    assert sheet(texts).picture().height > sheet(rows).picture().height
    assert sheet([CardGroup("a", 0, [])]).picture().height < 200


def test_a_sheet_in_chinese_is_written_in_letters_that_are_there() -> None:
    from trueline.locale import use_language

    try:
        use_language("zh")
        drawing = sheet(groups(2))
        drawing.picture()
        assert drawing.missing == []
    finally:
        use_language(None)


def test_letters_that_no_font_has_are_written_as_codes_and_told() -> None:
    nowhere = "\U0001f9ff\ue000"
    drawing = sheet([CardGroup(nowhere, 1, [Card(0, nowhere, picture=image())])])
    drawing.picture()
    assert "\ue000" in drawing.missing
    letters = Lettering(13)
    assert letters.width("\ue000") == letters.width("\\ue000")


@pytest.mark.parametrize("text", ["word", "a very long label that does not fit anywhere", "无空格的很长的标签" * 5, ""])
@pytest.mark.parametrize("room", [20, 80, 400])
def test_texts_are_cut_to_their_room(text: str, room: int) -> None:
    letters = Lettering(13)
    assert letters.width(letters.cut(text, room)) <= room or letters.cut(text, room) == "…"
    lines = letters.lines(text, max(room, 60), 3)
    assert len(lines) <= 3
    assert all(letters.width(line) <= max(room, 60) for line in lines)


def test_lines_hold_all_words_where_there_is_room() -> None:
    text = "the quick brown fox jumps over the lazy dog " * 4
    assert " ".join(Lettering(13).lines(text, 200, 100)) == text.strip()


@pytest.mark.parametrize("size", [(1, 1), (1, 4000), (4000, 1), (60, 200), (2000, 3000), (112, 112), (111, 5)])
def test_thumbnails_fit_and_keep_their_shape(size: tuple[int, int]) -> None:
    small = thumbnail(show_array(np.zeros((*size, 3), np.uint8)), 112)
    assert max(small.size) <= 112
    assert min(small.size) >= 1
    assert max(small.size) > 56


@pytest.mark.parametrize(
    "values", [[1.0, 2.0], [3.0] * 9, [float("nan")] * 9, [0.0, float("inf"), 1.0, 2.0], [1e300, -1e300]]
)
def test_series_of_any_numbers_are_drawn(values: list[float]) -> None:
    picture = series_image(values, (112, 112))
    assert picture.size == (112, 112)
    assert len(colours(picture)) > 1
