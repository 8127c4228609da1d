"""Dumps of MindSpore and msprobe whose listings ask for more than they are worth."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from .arrays import npy
from .case import Case, Make
from .weights import tensor, torch_file

_NUMBER = npy("'<f4'", "(1,)", bytes(4))


def ms_dump(order: Callable[[int], str], ir: Callable[[int], str], mapping: Callable[[int], str]) -> Make:
    """A dump of one operator with these listings beside it."""

    def make(folder: Path, size: int) -> list[str | Path]:
        rank = folder / "rank_0"
        iteration = rank / "Net" / "0" / "0"
        for one in (iteration, rank / "execution_order", rank / "graphs"):
            one.mkdir(parents=True)
        (iteration / "MatMul.Default_fc-Dense_MatMul-op1.0.0.1.output.0.DefaultFormat.npy").write_bytes(_NUMBER)
        (iteration / "123.npy").write_bytes(_NUMBER)
        (rank / "execution_order" / "ms_execution_order_graph_0.csv").write_text(order(size))
        (rank / "graphs" / "ms_output_trace_code_graph_0.ir").write_text(ir(size))
        (iteration / "mapping.csv").write_text(mapping(size))
        return ["compare", folder, folder]

    return make


def _usual(_size: int) -> str:
    return "Default/fc-Dense/MatMul-op1\n"


def _none(_size: int) -> str:
    return ""


def _line(start: str, each: str, end: str, longest: int = 65000) -> Callable[[int], str]:
    """Lines that are as long as a line may be."""
    line = start + each * (longest // len(each)) + end
    return lambda size: line * max(1, size // len(line))


_WIDE = "Default/" + "a-B/" * 190
_MS_DUMP = {
    "parameters of spaces": ms_dump(_usual, _line("%para1_a", " ", "x\n"), _none),
    "parameters of marks": ms_dump(_usual, _line("%para1_a", " : <", "\n"), _none),
    "deep operators": ms_dump(
        lambda size: "".join(f"{_WIDE}c-op{place}\n" for place in range(size // 780)), _none, _none
    ),
    "long and deep operators": ms_dump(
        lambda size: "".join(f"Default/{('a' * 600 + '-B/') * 190}c-op{place}\n" for place in range(size // 115000)),
        _none,
        _none,
    ),
    "many operators": ms_dump(
        lambda size: "".join(f"Default/{place}-B/c-op1\n" for place in range(size // 22)), _none, _none
    ),
    "a long file name": ms_dump(_usual, _none, lambda size: "123.npy,MatMul" + ".1" * 60000 + ".npy\n"),
    "many file names": ms_dump(_usual, _none, lambda size: "".join(f"{place},b\n" for place in range(size // 9))),
    "a cell of a megabyte": ms_dump(lambda size: "a" * size + "/b\n", _none, _none),
}


def msprobe(data: Callable[[int], str], file: bytes = _NUMBER, name: str = "x.npy") -> Make:
    """A dump.json with this content."""

    def make(folder: Path, size: int) -> list[str | Path]:
        place = folder / "step0" / "rank0"
        (place / "dump_tensor_data").mkdir(parents=True)
        (place / "dump_tensor_data" / name).write_bytes(file)
        (place / "dump.json").write_text('{"task": "tensor", "level": "mix", "data": {' + data(size) + "}}")
        return ["compare", folder, folder]

    return make


def _tensors(name: str, each: str) -> Callable[[int], str]:
    return lambda size: f'"{name}": {{"input": [' + ",".join([each] * (size // (len(each) + 1))) + "]}"


_SMALL = '{"dtype":"f","shape":[]}'
_NAMED = '{"dtype":"f","shape":[],"data_name":"x.npy"}'
_TORCH = '{"dtype":"f","shape":[],"data_name":"x.pt"}'


def _slow_tensor(folder: Path, size: int) -> list[str | Path]:
    """Many entries of one file that takes as long as a file may take."""
    made = torch_file(folder / "x.pt", b"\x80\x02" + b"20" * 0 + b"N" + b"20" * (size // 4) + b"0" + tensor() + b".")
    code = made.read_bytes()
    made.unlink()
    return msprobe(_tensors("Module.a.B.forward.0", _TORCH), code, "x.pt")(folder, size // 2)


_MSPROBE = {
    "many tensors": msprobe(_tensors("Module.a.B.forward.0", _SMALL)),
    "a long name of many tensors": lambda folder, size: msprobe(
        _tensors("Module." + "a" * (size // 2) + ".B.forward.0", _SMALL)
    )(folder, size // 2),
    "a name of many parts": msprobe(lambda size: f'"Module.{"a." * (size // 2)}B.forward.0": {{"input": [{_SMALL}]}}'),
    "a name of many parts that is none": msprobe(
        lambda size: f'"Module.{"a." * (size // 2)}B": {{"input": [{_SMALL}]}}'
    ),
    "words that are no JSON": msprobe(lambda size: '"a":' + " " * 65000 + "0," + '"b": NaN,' * (size // 9) + '"c": 1'),
    "spaces": msprobe(lambda size: '"a":' + " " * size + "0"),
    "one file in many entries": msprobe(
        _tensors("Module.a.B.forward.0", _NAMED), npy("'|u1'", "(500000,)", bytes(500000))
    ),
    "one slow file in many entries": _slow_tensor,
    "lists": msprobe(lambda size: '"Module.a.B.forward.0": {"input": [' + "[]," * (size // 3) + "[]]}"),
    "lists in lists": msprobe(lambda size: '"Module.a.B.forward.0": {"input": ' + "[" * 900 + "]" * 900 + "}"),
    "numbers of many digits": msprobe(lambda size: '"Module.a.B.forward.0": {"input": [' + "9" * size + "]}"),
    "shapes of many digits": msprobe(
        _tensors("Module.a.B.forward.0", '{"dtype":"f","shape":[' + json.dumps(10**18) + "]}")
    ),
}

CASES = [
    *(Case("ms_dump", name, make) for name, make in _MS_DUMP.items()),
    *(Case("msprobe", name, make) for name, make in _MSPROBE.items()),
]
