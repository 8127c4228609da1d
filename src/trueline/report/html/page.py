"""A Report as one page that needs no network: styles and script are in it, and nothing else may be loaded or run."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib import resources
from typing import Final

from trueline.locale import language
from trueline.model.finding import Conclusion
from trueline.model.message import message
from trueline.model.report import Report
from trueline.report.html.answers import answers_section
from trueline.report.html.blocks import blocks
from trueline.report.html.context import Context
from trueline.report.html.findings import findings_section
from trueline.report.html.markup import Markup, element, joined
from trueline.report.html.tiles import has_pictures
from trueline.version import __version__

# Before anything is drawn, so that what only a script can work is never shown without one.
_EARLY: Final = 'document.documentElement.classList.add("script")'
_TAGS: Final = {"en": "en", "zh": "zh-CN"}


def render_html(report: Report, lang: str | None = None) -> str:
    """The whole page as text, to be written as UTF-8."""
    chosen = lang or language()
    context = Context(chosen)
    header = element(
        "header",
        element("h1", context.say(report.title)),
        element("p", context.say(report.conclusion), class_="conclusion"),
        class_=_standing(report),
    )
    footer = element("footer", context.say(message("html.made_by", version=__version__)))
    main = element("main", header, _findings(report, context), blocks(report.blocks, context))
    script = element("script", _asset("page.js"))
    body = element("body", main, footer, script)
    return "<!DOCTYPE html>\n" + element("html", _head(report, context), body, lang=_TAGS.get(chosen, chosen)) + "\n"


def _findings(report: Report, context: Context) -> Markup:
    if report.answers:
        return answers_section(report.answers, context)
    return findings_section(report.findings, context)


def _head(report: Report, context: Context) -> Markup:
    style, script = _asset("page.css"), _asset("page.js")
    policy = "; ".join(
        [
            "default-src 'none'",
            f"style-src {_hash(style)}",
            f"script-src {_hash(_EARLY)} {_hash(script)}",
            *(["img-src data:"] if has_pictures(report.blocks) else []),
            "base-uri 'none'",
            "form-action 'none'",
        ]
    )
    return element(
        "head",
        element("meta", charset="utf-8"),
        # A policy as strict as what follows: no other style, script, image, font or connection than what is in here.
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="generator", content=f"TrueLine {__version__}"),
        element("title", context.say(report.title)),
        element("style", style),
        element("script", Markup(_EARLY)),
    )


def _standing(report: Report) -> str:
    """How the whole stands, for its colour."""
    conclusions = {finding.conclusion for finding in report.findings}
    if Conclusion.FOUND in conclusions:
        return "found"
    if conclusions & {Conclusion.SUSPECT, Conclusion.OPEN}:
        return "open"
    return "fine" if Conclusion.NONE in conclusions else "plain"


@cache
def _asset(name: str) -> Markup:
    text = resources.files("trueline.report.html").joinpath("assets", name).read_text("utf-8")
    return joined(Markup("\n"), Markup(text))


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
