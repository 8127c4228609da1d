"""The networks, the faults planted in their ports, and the ports that the table is made of."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
NETS: Final = HERE / "nets"
# Written without knowledge of the finder: each folder, and what the names of its ports begin with.
BLIND: Final = {HERE / "blind": "blind-", HERE / "blind_later": "blind-later-"}


@dataclass(frozen=True)
class Net:
    """A pair that computes the same: ``NAME_<bench>.py``, ``NAME_<port>.py`` and maybe ``NAME_parts.py``."""

    name: str
    folder: Path
    inputs: tuple[str, ...]
    bench: str
    port: str
    parts: bool

    def file(self, which: str) -> str:
        """The name of its file: ``bench``, ``port`` or ``parts``."""
        return f"{self.name}_{ {'bench': self.bench, 'port': self.port}.get(which, which) }.py"

    def text(self, which: str) -> str:
        """What stands in that file."""
        return (self.folder / self.file(which)).read_text("utf-8")


@dataclass(frozen=True)
class Fault:
    """One edit of a correct port, and how a finding may name it; a fault of the parts lies in no module.

    Where it is not ``alone`` it stands only in ports with several. ``also`` are causes that the same edit brings with
    it: a finding that names one is right, and alone not enough.
    """

    name: str
    net: str
    old: str
    new: str
    causes: tuple[str, ...]
    modules: tuple[str, ...] = ()
    file: str = "port"
    count: int = 1
    alone: bool = True
    also: tuple[str, ...] = ()

    def planted(self, text: str) -> str:
        """The file with the fault in it."""
        found = text.count(self.old)
        if found != self.count:
            raise ValueError(f"{self.name}: its text stands {found} times in the file, not {self.count}")
        return text.replace(self.old, self.new)


@dataclass(frozen=True)
class Port:
    """A port to be examined: the correct one where it has no faults."""

    name: str
    net: Net
    faults: tuple[Fault, ...] = ()
    blind: bool = False


@dataclass(frozen=True)
class Written:
    """A port's files in a folder of their own, and what to call them by."""

    folder: Path
    bench: str
    port: str
    parts: Path | None


def ports_of(folder: Path, *, every: bool = False) -> list[Port]:
    """The correct ports of a folder, those with one fault (``every`` one, or those that stand alone), with several."""
    table = tomllib.loads((folder / "faults.toml").read_text("utf-8"))
    blind, before = folder in BLIND, BLIND.get(folder, "")
    nets = {name: _net(name, folder, one) for name, one in table["net"].items()}
    faults = {one["name"]: _fault(one) for one in table["fault"]}
    found = [Port(f"{before}{name}-correct", net, (), blind) for name, net in nets.items()]
    found += [Port(before + one.name, nets[one.net], (one,), blind) for one in faults.values() if every or one.alone]
    for told in table["port"]:
        found.append(_several(before + told["name"], [faults[name] for name in told["faults"]], nets, blind))
    names = [port.name for port in found]
    if len(set(names)) < len(names):
        raise ValueError(f"names that stand twice: {sorted({name for name in names if names.count(name) > 1})}")
    return found


def all_ports() -> list[Port]:
    """Those written with knowledge of the finder, then the blind ones."""
    return [port for folder in (NETS, *BLIND) if (folder / "faults.toml").exists() for port in ports_of(folder)]


def write_port(port: Port, place: Path) -> Written:
    """Put the two networks, the port with its faults, into an empty folder."""
    texts = {which: port.net.text(which) for which in _files(port.net)}
    for fault in port.faults:
        texts[fault.file] = fault.planted(texts[fault.file])
    for which, text in texts.items():
        (place / port.net.file(which)).write_text(text, "utf-8")
    parts = place / port.net.file("parts") if port.net.parts else None
    entries = [f"{port.net.file(which).removesuffix('.py')}:build" for which in ("bench", "port")]
    return Written(place, entries[0], entries[1], parts)


def _files(net: Net) -> Iterator[str]:
    yield from ("bench", "port")
    if net.parts:
        yield "parts"


def _net(name: str, folder: Path, told: Mapping[str, Any]) -> Net:
    bench = told.get("bench", "torch")
    port = told.get("port", "mindspore" if bench == "torch" else "torch")
    return Net(name, folder, tuple(told["inputs"]), bench, port, told.get("parts", False))


def _fault(told: Mapping[str, Any]) -> Fault:
    return Fault(
        told["name"],
        told["net"],
        told["old"],
        told["new"],
        tuple(told["causes"]),
        tuple(told.get("modules", ())),
        told.get("file", "port"),
        told.get("count", 1),
        told.get("alone", True),
        tuple(told.get("also", ())),
    )


def _several(name: str, faults: Sequence[Fault], nets: Mapping[str, Net], blind: bool) -> Port:
    if len({fault.net for fault in faults}) != 1:
        raise ValueError(f"{name}: its faults belong to several networks")
    return Port(name, nets[faults[0].net], tuple(faults), blind)
