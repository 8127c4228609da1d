"""MindSpore's .ckpt files."""

from trueline.formats.ckpt.reader import looks_like_ckpt, read_ckpt

__all__ = ["looks_like_ckpt", "read_ckpt"]
