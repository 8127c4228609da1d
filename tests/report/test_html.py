"""The page as text: what it says, how large it is, and that nothing in a report can break it."""

from __future__ import annotations

import base64
import hashlib
import html
import math
import re
import time
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from trueline.model.curve import Curve
from trueline.model.finding import Certainty, Conclusion, Finding
from trueline.model.location import Location
from trueline.model.message import message
from trueline.model.report import Axis, Band, Block, Curves, Folded, Mark, Report, Source, Strip, Table, Text
from trueline.report.html.page import render_html

VOID = {"meta", "input", "path", "line", "circle", "rect"}


class Outline(HTMLParser):
    """Elements that are open, and the text of the page outside of styles and scripts."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.classes: list[str] = []
        self.faults: list[str] = []
        self.ids: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        self.classes.extend((found.get("class") or "").split())
        if found.get("id"):
            self.ids.append(str(found["id"]))
        self.faults.extend(name for name in found if name.startswith("on") or name in ("style", "src"))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}>")

    def handle_data(self, data: str) -> None:
        if not {"script", "style"} & set(self.open):
            self.words.append(data)


def page(*blocks: Block, findings: tuple[Finding, ...] = (), lang: str | None = "en") -> str:
    return render_html(Report(message("The title"), message("The conclusion."), findings, blocks), lang)


def outline(text: str) -> Outline:
    found = Outline(text)
    assert found.open == []
    assert found.faults == []
    assert len(set(found.ids)) == len(found.ids)
    return found


def found(code: str, because: str | None = None) -> Finding:
    return Finding(code, Conclusion.FOUND, message(f"said by {code}"), because=because)


def curve(values: list[float], name: str = "loss") -> Curve:
    return Curve(name, list(range(len(values))), values)


def paths(text: str) -> str:
    return " ".join(re.findall(r' d="([^"]*)"', text))


def test_a_page_of_everything_is_well_formed_and_says_it_all() -> None:
    band = Band([0, 1], [0.9, 0.4], [1.1, 0.6])
    table = Table(message("Numbers"), [message("name"), message("value")], [["a", 1 / 3], ["b", None]], frozenset({1}))
    source = Source("net.py", 11, ["def f():", "\treturn 1"], 10, "port")
    text = page(
        Text(message("Some words.")),
        table,
        Curves(message("Loss"), [curve([1.0, 0.5]), curve([1.0, 0.7], "port")], 1, band),
        Strip(message("Layers"), ["conv", "fc"], [0.0, 1.0], 1, [[], [table, source]]),
        source,
        Folded(message("More"), [table, Text(message("and words"))]),
        findings=(found("cmp.01"),),
    )
    words = " ".join(outline(text).words)
    for said in ("The title", "The conclusion.", "said by cmp.01", "Some words.", "0.33333", "they part at step 1"):
        assert said in words
    assert "net.py:11" in words
    assert "2 rows" in words
    assert 'lang="en"' in text


def test_both_languages() -> None:
    one = Finding(
        "hp.01", Conclusion.FOUND, message("x"), Certainty.LIKELY, advice=message("y"), where=Location(step=3)
    )
    text = page(findings=(one,), lang="zh")
    assert '<html lang="zh-CN">' in text
    for said in ("发现问题", "很可能", "下一步：", "由 TrueLine"):
        assert said in text
    assert "What to do" not in text


def test_only_the_scripts_and_styles_of_the_page_itself_may_run() -> None:
    text = page()
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
    policy = html.unescape(policy)
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    inside = re.findall(r"<(script|style)>(.*?)</\1>", text, re.DOTALL)
    assert [kind for kind, _ in inside] == ["style", "script", "script"]
    for kind, content in inside:
        hash = base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()
        assert re.search(rf"{kind}-src [^;]*'sha256-{re.escape(hash)}'", policy)
    assert "http://" not in text
    assert "https://" not in text


def test_control_characters_and_markup_are_text() -> None:
    evil = "</td><script>alert(1)</script>\x1b[2J\u202e\ud800\"'"
    text = page(
        Table(message(evil), [message(evil)], [[evil]]),
        Curves(message(evil), [curve([1.0, 2.0], evil)], 0),
        Strip(message(evil), [evil], [1.0], 0, [[Text(message(evil))]]),
        Source(evil, 1, [evil], 1, evil),
        findings=(Finding(evil, Conclusion.NA, message(evil), error=evil, where=Location(evil, module=evil)),),
    )
    assert not re.search(r"[\x00-\x08\x0b-\x1f\u202a-\u202e\ud800-\udfff]", text)
    assert len(re.findall(r"<script", text)) == 2
    assert "\\x1b[2J\\u202e\\ud800" in "".join(outline(text).words)
    text.encode("utf-8")


def test_what_follows_is_told_once_below_its_root_however_indirectly() -> None:
    text = page(findings=(found("c", "b"), found("b", "a"), found("a")))
    assert [text.count(f">said by {code}<") for code in "abc"] == [1, 1, 1]
    assert text.index("said by a") < text.index("<details>") < text.index("said by b")
    assert "2 more follow from it: b, c" in text


def test_no_finding_is_lost_where_causes_go_in_a_circle_or_are_not_there() -> None:
    text = page(findings=(found("a", "b"), found("b", "a"), found("c", "c"), found("d", "gone")))
    assert [text.count(f">said by {code}<") for code in "abcd"] == [1, 1, 1, 1]


def test_problems_come_before_what_is_open_and_what_passed() -> None:
    suspect = Finding("s", Conclusion.SUSPECT, message("said by s"))
    passed = Finding("p", Conclusion.NONE, message("said by p"))
    text = page(findings=(passed, suspect, found("x")))
    assert text.index("said by x") < text.index("said by s") < text.index("No problem")
    assert '<header class="found">' in text
    assert '<header class="open">' in page(findings=(passed, suspect))
    assert '<header class="fine">' in page(findings=(passed,))


def test_a_long_curve_makes_a_small_page_that_keeps_its_peaks() -> None:
    values = [1.0 + 0.01 * math.sin(step) for step in range(100_000)]
    values[54_321] = 9.0
    values[77_777] = math.nan
    start = time.process_time()
    text = page(Curves(message("Loss"), [curve(values), curve([value * 1.1 for value in values], "port")], 40_000))
    assert time.process_time() - start < 5
    assert len(text) < 600_000
    assert "54321" in text
    assert "&quot;9.9&quot;" in text
    assert "&quot;NaN&quot;" in text
    assert 'class="bad"' in text


@pytest.mark.parametrize(
    "values",
    [
        [],
        [math.nan],
        [math.inf, -math.inf, math.nan],
        [0.0],
        [5.0, 5.0],
        [0.0, 5e-324],
        [5e-324, 1.0],
        [-1.7e308, 1.7e308],
        [1e-300, 1e300],
        [1e16, 1e16 + 2],
        [2.3025851, 2.3025852],
    ],
)
def test_any_values_can_be_drawn(values: list[float]) -> None:
    other = [value * 0.5 for value in values]
    steps = list(range(len(values)))
    band = Band(steps, [-math.inf] * len(values), [math.nan if step == 1 else 1e308 for step in steps])
    text = page(
        Curves(message("x"), [curve(values), curve(other)], 0, band),
        Table(message("t"), [message("c")], [[curve(values)]]),
    )
    outline(text)
    assert "nan" not in paths(text)
    assert "inf" not in paths(text)


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(-(10**6), 10**12), st.floats(), st.floats()), max_size=60), st.integers(0, 9))
def test_any_curve_can_be_drawn(points: list[tuple[int, float, float]], mark: int) -> None:
    points.sort(key=lambda point: point[0])
    steps, low, high = ([point[place] for point in points] for place in range(3))
    band = Band(steps, low, high)
    text = page(Curves(message("x"), [Curve("a", steps, low), Curve("b", steps, high)], mark, band))
    assert not re.search("nan|inf", paths(text))


def test_any_steps_can_be_drawn() -> None:
    for steps in ([7], [-5, 10**30], [3, 3, 3], list(range(10_000, 10_003))):
        outline(page(Curves(message("x"), [Curve("a", steps, [1.0] * len(steps))], steps[0])))


def test_a_line_does_not_cross_values_that_are_not_finite() -> None:
    text = page(Curves(message("x"), [curve([1.0, 2.0, math.nan, 3.0, 4.0])]))
    (line,) = re.findall(r'class="curve c0" d="([^"]*)"', text)
    assert line.count("M") == 2


def test_the_sides_of_a_chart_have_numbers_that_tell() -> None:
    text = page(Curves(message("x"), [curve([2.3025851 + 1e-7 * step for step in range(9)])]))
    names = re.findall(r'class="value">([^<]*)<', text)
    assert len(names) >= 3
    assert len(set(names)) == len(names)
    text = page(Curves(message("x"), [curve([1e-6, 1e-3, 1.0])]))
    assert "x (logarithmic)" in text
    assert re.findall(r'class="value">([^<]*)<', text)[-1] == "1"


def test_levels_of_layers_have_shades_and_a_mark() -> None:
    levels = [0.0, 0.001, 0.5, 1.0, math.inf, math.nan, -1.0]
    text = page(Strip(message("x"), [f"layer{place}" for place in range(7)], levels, 2))
    shades = re.findall(r'class="swatch (\w+)"></span>layer', text)
    assert shades == ["l0", "l1", "l3", "l5", "l5", "bad", "l0"]
    assert re.search(r'class="cell mark"[^>]*title="layer2 \(0.5\)"', text)
    assert "not a number" in text


def test_thousands_of_rows_are_all_there_and_quick() -> None:
    rows = [[f"tensor{place}", place / 7, "1e-3", message("noise")] for place in range(20_000)]
    start = time.process_time()
    text = page(Table(message("x"), [message(name) for name in "abcd"], rows, frozenset({15_000})))
    assert time.process_time() - start < 5
    assert text.count("<tr") == 20_001
    assert 'tbody class="rest"' in text


@pytest.mark.parametrize("rows", [[], [[]], [["a"]], [["a", 1, 2]]])
def test_a_table_with_odd_rows_is_still_a_table(rows: list[list[object]]) -> None:
    assert "a table" in "".join(outline(page(Table(message("a table"), [message("x"), message("y")], rows))).words)


def test_a_source_line_stands_out_and_keeps_its_number() -> None:
    text = page(Source("net.py", 11, ["a = 1", "b = a < 2", "c"], 10))
    assert re.search(r'class="no">11</span><mark>.*?b = a &lt; 2</span></mark>', text)
    assert text.count("<mark>") == 1


def test_other_numbers_stand_for_steps_and_marks_say_what_is_there() -> None:
    rates = {step: 10.0 ** (step / 10 - 5) for step in range(41)}
    curve = Curve("loss", list(rates), [50.0 - step for step in rates])
    marks = [Mark(20, message("tune_lr.mark_lower", rate=0.001)), Mark(38, message("tune_lr.mark_upper", rate=0.06))]
    block = Curves(message("show.loss"), [curve], axis=Axis("tune_lr.at_rate", rates), marks=marks)
    page = render_html(Report(message("show.loss"), message("show.loss"), blocks=[block]), "en")
    words = Outline(page).words
    assert {"0.0001", "0.001", "0.01", "lower 0.001", "upper 0.06"} <= set(words)
    assert "learning rate {step}" in html.unescape(page)
