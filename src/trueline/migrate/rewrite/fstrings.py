"""Positions inside formatted strings, which Python before 3.12 does not always know."""

from __future__ import annotations

import ast

from trueline.migrate.rewrite.edits import Positions


def mend_positions(tree: ast.Module, at: Positions) -> set[ast.AST]:
    """Correct the positions of expressions in formatted strings; those that cannot be told, with all in them."""
    lost: set[ast.AST] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            for part in node.values:
                if (
                    isinstance(part, ast.FormattedValue)
                    and not _stands(part.value, at)
                    and not _mend(part.value, node, at)
                ):
                    lost.update(ast.walk(part))
    return lost


def _stands(node: ast.expr, at: Positions) -> bool:
    """Whether the text at a node's place is the node."""
    if node.lineno > len(at.lines) or (node.end_lineno or 0) > len(at.lines):
        return False
    try:
        found = ast.parse(at.source(node).strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return False
    return ast.dump(found) == ast.dump(node)


def _mend(node: ast.expr, string: ast.JoinedStr, at: Positions) -> bool:
    """Look for the node's text in the string; it must be there once."""
    span, text = at.of(string), ast.unparse(node)
    first = at.text.find(text, span.start, span.end)
    if first < 0 or at.text.find(text, first + 1, span.end) >= 0:
        return False
    line = at.line_of(first)
    column = first - at.line_start(line)
    if not at.lines[line - 1].isascii() or "\n" in text:
        return False
    lines, columns = line - node.lineno, column - node.col_offset
    for one in ast.walk(node):
        if isinstance(one, ast.expr | ast.keyword | ast.arg):
            one.lineno += lines
            one.end_lineno = (one.end_lineno or one.lineno) + lines
            one.col_offset += columns
            one.end_col_offset = (one.end_col_offset or 0) + columns
    return _stands(node, at)
