"""What the checklist is filled in from: paths, each taken for the kind of evidence that it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from trueline.formats.kinds import Kind, look
from trueline.formats.opening import open_weights
from trueline.formats.run_folder.reader import Run, open_run
from trueline.formats.weights import Weights
from trueline.model.message import Message, message
from trueline.model.trouble import BadFile, BadUsage
from trueline.script.script import Script, read_script

BENCH: Final = "bench_"
CUT_OFF: Final = "check.cut_off"
IN_PART: Final = "check.in_part"
_WEIGHTS: Final = (".pth", ".pt", ".bin", ".ckpt", ".safetensors")


@dataclass(slots=True)
class Gathered:
    """Evidence by kind, the paths it came from, and what is to be told of them."""

    evidence: dict[str, object] = field(default_factory=dict)
    looked_at: dict[str, str] = field(default_factory=dict)
    notes: list[Message] = field(default_factory=list)

    def add(self, paths: Sequence[str], side: str = "") -> None:
        """Take scripts and folders of them together, one run and one weight file; ``side`` is empty or BENCH."""
        scripts: list[Path] = []
        for text in paths:
            path = Path(text)
            kind = _kind(text)
            if kind == "script":
                scripts.append(path)
                continue
            name = f"{side}{kind}"
            if name in self.evidence:
                raise BadUsage("check.twice", kind=message(f"check.kind_{kind}"), path=text)
            self.looked_at[name] = text
            if kind == "run":
                run = _trained(path)
                self.evidence[name] = run
                self.notes += _cut_off(run, text)
                self.notes += [message(IN_PART, run=text, what=said) for said in run.unseen()]
            else:
                self.evidence[name] = _weights(path)
        if scripts:
            self.evidence[f"{side}script"] = self._read(scripts)
            self.looked_at[f"{side}script"] = " ".join(str(path) for path in scripts)

    def _read(self, paths: Sequence[Path]) -> Script:
        """A script of which at least one file can be read."""
        script = read_script(paths)
        if not script.files:
            raise BadUsage("check.no_scripts", path=" ".join(str(path) for path in paths))
        broken = [file for file in script.files if file.trouble is not None]
        if len(broken) == len(script.files):
            raise BadFile(broken[0].shown, message("check.no_python", reason=broken[0].trouble or "").text())
        return script


def _kind(text: str) -> str:
    from trueline.data.manifest.of_run import is_run

    if text == "":
        raise BadUsage("check.what_is_it", path="''")
    path = Path(text)
    if path.is_dir() and is_run(path):
        return "run"
    if path.suffix.lower() in _WEIGHTS:
        return "weights"
    if path.is_dir() or path.suffix == ".py" or not path.exists():
        return "script"
    raise BadUsage("check.what_is_it", path=str(path))


def _weights(path: Path) -> Weights:
    looked = look(path)
    if looked.kind is not Kind.WEIGHTS:
        raise BadUsage("check.what_is_it", path=str(path))
    return open_weights(looked)


def _cut_off(run: Run, shown: str) -> list[Message]:
    """That the recording ended before the training did, if it did."""
    if run.info.off is None:
        return []
    steps = max(run.rank(number).finished for number in run.ranks)
    return [message(CUT_OFF, run=shown, steps=steps, reason=run.info.off)]


def _trained(path: Path) -> Run:
    run = open_run(path)
    if not any(run.rank(number).finished for number in run.ranks):
        raise BadFile(path, message("check.never_trained").text())
    for number in run.ranks:
        # What is damaged is told now, and not by every check that asks for it.
        rank = run.rank(number)
        _ = rank.params, rank.modules, rank.calls
    return run
