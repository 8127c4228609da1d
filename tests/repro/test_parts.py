"""The parts of ``trueline repro`` that need no run."""

from __future__ import annotations

from pathlib import Path

import pytest

from trueline.record.run_mode import RandomnessPlan
from trueline.repro.problem import Problem
from trueline.repro.set_order import lines_by_hash


@pytest.mark.parametrize(
    ("line", "depends"),
    [
        ("for name in {'a', 'b'}: pass", True),
        ("names = list(set(words))", True),
        ("index = {name: at for at, name in enumerate(frozenset(words))}", True),
        ("kinds = set(words)\nfor kind in kinds | {'c'}: pass", True),
        ("self.kinds = {one for one in words}\nfirst = [*self.kinds]", True),
        ("text = ' '.join(set(words).union(others))", True),
        ("seed = hash('name') % 2**32", True),
        ("for name in sorted(set(words)): pass", False),
        ("known = set(words)\nfound = 'a' in known and len(known)", False),
        ("for name in {'a': 1, 'b': 2}: pass", False),
    ],
)
def test_lines_that_depend_on_the_hash_seed(line: str, depends: bool, tmp_path: Path) -> None:
    file = tmp_path / "one.py"
    file.write_text(line)
    found = lines_by_hash([str(file), str(tmp_path / "gone.py")])
    assert [one.line for one in found] == ([len(line.splitlines())] if depends else [])


@pytest.mark.parametrize(
    ("steps", "occurs"), [((3, 3, 3), "always"), ((3, None, 3), "sometimes"), ((3, 5, None), "random")]
)
def test_when_a_problem_comes(steps: tuple[int | None, ...], occurs: str) -> None:
    problem = Problem("crash", steps)
    assert problem.to_json() == {"kind": "crash", "occurs": occurs, "steps": list(steps)}
    assert "3" in problem.said().text("en")


def test_a_fresh_generator_is_the_same_at_a_line_until_that_line_is_to_vary() -> None:
    one, other = RandomnessPlan(fixed=True), RandomnessPlan(fixed=True, vary="numpy:train.py:3")
    assert one.drawn("numpy:train.py:3", 0) != other.drawn("numpy:train.py:3", 0)
    assert one.drawn("numpy:train.py:4", 0) == other.drawn("numpy:train.py:4", 0) != one.drawn("numpy:train.py:4", 1)
