"""Message catalogues: TOML files of ``id = "sentence with {parameters}"``."""

from __future__ import annotations

import os
import string
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib import resources
from typing import Any

from trueline.locale.of_checks import messages as messages_of_checks
from trueline.locale.of_checks import sentence_of

LANGUAGES = {"en": "en", "zh": "zh_CN"}
_current: list[str] = []


@cache
def every_message(lang: str) -> dict[str, str]:
    """All sentences of a language by id, also those of the checklist, which are read one by one where they are said."""
    return {**_messages(lang), **messages_of_checks(lang)}


@cache
def _messages(lang: str) -> dict[str, str]:
    text = resources.files("trueline.locale").joinpath(f"{LANGUAGES[lang]}.toml").read_text("utf-8")
    return {
        f"{section}.{name}": sentence
        for section, sentences in tomllib.loads(text).items()
        for name, sentence in sentences.items()
    }


def load() -> None:
    """Read all that a sentence in the language in use can need: later the system may have no descriptor for it."""
    for lang in {language(), "en"}:
        _messages(lang)


def ids(lang: str = "en") -> frozenset[str]:
    """All message ids of a language."""
    return frozenset(every_message(lang))


def language() -> str:
    """The language in use: what was chosen, else TRUELINE_LANG, else the environment's, else English."""
    if _current:
        return _current[0]
    for name in ("TRUELINE_LANG", "LC_ALL", "LC_MESSAGES", "LANG"):
        value = os.environ.get(name, "")
        if value:
            return "zh" if value.lower().startswith("zh") else "en"
    return "en"


def use_language(lang: str | None) -> None:
    """Choose the language; None goes back to the environment's."""
    _current[:] = [lang] if lang is not None else []


class _Forgiving(string.Formatter):
    """Leaves a parameter that was not given, or cannot be shown as asked, visible in the text.

    ``{count:module|modules}`` is the word that goes with a number.
    """

    def get_value(self, key: int | str, args: Any, kwargs: Any) -> Any:  # noqa: ARG002
        return kwargs.get(str(key), "{" + str(key) + "}")

    def format_field(self, value: object, format_spec: str) -> str:
        one, bar, many = format_spec.partition("|")
        if bar:
            return one if value == 1 else many
        try:
            return str(super().format_field(value, format_spec))
        except (TypeError, ValueError):
            return str(value)


def render(id: str, params: Mapping[str, object] | None = None, lang: str | None = None) -> str:
    """A message in a language; an id without a sentence is shown as itself."""
    chosen = lang or language()
    sentence = _messages(chosen).get(id) or _messages("en").get(id)
    if sentence is None:
        sentence = sentence_of(id, chosen) or sentence_of(id, "en")
    if sentence is None:
        return id
    return _Forgiving().vformat(sentence, (), dict(params or {}))
