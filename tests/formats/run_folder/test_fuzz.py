"""Bytes flipped, cut, inserted and zeroed at random in every file: it opens and reads, or there is one BadFile."""

from __future__ import annotations

import random
import shutil
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from formats.run_folder.made_run import check_prefix, read_everything, write_run

from trueline.formats.run_folder.layout import BLOCK, DIRECTORY_ROW, FRAME, RECORD, STEP_ROW
from trueline.model.trouble import BadFile


def flip(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 1, 1, 20))):
        data[chance.randrange(len(data))] ^= 1 << chance.randrange(8)


def cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.randrange(len(data)) :]


def take_out(data: bytearray, chance: random.Random) -> None:
    begin = chance.randrange(len(data))
    del data[begin : begin + chance.randint(1, 60)]


def put_in(data: bytearray, chance: random.Random) -> None:
    place = chance.randrange(len(data))
    data[place:place] = chance.randbytes(chance.randint(1, 60))


def repeat(data: bytearray, chance: random.Random) -> None:
    begin = chance.randrange(len(data))
    data[begin:begin] = data[begin : begin + chance.randint(1, 3000)]


def extreme(data: bytearray, chance: random.Random) -> None:
    begin = chance.randrange(len(data))
    size = chance.choice((1, 2, 4, 8, 48))
    data[begin : begin + size] = chance.choice((b"\0", b"\xff", b"\x7f", b"9")) * size


MUTATIONS = (flip, cut, take_out, put_in, repeat, extreme)


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fuzz") / "good"
    write_run(folder, 26, close=False)
    assert check_prefix(folder) == 32
    return folder


@pytest.mark.parametrize("seed", range(60))
def test_any_damage_is_read_or_refused(tmp_path: Path, good: Path, seed: int) -> None:
    chance = random.Random(seed)
    folder = tmp_path / "run"
    shutil.copytree(good, folder)
    files = sorted(one for one in folder.rglob("*") if one.is_file())
    assert {one.name for one in files} >= {"run.json", "events.jsonl", "names.jsonl", "stats-tail.bin", "0.safetensors"}
    for path in files:
        whole = path.read_bytes()
        data = bytearray(whole)
        chance.choice(MUTATIONS)(data, chance)
        path.write_bytes(data)
        try:
            read_everything(folder)
        except BadFile as trouble:
            assert "\n" not in str(trouble)
        path.write_bytes(whole)


@pytest.mark.parametrize("name", ["events.jsonl", "stats-tail.bin", "names.jsonl"])
def test_a_file_cut_anywhere_at_its_end_opens_silently(tmp_path: Path, good: Path, name: str) -> None:
    folder = tmp_path / "run"
    shutil.copytree(good, folder)
    path = folder / "rank-00000" / name
    whole = path.read_bytes()
    for missing in range(1, 100, 7):
        path.write_bytes(whole[:-missing])
        if name == "names.jsonl":
            # No frame is written before its names: here a reader can tell that the file was spoilt.
            with pytest.raises(BadFile):
                read_everything(folder)
        else:
            read_everything(folder)


def forge_block(data: bytearray, chance: random.Random) -> None:
    """Damage the first block, then make its checksums right again."""
    _, _, length, _, steps, keys, _, _ = BLOCK.unpack_from(data)
    begin, middle = BLOCK.size, BLOCK.size + steps * STEP_ROW.itemsize
    body = middle + keys * DIRECTORY_ROW.itemsize
    low, high = chance.choice(((8, BLOCK.size - 8), (begin, middle), (middle, body), (body, length)))
    for _ in range(chance.randint(1, 3)):
        data[chance.randrange(low, high)] = chance.choice((0, 1, 2, 127, 255))
    position = body
    for row in range(keys):
        place = middle + row * DIRECTORY_ROW.itemsize
        count = int.from_bytes(data[place + 4 : place + 8], "little")
        end = min(position + count * RECORD.itemsize, length)
        data[place + 8 : place + 12] = zlib.crc32(data[position:end]).to_bytes(4, "little")
        position = end
    data[BLOCK.size - 8 : BLOCK.size - 4] = zlib.crc32(data[begin:body]).to_bytes(4, "little")
    data[BLOCK.size - 4 : BLOCK.size] = zlib.crc32(data[: BLOCK.size - 4]).to_bytes(4, "little")


def forge_frame(data: bytearray, chance: random.Random) -> None:
    """Damage the first frame, then make its checksums right again."""
    count = FRAME.unpack_from(data)[5]
    end = FRAME.size + count * RECORD.itemsize
    low, high = chance.choice(((8, FRAME.size - 8), (FRAME.size, end)))
    for _ in range(chance.randint(1, 3)):
        data[chance.randrange(low, high)] = chance.choice((0, 1, 2, 127, 255))
    data[FRAME.size - 8 : FRAME.size - 4] = zlib.crc32(data[FRAME.size : end]).to_bytes(4, "little")
    data[FRAME.size - 4 : FRAME.size] = zlib.crc32(data[: FRAME.size - 4]).to_bytes(4, "little")


@pytest.mark.parametrize("name, forge", [("stats-0000.bin", forge_block), ("stats-tail.bin", forge_frame)])
def test_damage_with_right_checksums_is_read_or_refused(
    tmp_path: Path, good: Path, name: str, forge: Callable[[bytearray, random.Random], None]
) -> None:
    folder = tmp_path / "run"
    shutil.copytree(good, folder)
    path = folder / "rank-00000" / name
    whole = path.read_bytes()
    refused = 0
    for seed in range(150):
        data = bytearray(whole)
        forge(data, random.Random(seed))
        path.write_bytes(data)
        try:
            read_everything(folder)
        except BadFile as trouble:
            refused += 1
            assert "\n" not in str(trouble)
    assert 0 < refused < 150
