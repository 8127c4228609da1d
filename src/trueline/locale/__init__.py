"""Every sentence a user sees, in English (the source) and Chinese."""

from trueline.locale.catalogue import LANGUAGES, ids, language, load, render, use_language

__all__ = ["LANGUAGES", "ids", "language", "load", "render", "use_language"]
