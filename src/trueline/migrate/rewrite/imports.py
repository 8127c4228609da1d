"""The imports of a draft: torch's go where nothing of them is left, MindSpore's come in their place."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from trueline.migrate.rewrite.names import FRAMEWORKS, Import
from trueline.migrate.rewrite.sheet import Sheet
from trueline.model.message import message
from trueline.script.project import resolved

_STANDARD: Final = ("math", "functools", "contextlib", "pickle")


def write_imports(sheet: Sheet) -> None:
    """Replace the imports, and add helpers behind them."""
    wanted = sheet.wanted.imports
    theirs = [one for one in sheet.names.imports if one.full.split(".")[0] in FRAMEWORKS]
    used = {one.local for one in theirs if _still_used(sheet, one) and one.local not in wanted.values()}
    handed_on = {one.local for one in theirs if (str(resolved(sheet.source.path)), one.local) in sheet.still_taken}
    sheet.still_taken.update((one.home, one.local) for one in theirs if one.home and one.local in used)
    clashing = [one for one in theirs if one.local in wanted.values() and one.alias.name != "*"]
    spelled_out = [one for one in clashing if _spell_out(sheet, one)]
    statements = {one.statement: [other for other in theirs if other.statement is one.statement] for one in theirs}
    lines = _lines(wanted)
    if spelled_out and "torch" not in used:
        lines.append("import torch")
    at_top = [one for one in statements if sheet.names.parents.get(one) is sheet.tree]
    stars = [one for one in at_top if _is_star(one) and statements[one][0].home]
    # What a star brings along must not hide what comes in its place.
    first = stars[-1] if stars else next(iter(at_top), None)
    for statement, found in statements.items():
        kept = [one for one in found if one.local in used | handed_on]
        here = lines if statement is first else []
        if _is_star(statement) and found[0].home:
            text = [ast.unparse(statement), *here]
        else:
            foreign = [one for one in statement.names if all(one is not other.alias for other in found)]
            text = [*here, *_statement(statement, [*foreign, *(one.alias for one in kept)])]
            for one in kept[:1]:
                reason = "rewrite.import_stays" if one.local in used else "rewrite.import_handed_on"
                sheet.leave(statement, one.full, message(reason, name=one.full))
        _replace(sheet, statement, text, sheet.at.indent(statement.lineno))
    if first is None and lines:
        place = _after_docstring(sheet)
        sheet.edits.insert(place, "".join(line + "\n" for line in lines))
    if sheet.wanted.helpers:
        _add_helpers(sheet)


def _is_star(statement: ast.Import | ast.ImportFrom) -> bool:
    return statement.names[0].name == "*"


def _statement(statement: ast.Import | ast.ImportFrom, kept: Sequence[ast.alias]) -> list[str]:
    if not kept:
        return []
    if len(kept) == len(statement.names):
        return [ast.unparse(statement)]
    names = ", ".join(ast.unparse(one) for one in kept)
    if isinstance(statement, ast.ImportFrom):
        return [f"from {'.' * statement.level}{statement.module or ''} import {names}"]
    return [f"import {names}"]


def _replace(sheet: Sheet, statement: ast.stmt, lines: Sequence[str], indent: str) -> None:
    span = sheet.at.of(statement)
    if lines:
        sheet.edits.replace(span, f"\n{indent}".join(lines))
        return
    last = statement.end_lineno or statement.lineno
    whole = sheet.at.whole_lines(statement.lineno, last)
    alone = sheet.text[whole.start : span.start].strip() == "" and sheet.text[span.end : whole.end].strip() == ""
    parent = sheet.names.parents.get(statement)
    body: Iterable[ast.stmt] = getattr(parent, "body", ())
    others = [one for one in body if not isinstance(one, ast.Import | ast.ImportFrom)]
    if alone and (isinstance(parent, ast.Module) or others):
        sheet.edits.replace(whole, "")
    else:
        sheet.edits.replace(span, "pass")


def _lines(wanted: Mapping[str, str]) -> list[str]:
    """The import statements, plain ones first; several names of one module together."""
    plain: list[str] = []
    grouped: dict[str, list[str]] = {}
    for full, local in wanted.items():
        package, _, word = full.rpartition(".")
        if not package:
            plain.append(f"import {full}" if full == local else f"import {full} as {local}")
        elif word == local:
            grouped.setdefault(package, []).append(word)
        elif full == "mindspore.dataset":
            plain.append(f"import {full} as {local}")
        else:
            grouped.setdefault(package, []).append(f"{word} as {local}")
    froms = [f"from {package} import {', '.join(sorted(names))}" for package, names in sorted(grouped.items())]
    return [*sorted(plain, key=lambda line: (line.split()[1] not in _STANDARD, line)), *froms]


def _spell_out(sheet: Sheet, one: Import) -> bool:
    """Write torch's full name where a line stays whose short name is MindSpore's now: it must not mean another."""
    found = False
    for node in ast.walk(sheet.tree):
        named = isinstance(node, ast.Name) and node.id == one.local and sheet.names.full(node)
        if named and sheet.edits.shows(sheet.at.of(node)):
            sheet.edits.replace(sheet.at.of(node), one.full)
            found = True
    return found


def _still_used(sheet: Sheet, one: Import) -> bool:
    """Whether a name of an import still stands somewhere in the draft."""
    for node in ast.walk(sheet.tree):
        named = isinstance(node, ast.Name) and node.id == one.local and sheet.names.full(node)
        if named and sheet.edits.shows(sheet.at.of(node)):
            return True
    return one.alias.name == "*" and not one.home


def _after_docstring(sheet: Sheet) -> int:
    line = 1
    for statement in sheet.tree.body:
        text = isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
        future = isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
        if not (text and line == 1) and not future:
            break
        line = (statement.end_lineno or 1) + 1
    return sheet.at.line_start(line)


def _add_helpers(sheet: Sheet) -> None:
    last = max(
        ((one.end_lineno or 1) for one in sheet.tree.body if isinstance(one, ast.Import | ast.ImportFrom)), default=0
    )
    text = "\n\n\n".join(sheet.wanted.helpers.values())
    if not last:
        place = _after_docstring(sheet)
        sheet.edits.insert(place, f"\n\n{text}\n")
        return
    place = min(sheet.at.line_start(last + 1), len(sheet.text))
    blank = "" if sheet.text[place:].startswith("\n\n") else "\n\n" if not sheet.text[place:].startswith("\n") else "\n"
    sheet.edits.insert(place, f"\n\n{text}\n{blank}")
