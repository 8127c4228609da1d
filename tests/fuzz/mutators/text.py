"""Text by its tokens and lines, and JSON by its tree."""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from random import Random
from typing import Any, Final

from fuzz.case import Mutator, Mutators
from fuzz.mutators.raw import LONGEST, NUMBERS, RAW, number, pick, raw, splice

_TOKEN: Final = re.compile(r"[A-Za-z_][A-Za-z_0-9]*|\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|[ \t]+|\r?\n|.", re.DOTALL)
WORDS: Final = (
    *NUMBERS,
    *("null", "true", "false", "None", "nan", "''", '""', '"', "'", "\\", "\\u0000", "\\ud800", "\\n", "#", "//", "/*"),
    *("{", "}", "[", "]", "{}", "[]", "[[", "]]", ":", ",", ";", "\t", "|", "=", "-", "--", "&a", "*a", "<<:", "!!", "%"),
    *("\0", "\x1b[31m", "\x9b31m", "\r", "\r\n", "\n\n", "\ufeff", "\u2028", "\u202e", "é", "图片", "\U0001f600"),
    *("../../x", "/etc/passwd", "..", ".", "/", "a" * 300, " " * 5000, "x," * 3000, "[" * 3000, "{" * 300, '{"a":' * 2000),
    *("loss", "step", "epoch", "name", "shape", "dtype", "type", "size", "path", "value", "0", "1"),
)  # fmt: skip
_VALUES: Final = (
    *(None, True, False, 0, 1, -1, 2, 255, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64, -(2**63) - 1, 10**12, 10**30),
    *(0.0, -0.0, 0.5, 1e308, 1e-320, float("nan"), float("inf"), "", "0", "-1", "nan", "\0", "\x1b[31m", "\x9b1m"),
    *("\ud800", "../../x", "/etc/passwd", "a" * 5000, "图片", "float32", "int64", "bfloat16", "O", "V0", "U99999999"),
    *([], {}, [0], [-1], [[]], [2**62, 2**62], [0, 10**12], [1] * 70, {"a": None}, {"": 0}),
)  # fmt: skip


def _decoded(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape")


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass" if "\ud800" in text else "surrogateescape")[:LONGEST]


@lru_cache(512)
def _tokens(data: bytes) -> tuple[str, ...]:
    return tuple(_TOKEN.findall(_decoded(data)))


def token(data: bytes, chance: Random, others: Sequence[bytes]) -> bytes:
    """A token replaced, left out, repeated, moved, or taken from elsewhere."""
    tokens = list(_tokens(data))
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.randrange(len(tokens) + 1)
        match chance.randrange(7):
            case 0:
                tokens[at : at + 1] = [chance.choice(WORDS)]
            case 1:
                tokens.insert(at, chance.choice(WORDS))
            case 2:
                del tokens[at : at + 1]
            case 3:
                tokens[at:at] = tokens[at : at + chance.randrange(1, 12)] * chance.choice((1, 1, 2, 20))
            case 4 if tokens:
                there = chance.randrange(len(tokens))
                at = min(at, len(tokens) - 1)
                tokens[at], tokens[there] = tokens[there], tokens[at]
            case 5 if others:
                other = _tokens(chance.choice(others))
                begin = chance.randrange(len(other) + 1)
                tokens[at : at + 1] = other[begin : begin + chance.randrange(1, 8)]
            case _ if tokens:
                tokens[min(at, len(tokens) - 1)] = chance.choice(tokens)
    return _encoded("".join(tokens))


def line(data: bytes, chance: Random, others: Sequence[bytes]) -> bytes:
    """Lines left out, repeated, moved, joined, or taken from elsewhere."""
    lines = data.splitlines(keepends=True) or [b""]
    at = chance.randrange(len(lines))
    match chance.randrange(7):
        case 0:
            del lines[at : at + chance.choice((1, 1, 2, 10))]
        case 1:
            times = chance.choice((1, 1, 5, 300))
            lines[at:at] = [lines[at]] * min(times, LONGEST // max(1, len(lines[at])))
        case 2:
            there = chance.randrange(len(lines))
            lines[at], lines[there] = lines[there], lines[at]
        case 3:
            lines[at] = lines[at].rstrip(b"\r\n")
        case 4 if others:
            lines[at:at] = chance.choice(others).splitlines(keepends=True)[: chance.randrange(1, 5)]
        case 5:
            chance.shuffle(lines)
        case _:
            lines.insert(at, chance.choice((b"\n", b"\r", b" \n", b"#\n", b"\0\n", b"---\n", b"\xff\xfe\n")))
    return b"".join(lines)[:LONGEST]


def spell(data: bytes, chance: Random, others: Sequence[bytes]) -> bytes:
    """Other line ends, another encoding, or a mark of one."""
    match chance.randrange(7):
        case 0:
            return data.replace(b"\n", b"\r")
        case 1:
            return data.replace(b"\n", b"\r\n")
        case 2:
            return _decoded(data).encode("utf-16", "replace")
        case 3:
            return _decoded(data).encode("utf-32", "replace")
        case 4:
            return b"\xef\xbb\xbf" + data
        case 5:
            return b"\xff\xfe" + data
        case _:
            return data.replace(b" ", b"\t").upper()


@lru_cache(512)
def _parsed(data: bytes) -> str:
    """The text of a JSON value again, "" where it is none; the text is what can be cached."""
    try:
        return json.dumps(json.loads(data))
    except (ValueError, RecursionError):
        return ""


def changed_tree(tree: Any, chance: Random, others: Sequence[Any] = ()) -> Any:
    """A JSON value with a node replaced, left out, renamed, repeated or moved."""
    places: list[tuple[Any, Any]] = []
    waiting = [tree]
    while waiting and len(places) < 5000:
        node = waiting.pop()
        if isinstance(node, dict | list):
            keys = list(node) if isinstance(node, dict) else range(len(node))
            places += [(node, key) for key in keys]
            waiting += [node[key] for key in keys if isinstance(node[key], dict | list)]
    if not places:
        return chance.choice(_VALUES)
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        node, key = chance.choice(places)
        if (isinstance(node, dict) and key not in node) or (isinstance(node, list) and key >= len(node)):
            continue
        there, other = chance.choice(places)
        match chance.randrange(9):
            case 0 | 1 | 2:
                node[key] = json.loads(json.dumps(chance.choice(_VALUES)))
            case 3:
                del node[key]
            case 4 if isinstance(node, dict):
                node[chance.choice((*node, "", "name", "\0", "a" * 300, "..", "x/y"))] = node[key]
            case 4:
                node[key:key] = [node[key]] * chance.choice((1, 1, 2, 100))
            case 5 if isinstance(there, dict | list):
                with_other = there.get(other) if isinstance(there, dict) else there[other] if other < len(there) else 0
                # A copy: a tree in itself is none.
                node[key] = json.loads(json.dumps(with_other))
            case 6 if isinstance(node[key], int | float):
                node[key] = chance.choice((node[key] + 1, node[key] - 1, -node[key], node[key] * 1000, str(node[key])))
            case 6 if isinstance(node[key], str):
                node[key] = _encoded(node[key])[: chance.randrange(8)].decode("utf-8", "replace")
            case 7:
                node[key] = [node[key]]
            case _:
                node[key] = {str(key): node[key]}
    return tree


def _dumped(tree: Any, chance: Random) -> bytes:
    text = json.dumps(tree, ensure_ascii=chance.random() < 0.7)
    if chance.random() < 0.05:
        # What json.dumps would not write: a key twice, numbers of any length.
        text = text.replace("1", chance.choice(NUMBERS), 1)
    return _encoded(text)


def json_tree(data: bytes, chance: Random, others: Sequence[bytes]) -> bytes:
    """A JSON file by its tree; what is none by its tokens."""
    text = _parsed(data)
    if not text:
        return token(data, chance, others)
    return _dumped(changed_tree(json.loads(text), chance), chance)


def json_line(data: bytes, chance: Random, others: Sequence[bytes]) -> bytes:
    """A line of a file of JSON lines by its tree."""
    lines = data.splitlines(keepends=True)
    if not lines:
        return token(data, chance, others)
    for _ in range(chance.choice((1, 1, 2))):
        at = chance.randrange(len(lines))
        lines[at] = json_tree(lines[at].strip(), chance, others) + b"\n"
    return b"".join(lines)


def gzipped(inner: Mutator) -> Mutator:
    """What is inside a gzip file mutated, and packed again."""

    def mutate(data: bytes, chance: Random, others: Sequence[bytes]) -> bytes:
        try:
            content = gzip.decompress(data)
        except (OSError, EOFError, zlib.error):
            return raw(data, chance, others)
        return gzip.compress(inner(content, chance, [_unzipped(one) for one in others[:4]]), 1, mtime=0)

    return mutate


def _unzipped(data: bytes) -> bytes:
    try:
        return gzip.decompress(data)
    except (OSError, EOFError, zlib.error):
        return data


TEXT: Mutators = {token: 5, line: 3, spell: 0.4, number: 3, splice: 0.5, raw: 2}
JSON: Mutators = {json_tree: 6, token: 2, raw: 1, spell: 0.2}
JSON_LINES: Mutators = {json_line: 6, token: 1, line: 2, raw: 1, spell: 0.2}


def one_of(mutators: Mutators) -> Mutator:
    """Any of them, as one."""
    return lambda data, chance, others: pick(mutators, chance)(data, chance, others)


def by_ending(table: dict[str, Mutators], default: Mutators = RAW) -> Callable[[str], Mutators]:
    """Mutators by how a file's name ends; the first ending that fits counts."""

    def found(name: str) -> Mutators:
        return next((one for ending, one in table.items() if name.endswith(ending)), default)

    return found
