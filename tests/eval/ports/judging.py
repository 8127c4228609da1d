"""Whether the findings of one run name what was planted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from planted import Fault, Port

from trueline.model.finding import Finding


@dataclass(frozen=True)
class Named:
    """What one finding says, in the words that the table needs."""

    stage: str
    cause: str
    module: str
    confirmed: bool
    latent: bool
    follows: bool = False

    @classmethod
    def of(cls, finding: Finding) -> Named:
        """A finding as a user is shown it; one that follows from another is counted nowhere."""
        told = finding.extra
        words = (told["stage"], told["cause"], told["module"], told["confirmed"], told["latent"])
        return cls(*words, follows=finding.because is not None)

    def __str__(self) -> str:
        marks = [mark for mark, holds in (("confirmed", self.confirmed), ("latent", self.latent)) if holds]
        return f"{self.stage}: {self.cause} at {self.module or 'the network'}" + (
            f" ({', '.join(marks)})" if marks else ""
        )


@dataclass(frozen=True)
class Judged:
    """A port after its run: which of its faults are named and confirmed, and which findings belong to none of them."""

    port: Port
    findings: tuple[Named, ...]
    named: tuple[Fault, ...]
    confirmed: tuple[Fault, ...]
    strange: tuple[Named, ...]
    seconds: float
    trouble: str | None = None

    @property
    def right(self) -> bool:
        """A correct port is right without a finding, another when all its faults are named."""
        if self.trouble is not None:
            return False
        return not self.findings if not self.port.faults else len(self.named) == len(self.port.faults)

    def to_json(self) -> dict[str, Any]:
        """One row of the table."""
        return {
            "port": self.port.name,
            "net": self.port.net.name,
            "blind": self.port.blind,
            "faults": [fault.name for fault in self.port.faults],
            "named": [fault.name for fault in self.named],
            "confirmed": [fault.name for fault in self.confirmed],
            "right": self.right,
            "missed": [fault.name for fault in self.port.faults if fault not in self.named],
            "strange": [str(one) for one in self.strange],
            "trouble": self.trouble,
        }


def judge(port: Port, findings: Sequence[Named], seconds: float) -> Judged:
    """Put the findings beside the planted faults."""
    named = tuple(fault for fault in port.faults if any(names(one, fault) for one in findings))
    sure = tuple(fault for fault in named if any(names(one, fault) and one.confirmed for one in findings))
    mine = [one for one in findings if not one.follows]
    strange = tuple(one for one in mine if not any(names(one, fault, fault.also) for fault in port.faults))
    return Judged(port, tuple(findings), named, sure, strange, seconds)


def names(finding: Named, fault: Fault, also: Sequence[str] = ()) -> bool:
    """The right cause, or one of ``also``, at the right module; a fault of the parts lies in no module."""
    if finding.cause not in (*fault.causes, *also):
        return False
    return fault.file == "parts" or any(near(module, finding.module) for module in fault.modules)


def near(wanted: str, path: str) -> bool:
    """The same module, the one that holds it, or one that it holds; a star stands for any one part of a path."""
    one, other = (text.split(".") if text else [] for text in (wanted, path))
    if abs(len(one) - len(other)) > 1:
        return False
    return all(fnmatchcase(part, pattern) for pattern, part in zip(one, other, strict=False))
