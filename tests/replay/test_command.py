"""How a run was started: secrets are named, and taken as they are when it is replayed."""

from __future__ import annotations

from pathlib import Path

from trueline.record.again import Command
from trueline.record.keeping.command import command_of, describe

SECRETS = {
    "API_TOKEN": "a",
    "AWS_SECRET_ACCESS_KEY": "b",
    "MYSQL_PWD": "c",
    "VAULT_PASSPHRASE": "d",
    "GITHUB_PAT": "e",
    "HTTP_PROXY": "http://somebody:f@proxy:80",
    "DATABASE_URL": "postgres://somebody:g@host/data",
}
OTHERS = {"PWD": "/work", "PATH": "/bin", "NO_PROXY": "http://proxy:80", "SEED": "3", "PYTHONPATH": "src"}


def test_secrets_are_named_and_not_kept() -> None:
    kept = describe(Command("train.py", ["--lr", "1"], as_module=False, environment={**SECRETS, **OTHERS, "TERM": "x"}))
    assert kept["environment"] == OTHERS
    assert kept["withheld"] == sorted(SECRETS)


def test_a_replay_takes_secrets_and_the_terminal_as_they_are_now() -> None:
    before = Command("train.py", [], as_module=False, folder=Path("/work"), environment={**SECRETS, **OTHERS})
    now = {"API_TOKEN": "new", "HTTP_PROXY": "http://proxy", "TERM": "y", "SEED": "4", "OTHER": "z"}
    again = command_of(describe(before), now)
    assert again.environment == {**OTHERS, "API_TOKEN": "new", "HTTP_PROXY": "http://proxy", "TERM": "y"}
    assert (again.script, again.folder) == ("train.py", Path("/work"))
