"""Pickles that want to run something: nothing runs, and what was asked for is named."""

from __future__ import annotations

import collections
import contextlib
import io
import os
import pickle
import pickletools
import random
import struct
import subprocess
import sys
import time
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from trueline.formats.pth import read_pth
from trueline.formats.pth.opcodes import unpickled
from trueline.model.budget import Budget, OverBudget
from trueline.model.trouble import BadFile

MAGIC = 0x1950A86A20F9469CFC6C


class Call:
    """Pickled as a call of a function."""

    def __init__(self, function: Any, *args: Any) -> None:
        self.call = (function, args)

    def __reduce__(self) -> Any:
        return self.call


def zipped(path: Path, code: bytes, **more: bytes) -> Path:
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("archive/data.pkl", code)
        for name, data in more.items():
            archive.writestr("archive/" + name.replace("__", "/"), data)
    return path


def legacy(path: Path, code: bytes) -> Path:
    path.write_bytes(b"".join(pickle.dumps(one, 2) for one in (MAGIC, 1001, {"little_endian": True})) + code)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(BadFile) as caught:
        read_pth(path)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def calls(sentinel: Path) -> dict[str, tuple[Any, str]]:
    touch = f"touch {sentinel}"
    code = f"open({str(sentinel)!r}, 'w')"
    return {
        "os.system": (Call(os.system, touch), "posix.system"),
        "subprocess": (Call(subprocess.Popen, ["touch", str(sentinel)]), "subprocess.Popen"),
        "check_output": (Call(subprocess.check_output, ["touch", str(sentinel)]), "subprocess.check_output"),
        "eval": (Call(eval, code), "builtins.eval"),
        "exec": (Call(exec, code), "builtins.exec"),
        "open": (Call(open, str(sentinel), "w"), "open"),
        "getattr": (Call(getattr, os, "system"), "builtins.getattr"),
        "import": (Call(__import__, "os"), "builtins.__import__"),
        "inside a state": ({"state_dict": {"weight": Call(os.system, touch)}}, "posix.system"),
        "inside a key's value": ([1, (2, {"a": [Call(os.system, touch)]})], "posix.system"),
    }


def pickled(value: Any, protocol: int) -> bytes:
    if isinstance(value, Call) and value.call[0] is getattr:
        # A module cannot be pickled; its name can.
        return b"cbuiltins\ngetattr\n(cos\nsystem\nS'x'\ntR."
    return pickle.dumps(value, protocol)


@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("write", [zipped, legacy])
def test_nothing_runs_and_the_name_is_said(tmp_path: Path, protocol: int, write: Callable[[Path, bytes], Path]) -> None:
    sentinel = tmp_path / "sentinel"
    for value, name in calls(sentinel).values():
        said = refusal(write(tmp_path / "x.pth", pickled(value, protocol)))
        assert name in said
        assert not sentinel.exists()


def text(value: str) -> bytes:
    return b"\x8c" + bytes([len(value)]) + value.encode()


GADGETS = {
    "torch.hub.load": b"ctorch.hub\nload\n(Vevil/repo\nVmodel\ntR.",
    "torch.load": b"ctorch\nload\n(Vother.pth\ntR.",
    "torch.serialization.load": b"ctorch.serialization\nload\n(Vother.pth\ntR.",
    "torch.storage._load_from_bytes": b"ctorch.storage\n_load_from_bytes\n(C\x01xtR.",
    "torch.jit.load": b"ctorch.jit\nload\n(Vx\ntR.",
    "torch.ops.load_library": b"ctorch\nops.load_library\n(Vx.so\ntR.",
    "numpy.load": b"cnumpy\nload\n(Vx.npy\ntR.",
    "numpy.testing._private.utils.runstring": b"cnumpy.testing._private.utils\nrunstring\n(Vx\n}tR.",
    "copyreg._reconstructor": b"ccopyreg\n_reconstructor\n(cbuiltins\ndict\ncbuiltins\ndict\nNtR.",
    "copyreg.add_extension": b"ccopyreg\nadd_extension\n(Vos\nVsystem\nK\x01tR.",
    "functools.partial": b"cfunctools\npartial\n(cos\nsystem\ntR.",
    "operator.attrgetter": b"coperator\nattrgetter\n(Vsystem\ntR.",
    "argparse.Namespace": b"cargparse\nNamespace\n)\x81}b.",
    "os.path.os.system": b"\x80\x04" + text("os.path") + text("os.system") + b"\x93(Vx\ntR.",
    "collections.OrderedDict.__init__.__globals__": b"\x80\x04"
    + text("collections")
    + text("OrderedDict.__init__.__globals__")
    + b"\x93.",
    "torch._utils.torch.hub.load": b"\x80\x04" + text("torch._utils") + text("torch.hub.load") + b"\x93)R.",
    "os.system": b"(S'touch x'\nios\nsystem\n.",
    "posix.system": b"(cposix\nsystem\nS'touch x'\no.",
    "builtins.compile": b"cbuiltins\ncompile\n)\x81.",
    "os.popen": b"cos\npopen\n)}\x92.",
    "copyreg extension 7": b"\x82\x07)R.",
    "copyreg extension 513": b"\x83\x01\x02)R.",
    "copyreg extension 5": b"\x84\x05\0\0\0)R.",
    "a call of str": b"Vos.system\n)R.",
    "a call of dict": b"})R.",
    "the state of list": b"]}b.",
    "torch._utils._rebuild_tensor_v2": b"ctorch._utils\n_rebuild_tensor_v2\n}V__code__\nN\x73b.",
    "collections.OrderedDict": b"ccollections\nOrderedDict\n}V__class__\nNsb.",
    "torch._utils._rebuild_sparse_tensor": b"ctorch._utils\n_rebuild_sparse_tensor\n.",
    "torch._utils._rebuild_qtensor": b"ctorch._utils\n_rebuild_qtensor\n.",
    "torch.QInt8Storage": b"ctorch\nQInt8Storage\n.",
    "Plain": b"cbuiltins\ndict\n(Vx\ntR.",
}


@pytest.mark.parametrize("name", GADGETS)
def test_gadgets_are_refused_by_name(tmp_path: Path, name: str) -> None:
    assert name in refusal(zipped(tmp_path / "x.pth", GADGETS[name]))


def test_a_name_cannot_break_the_line(tmp_path: Path) -> None:
    code = b"\x80\x04" + text("os\x1b[31m\nsecond line") + text("x" * 250) + b"\x93."
    said = refusal(zipped(tmp_path / "x.pth", code))
    assert "\x1b" not in said
    assert len(said) < 600


def test_a_whole_model_is_told_what_to_do(tmp_path: Path) -> None:
    code = b"\x80\x02c__main__\nNet\n)\x81}(X\x0b\0\0\0_parametersNX\x08\0\0\0_modulesNub."
    said = refusal(zipped(tmp_path / "x.pth", code))
    assert "__main__.Net" in said
    assert "state_dict()" in said


def laughs() -> bytes:
    """A list of lists of lists: 2 to the 60th leaves in 300 bytes."""
    code = b"\x80\x04]\x94"
    for number in range(60):
        code += b"](h" + bytes([number]) + b"h" + bytes([number]) + b"e\x94"
    return code + b"."


BOMBS = {
    "billion laughs": laughs(),
    "nested lists": b"]" * 200_000 + b"a" * 199_999 + b".",
    "nested tuples": b")" + b"\x85" * 200_000 + b".",
    "nested tuple for a key": b"})" + b"\x85" * 200_000 + b"Ns.",
    "wide tuple for a key": b"}(" + b"N" * 100_000 + b"tNs.",
    "a list that holds itself": b"]\x94h\x00a.",
    "huge memo number": b"]r\xff\xff\xff\xff0j\xfe\xff\xff\xff.",
    "huge string": b"X\xff\xff\xff\x7fabc.",
    "huge bytes": b"\x8e" + struct.pack("<Q", 1 << 60) + b"abc.",
    "huge frame": b"\x95" + struct.pack("<Q", 1 << 60) + b"N.",
    "huge number": b"\x8b\xff\xff\xff\x7f" + b"\xff" * 100_000 + b".",
    "many digits": b"L" + b"9" * 4000 + b"L\n.",
    "digits without end": b"L" + b"9" * 1_000_000 + b"L\n.",
    "marks": b"(" * 300_000 + b".",
    "endless line": b"c" + b"x" * 1_000_000,
    "copies": b"\x80\x04](" + b"NN\x86" * 20_000 + b"e\x94" + b"ccollections\nOrderedDict\nh\x00\x85R" * 2000 + b".",
    "no end": b"\x80\x04]",
    "only an end": b".",
    "nothing": b"",
    "pop of nothing": b"0.",
    "mark of nothing": b"t.",
    "unknown opcode": b"\xfe.",
    "out of band buffer": b"\x97.",
    "persistent text": b"P1\n.",
    "persistent id of another kind": b"NQ.",
    "storage of another kind": b"(Vstorage\nNV0\nVcpu\nK\x01tQ.",
    "protocol 9": b"\x80\x09N.",
    "device of a nest": b"ctorch\ndevice\n" + b"]" * 100_000 + b"a" * 99_999 + b"\x85R.",
}


@pytest.mark.parametrize("case", BOMBS)
def test_bombs_are_one_clear_line_in_bounded_time_and_memory(tmp_path: Path, case: str) -> None:
    path = zipped(tmp_path / "x.pth", BOMBS[case])
    tracemalloc.start()
    begin = time.process_time()
    try:
        refusal(path)
        assert tracemalloc.get_traced_memory()[1] < 300 << 20
    finally:
        tracemalloc.stop()
    assert time.process_time() - begin < 30


def tensor_code(
    storage: str = "FloatStorage", offset: int = 0, shape: Any = (2,), strides: Any = (1,), n: int = 2
) -> bytes:
    """What torch.save writes for {"w": a tensor}."""
    parts = b"".join(pickle.dumps(one, 2)[2:-1] for one in (offset, shape, strides, False))
    # Each part memoizes under its own numbers, which nothing here reads.
    return (
        b"\x80\x02}X\x01\0\0\0wctorch._utils\n_rebuild_tensor_v2\n((X\x07\0\0\0storagectorch\n"
        + storage.encode()
        + b"\nX\x01\0\0\0"
        + b"0X\x03\0\0\0cpu"
        + pickle.dumps(n, 2)[2:-1]
        + b"tQ"
        + parts
        + b"ccollections\nOrderedDict\n)RtRs."
    )


def test_a_tensor_without_torch(tmp_path: Path) -> None:
    data = struct.pack("<2f", 1.5, -2)
    read = read_pth(zipped(tmp_path / "x.pth", tensor_code(), data__0=data))
    assert read.model["w"].array().tolist() == [1.5, -2]
    big = zipped(tmp_path / "x.pth", tensor_code(), data__0=struct.pack(">2f", 1.5, -2), byteorder=b"big")
    assert read_pth(big).model["w"].array().tolist() == [1.5, -2]


@pytest.mark.parametrize(
    "wrong",
    [
        {"n": 1000},
        {"offset": 1},
        {"offset": 1 << 61},
        {"offset": -1},
        {"shape": (3,)},
        {"shape": (-1,)},
        {"shape": (2.0,)},
        {"shape": (True,)},
        {"shape": (1 << 61,), "strides": (0,)},
        {"shape": (1 << 40,), "strides": (0,)},
        {"shape": (0, 1 << 61, 1 << 61), "strides": (1, 1, 1)},
        {"strides": (1 << 60,)},
        {"strides": (-1,)},
        {"strides": ()},
        {"shape": (1,) * 100, "strides": (1,) * 100},
        {"storage": "DoubleStorage"},
    ],
)
def test_tensors_beyond_their_storage(tmp_path: Path, wrong: dict[str, Any]) -> None:
    refusal(zipped(tmp_path / "x.pth", tensor_code(**wrong), data__0=struct.pack("<2f", 1.5, -2)))


def test_a_storage_that_is_not_there(tmp_path: Path) -> None:
    assert "array w" in refusal(zipped(tmp_path / "x.pth", tensor_code()))


def test_what_is_no_file_of_torch(tmp_path: Path) -> None:
    path = tmp_path / "x.pth"
    for data in (
        b"",
        b"text",
        b"PK\3\4",
        b"PK\5\6" + bytes(18),
        pickle.dumps({"a": 1}),
        pickle.dumps(MAGIC),
        b"\x80\x02",
    ):
        path.write_bytes(data)
        refusal(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("other.txt", "hello")
    assert "torch.save" in refusal(path)
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("m/data.pkl", "m/constants.pkl", "m/code/__torch__.py"):
            archive.writestr(name, b"N.")
    assert "TorchScript" in refusal(path)
    refusal(tmp_path / "missing.pth")
    refusal(tmp_path)


def test_any_byte_may_be_wrong(tmp_path: Path) -> None:
    chance = random.Random(7)
    good = tensor_code()
    path = tmp_path / "x.pth"
    for _ in range(600):
        code = bytearray(good)
        for _ in range(chance.choice((1, 1, 2, 8))):
            code[chance.randrange(len(code))] = chance.randrange(256)
        zipped(path, bytes(code), data__0=bytes(8))
        try:
            read = read_pth(path)
        except BadFile as error:
            assert "\n" not in str(error)
        else:
            [one.array() for one in read.model.values()]


def test_every_opcode_is_known_or_refused(tmp_path: Path) -> None:
    for one in pickletools.opcodes:
        code = one.code.encode("latin-1") + b"1\n1\n" + bytes(12) + b"."
        with contextlib.suppress(BadFile):
            read_pth(zipped(tmp_path / "x.pth", code))


@pytest.mark.parametrize("protocol", range(6))
def test_plain_values_of_every_protocol(tmp_path: Path, protocol: int) -> None:
    value = {
        "a": [1, -1, 255, 65536, 1 << 40, -(1 << 70), True, None, 1.5, "text", "文\n字", b""],
        "b": collections.OrderedDict([("x", (1,)), ("y", (1, 2)), ("z", (1, 2, 3, 4))]),
    }
    file = io.BytesIO()
    pickle.Pickler(file, protocol).dump(value)
    code = file.getvalue()[:-1] if protocol < 2 else file.getvalue()[2:-1]
    # The tensor's pickle first, then this one, as a list of both.
    tensor = tensor_code()[2:-1]
    path = zipped(tmp_path / "x.pth", b"\x80" + bytes([protocol]) + b"(" + tensor + code + b"l.", data__0=bytes(8))
    found = read_pth(path).others
    assert found["1.a"][:-1] == tuple(value["a"][:-1])
    assert found["1.b.z"] == (1, 2, 3, 4)


class Counting(Budget):
    """A budget that counts how often it is asked."""

    asked = 0

    def hold(self, size: int) -> None:
        self.asked += 1
        super().hold(size)

    def spend(self, units: int = 1) -> None:
        self.asked += 1
        super().spend(units)


@pytest.mark.parametrize("protocol", range(6))
def test_the_budget_is_asked_for_many_steps_at_once_and_misses_none(protocol: int) -> None:
    values = [(f"name {number}", number * 1000, float(number), (number, None)) for number in range(5_000)]
    code = pickle.dumps(values, protocol)
    budget = Counting("file", len(code))
    before = budget.memory
    found, _ = unpickled(memoryview(code), 0, lambda *_: None, lambda _: None, budget)
    assert found == values
    steps = sum(1 for _ in pickletools.genops(code))
    assert budget.asked < steps / 20
    # Nothing that was made is left out of the account.
    made = sum(sys.getsizeof(one) + sum(map(sys.getsizeof, one)) for one in values)
    assert before - budget.memory > made
    # With less than that, it ends within the steps that are asked for at once.
    small = Counting("file", len(code))
    small.memory = made // 2
    with pytest.raises(OverBudget):
        unpickled(memoryview(code), 0, lambda *_: None, lambda _: None, small)
