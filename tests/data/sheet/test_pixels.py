"""Arrays of every kind become images for people, and what was done to their numbers is said."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from trueline.data.sheet.pixels import looks_like_image, show_array


@pytest.mark.parametrize(
    ("shape", "size"),
    [((8, 6), (8, 6)), ((3, 8, 6), (8, 6)), ((8, 6, 3), (8, 6)), ((1, 8, 6), (8, 6)), ((8, 6, 1), (8, 6)),
     ((4, 8, 6), (8, 6)), ((8, 6, 4), (8, 6)), ((1, 1, 3), (1, 1)), ((16, 8, 6), (8, 6)), ((2, 3, 8, 6), (8, 6))],
)  # fmt: skip
def test_colours_may_be_first_or_last(shape: tuple[int, ...], size: tuple[int, int]) -> None:
    shown = show_array(np.zeros(shape, np.uint8))
    assert shown.pixels.shape == (*size, 3)
    assert shown.shape == shape
    assert looks_like_image(np.zeros(shape, np.uint8))


def test_channels_first_keep_their_colours() -> None:
    image = np.zeros((3, 4, 5), np.uint8)
    image[0] = 200
    assert (show_array(image).pixels == (200, 0, 0)).all()
    assert (show_array(np.moveaxis(image, 0, -1)).pixels == (200, 0, 0)).all()


def test_bytes_and_shares_are_shown_as_they_are() -> None:
    assert show_array(np.full((4, 4), 100, np.uint8)).pixels.max() == 100
    half = show_array(np.full((4, 4), 0.5, np.float32))
    assert half.pixels.max() == 128
    assert (half.low, half.high) == (0.5, 0.5)
    assert show_array(np.eye(4, dtype=bool)).pixels.max() == 255


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.int64, ml_dtypes.bfloat16])
def test_any_other_range_is_stretched_and_told(dtype: type) -> None:
    shown = show_array(np.array([[-2, 0], [1, 2]], np.float32).astype(dtype).repeat(2, 0).repeat(2, 1))
    assert (shown.low, shown.high) == (-2, 2)
    assert sorted(set(shown.pixels[..., 0].reshape(-1).tolist())) == [0, 128, 191, 255]


def test_what_is_not_finite_stands_out_and_is_counted() -> None:
    image = np.linspace(-1, 1, 16).reshape(4, 4)
    image[0, 0], image[1, 1] = np.nan, np.inf
    shown = show_array(image)
    assert shown.odd == 2
    assert tuple(shown.pixels[0, 0]) == tuple(shown.pixels[1, 1]) == (255, 0, 255)
    assert shown.high == 1
    assert show_array(np.full((4, 4), np.nan)).odd == 16


def test_constant_images_are_grey() -> None:
    assert set(show_array(np.full((4, 4), 7.0)).pixels.reshape(-1)) == {128}


def test_transparency_shows_the_paper() -> None:
    image = np.zeros((2, 2, 4), np.uint8)
    image[0, 0] = (10, 20, 30, 255)
    shown = show_array(image)
    assert tuple(shown.pixels[0, 0]) == (10, 20, 30)
    assert shown.pixels[1, 1].min() > 200


def test_a_stack_shows_its_middle_and_says_so() -> None:
    stack = np.zeros((9, 8, 8), np.float32)
    stack[4] = 1
    shown = show_array(stack)
    assert (shown.part, shown.pixels.min()) == (4, 255)


def test_huge_images_are_thinned_before_they_are_converted() -> None:
    shown = show_array(np.broadcast_to(np.float64(3.0), (20_000, 30_000)))
    assert max(shown.pixels.shape) < 3000
    assert shown.shape == (20_000, 30_000)


@pytest.mark.parametrize("shape", [(5,), (2, 2), (3, 700), (0, 8), (2, 2, 2, 2, 2)])
def test_what_is_no_image_is_not_taken_for_one(shape: tuple[int, ...]) -> None:
    assert not looks_like_image(np.zeros(shape, np.float32))
    assert not looks_like_image(np.full((8, 8), "a"))
