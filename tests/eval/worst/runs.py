"""Run folders, scripts and settings that ask for more than they are worth."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

from cli.sample_runs import losses, record

from .case import Case, Make
from .tables import lines


def run(name: str, content: Callable[[int], bytes], verb: str = "show", keep: bool = False) -> Make:
    """A recorded run, of which one file is another one; with ``keep`` what it held comes first."""

    def make(folder: Path, size: int) -> list[str | Path]:
        path = record(folder / "run", losses(3))
        file = path / name
        start = file.read_bytes() if keep else b""
        file.write_bytes(start + content(size))
        return [verb, path] if verb == "show" else [verb, path, path]

    return make


def _numbered(line: str, each: int) -> Callable[[int], bytes]:
    return lambda size: "".join(line.replace("N", str(place)) for place in range(size // each)).encode()


_LOSS = '{"step":N,"phase":"train","event":"loss","t":0.0,"value":2.5,"micro":0,"index":0,"source":"backward"}\n'
_RANK = "rank-00000"
_PARAMETER = b'"dtype":"float32","trainable":true,"buffer":false'
_RUNS = {
    "losses": run(f"{_RANK}/events.jsonl", _numbered(_LOSS, 105), keep=True),
    "losses, compared": run(f"{_RANK}/events.jsonl", _numbered(_LOSS, 105), "compare", keep=True),
    "losses of one step": run(f"{_RANK}/events.jsonl", lines(_LOSS.replace("N", "9").encode()), keep=True),
    "events of nothing": run(f"{_RANK}/events.jsonl", lines(b"{}\n"), keep=True),
    "lists in events": run(
        f"{_RANK}/events.jsonl",
        lambda size: b'{"step":9,"phase":"train","event":"x","t":0.0,"a":[' + b"[]," * (size // 3) + b"0]}\n",
        keep=True,
    ),
    "lists in lists in events": run(
        f"{_RANK}/events.jsonl",
        lines(b'{"step":9,"phase":"train","event":"x","a":' + b"[" * 900 + b"]" * 900 + b"}\n"),
        keep=True,
    ),
    "batches of no bytes": run(
        f"{_RANK}/events.jsonl",
        _numbered(
            '{"step":N,"phase":"train","event":"batch","t":0.0,"source":"loader","loader":0,'
            '"samples":{"size":400000000,"fields":[],"indexes":null}}\n',
            140,
        ),
        keep=True,
    ),
    "names": run(f"{_RANK}/names.jsonl", _numbered('{"id":N,"key":"train/aN#0/out/0"}\n', 40)),
    "long names": run(
        f"{_RANK}/names.jsonl", _numbered('{"id":N,"key":"train/' + "a." * 2000 + 'aN#0/out/0"}\n', 4040)
    ),
    "modules": run(
        f"{_RANK}/modules.json",
        lambda size: (
            b'{"modules":['
            + b",".join(b'{"path":"%d","type":"A","attributes":{}}' % at for at in range(size // 40))
            + b'],"calls":[]}'
        ),
    ),
    "empty modules": run(
        f"{_RANK}/modules.json", lambda size: b'{"calls":[],"modules":[' + b"{}," * (size // 3) + b"{}]}"
    ),
    "modules in modules": run(
        f"{_RANK}/modules.json", lambda size: b'{"modules":' + b"[" * (size // 2) + b"]" * (size // 2) + b"}"
    ),
    "parameters": run(
        f"{_RANK}/params.json",
        lambda size: (
            b'{"params":['
            + b",".join(
                b'{"name":"%d","shape":[1],"dtype":"float32","trainable":true,"buffer":false}' % at
                for at in range(size // 78)
            )
            + b"]}"
        ),
    ),
    "sides of parameters": run(
        f"{_RANK}/params.json",
        lambda size: (
            b'{"params":[{"name":"a","dtype":"float32","trainable":true,"buffer":false,"shape":['
            + b"1," * (size // 2)
            + b"1]}]}"
        ),
    ),
    "statistics": run(f"{_RANK}/stats-0000.bin", lambda size: b"TLBLOCK1" + b"\xff" * size),
    "statistics of nothing": run(f"{_RANK}/stats-0000.bin", lambda size: bytes(size), keep=True),
    "circumstances": run("run.json", lambda size: b'{"argv":[' + b'"",' * (size // 3) + b'""]}'),
    "circumstances in circumstances": run("run.json", lambda size: b'{"a":' * (size // 6) + b"1" + b"}" * (size // 6)),
}


def script(content: Callable[[int], bytes], name: str = "train.py", reads: str = "") -> Make:
    """A script that is checked; ``reads`` is how it reads the file of settings that it lies beside."""

    def make(folder: Path, size: int) -> list[str | Path]:
        place = folder / "project"
        place.mkdir()
        # Larger ones are not read at all.
        (place / name).write_bytes(content(size * 15 // 64 if reads else size // 6))
        if reads:
            (place / "train.py").write_text(reads + "\nimport torch\ntorch.optim.SGD([], lr=settings['lr'])\n")
        return ["check", place / "train.py"]

    return make


_SCRIPTS = {
    "short lines": script(lines(b"a=1\n", b"import torch\n")),
    "a long sum": script(lambda size: b"import torch\na=1" + b"+1" * (size // 2)),
    "brackets": script(lambda size: b"import torch\na=" + b"(" * (size // 2) + b")" * (size // 2)),
    "a list": script(lambda size: b"import torch\na=[" + b"1," * (size // 2) + b"]\n"),
    "lists of a list": script(lambda size: b"import torch\na=[1]*9\n" + b"a=[a]*9\n" * (size // 8)),
    "powers": script(lines(b"a=a**9\n", b"import torch\na=9\n")),
    "texts": script(lines(b"a=a+a\n", b"import torch\na='ab'\n")),
    "loops": script(lines(b"for i in range(10**9):\n a=i\n", b"import torch\n")),
    "functions": script(
        lambda size: (
            b"import torch\n" + b"".join(b"def f%d(): return f%d()\n" % (at + 1, at) for at in range(size // 30))
        )
    ),
    "classes": script(
        lambda size: (
            b"import torch\nclass C0: pass\n"
            + b"".join(b"class C%d(C%d): pass\n" % (at + 1, at) for at in range(size // 27))
        )
    ),
    "ifs": script(lines(b"if x: a=1\nelse: a=2\n", b"import torch\n")),
}


def _aliases(size: int) -> bytes:
    names = "abcdefghijkl"
    more = "".join(f"{new}: &{new} [{','.join([f'*{old}'] * 9)}]\n" for old, new in pairwise(names))
    return ("lr: 0.1\na: &a {k: 1}\n" + more).encode()


_YAML, _JSON = "import yaml\nsettings=yaml.safe_load(open('s.yaml'))", "import json\nsettings=json.load(open('s.json'))"
_TOML = "import tomllib\nsettings=tomllib.load(open('s.toml','rb'))"
_SETTINGS = {
    ("yaml", "aliases"): script(_aliases, "s.yaml", _YAML),
    ("yaml", "values"): script(lines(b"- 1\n"), "s.yaml", _YAML),
    ("yaml", "short lists"): script(lambda size: b"a: [" + b"[]," * (size // 3) + b"]\n", "s.yaml", _YAML),
    ("yaml", "keys"): script(_numbered("N: 1\n", 9), "s.yaml", _YAML),
    ("yaml", "lists in lists"): script(lambda size: b"[" * (size // 2) + b"]" * (size // 2), "s.yaml", _YAML),
    ("json", "empty lists"): script(lambda size: b'{"lr":[' + b"[]," * (size // 3) + b"0]}", "s.json", _JSON),
    ("json", "keys"): script(
        lambda size: b'{"lr":1' + b"".join(b',"%d":1' % at for at in range(size // 11)) + b"}", "s.json", _JSON
    ),
    ("json", "lists in lists"): script(lambda size: b"[" * (size // 2) + b"]" * (size // 2), "s.json", _JSON),
    ("toml", "keys"): script(_numbered("N = 1\n", 10), "s.toml", _TOML),
    ("toml", "tables"): script(_numbered("[aN]\n", 9), "s.toml", _TOML),
    ("toml", "dots"): script(lambda size: b".".join([b"a"] * (size // 2)) + b" = 1\n", "s.toml", _TOML),
    ("toml", "empty lists"): script(lambda size: b"a = [" + b"[]," * (size // 3) + b"]\n", "s.toml", _TOML),
}

CASES = [
    *(Case("run folder", name, make) for name, make in _RUNS.items()),
    *(Case("script", name, make) for name, make in _SCRIPTS.items()),
    *(Case(f"settings, {format}", name, make) for (format, name), make in _SETTINGS.items()),
]
