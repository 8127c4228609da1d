"""Run in a process of its own: files written by the libraries that own their formats, one folder each."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

_TESTS = Path(__file__).resolve().parents[1]


def _torch(folder: Path) -> None:
    import torch
    from safetensors.torch import save_file
    from torch import nn
    from torch.utils.tensorboard import SummaryWriter

    torch.manual_seed(0)
    net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.BatchNorm2d(2), nn.Flatten(), nn.Linear(8, 3))
    optimizer = torch.optim.Adam(net.parameters(), 0.1)
    net(torch.ones(2, 1, 4, 4)).sum().backward()
    optimizer.step()
    state = net.state_dict()
    tied = {"a": state["3.weight"], "b": state["3.weight"].t(), "c": state["3.weight"][1:], "s": torch.tensor(3.0)}
    whole = {
        "state_dict": state,
        "optimizer": optimizer.state_dict(),
        "epoch": 3,
        "rng": torch.get_rng_state()[:64].clone(),
    }
    odd = {
        "bf": torch.ones(3, dtype=torch.bfloat16), "p": nn.Parameter(torch.ones(2)), "i8": torch.ones(2, dtype=torch.int8),
        "none": None, "size": torch.Size([1, 2]), "device": torch.device("cpu"), "dtype": torch.float16,
        "np": np.arange(3), "scalar": np.float64(0.5), "c": torch.ones(2, dtype=torch.complex64),
    }  # fmt: skip
    for number, (tree, protocol) in enumerate(((state, 2), (tied, 2), (whole, 2), (odd, 2), (state, 4))):
        for name, new in (("pth", True), ("pth_legacy", False)):
            place = folder / name / str(number)
            place.mkdir(parents=True)
            torch.save(tree, place / "a.pth", pickle_protocol=protocol, _use_new_zipfile_serialization=new)
    place = folder / "safetensors" / "1"
    place.mkdir(parents=True)
    save_file({name: one.contiguous() for name, one in {**state, "bf": odd["bf"]}.items()}, place / "a.safetensors")
    place = folder / "tensorboard" / "1"
    with SummaryWriter(str(place)) as writer:
        for step in range(6):
            writer.add_scalar("loss/train", 1 / (step + 1), step)
            writer.add_histogram("h", np.arange(4.0), step)
        writer.add_text("note", "text", 0)


def _mindspore(folder: Path) -> None:
    os.environ["GLOG_v"] = "4"  # noqa: SIM112 (its name)
    import mindspore as ms
    from mindspore import nn
    from mindspore.mindrecord import FileWriter

    net = nn.SequentialCell(nn.Dense(4, 3), nn.BatchNorm1d(3))
    optimizer = nn.Adam(net.trainable_params(), 0.1)
    place = folder / "ckpt" / "1"
    place.mkdir(parents=True)
    ms.save_checkpoint(net, str(place / "a.ckpt"))
    place = folder / "ckpt" / "2"
    place.mkdir(parents=True)
    ms.save_checkpoint(
        nn.TrainOneStepCell(net, optimizer), str(place / "a.ckpt"), append_dict={"epoch": 3, "note": "x"}
    )
    place = folder / "ms_summary" / "1"
    place.mkdir(parents=True)
    with ms.SummaryRecord(str(place)) as record:
        for step in range(6):
            record.add_value("scalar", "loss", ms.Tensor(1 / (step + 1), ms.float32))
            record.add_value("tensor", "t", ms.Tensor(np.ones((2, 3), np.float32)))
            record.record(step)
    for one in place.iterdir():
        if ".events.summary." not in one.name:
            shutil.rmtree(one) if one.is_dir() else one.unlink()
    place = folder / "mindrecord" / "1"
    place.mkdir(parents=True)
    writer = FileWriter(str(place / "a.mindrecord"), shard_num=1, overwrite=True)
    writer.set_header_size(1 << 14)
    writer.set_page_size(1 << 15)
    schema = {
        "ids": {"type": "int64", "shape": [-1]}, "w": {"type": "float32", "shape": [2, 3]}, "share": {"type": "float64"},
        "label": {"type": "int32"}, "name": {"type": "string"}, "raw": {"type": "bytes"},
    }  # fmt: skip
    writer.add_schema(schema, "made")
    rows = [
        {
            "ids": np.array([0, 1, -1, 2**40, -(2**63)][: 1 + n], np.int64), "w": np.full((2, 3), n, np.float32),
            "share": n / 3, "label": n % 3, "name": f"名 {n}", "raw": bytes([n]) * 9,
        }
        for n in range(5)
    ]  # fmt: skip
    writer.write_raw_data(rows)
    writer.commit()


def _ms_dump(folder: Path) -> None:
    """What MindSpore's own dump leaves of a small network."""
    made = folder / "made"
    made.mkdir()
    program = _TESTS / "record" / "ms_dumping_division.py"
    subprocess.run(
        [sys.executable, str(program), str(made), "0"], cwd=made, capture_output=True, check=False, timeout=300
    )
    place = folder / "ms_dump" / "1"
    place.mkdir(parents=True)
    if (made / "dump").is_dir():
        shutil.copytree(made / "dump", place / "dump")
        kept: dict[Path, int] = {}
        for path in sorted(place.rglob("*.npy")):
            kept[path.parent] = kept.get(path.parent, 0) + 1
            if kept[path.parent] > 6:
                path.unlink()
    else:
        place.rmdir()
    shutil.rmtree(made)


def _run(folder: Path) -> None:
    """A training that was recorded, with tensors and states."""
    place = folder / "run_folder" / "1"
    place.mkdir(parents=True)
    script = folder / "train.py"
    script.write_text(
        "import torch\n"
        "net = torch.nn.Linear(3, 2)\n"
        "opt = torch.optim.SGD(net.parameters(), 0.1)\n"
        "data = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(4, 3), torch.zeros(4).long()), 2)\n"
        "for x, y in data:\n"
        "    loss = torch.nn.functional.cross_entropy(net(x), y)\n"
        "    opt.zero_grad(); loss.backward(); opt.step()\n"
    )
    line = [
        sys.executable,
        "-m",
        "trueline",
        "run",
        "--quiet",
        "--stats",
        "--tensors",
        "-o",
        str(place / "run"),
        str(script),
    ]
    done = subprocess.run(line, cwd=folder, capture_output=True, text=True, check=False, timeout=300)
    if done.returncode:
        raise SystemExit(done.stderr)
    script.unlink()


if __name__ == "__main__":
    target = Path(sys.argv[1])
    _torch(target)
    _run(target)
    _mindspore(target)
    _ms_dump(target)
