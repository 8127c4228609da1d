"""The HTML page in a real browser: what a reader sees, clicks and types."""

from __future__ import annotations

import math
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from web.browser import Browser, BrowserError
from web.sample_reports import FIRST, FORK, LAYERS, full_report, layers, numbers

from trueline.model.curve import Curve
from trueline.model.finding import Conclusion, Finding
from trueline.model.location import Location
from trueline.model.message import message
from trueline.model.report import Curves, Folded, Report, Source, Strip, Table, Text
from trueline.report.html.page import render_html

EVIL = '</script></style><script>window.hacked=1</script><img src=x onerror="window.hacked=2">"\'&\x1b[31m\u202egnp.exe'
HEADINGS = "[...document.querySelectorAll('h1,h2,h3,h4,h5,h6')].map(e => Number(e.tagName[1]))"
OVERFLOW = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as found:
        yield found


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(full_report(), tmp_path_factory.mktemp("page"))


def write(report: Report, folder: Path, lang: str = "en") -> Path:
    file = folder / f"page-{lang}.html"
    file.write_text(render_html(report, lang), "utf-8")
    return file


def column(browser: Browser, place: int, section: str = ".table") -> list[str]:
    return browser.texts(f"{section} tbody tr > :nth-child({place})")


def test_a_page_loads_nothing_but_itself_and_complains_of_nothing(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.requests() == [page.as_uri()]
    assert browser.complaints() == []
    assert browser.text(".conclusion").startswith("port diverges from bench at step 0")


def test_a_page_forbids_whatever_is_not_in_it(browser: Browser, page: Path) -> None:
    browser.open(page)
    refused = (
        "new Promise(done => {{ document.addEventListener('securitypolicyviolation',"
        " event => done(event.effectiveDirective), {{once: true}}); {0} }})"
    )
    image = "const i = new Image(); i.src = 'http://127.0.0.1:9/x.png'; document.body.append(i);"
    assert browser.ask(refused.format(image)) == "img-src"
    handler = "document.body.setAttribute('onclick', 'window.hacked = 1'); document.body.click();"
    assert browser.ask(refused.format(handler)) == "script-src-attr"
    assert browser.ask(refused.format("fetch('http://127.0.0.1:9/').catch(() => 0);")) == "connect-src"


def test_a_click_on_a_layer_shows_its_numbers_and_source(browser: Browser, page: Path) -> None:
    browser.open(page)
    name = LAYERS[FIRST]
    assert browser.text(".cell.mark") == name
    assert browser.ask("getComputedStyle(document.querySelector('.layer')).display") == "none"
    browser.click(".cell.mark")
    panel = browser.text(".layer.chosen")
    assert f"Numbers of {name}" in panel
    assert f"{name}#0/out/0" in panel
    assert "0.0125" in panel
    assert "nn.Conv2d(width, width, 3, stride=2, padding=1)" in panel
    assert "bench/net.py:31" in panel
    browser.click(".cell")
    assert browser.texts(".layer.chosen summary") == [LAYERS[0]]
    browser.click(".layer.chosen summary")
    browser.ask("new Promise(done => setTimeout(done, 50))")
    assert browser.texts(".layer.chosen, [aria-expanded]") == []


def test_a_strip_is_used_with_the_keyboard_alone(browser: Browser, page: Path) -> None:
    browser.open(page)
    browser.ask("document.querySelector('.plot-box').focus()")
    browser.press("Tab")
    assert browser.ask("document.activeElement.textContent") == LAYERS[FIRST]
    browser.press("ArrowRight")
    assert browser.text(".layers-of-network .readout").startswith(f"{LAYERS[FIRST + 1]} (")
    browser.press("Enter")
    assert f"Numbers of {LAYERS[FIRST + 1]}" in browser.text(".layer.chosen")
    browser.press("Home")
    assert browser.ask("document.activeElement.textContent") == LAYERS[0]
    browser.press("ArrowDown")
    row = browser.ask("document.activeElement.offsetTop > document.querySelector('.cell').offsetTop")
    assert row is True
    browser.press("Escape")
    assert browser.texts(".layer.chosen") == []


def test_a_thousand_layers_wrap(browser: Browser, tmp_path: Path) -> None:
    names = [f"stage{place}" for place in range(1000)]
    browser.open(write(Report(message("t"), message("c"), (), (layers(names, 700),)), tmp_path), width=380)
    assert browser.ask("document.querySelectorAll('.cell').length") == 1000
    assert browser.ask(OVERFLOW) == 0
    browser.click(".cell.mark")
    assert "Numbers of stage700" in browser.text(".layer.chosen")


def test_a_chart_has_its_band_its_fork_and_the_values_at_a_step(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert browser.texts(".curves .legend li") == ["resnet (torch)", "resnet (mindspore)", "what noise explains"]
    assert browser.ask("document.querySelector('path.band').getBBox().height") > 50
    assert browser.ask("document.querySelector('text.fork').textContent") == f"they part at step {FORK}"
    x, y = browser.place("circle.fork")
    browser.point(x + 1, y)
    readout = browser.text(".curves .readout")
    assert readout.startswith(f"step {FORK}")
    assert "resnet (mindspore) " in readout
    browser.ask("document.querySelector('.plot-box').focus()")
    browser.press("ArrowRight")
    assert browser.text(".curves .readout").startswith(f"step {FORK + 1}")


def test_values_that_are_not_finite_are_marked_and_named(browser: Browser, tmp_path: Path) -> None:
    curve = Curve("loss", [0, 1, 2, 3], [1.0, math.nan, 2.0, math.inf])
    browser.open(write(Report(message("t"), message("c"), (), (Curves(message("x"), [curve], 9),)), tmp_path))
    assert browser.texts(".legend li") == ["loss", "NaN or Inf"]
    browser.ask("document.querySelector('.plot-box').focus()")
    browser.press("End")
    assert browser.text(".readout") == "step 3loss Inf"


def test_a_table_sorts_by_value_and_keeps_what_is_unknown_last(browser: Browser, tmp_path: Path) -> None:
    rows = [["b", 2.0, "1e-3"], ["a", math.nan, "2e-9"], ["c10", 1e-7, "5"], ["c9", 30.0, ""]]
    table = Table(message("t"), [message("name"), message("x"), message("y")], rows, frozenset({2}))
    browser.open(write(Report(message("t"), message("c"), (), (table,)), tmp_path))
    browser.click("thead th:nth-child(2) button")
    assert column(browser, 2) == ["1e-07", "2", "30", "NaN"]
    assert browser.text("tr.marked td") == "1e-07"
    browser.click("thead th:nth-child(2) button")
    assert column(browser, 2) == ["30", "2", "1e-07", "NaN"]
    assert browser.ask("document.querySelector('[aria-sort]').ariaSort") == "descending"
    browser.click("thead th:nth-child(3) button")
    assert column(browser, 3) == ["2e-9", "1e-3", "5", ""]
    browser.click("thead th:nth-child(1) button")
    assert [name.split()[-1] for name in column(browser, 1)] == ["a", "b", "c9", "c10"]


def test_a_long_table_lays_out_little_and_finds_everything(browser: Browser, tmp_path: Path) -> None:
    long = Folded(message("All tensors"), [numbers(5000)])
    browser.open(write(Report(message("t"), message("c"), (), (long,)), tmp_path))
    assert browser.text(".folded summary").split("\n")[0].startswith("All tensors")
    assert "5000 rows" in browser.text(".folded summary")
    assert browser.ask("document.querySelector('.folded').open") is False
    browser.click(".folded summary")
    assert browser.ask("document.querySelector('.folded').open") is True
    assert len(column(browser, 1)) == 100
    assert browser.text(".controls .count") == "100 of 5000 rows"
    browser.click("button.more")
    assert len(column(browser, 1)) == 600
    browser.click(".filter")
    browser.type("layer4321.")
    assert column(browser, 1) == ["layer4321.conv#0/out/0"]
    assert browser.text(".controls .count") == "1 of 5000 rows"


def test_what_follows_from_a_finding_is_folded_below_it(browser: Browser, page: Path) -> None:
    browser.open(page)
    assert "The losses diverge at step 42: 0.8694" not in browser.text(".findings")
    browser.click(".finding.found summary")
    assert "The losses diverge at step 42: 0.8694" in browser.text(".findings")
    assert "net.py:44" in browser.text(".finding.found .facts")


def test_what_a_file_holds_is_text_wherever_it_is_shown(browser: Browser, tmp_path: Path) -> None:
    evil = message(EVIL)
    finding = Finding(
        EVIL, Conclusion.FOUND, evil, advice=evil, where=Location(EVIL, 1, EVIL), error=EVIL, measured=EVIL
    )
    table = Table(evil, [evil, evil], [[EVIL, Curve(EVIL, [0, 1], [0.0, 1.0])]] * 30, frozenset({0}))
    source = Source(EVIL, 2, [EVIL, EVIL], 1, EVIL)
    strip = Strip(evil, [EVIL] * 3, [0.0, 0.5, math.nan], 1, [[table, source, Text(evil)]] * 3)
    curves = Curves(evil, [Curve(EVIL, [0, 1], [1.0, 2.0])] * 2, 1)
    report = Report(evil, evil, (finding,), (Text(evil), table, curves, strip, source, Folded(evil, [source])))
    browser.open(write(report, tmp_path))
    browser.click(".cell.mark")
    browser.ask("document.querySelector('.plot-box').focus()")
    browser.press("ArrowRight")
    assert browser.ask("window.hacked ?? null") is None
    assert browser.ask("document.querySelectorAll('img, script:not(head > script, body > script)').length") == 0
    shown = EVIL.replace("\x1b", "\\x1b").replace("\u202e", "\\u202e")
    for selector in ("h1", ".conclusion", ".curves .readout", ".layer.chosen .line", ".text", ".finding h3"):
        assert shown in browser.text(selector), selector
    assert browser.complaints() == []


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_phone_never_scrolls_sideways(browser: Browser, tmp_path: Path, lang: str) -> None:
    long = "module." * 60
    more = (Strip(message(long), [long], [1.0], 0), Table(message(long), [message(long)] * 9, [[long] * 9]))
    browser.open(write(full_report(*more, Source(long, 1, [long], 1, long)), tmp_path, lang), width=380, height=800)
    browser.click(".cell.mark")
    browser.click(".folded summary")
    assert browser.ask(OVERFLOW) == 0
    assert browser.ask("document.documentElement.lang") == {"en": "en", "zh": "zh-CN"}[lang]


def test_without_scripts_everything_can_still_be_read(browser: Browser, page: Path) -> None:
    browser.open(page, script=False)
    # The protocol's own questions go through although the page's scripts do not run.
    assert "script" not in browser.ask("document.documentElement.className")
    assert browser.ask("document.querySelectorAll('.table:last-of-type tbody tr').length") >= 2500
    assert len(browser.texts(".layer summary")) == len(LAYERS)
    assert browser.ask("getComputedStyle(document.querySelector('.layer')).display") == "block"
    assert browser.ask("[...document.querySelectorAll('.with-script')].filter(e => e.offsetParent).length") == 0
    assert browser.ask("document.querySelectorAll('.layer')[3].open") is False
    browser.click(".cell:nth-child(4)")
    assert browser.ask("document.querySelectorAll('.layer')[3].open") is True


def test_headings_are_in_order_and_dark_is_dark(browser: Browser, page: Path) -> None:
    browser.open(page)
    levels = browser.ask(HEADINGS)
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after - before <= 1 for before, after in pairwise(levels))
    paper = "getComputedStyle(document.documentElement).backgroundColor"
    light = browser.ask(paper)
    browser.open(page, dark=True)
    assert light == "rgb(255, 255, 255)"
    assert browser.ask(paper) == "rgb(19, 22, 27)"


def test_without_a_browser_the_tests_say_how_to_get_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(BrowserError, match=r"run tests/web/install_browser\.sh"):
        Browser()
    assert (Path(__file__).parent / "install_browser.sh").is_file()


def test_samples_are_pictures_that_the_page_allows_itself(browser: Browser, tmp_path: Path) -> None:
    from trueline.model.report import Tile, Tiles

    def png(size: int) -> bytes:
        import struct
        import zlib

        def part(kind: bytes, data: bytes) -> bytes:
            return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

        head = struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0)
        rows = (b"\0" + bytes([200, 30, 90]) * size) * size
        return b"\x89PNG\r\n\x1a\n" + part(b"IHDR", head) + part(b"IDAT", zlib.compress(rows)) + part(b"IEND", b"")

    tiles = [
        Tile(["cat", "#1"], picture=png(8)),
        Tile([EVIL, "#2"], picture=png(400)),
        Tile(["dog " * 40, "#3"], text=EVIL, marked=True),
        Tile(["fish", "#4"], curve=Curve("", range(20), [math.sin(one) for one in range(20)])),
        Tile(["text", "#5"], text="a sentence of some words " * 20),
    ]
    page = write(
        Report(
            message("conclusion.none"), message("conclusion.none"), blocks=[Tiles(message("conclusion.found"), tiles)]
        ),
        tmp_path,
    )
    for width in (360, 1200):
        browser.open(page, width=width)
        assert browser.complaints() == []
        assert browser.ask(OVERFLOW) <= 0
        shown = browser.ask("[...document.images].map(i => [i.naturalWidth, i.getBoundingClientRect().width])")
        assert [one[0] for one in shown] == [8, 400]
        # The small one is enlarged, the large one is made to fit.
        assert shown[0][1] == pytest.approx(shown[1][1], abs=3)
        assert browser.ask("window.hacked") is None
    assert browser.ask("document.images[0].alt") == "cat, #1"
    assert browser.texts(".tile figcaption span:nth-child(2)") == ["#1", "#2", "#3", "#4", "#5"]
