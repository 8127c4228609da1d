"""Draws the pictures of the READMEs from what ``trueline pair`` prints; a test fails when they are stale."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
import unicodedata
from pathlib import Path
from xml.sax.saxutils import escape

DOCS = Path(__file__).resolve().parent
EXAMPLE = DOCS.parent / "examples" / "digits"
PICTURES = {"en": DOCS / "pair.svg", "zh": DOCS / "pair.zh.svg"}
NETWORKS = ("--bench", "model_torch:DigitsNet", "--port", "model_mindspore:DigitsNet")
ARGUMENTS = ("pair", *NETWORKS, "--port-kwargs", '{"fault": "pad_same"}', "--input", "4x1x8x8")
TYPED = "$ trueline pair --bench model_torch:DigitsNet --port model_mindspore:DigitsNet …"
COLUMNS = 96
FINDING = re.compile(r"\d+\. pr\.\d+ ")
# Pixels: the advance and the height of a monospaced character of 13 px, and the margin around the text.
ADVANCE, HEIGHT, MARGIN = 7.8, 18, 16
STYLE = """
text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; fill: #d0d7de; white-space: pre }
.typed { fill: #7ee787 } .found { fill: #ff7b72; font-weight: bold } .marked { fill: #f2cc60 }
"""


def printed(lang: str) -> list[str]:
    """What the command prints in a copy of the example, line by line."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder).resolve() / "digits"
        shutil.copytree(EXAMPLE, copy, ignore=shutil.ignore_patterns("__pycache__"))
        env = {**os.environ, "TRUELINE_LANG": lang, "COLUMNS": str(COLUMNS)}
        command = [sys.executable, "-m", "trueline", *ARGUMENTS]
        done = subprocess.run(command, cwd=copy, env=env, capture_output=True, text=True, check=False)
        if done.returncode != 1:
            raise RuntimeError(done.stderr)
        return done.stdout.replace(f"{copy}/", "").splitlines()


def chosen(lines: list[str]) -> list[str]:
    """The answer and the stages: what fits on a reader's first screen."""
    paragraphs = [part.splitlines() for part in "\n".join(line.rstrip() for line in lines).split("\n\n")]
    answer, stages = paragraphs[:2]
    return [*answer, "", *stages]


def width(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(2 if unicodedata.east_asian_width(letter) in "WF" else 1 for letter in text)


def drawn(lines: list[str]) -> str:
    """The lines as SVG; every run of text stands at its own column, so that no font can shift a table."""
    rows = [f'<text y="{MARGIN + HEIGHT}"><tspan x="{MARGIN}" class="typed">{escape(TYPED)}</tspan></text>']
    for number, whole in enumerate(lines, 2):
        line = whole if len(whole) <= COLUMNS else f"{whole[: COLUMNS - 1]}…"
        kind = ' class="found"' if FINDING.match(line) else ' class="marked"' if line[:1] == ">" else ""
        parts = [
            f'<tspan x="{MARGIN + width(line[: run.start()]) * ADVANCE:g}">{escape(run[0])}</tspan>'
            for run in re.finditer(r"\S+(?: \S+)*", line)
        ]
        rows += [f'<text y="{MARGIN + number * HEIGHT}"{kind}>{"".join(parts)}</text>'] if parts else []
    wide, high = round(COLUMNS * ADVANCE) + 2 * MARGIN, (len(lines) + 1) * HEIGHT + 2 * MARGIN
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {wide} {high}" width="{wide}" height="{high}">'
    return "\n".join(
        [
            head,
            f"<style>{STYLE}</style>",
            '<rect width="100%" height="100%" rx="8" fill="#0d1117"/>',
            *rows,
            "</svg>",
            "",
        ]
    )


if __name__ == "__main__":
    for language, path in PICTURES.items():
        path.write_text(drawn(chosen(printed(language))), "utf-8")
