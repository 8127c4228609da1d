"""The regression table of transformers, diffusion and recurrent networks is whole; a part of it is examined."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from trueline.pair.blame import Cause

EVAL = Path(__file__).parent.parent / "eval"
sys.path[:0] = [str(EVAL), str(EVAL / "ports")]

planted = importlib.import_module("planted")
table = importlib.import_module("transformer_ports")
PORTS = planted.ports_of(table.FOLDER)


def test_every_fault_can_be_planted_and_is_looked_for_by_a_cause_that_exists(tmp_path):
    assert sum(not port.faults for port in PORTS) >= 11
    assert sum(bool(port.faults) for port in PORTS) >= 150
    for port in PORTS:
        place = tmp_path / port.name
        place.mkdir()
        written = planted.write_port(port, place)
        compile((place / port.net.file("port")).read_text("utf-8"), str(written.port), "exec")
        for fault in port.faults:
            assert set(fault.causes) <= {cause.value for cause in Cause}, fault.name


@pytest.mark.parametrize("port", table.sample(PORTS), ids=lambda port: port.name)
def test_a_port_of_the_table_is_judged_right(port):
    judged = table.examine(port)
    assert judged.trouble is None
    assert table.is_right(judged), [str(one) for one in judged.findings]
