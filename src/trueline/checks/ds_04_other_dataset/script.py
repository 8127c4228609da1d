"""The dataset is another one than the standard one: what a script says of it."""

from __future__ import annotations

from collections.abc import Iterator

from trueline.checks.engine.check import check, undecided
from trueline.model.finding import Finding
from trueline.script.script import Script


@check("ds.04", decides=False)
def from_script(script: Script) -> Iterator[Finding]:
    """A script says which files are read and not what is in them."""
    del script
    yield undecided("ds_04.script.only_the_data")
