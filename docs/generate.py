"""Writes the generated pages of the documentation; ``make docs`` runs it, and a test says when it was forgotten."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from pathlib import Path

import click

from trueline.checks.engine.listing import codes
from trueline.cli.help_page import option_help, option_name, shown_options, usage_line
from trueline.cli.language import translate
from trueline.cli.verb_group import Verbs
from trueline.cli.verbs import every_verb, trueline
from trueline.locale import LANGUAGES, render, use_language
from trueline.migrate.lab.pages import index_page, kind_page, kinds
from trueline.report.code_page import Example, code_page, codes_index, items_index
from trueline.report.codes import every_code

DOCS = Path(__file__).resolve().parent
FIXTURES = DOCS.parent / "tests" / "checks"
SOURCE = DOCS.parent / "src" / "trueline"
_LAYERS = tomllib.loads((DOCS.parent / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"][0][
    "layers"
]
# Top downward, as the import contract has them; what stands in brackets there is not built.
ROOMS = [room for layer in _LAYERS for room in layer.split(" | ") if not room.startswith("(")]


def pages() -> dict[Path, str]:
    """Every generated page by its path; English ones are called NAME.md, Chinese ones NAME.zh.md."""
    found: dict[Path, str] = {}
    for lang in LANGUAGES:
        use_language(lang)
        ending = ".md" if lang == "en" else f".{lang}.md"
        context = click.Context(trueline, info_name="trueline")
        found[DOCS / "cli" / f"index{ending}"] = page(trueline, context, ending)
        for name, command in every_verb().items():
            *groups, last = name.split()
            parent = click.Context(trueline.get_command(context, groups[0]), context, groups[0]) if groups else context
            inner = click.Context(command, info_name=last, parent=parent)
            found[DOCS / "cli" / f"{name.replace(' ', '-')}{ending}"] = page(command, inner, ending)
        found[DOCS / "checks" / f"index{ending}"] = items_index(lang, ending)
        found[DOCS / "codes" / f"index{ending}"] = codes_index(lang, ending)
        found[DOCS / "api" / f"index{ending}"] = index_page(lang, ending)
        found |= {DOCS / "api" / f"{kind.value}{ending}": kind_page(kind, lang) for kind in kinds()}
        items = set(codes())
        for code in every_code():
            name = code.replace(".", "_")
            folder = DOCS / ("checks" if code in items else "codes")
            found[folder / f"{name}{ending}"] = code_page(code, list(_examples(name)), lang)
    use_language(None)
    found[DOCS / "rooms.md"] = rooms_page()
    return found


def rooms_page() -> str:
    """Every package and every module with the first sentence that it says of itself, top downward."""
    lines = [
        "# The rooms, file by file",
        "",
        "Written by `make docs` out of docstrings; the plan is [architecture.md](architecture.md).",
        "",
    ]
    for room in ROOMS:
        for package in sorted(path.parent for path in (SOURCE / room).rglob("__init__.py")):
            name = package.relative_to(SOURCE).as_posix()
            lines += [f"## trueline/{name}", _sentence(package / "__init__.py"), ""]
            modules = sorted(path for path in package.glob("*.py") if path.name != "__init__.py")
            lines += [f"- `{path.stem}`: {_sentence(path)}" for path in modules]
            lines += [""] if modules else []
    return "\n".join(lines)


def _sentence(path: Path) -> str:
    """The first paragraph of a module's docstring."""
    text = ast.get_docstring(ast.parse(path.read_text("utf-8"))) or ""
    return " ".join(text.partition("\n\n")[0].split())


def _examples(item: str) -> Iterator[Example]:
    """The scripts that the tests hold an item to."""
    for path in sorted((FIXTURES / item).glob("*.py")):
        kind, framework, *_ = path.stem.split("_")
        if kind in ("bad", "good"):
            yield Example(framework, kind == "good", path.read_text("utf-8"), f"../../tests/checks/{item}/{path.name}")


def page(command: click.Command, context: click.Context, ending: str) -> str:
    """One command: usage, what it does, its verbs where it has such, its options."""
    path = context.command_path
    lines = [f"# {path}", "", *_head(command, context)]
    if isinstance(command, Verbs):
        folder = "-".join([*path.split()[1:], ""])
        lines += [
            f"- [`{path} {name}`]({folder}{name}{ending}): {render(line)}" for name, (_, line) in command.table.items()
        ]
        lines.append("")
    return "\n".join([*lines, *_options(command, context)]) + "\n"


def _head(command: click.Command, context: click.Context) -> list[str]:
    return ["```", usage_line(command, context), "```", "", translate(command.help or "").strip(), ""]


def _options(command: click.Command, context: click.Context) -> list[str]:
    return [f"- `{option_name(one)}`: {option_help(one)}" for one in shown_options(command, context)]


def write() -> None:
    """Write all pages, and remove those of verbs and codes that are gone."""
    current = pages()
    for folder in (DOCS / "api", DOCS / "cli", DOCS / "checks", DOCS / "codes"):
        folder.mkdir(exist_ok=True)
        for path in folder.glob("*.md"):
            if path not in current:
                path.unlink()
    for path, text in current.items():
        path.write_text(text, "utf-8")


if __name__ == "__main__":
    write()
