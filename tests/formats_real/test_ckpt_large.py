"""A tensor of more than 2 GB, written without MindSpore and loaded by MindSpore itself."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from trueline.formats.ckpt.writer import write_ckpt
from trueline.formats.making import making
from trueline.formats.outgoing import Outgoing
from trueline.formats.stored import Stored

_PART = 64 << 20
_TIMES = 33

_LOAD = """
import mmap
import pathlib
import sys
import mindspore as ms
import numpy as np
from mindspore import nn
from mindspore.train import serialization


class Mapped:
    # MindSpore reads a whole file before it parses it: what is mapped needs no second copy, and a file that is gone
    # once it is parsed gives its pages to the copies that MindSpore makes next.
    def __init__(self, path, *_):
        self.file = open(path, "rb")
        pathlib.Path(path).unlink()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()

    def read(self):
        return mmap.mmap(self.file.fileno(), 0, access=mmap.ACCESS_READ)


serialization._ensure_ckpt_fs_initialized()
serialization._ckpt_fs.open = Mapped
# It asks for free pages, of which a machine that has just written a large file has few.
serialization._get_available_memory = lambda: None
# MindSpore is imported while the file is written.
assert sys.stdin.readline() == "written\\n"
told = ms.load_checkpoint(sys.argv[1])
cell = nn.Cell()
cell.big = ms.Parameter(ms.Tensor(shape=told["big"].shape, dtype=ms.float32, init=ms.common.initializer.Zero()))
cell.next = ms.Parameter(ms.Tensor(np.zeros(3, np.float64)))
assert ms.load_param_into_net(cell, told, strict_load=True) == ([], [])
given = np.memmap(sys.argv[2], np.uint64, "r")
found = cell.big.asnumpy().view(np.uint64).reshape(-1, given.size)
assert len(found) == int(sys.argv[3])
assert all(np.array_equal(part, given) for part in found)
assert cell.next.asnumpy().tolist() == [1, 1, 1]
"""


def test_more_than_two_gigabytes_in_one_tensor_arrive(tmp_path: Path) -> None:
    # The same pages again and again: those of a hole of this size take the system longer than writing them.
    source, path = tmp_path / "sparse.bin", tmp_path / "big.ckpt"
    with source.open("wb") as file:
        for at in (0, _PART // 2, _PART - 1):
            file.seek(at)
            file.write(b"\7")
    large = Stored("big", (_PART * _TIMES // 4,), np.dtype(np.float32), source, ((0, _PART),) * _TIMES)
    assert large.nbytes > 2 << 30
    # Larger pages halve the time MindSpore needs.
    environment = {**os.environ, "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
    command = [sys.executable, "-c", _LOAD, str(path), str(source), str(_TIMES)]
    try:
        with subprocess.Popen(command, env=environment, stdin=subprocess.PIPE, text=True) as loading:
            with making(path) as made:
                following = Outgoing("next", (3,), np.dtype(np.float64), np.ones(3))
                write_ckpt(made.sink(path), [Outgoing.of(large), following])
            loading.communicate("written\n")
        assert loading.returncode == 0
    finally:
        path.unlink(missing_ok=True)
        source.unlink(missing_ok=True)
