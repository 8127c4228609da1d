"""Python sources by their syntax tree: what a reader of code that follows values trips over."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from functools import lru_cache
from random import Random
from typing import Final

from fuzz.case import Mutators
from fuzz.mutators.text import line, spell, token

_CONSTANTS: Final = (
    *(
        0,
        1,
        -1,
        2,
        10**10,
        2**63,
        10**400,
        1e308,
        float("inf"),
        float("nan"),
        "",
        "a",
        "a" * 3000,
        b"",
        b"x",
        None,
        True,
    ),
    *(..., 1j, "%999999999d", "{:>999999999}", "../x", "\0", "\ud800", "config.yaml", "config.json", "train.py"),
)
# Statements that grow, turn in circles or are odd, to be put anywhere.
_STATEMENTS: Final = (
    "b = 'a' * 10**10",
    "b = [0] * 10**10",
    "b = (1, 2) * 10**9",
    "s = 'ab'\nfor i in range(60):\n    s = s + s",
    "l = [1]\nfor i in range(60):\n    l = l + l",
    "l = [1]\nfor i in range(60):\n    l.extend(l)",
    "t = (1,)\nwhile True:\n    t = (*t, *t)",
    "d = {}\nd['d'] = d",
    "l = []\nl.append(l)",
    "n = 1 << 10**10",
    "n = 10**10**10",
    "n = 3\nfor i in range(40):\n    n = n ** n",
    "s = '%999999999d' % 1",
    "s = f'{1:999999999}'",
    "s = 'a'.ljust(10**10)",
    "s = 'a'.center(10**10).replace('', 'aa')",
    "s = '{:999999999}'.format(1)",
    "s = ' '.join(['a' * 10**6] * 10**6)",
    "l = list(range(10**10))",
    "l = [i for i in range(10**10)]",
    "l = [[i, j] for i in range(10**5) for j in range(10**5)]",
    "l = sorted(range(10**9), key=lambda x: -x)",
    "x = sum(range(10**10))",
    "def f(n):\n    return f(n)\nf(1)",
    "def f(n):\n    return f(n - 1) + f(n - 2)\nf(100)",
    "f = lambda x: f(x)\nf(1)",
    "class A(A):\n    pass",
    "class A:\n    def __getattr__(self, name):\n        return self.x\nA().y",
    "class A:\n    @property\n    def x(self):\n        return self.x\nA().x",
    "import train",
    "from train import *",
    "from . import train",
    "from .... import x",
    "from config import *",
    "globals()['x'] = globals()",
    "x = x",
    "x, *x = [x] * 3",
    "del x",
    "exec('import os')",
    "eval('1 + 1')",
    "__import__('os').system('true')",
    "while True:\n    pass",
    "for i in iter(int, 1):\n    x = [x, i]",
    "with open('config.yaml') as f:\n    c = yaml.safe_load(f)\nx = c['a']['b'] * 10**9",
    "match x:\n    case [a, *b] if a:\n        pass\n    case {'k': v, **r}:\n        pass",
    "try:\n    x = 1 / 0\nexcept* ValueError as e:\n    raise\nfinally:\n    x = 2",
    "x = (y := [y := 1])",
    "a = b = c = [a, b, c]",
    "x[0][1][2:3:4, ...] = x",
    "x @= x",
    "x = -(-(-(-x)))",
    "x = 1 < 2 < x < x",
    "x = 10 % 0",
    "x = [1, 2][5]",
    "x = {}['a']",
    "x = int('9' * 5000)",
    "x = str(10**5000)",
    "x = bytes(10**10)",
    "x = bytearray(10**10)",
    "x = 'abc'.encode('hex')",
    "x = 'a'.split('')",
    "x = [1].index(2)",
    "x = range(10**10)[::-1]",
    "x = 'a' * -1",
    "x = 1 << -1",
    "x = 2 ** -10**10",
    "x = round(1e300, -10**10)",
    "x = divmod(1, 0)",
    "x = min([])",
    "x = dict([1, 2])",
    "x = zip([1], strict=True, bad=2)",
    "x = {**x, **{x: x}}",
    "x = {[]: 1}",
    "x = {1: 1, 1.0: 2, True: 3}",
    "async def g():\n    async for i in x:\n        yield await i",
    "parser.add_argument('--x', type=int, default='a' * 10**9, nargs='*')",
    "optimizer = torch.optim.SGD(*[model.parameters()] * 10**8, lr=10**400)",
    "model = torch.nn.Sequential(*[torch.nn.Linear(10**9, 10**9)] * 10**9)",
    "loader = torch.utils.data.DataLoader(loader, batch_size=-1, shuffle=loader)",
    "x = " + "(" * 90 + "1" + ")" * 90,
    "x = " + "-" * 500 + "1",
    "x = " + " + ".join(["x"] * 900),
    "x = " + "f(" * 80 + "1" + ")" * 80,
    "if x:\n    " + "pass\nelif x:\n    " * 90 + "pass",
)


@lru_cache(512)
def _source(data: bytes) -> str:
    try:
        text = data.decode("utf-8")
        ast.parse(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        return ""
    return text


def _bodies(tree: ast.Module) -> list[list[ast.stmt]]:
    return [
        held
        for node in ast.walk(tree)
        for held in (getattr(node, name, None) for name in ("body", "orelse", "finalbody"))
        if isinstance(held, list) and held
    ]


class _Replacing(ast.NodeTransformer):
    """Puts an expression into the place of another."""

    def __init__(self, old: ast.AST, new: ast.AST) -> None:
        self.old, self.new = old, new

    def visit(self, node: ast.AST) -> ast.AST:
        return self.new if node is self.old else self.generic_visit(node)


def tree(data: bytes, chance: Random, others: Sequence[bytes]) -> bytes:
    """Expressions exchanged, constants changed, statements moved, left out, repeated and put in."""
    text = _source(data)
    if not text:
        return token(data, chance, others)
    parsed = ast.parse(text)
    try:
        for _ in range(chance.choice((1, 1, 2, 3, 5))):
            _change(parsed, chance, others)
        return ast.unparse(ast.fix_missing_locations(parsed)).encode("utf-8", "surrogatepass")
    except (RecursionError, ValueError, AttributeError, TypeError):
        return token(data, chance, others)


def _change(parsed: ast.Module, chance: Random, others: Sequence[bytes]) -> None:
    body = chance.choice(_bodies(parsed) or [parsed.body])
    at = chance.randrange(len(body) + 1)
    match chance.randrange(8):
        case 0 | 1:
            body[at:at] = ast.parse(chance.choice(_STATEMENTS)).body
        case 2:
            found = [one for one in ast.walk(parsed) if isinstance(one, ast.Constant)]
            if found:
                chance.choice(found).value = chance.choice(_CONSTANTS)
        case 3:
            del body[at : at + 1]
            if not body:
                body.append(ast.Pass())
        case 4 if body:
            body[at:at] = [chance.choice(body)] * chance.choice((1, 1, 3))
        case 5:
            names = [one for one in ast.walk(parsed) if isinstance(one, ast.Name)]
            if len(names) > 1:
                one, other = chance.sample(names, 2)
                one.id = other.id
        case 6 if others:
            other = _source(chance.choice(others))
            if other:
                body[at:at] = chance.choice(_bodies(ast.parse(other)))[:4]
        case _:
            spots = [
                one
                for one in ast.walk(parsed)
                if isinstance(one, ast.expr) and isinstance(getattr(one, "ctx", ast.Load()), ast.Load)
            ]
            if len(spots) > 1:
                one, other = chance.sample(spots, 2)
                if not any(inner is one for inner in ast.walk(other)):
                    _Replacing(one, other).visit(parsed)


PYTHON: Mutators = {tree: 7, token: 2, line: 1, spell: 0.2}
