"""Logs of a training: recognised, every curve read, compared by their loss."""

from __future__ import annotations

import json
from pathlib import Path

from fuzz.case import Target
from fuzz.mutators.framed import EVENTS, framed
from fuzz.mutators.text import JSON_LINES, TEXT
from fuzz.targets.verbs import each


def _read(folder: Path, whole: bool) -> None:
    """What compare does with a log."""
    from trueline.formats.kinds import Kind, look
    from trueline.formats.log import loss_of
    from trueline.formats.opening import open_curves

    names = sorted(one.name for one in folder.iterdir())
    path = folder / names[0] if len(names) == 1 else folder
    if whole:
        each(
            ("compare", str(path), str(path)),
            ("compare", str(path), str(path), "--json"),
        )
        return
    found = look(path)
    if found.kind is Kind.CURVES:
        loss_of(open_curves(found))


def _write(folder: Path, name: str, texts: list[str]) -> None:
    for number, text in enumerate(texts):
        (folder / str(number)).mkdir()
        (folder / str(number) / name).write_text(text, "utf-8")


def _text(folder: Path) -> None:
    steps = range(1, 13)
    _write(
        folder,
        "train.log",
        [
            "".join(f"step {n} loss: 2.{n}\n" for n in steps),
            "".join(f"Epoch [{n // 4}/3], Step [{n}/12], Loss: {2 / n:.4f}, lr: 1e-{n % 4}\n" for n in steps),
            "".join(f"2024-01-01 12:00:{n:02d},123 INFO epoch: 1 step: {n}, loss is {3 / n}\n" for n in steps),
            "".join(
                f"{{'loss': {1 / n}, 'grad_norm': nan, 'learning_rate': 5e-05, 'epoch': {n / 4}}}\n" for n in steps
            ),
            "".join(f"| {n:5d} | loss {1 / n:8.3f} | ppl {n * 1.5:.2f} | acc 0.{n} |\n" for n in steps),
            "".join(f"\r{n * 8}%|{'#' * n}| {n}/12 [00:0{n % 9}<00:11, 9.{n}it/s, loss=0.{n}]" for n in steps) + "\n",
            "".join(f"Epoch {n}/12\n {n}/12 - 1s - loss: 0.{n} - accuracy: 0.{n} - val_loss: 1.{n}\n" for n in steps),
        ],
    )


def _csv(folder: Path) -> None:
    _write(
        folder,
        "log.csv",
        [
            "step,loss,lr\n" + "".join(f"{n},{1 / n},1e-{n % 5}\n" for n in range(1, 12)),
            "epoch,step,train_loss,val_loss\n0,9,0.5,\n0,19,0.4,\n0,19,,0.9\n1,29,0.3,\n1,39,,0.8\n",
            "Wall time,Step,Value\n1700000000.5,0,2.5\n1700000001.5,10,2.25\n",
            '"Step";"a - train/loss";"note"\n"0";"2,5";"x; y"\n"5";"nan";"c ""d"""\n',
            "step\tloss\n1\t0.5\n2\tinf\n3\t-1e400\n",
        ],
    )


def _json_lines(folder: Path) -> None:
    rows = [
        {"step": n, "loss": 1 / n, "lr": 0.1, "nested": {"train": {"loss": 0.5 * n}}, "t": "x"} for n in range(1, 12)
    ]
    _write(
        folder,
        "log.jsonl",
        ["\n".join(map(json.dumps, rows)) + "\n", json.dumps({"log_history": rows}), json.dumps(rows)],
    )


def _varint(value: int) -> bytes:
    return bytes([value]) if value < 128 else bytes([value & 127 | 128]) + _varint(value >> 7)


def _field(number: int, content: bytes) -> bytes:
    return _varint(number << 3 | 2) + _varint(len(content)) + content


def _events(folder: Path) -> None:
    import struct

    def scalar(tag: bytes, step: int, value: float) -> bytes:
        inner = _field(1, tag) + b"\x15" + struct.pack("<f", value)
        return b"\x09" + struct.pack("<d", 1.7e9) + b"\x10" + _varint(step) + _field(5, _field(1, inner))

    def tensor(tag: bytes, step: int, value: float) -> bytes:
        held = b"\x08\x01\x12\0" + _field(4, struct.pack("<f", value))
        plugin = _field(1, _field(1, b"scalars"))
        inner = _field(1, tag) + _field(8, held) + _field(9, plugin)
        return b"\x10" + _varint(step) + _field(5, _field(1, inner))

    for number, make in enumerate((scalar, tensor)):
        records = [
            _field(3, b"brain.Event:2"),
            *(make(b"train/loss", n, 1 / (n + 1)) for n in range(300 // (1 + 9 * number))),
        ]
        records += [make(b"lr", n, 0.1) for n in range(5)]
        (folder / str(number)).mkdir()
        (folder / str(number) / "events.out.tfevents.1.host").write_bytes(framed(records[:40]))


def _summary(folder: Path) -> None:
    import struct

    def scalar(tag: bytes, step: int, value: float) -> bytes:
        inner = _field(1, tag) + b"\x1d" + struct.pack("<f", value)
        return b"\x09" + struct.pack("<d", 1.7e9) + b"\x10" + _varint(step) + _field(5, _field(1, inner))

    records = [_field(3, b"MindSpore.Event:1"), *(scalar(b"loss/auto", n, 1 / (n + 1)) for n in range(20))]
    (folder / "1").mkdir()
    (folder / "1" / "x.events.summary.1700000000.host_MS").write_bytes(framed(records))


TARGETS = (
    Target("log_text", _text, _read, lambda _: TEXT),
    Target("log_csv", _csv, _read, lambda _: TEXT),
    Target("log_json", _json_lines, _read, lambda _: JSON_LINES),
    Target("tensorboard", _events, _read, lambda _: EVENTS, real=("tensorboard",)),
    Target("ms_summary", _summary, _read, lambda _: EVENTS, real=("ms_summary",)),
)
