"""Writes the generated pages of the documentation; ``make docs`` runs it, and a test says when it was forgotten."""

from __future__ import annotations

from pathlib import Path

import click

from trueline.cli.help_page import option_help, option_name, shown_options, usage_line
from trueline.cli.language import translate
from trueline.cli.verbs import VERBS, trueline
from trueline.locale import LANGUAGES, render, use_language

DOCS = Path(__file__).resolve().parent


def pages() -> dict[Path, str]:
    """Every generated page by its path; English ones are called NAME.md, Chinese ones NAME.zh.md."""
    found: dict[Path, str] = {}
    for lang in LANGUAGES:
        use_language(lang)
        ending = ".md" if lang == "en" else f".{lang}.md"
        context = click.Context(trueline, info_name="trueline")
        found[DOCS / "cli" / f"index{ending}"] = group_page(context, ending)
        for name in VERBS:
            found[DOCS / "cli" / f"{name}{ending}"] = verb_page(context, name)
    use_language(None)
    return found


def group_page(context: click.Context, ending: str) -> str:
    """The list of verbs."""
    lines = ["# trueline", "", *_head(trueline, context)]
    lines += [f"- [`trueline {name}`]({name}{ending}): {render(line)}" for name, (_, line) in VERBS.items()]
    return "\n".join([*lines, "", *_options(trueline, context)]) + "\n"


def verb_page(parent: click.Context, name: str) -> str:
    """One verb: usage, what it does, its options."""
    command = trueline.get_command(parent, name)
    if command is None:
        raise LookupError(name)
    context = click.Context(command, info_name=name, parent=parent)
    return "\n".join([f"# trueline {name}", "", *_head(command, context), *_options(command, context)]) + "\n"


def _head(command: click.Command, context: click.Context) -> list[str]:
    return ["```", usage_line(command, context), "```", "", translate(command.help or "").strip(), ""]


def _options(command: click.Command, context: click.Context) -> list[str]:
    return [f"- `{option_name(one)}`: {option_help(one)}" for one in shown_options(command, context)]


def write() -> None:
    """Write all pages, and remove those of verbs that are gone."""
    current = pages()
    (DOCS / "cli").mkdir(exist_ok=True)
    for path in (DOCS / "cli").glob("*.md"):
        if path not in current:
            path.unlink()
    for path, text in current.items():
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    write()
