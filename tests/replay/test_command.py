"""How a run was started: secrets are named, and taken as they are when it is replayed."""

from __future__ import annotations

from pathlib import Path

import pytest

from trueline.record.command import Command
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


# Made up, and in two parts, so that nobody who looks for secrets in a repository finds them here.
LOOKING_SO = [
    "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789",
    "gho_" + "16C7e42F292c6912E7710c838347Ae178B4a",
    "github_pat_" + "11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz",
    "glpat-" + "abcdefghijklmnopqrst",
    "hf_" + "abcdefghijklmnopqrstuvwxyzabcdefgh",
    "sk-" + "abcdefghijklmnopqrstuvwxyzabcdefghijklmnop",
    "sk-ant-api03-" + "abcdefghijklmnop-abc",
    "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc",
    "xoxb-" + "123456789012-abcdefghijkl",
    "AKIA" + "IOSFODNN7EXAMPLE",
    "id AKIA" + "IOSFODNN7EXAMPLE, and more",
    "eyJ" + "hbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0.abc",
    "-----BEGIN " + "RSA PRIVATE KEY-----\nMIIE\n",
    "wJalrXUtnFEMI/K7MDENG/" + "bPxRfiCYEXAMPLEKEY",
    "0123456789abcdef" * 2,
    "e41c31a900da231f9aedf8d85c57c2f69f4aabbc",
    "Xy3fQ9kLm2Rt7Vb1Zc8Np",
    "https://hooks.slack.com/services/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",
    "Server=db;User=me;Password=hunter22",
    '{"type": "account", "password": "hunter22"}',
    "Authorization: Bearer abcdefghij",
    "--verbose --hash=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
]
# Of a terminal, a cluster, a container, a project.
PLAIN = [
    "/usr/local/bin:/usr/bin:/bin:~/.local/bin:.",
    "/nix/store/0c1y3zq4p6h8r2m5v7x9w1b3n4k6j8l0-python3-3.11.7/bin:/bin",
    "/opt/spack/linux-x86_64/gcc-12.2.0/openmpi-4.1.5-abcdefghijklmnopqrstuvwxyz234567/lib",
    "rs=0:di=01;34:ln=01;36:mh=00:pi=40;33:so=01;35:*.tar=01;31:*.jpeg=01;35",
    "cuda>=12.1 brand=tesla,driver>=470,driver<471 brand=unknown,driver>=470",
    "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6",
    "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6,MIG-c6d4f1ef-42e4-5de3-91c7-45d71c87eb3f",
    "0,1,2,3",
    "tcp://10.96.0.1:443",
    "trainer-7d9f8c6b5-x2x9k",
    "gke-a100-cluster-default-pool-1a2b3c4d-xyz9",
    "ip-10-0-12-34.us-west-2.compute.internal",
    "pytorch2_cuda12_nightly_build_of_monday",
    "max_split_size_mb:128,expandable_segments:True",
    "https://github.com/mindspore-lab/mindspore-models/tree/master/official/cv",
    "http://proxy.example.com:8080",
    "The quick brown fox jumps over the lazy dog, again and again",
    "en_US.UTF-8",
    "6.0;7.0;7.5;8.0;8.6;9.0+PTX",
    "node[001-128,256]",
    "resnet50_imagenet2012_config.yaml",
    "20261118T081829Z",
    "-O3 -march=x86-64-v3 -DNDEBUG -I/usr/include/python3.11",
]


@pytest.mark.parametrize("value", LOOKING_SO)
def test_a_value_that_looks_like_a_secret_is_withheld_whatever_its_name(value: str) -> None:
    kept = describe(Command("train.py", [], as_module=False, environment={"FOO": value}))
    assert (kept["environment"], kept["withheld"]) == ({}, ["FOO"])


@pytest.mark.parametrize("value", PLAIN)
def test_paths_lists_names_and_addresses_are_kept(value: str) -> None:
    kept = describe(Command("train.py", [], as_module=False, environment={"FOO": value}))
    assert (kept["environment"], kept["withheld"]) == ({"FOO": value}, [])
