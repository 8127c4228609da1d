"""``trueline data manifest PATH…``: the files of a dataset, or those a run has opened, with their hashes."""

from __future__ import annotations

from pathlib import Path

import click

from trueline.cli.options import answer, json_flag
from trueline.cli.page import check_place
from trueline.cli.verb import Verb
from trueline.model.message import message
from trueline.model.trouble import BadUsage
from trueline.record.stderr_line import write_line


@click.command("manifest", cls=Verb, help="manifest.help")
@click.argument("paths", metavar="PATH...", nargs=-1, required=True)
@click.option("-o", "--output", metavar="FILE", type=click.Path(path_type=Path), help="manifest.option_output")
@click.option("--force", is_flag=True, help="compare.option_force")
@click.option("--fast", is_flag=True, help="manifest.option_fast")
@json_flag
def command(paths: tuple[str, ...], output: Path | None, force: bool, fast: bool, as_json: bool) -> int:
    """List files with their hashes."""
    from trueline.cli.progress import bytes_progress
    from trueline.data.manifest.hashing_run import hash_run
    from trueline.data.manifest.listing import list_paths
    from trueline.data.manifest.of_run import is_run
    from trueline.data.manifest.report import report, result
    from trueline.data.manifest.taking import take_manifest
    from trueline.formats.manifest.json_form import write_manifest
    from trueline.formats.manifest.listed import FAST, MD5

    if output is not None:
        check_place(output, force)
    given = [Path(path) for path in paths]
    runs = [path for path in given if is_run(path)]
    if runs and len(given) > 1:
        raise BadUsage("manifest.run_alone", run=str(runs[0]))
    kinds = [FAST] if fast else [MD5, FAST]
    written = output
    with bytes_progress(message("manifest.hashing")) as progress:
        if runs:
            found, place = hash_run(runs[0], kinds, progress)
            written = written or place
        else:
            listing = list_paths(given, sizes=False)
            found = take_manifest(listing.without(output) if output is not None else listing, kinds, progress)
    if written is not None:
        write_manifest(written, found)
        write_line(f"trueline: {message('compare.written', file=str(written)).text()}")
    name = paths[0] if len(paths) == 1 else message("manifest.several", count=len(paths)).text()
    return answer(result(name, found, written), lambda: report(name, found, written), as_json=as_json)
