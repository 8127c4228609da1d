"""MindSpore's executors, which have moved within the framework."""

from __future__ import annotations

try:
    from mindspore.graph import api as api
except ImportError:  # the name until 2.8
    from mindspore.common import api as api

pynative = api._pynative_executor
