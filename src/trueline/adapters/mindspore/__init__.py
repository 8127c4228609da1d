"""MindSpore; imported only when the adapter is requested, so that a dump can be configured before."""

from __future__ import annotations


def __getattr__(name: str) -> object:
    if name == "ADAPTER":
        from trueline.adapters.mindspore.adapter import ADAPTER

        return ADAPTER
    raise AttributeError(name)
