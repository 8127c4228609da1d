"""Where a graft goes: the calls of a module of the port that have a counterpart in the benchmark."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches

from trueline.adapters.guest.trouble import SideTrouble
from trueline.pair.aligning.matching import Matched
from trueline.pair.questions.recording import Recording


def check_module(side: str, wanted: str, paths: Iterable[str]) -> None:
    """A module that the port does not have ends the command; the nearest name is suggested."""
    known = [path for path in paths if path]
    if wanted in known:
        return
    near = get_close_matches(wanted, known, n=1)
    if near:
        raise SideTrouble("pair_stage.no_module_near", side=side, module=wanted or '""', near=near[0])
    raise SideTrouble("pair_stage.no_module", side=side, module=wanted or '""')


def graft_calls(
    side: str, path: str, matched: Sequence[Matched], recordings: tuple[Recording, Recording]
) -> list[Matched]:
    """Every call of a module with the benchmark's; a trouble says why there is no tensor to put in."""
    called = recordings[1].counts.get(path, 0)
    if not called:
        raise SideTrouble("pair_graft.not_called", side=side, module=path)
    found = [call_pair for call_pair in matched if call_pair.port.path == path]
    if len(found) < called:
        others = {call_pair.port.path for call_pair in matched}
        raise _no_counterpart(side, path, others)
    for call_pair in found:
        _check_shapes(side, call_pair, recordings)
    return found


def _no_counterpart(side: str, path: str, others: set[str]) -> SideTrouble:
    above = path
    while above and above not in others:
        above = above.rpartition(".")[0]
    near = [above] if above else get_close_matches(path, [other for other in others if other], n=1)
    if near:
        return SideTrouble("pair_graft.no_counterpart_near", side=side, module=path, near=near[0])
    return SideTrouble("pair_graft.no_counterpart", side=side, module=path)


def _check_shapes(side: str, call_pair: Matched, recordings: tuple[Recording, Recording]) -> None:
    """As many outputs of as many numbers; whether the axes fit shows when they are put in."""
    bench, port = recordings
    there = [call_pair.own] if call_pair.own is not None else list(call_pair.bench.outs)
    here = call_pair.port.outs
    if len(there) != len(here):
        raise SideTrouble("pair_graft.counts", side=side, module=call_pair.port.path, port=len(here), bench=len(there))
    for ours, theirs in zip(here, there, strict=True):
        shapes = port.shapes[ours][1], bench.shapes[theirs][1]
        if sorted(side for side in shapes[0] if side != 1) != sorted(side for side in shapes[1] if side != 1):
            raise misfit(side, call_pair.port.path, *shapes)


def misfit(side: str, path: str, here: Sequence[int], there: Sequence[int]) -> SideTrouble:
    """The benchmark's tensor has another shape than the port's, and cannot be put in its place."""
    sizes = {"port": _size(here), "bench": _size(there)}
    return SideTrouble("pair_graft.shape", side=side, module=path, **sizes)


def _size(shape: Sequence[int]) -> str:
    return "x".join(map(str, shape)) or "()"
