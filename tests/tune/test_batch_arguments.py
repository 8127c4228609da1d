"""An argument of a script's own, in the ways in which scripts take them."""

from __future__ import annotations

import pytest

from trueline.tune.batch.arguments import argument, spelled, with_argument


@pytest.mark.parametrize(
    ("args", "name", "changed"),
    [
        (["--batch-size", "64", "-v"], "batch_size", ["--batch-size", "8", "-v"]),
        (["--batch_size=64", "x"], "batch_size", ["--batch_size=8", "x"]),
        (["--batch_size=64"], "batch-size", ["--batch_size=8"]),
        (["--batch-size=64"], "--batch-size", ["--batch-size=8"]),
        (["-batch_size", "64"], "batch_size", ["-batch_size", "8"]),
        (["-b", "64"], "-b", ["-b", "8"]),
        (["data", "batch_size=64"], "batch_size", ["data", "batch_size=8"]),
        (["train.batch_size=64"], "train.batch_size=", ["train.batch_size=8"]),
        (["+batch=64"], "batch", ["+batch=8"]),
        (["--batch_size", "64", "--batch_size", "32"], "batch_size", ["--batch_size", "8", "--batch_size", "8"]),
        (["--batch-size-eval", "64"], "batch_size", ["--batch-size-eval", "64", "--batch_size", "8"]),
        (["run"], "batch_size", ["run", "--batch_size", "8"]),
        (["run"], "-b", ["run", "-b", "8"]),
        (["run"], "batch_size=", ["run", "batch_size=8"]),
    ],
)
def test_an_argument_is_changed_where_it_stands_or_added(args: list[str], name: str, changed: list[str]) -> None:
    assert with_argument(args, name, "8") == changed
    assert argument(changed, name) == "8"


def test_an_argument_that_is_not_given_has_no_value() -> None:
    assert argument(["--epochs", "3"], "batch_size") is None
    assert argument(["--batch_size"], "batch_size") is None


def test_the_name_is_written_as_the_script_writes_it() -> None:
    source = 'parser.add_argument("--batch-size", "-b", type=int)\nparser.add_argument("--lr")'
    assert spelled("batch_size", source) == "batch-size"
    assert spelled("lr", source) == "lr"
    assert spelled("other_name", source) == "other_name"
    assert spelled("-b", source) == "-b"
