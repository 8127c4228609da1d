"""safetensors files."""

from __future__ import annotations

from trueline.formats.safetensors.reader import read_header, read_safetensors
from trueline.formats.safetensors.types import INDEX, TYPES

__all__ = ["INDEX", "TYPES", "read_header", "read_safetensors"]
