"""What a weight file shows of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from trueline.checks.engine.check import check, found, none, suspect, undecided
from trueline.checks.evidence.looks import few, trained_rank
from trueline.formats.run_folder.reader import Run
from trueline.formats.weights import Weights
from trueline.kernel import fingerprint
from trueline.model.finding import Finding
from trueline.model.json_value import Json
from trueline.model.location import Location


@check("wi.02")
def from_weights(run: Run, weights: Weights) -> Iterator[Finding]:
    """The network's first values against those of a file."""
    rank = trained_rank(run)
    if rank is None:
        yield undecided("wi_02.no_steps")
        return
    own = {param.name: param for param in rank.params}
    file = weights.model
    both = [name for name in file if name in own]
    missing = [param.name for param in rank.params if param.name not in file and not param.buffer]
    unexpected = [name for name in file if name not in own]
    evidence: list[Json] = [
        {"file": weights.path.name, "both": len(both), "missing": missing[:10], "unexpected": unexpected[:10]}
    ]
    if not both:
        yield found("wi_02.other_names", Location(step=0), evidence=evidence, file=weights.path.name)
        return
    apart = []
    for name in both:
        initial, stored = own[name].initial, file[name]
        if initial is None or own[name].buffer or str(stored.dtype) != own[name].dtype:
            continue
        if fingerprint(stored.array()) != initial.fingerprint:
            apart.append(name)
    if apart:
        yield found(
            "wi_02.other_values",
            Location(module=apart[0].rpartition(".")[0], step=0),
            measured=len(apart),
            limit=0,
            evidence=[*evidence, apart[:20]],
            file=weights.path.name,
            count=len(apart),
            names=few(apart),
        )
    elif missing or unexpected:
        params: dict[str, Any] = {
            "missing": len(missing),
            "wanted": len(own),
            "unexpected": len(unexpected),
            "names": few(missing),
        }
        yield suspect("wi_02.most_missing", Location(step=0), evidence=evidence, **params)
    else:
        yield none("wi_02.as_file", evidence=evidence, file=weights.path.name, count=len(both))
