"""The run folder's cost: writing against the same bytes written plainly, a history against the same bytes read plainly.

Run as ``python benchmarks/run_folder.py [--quick] [--folder DIR]``: 100,000 steps of 500 tensors, or a tenth.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from measure import Sample, interleave

from trueline.formats.run_folder.layout import RECORD
from trueline.formats.run_folder.reader import open_run
from trueline.formats.run_folder.writer import RankWriter
from trueline.model.key import Key
from trueline.model.run import RunInfo
from trueline.model.summary import Summary

TENSORS = 500
ROUND = 256
CHUNK = 1 << 20


def stats_of(step: int, keys: list[Key], summaries: list[Summary]) -> list[tuple[Key, Summary]]:
    """A step's statistics; the same few thousand summaries in turn, since making them is not what is measured."""
    first = step * 7 % (len(summaries) - TENSORS)
    return list(zip(keys, summaries[first : first + TENSORS], strict=True))


def events_of(step: int) -> list[dict[str, object]]:
    """The events of an ordinary step."""
    return [
        {"event": "loss", "t": step * 0.1, "value": 1.0 / (step + 1), "micro": 0, "index": 0, "source": "backward"},
        {
            "event": "step",
            "t": step * 0.1,
            "optimizer": 0,
            "kind": "SGD",
            "lr": [0.1],
            "grad_norm": 1.5,
            "skipped": False,
        },
        {"event": "end", "t": step * 0.1, "seconds": 0.1},
    ]


def write(folder: Path, steps: int, keys: list[Key], summaries: list[Summary]) -> tuple[Sample, Sample, float]:
    """Write the run; CPU seconds of a step, of writing the same bytes plainly, and of a step that turns a block."""
    writer = RankWriter(folder)
    writer.write_info(RunInfo("bench"))
    plain = os.open(folder / "plain", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    row = os.urandom(TENSORS * RECORD.itemsize + 400)
    position = [0]
    turns: list[float] = []

    def ours() -> None:
        start = 0.0
        for step in range(position[0], position[0] + ROUND):
            # The last of a round turns the block; reading the clock at every step would cost more than the step.
            if step == position[0] + ROUND - 1:
                start = time.process_time()
            writer.finish_step(step, "train", events_of(step), stats_of(step, keys, summaries))
        turns.append(time.process_time() - start)
        position[0] += ROUND

    def raw() -> None:
        for _ in range(ROUND):
            os.write(plain, row)
        os.ftruncate(plain, 0)

    taken = interleave({"ours": ours, "raw": raw}, repeat=steps // ROUND, warmup=0)
    writer.close()
    os.close(plain)
    (folder / "plain").unlink()
    return per_step(taken["ours"]), per_step(taken["raw"]), statistics.median(turns)


def per_step(sample: Sample) -> Sample:
    """A round's seconds as a step's."""
    return Sample(sample.median / ROUND, sample.low / ROUND, sample.high / ROUND)


def read_plainly(path: Path, size: int) -> int:
    """Read so many bytes from the middle of a file, in one piece."""
    with path.open("rb") as file:
        file.seek(max(0, (path.stat().st_size - size) // 2))
        return len(file.read(size))


def scan(files: list[Path]) -> int:
    """Read everything, as a layout of rows by step would make us do."""
    total = 0
    for path in files:
        with path.open("rb", buffering=0) as file:
            while chunk := file.read(CHUNK):
                total += len(chunk)
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10,000 steps instead of 100,000")
    parser.add_argument(
        "--folder", type=Path, default=None, help="where to write (default: the system's temporary folder)"
    )
    options = parser.parse_args()
    steps = (10_000 if options.quick else 100_000) // ROUND * ROUND
    keys = [Key.of(f"layer{number // 10}.block.{number % 10}", "out") for number in range(TENSORS)]
    summaries = [
        Summary(4096, 0, 0, 0, number, -1.0, 1.0, 0.01 * number, 0.5, 0.25, 32.0, hash((number, 1)) & (1 << 64) - 1)
        for number in range(4000)
    ]
    top = Path(tempfile.mkdtemp(dir=options.folder))
    try:
        ours, raw, turning = write(top / "run", steps, keys, summaries)
        files = [one for one in (top / "run").rglob("*") if one.is_file()]
        size = sum(one.stat().st_size for one in files)
        least = steps * TENSORS * RECORD.itemsize
        print(
            f"{steps} steps x {TENSORS} tensors: {len(files)} files, {size / 1e9:.2f} GB, "
            f"{size / least:.3f} x the records alone"
        )
        print(
            f"write: {ours.median * 1e6:.0f} us CPU per step ({ours.low * 1e6:.0f} to {ours.high * 1e6:.0f}), "
            f"{ours.median / raw.median:.1f} x writing the same bytes plainly ({raw.median * 1e6:.0f} us); "
            f"a step that turns a block {turning * 1e3:.0f} ms"
        )
        segments = sorted((top / "run/rank-00000").glob("stats-*.bin"))
        one = steps * RECORD.itemsize
        opened = open_run(top / "run").rank()
        opened.history(keys[0])
        calls = {
            "open and history": lambda: open_run(top / "run").rank().history(keys[321]),
            "history": lambda: opened.history(keys[321]),
            "plain": lambda: read_plainly(segments[0], one),
        }
        taken = interleave(calls, repeat=7)
        taken |= interleave({"scan": lambda: scan(segments)}, repeat=1, warmup=0)
        assert opened.history(keys[321])["step"].tolist() == list(range(steps))
        for name in ("history", "open and history"):
            print(
                f"{name} of one tensor ({one / 1e6:.1f} MB): {taken[name].median * 1e3:.1f} ms CPU, "
                f"{taken[name].median / taken['plain'].median:.1f} x reading as many bytes plainly, "
                f"1/{taken['scan'].median / taken[name].median:.0f} of reading everything once"
            )
    finally:
        shutil.rmtree(top)


if __name__ == "__main__":
    main()
