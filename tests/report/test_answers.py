"""Causes on a terminal, as Markdown and on a page: five fit on one screen, the rest is where it is asked for."""

from __future__ import annotations

import io

import pytest
from rich.cells import cell_len

from trueline.model.message import message
from trueline.model.report import Answer, Folded, Place, Report, Source, Table, Text
from trueline.report.html.page import render_html
from trueline.report.markdown import render_markdown
from trueline.report.terminal import render_report

SIDE = message("pair.side_bench")


def cause(number: int, module: str = "layer1.0.bn1") -> Answer:
    said = message("pair_attr.argument_any", layer="nn.BatchNorm2d", now="eps=0.001", bench="eps=1e-05")
    return Answer(
        "pr.05",
        said,
        number,
        (),
        (Place(None, {"model_mindspore.py": [number, 40]}), Place(SIDE, {"model_torch.py": [number]})),
        message("pair_attr.edit_arguments", type="nn.BatchNorm2d", arguments="eps=1e-05"),
        (message("pair.effect", level="0.2"), message("pair.held_more", count=7, name=module)),
        (Source("model_torch.py", 2, ["a", "the line", "c"], 1),),
    )


def suspect(text: str) -> Answer:
    return Answer("pr.05", message(text), places=(Place(None, {"net.py": [9]}),), marks=(message("pair.is_latent"),))


def page(*answers: Answer) -> Report:
    stages = Table(
        message("pair.stages"),
        [message(f"pair.column_{name}") for name in ("stage", "seen")],
        [["forward", message("pair.title", port="a long sentence " * 12, bench="b")], ["loss", "short"]],
        frozenset({0}),
        brief=True,
    )
    folded = Folded(message("pair.ruled_out"), [Text(message("This is folded."))])
    conclusion = message("pair.all_confirmed", port="p", bench="b", count=len(answers))
    return Report(message("p"), conclusion, (), [stages, folded], answers, message("pair.more"))


def drawn(report: Report, lang: str = "en", *, width: int = 80, verbose: bool = False) -> list[str]:
    stream = io.StringIO()
    render_report(report, stream, lang, width=width, verbose=verbose)
    return stream.getvalue().splitlines()


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_five_causes_and_the_conclusion_fit_on_a_small_screen(lang: str) -> None:
    lines = drawn(page(*map(cause, range(1, 6))), lang)
    end = next(place for place, line in enumerate(lines) if line.strip() in ("Stages", "阶段"))
    assert end <= 24
    assert all(cell_len(line.rstrip()) <= 80 for line in lines)
    assert lines[1].startswith("1. pr.05 nn.BatchNorm2d")
    assert [line for line in lines if "model_mindspore.py:3, 40" in line and "model_torch.py:3" in line]


def test_a_terminal_leaves_out_details_and_says_how_to_see_them() -> None:
    lines = drawn(page(cause(1)))
    text = "\n".join(lines)
    assert "the line" not in text and "This is folded." not in text
    assert lines[-1].startswith("-v shows")
    # The stages are one line each.
    assert len([line for line in lines if "a long sentence" in line]) == 1
    everything = "\n".join(drawn(page(cause(1)), verbose=True))
    assert "the line" in everything and "This is folded." in everything and "-v shows" not in everything
    assert everything.count("sentence") == 12


def test_suspicions_are_one_line_each_and_few() -> None:
    lines = drawn(page(cause(1), *(suspect(f"suspicion {place} {'of something ' * 9}") for place in range(8))))
    told = [line for line in lines if "net.py:9: pr.05 suspicion" in line]
    assert len(told) == 5
    assert all(line.rstrip().endswith("…") for line in told)
    assert "   3 more" in lines
    everything = drawn(page(*(suspect(f"suspicion {place}") for place in range(8))), verbose=True)
    assert len([line for line in everything if "suspicion" in line and "latent" in line]) == 8


def test_markdown_and_the_page_have_every_cause_and_every_suspicion() -> None:
    report = page(cause(1), suspect("a suspicion"))
    text = render_markdown(report, "en")
    assert "1. pr.05" in text.replace("\\", "") and "a suspicion" in text
    html = render_html(report, "en")
    assert html.count('<article class="finding found answer">') == 1
    for said in ("model_mindspore.py:1, 40", "model_torch.py:1", "pass eps=1e-05", "a suspicion", "the line"):
        assert said in html
