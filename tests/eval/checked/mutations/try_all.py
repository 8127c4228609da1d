"""Apply every mutation to every healthy project, compile the result, and print where each mutation fits.

    python try_all.py [--framework torch] [--only REGEX] [--show] [--run [--limit N] [--projects REGEX]]

--show prints the difference that each first place makes; --run starts mutated projects one after the other.
"""

from __future__ import annotations

import argparse
import difflib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zlib
from collections import Counter
from pathlib import Path

from planting import HERE, Planted, Project, all_mutations, read_projects

PROJECTS = HERE.parent / "projects"


def compiled(project: Project, planted: Planted) -> str | None:
    """What is wrong with a planted fault as such, or None."""
    if not planted.places:
        return "names no place"
    changed = [name for name, text in planted.files.items() if project.files.get(name) != text]
    if not changed:
        return "changes nothing"
    for name in changed:
        if name.endswith(".py"):
            try:
                compile(planted.files[name], name, "exec")
            except SyntaxError as error:
                return f"{name}:{error.lineno}: {error.msg}"
    texts = {**project.files, **planted.files}
    for name, line in planted.places:
        if not 1 <= line <= len(texts[name].splitlines()) + 1:
            return f"{name}:{line} is no line"
    return None


def difference(project: Project, planted: Planted) -> str:
    parts = []
    for name, text in planted.files.items():
        old, new = project.files.get(name, "").splitlines(), text.splitlines()
        parts.extend(difflib.unified_diff(old, new, name, name, lineterm="", n=1))
    texts = {**project.files, **planted.files}
    for name, line in planted.places:
        lines = texts[name].splitlines()
        parts.append(f"  @ {name}:{line}: {lines[line - 1].strip() if line <= len(lines) else ''}")
    return "\n".join(parts)


def run(project: Project, planted: Planted | None, folder: Path) -> tuple[int, str]:
    """Run a project from a copy of its folder, with the planted files in it."""
    with tempfile.TemporaryDirectory() as temporary:
        copy = Path(temporary) / project.name
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("__pycache__"))
        for name, text in (planted.files if planted else {}).items():
            (copy / name).write_text(text, encoding="utf-8")
        arguments = [project.entry] if isinstance(project.entry, str) else list(project.entry)
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "ONEDNN_MAX_CPU_ISA": "AVX2"}
        try:
            done = subprocess.run(
                [sys.executable, *arguments], cwd=copy, env=environment, capture_output=True, text=True, timeout=180
            )
        except subprocess.TimeoutExpired:
            return 124, "takes longer than three minutes"
        return done.returncode, done.stdout if done.returncode == 0 else done.stdout + done.stderr


def spread(found: list[tuple[Project, Planted]], count: int, label: str) -> list[tuple[Project, Planted]]:
    """Some of the projects, other ones for other mutations."""
    first = zlib.crc32(label.encode())
    picked = dict.fromkeys((first + i * len(found) // count) % len(found) for i in range(count)) if found else []
    return [found[i] for i in picked]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--framework", default="torch")
    parser.add_argument("--only", default="", help="regular expression on CODE/NAME")
    parser.add_argument("--projects", default="", help="regular expression on the project's name")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--run", action="store_true")
    parser.add_argument("--limit", type=int, default=1, help="with --run: projects per mutation")
    parser.add_argument("--folder", type=Path, default=PROJECTS)
    options = parser.parse_args()
    projects = [p for p in read_projects(options.folder, options.framework) if re.search(options.projects, p.name)]
    bad = 0
    fits: Counter[str] = Counter()
    for one in all_mutations(options.framework):
        label = f"{one.code}/{one.name}"
        if one.framework != options.framework or not re.search(options.only, label):
            continue
        where: list[str] = []
        planted_in: list[tuple[Project, Planted]] = []
        for project in projects:
            found = list(one(project))
            for planted in found:
                wrong = compiled(project, planted) or (None if planted.code == one.code else f"code is {planted.code}")
                if wrong:
                    bad += 1
                    print(f"  BAD {label} in {project.name}: {wrong}")
                    print(difference(project, planted))
            if not found:
                continue
            where.append(f"{project.name}({len(found)})")
            if options.show:
                print(f"--- {label} in {project.name}\n{difference(project, found[0])}")
            planted_in.append((project, found[0]))
        if options.run:
            for project, planted in spread(planted_in, options.limit, label):
                code, output = run(project, planted, options.folder / options.framework / project.name)
                bad += code != 0
                tail = "\n    ".join(output.strip().splitlines()[-4:])
                print(f"  {'ok ' if code == 0 else 'FAILED'} {label} in {project.name}\n    {tail}", flush=True)
        fits[one.code] += len(where)
        print(f"{label:44s} {len(where):3d}  {' '.join(where)}", flush=True)
    print(f"{len(projects)} projects, {bad} bad; codes that fit nowhere: {sorted(c for c, n in fits.items() if not n)}")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
