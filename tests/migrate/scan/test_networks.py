"""Sub-networks are listed in the order to port them: what others are made of comes first."""

from __future__ import annotations

from pathlib import Path

from trueline.migrate.scan.networks import port_order
from trueline.script.uses.many import list_files, read_many

BLOCKS = """
from torch import nn

class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3)

class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Block(8)
        self.second = Block(8)
"""
NET = """
from torch import nn
from blocks import Block, Pair

class Net(nn.Module):
    def __init__(self, block=Block):
        super().__init__()
        self.stem = block(3)
        self.pair = Pair()

class Wide(Net):
    pass

Net()
"""


def test_parts_come_first(tmp_path: Path) -> None:
    (tmp_path / "a_net.py").write_text(NET)
    (tmp_path / "blocks.py").write_text(BLOCKS)
    found = port_order(list(read_many(list_files([tmp_path]), [tmp_path])))
    assert [(one.network.name, one.made, one.holds) for one in found] == [
        ("Block", 3, ()),
        ("Pair", 1, ("Block",)),
        ("Net", 1, ("Block", "Pair")),
        ("Wide", 0, ("Net",)),
    ]


def test_classes_that_hold_each_other_do_not_hang(tmp_path: Path) -> None:
    source = """
from torch import nn
class A(nn.Module):
    def __init__(self):
        self.b = B()
class B(nn.Module):
    def __init__(self):
        self.a = A()
"""
    (tmp_path / "net.py").write_text(source)
    found = port_order(list(read_many(list_files([tmp_path]), [tmp_path])))
    assert sorted(one.network.name for one in found) == ["A", "B"]
