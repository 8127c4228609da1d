"""A fixed part of the table of ports: the table itself is whole, and what is planted is named."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path

import pytest

from trueline.pair.blame import Cause

EVAL = Path(__file__).parent.parent / "eval"
sys.path[:0] = [str(EVAL), str(EVAL / "ports")]

planted = importlib.import_module("planted")
judging = importlib.import_module("judging")
table = importlib.import_module("ports")
PORTS = planted.all_ports()
# One of each kind, since each costs two processes and all stages; `make eval` runs them all.
SAMPLE = 1


def test_the_table_is_as_large_as_it_is_said_to_be():
    faulty = [port for port in PORTS if port.faults]
    faults = {fault.name: port.blind for port in faulty for fault in port.faults}
    assert len(PORTS) - len(faulty) >= 12
    assert len(faulty) >= 60
    assert sum(len(port.faults) > 1 for port in faulty) >= 20
    assert sum(faults.values()) >= len(faults) / 3


def test_every_fault_can_be_planted_and_is_looked_for_by_a_cause_that_exists(tmp_path):
    for port in PORTS:
        place = tmp_path / port.name
        place.mkdir()
        written = planted.write_port(port, place)
        compile((place / port.net.file("port")).read_text("utf-8"), str(written.port), "exec")
        for fault in port.faults:
            assert {*fault.causes, *fault.also} <= {cause.value for cause in Cause}, fault.name
            assert fault.file == "parts" or fault.modules, fault.name


def test_a_module_is_near_itself_and_one_level_up_or_down():
    assert judging.near("layer*.*.bn2", "layer1.0.bn2")
    assert judging.near("layer1.0.bn2", "layer1.0")
    assert judging.near("layer1.0", "layer1.0.bn2")
    assert judging.near("", "fc") and judging.near("", "")
    assert not judging.near("layer1.0.bn2", "layer1")
    assert not judging.near("layer1.0.bn2", "layer1.1.bn2")


def test_a_finding_of_another_cause_or_place_is_strange():
    port = next(port for port in PORTS if port.name == "resnet-pool-same")
    found = [
        judging.Named("forward", "padding", "max_pool", True, False),
        judging.Named("forward", "padding", "layer1.0.conv1", True, False),
        judging.Named("forward", "eps", "max_pool", False, False),
    ]
    judged = judging.judge(port, found, 0.0)
    assert judged.right
    assert judged.strange == tuple(found[1:])


def test_what_an_edit_brings_with_it_is_not_strange_and_not_enough():
    port = next(port for port in PORTS if port.name == "inception-three-for-five")
    kernel, padding = (
        judging.Named("forward", cause, "inception3a.b3.1.conv", True, False) for cause in ("kernel_size", "padding")
    )
    assert not judging.judge(port, [padding], 0.0).right
    judged = judging.judge(port, [kernel, padding], 0.0)
    assert judged.right and not judged.strange


@pytest.mark.parametrize("port", table.sample(PORTS, SAMPLE), ids=lambda port: port.name)
def test_a_port_of_the_table_is_judged_right(port):
    judged = table.examine(port)
    assert judged.trouble is None
    assert judged.right, [str(one) for one in judged.findings]
