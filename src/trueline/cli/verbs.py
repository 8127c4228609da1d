"""The verbs, by name, and the ``trueline`` command."""

from __future__ import annotations

import click

from trueline.cli.verb_group import Verbs
from trueline.version import __version__

# name: (the module whose ``command`` it is, the id of its one line in the list of verbs)
VERBS = {
    "run": ("trueline.cli.run", "cli.verb_run"),
    "runs": ("trueline.cli.runs", "cli.verb_runs"),
    "show": ("trueline.cli.show", "cli.verb_show"),
    "compare": ("trueline.cli.compare", "cli.verb_compare"),
    "pair": ("trueline.cli.pair", "cli.verb_pair"),
    "watch": ("trueline.cli.watch", "cli.verb_watch"),
    "repro": ("trueline.cli.repro", "cli.verb_repro"),
    "replay": ("trueline.cli.replay", "cli.verb_replay"),
    "check": ("trueline.cli.check", "check.verb_check"),
    "explain": ("trueline.cli.explain", "check.verb_explain"),
    "convert": ("trueline.cli.convert", "cli.verb_convert"),
    "params": ("trueline.cli.params", "cli.verb_params"),
    "api": ("trueline.cli.api", "api.verb"),
    "scan": ("trueline.cli.scan", "cli.verb_scan"),
    "data": ("trueline.cli.data", "cli.verb_data"),
    "tune": ("trueline.cli.tune", "cli.verb_tune"),
    "demo": ("trueline.cli.demo", "cli.verb_demo"),
}


def _print_version(ctx: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        click.echo(f"trueline {__version__}")
        ctx.exit()


trueline = Verbs(
    "trueline",
    table=VERBS,
    about="cli.about",
    params=[
        click.Option(
            ["--version"], is_flag=True, is_eager=True, expose_value=False, callback=_print_version, help="cli.version"
        ),
    ],
)


def every_verb() -> dict[str, click.Command]:
    """Every verb by its full name (``data describe``), those of several verbs included; loads them all."""
    found: dict[str, click.Command] = {}
    for name in VERBS:
        command = trueline.get_command(click.Context(trueline), name)
        if command is not None:
            found[name] = command
        if isinstance(command, Verbs):
            within = click.Context(command)
            found |= {f"{name} {one}": inner for one in command.table if (inner := command.get_command(within, one))}
    return found
