"""The names, numbers and binary records of run folder version 1; docs/run-folder.md is the same in prose."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, fields
from typing import Final

import numpy as np

from trueline.model.key import Phase
from trueline.model.summary import Summary

RUN_FILE: Final = "run.json"
SOURCES: Final = "sources"
EVENTS: Final = "events.jsonl"
PARAMS: Final = "params.json"
MODULES: Final = "modules.json"
NAMES: Final = "names.jsonl"
PROCESS: Final = "process.json"
HITS: Final = "hits.jsonl"
ENDING: Final = "ending.json"
TAIL: Final = "stats-tail.bin"
TENSORS: Final = "tensors"
BATCHES: Final = "batches"
STATES: Final = "state"
STATE_COMMAND: Final = "command.json"
STATE_FILE: Final = "state.json"
STATE_ARRAYS: Final = "state.safetensors"
FETCHES: Final = "fetched.json"

RANK_NAME: Final = re.compile(r"rank-(\d{5})")
SEGMENT_NAME: Final = re.compile(r"stats-(\d{4,9})\.bin")
TENSORS_NAME: Final = re.compile(r"(eval-)?(\d{1,18})\.safetensors")
STATE_NAME: Final = re.compile(r"\d{1,18}")
SOURCE_NAME: Final = re.compile(r"[0-9a-f]{64}")

PHASES: Final = (Phase.TRAIN, Phase.EVAL)
PHASE_NUMBERS: Final = {phase.value: number for number, phase in enumerate(PHASES)}

SUMMARY_FIELDS: Final = tuple(field.name for field in fields(Summary))
_FLOATS = {"minimum", "maximum", "mean", "abs_mean", "std", "l2"}
_NUMBERS = [(name, "<f8" if name in _FLOATS else "<u8") for name in SUMMARY_FIELDS]
SUMMARY_PACK: Final = struct.Struct("<" + "".join("d" if name in _FLOATS else "Q" for name in SUMMARY_FIELDS))

# `ref` is the key's id in a tail frame and the row of the block's table of steps in a block; `place` is the
# record's position within its step. A step's number takes the place of both when a history is handed out.
RECORD: Final = np.dtype([("ref", "<u4"), ("place", "<u4"), *_NUMBERS])
HISTORY: Final = np.dtype([("step", "<i8"), *_NUMBERS])
STEP_ROW: Final = np.dtype([("step", "<i8"), ("phase", "<u4"), ("records", "<u4")])
DIRECTORY_ROW: Final = np.dtype([("id", "<u4"), ("records", "<u4"), ("crc", "<u4")])

# magic, sequence number, step, length of events.jsonl once this step is finished, phase, records,
# crc of the records, crc of what precedes
FRAME_MAGIC: Final = b"TLSTEP1\0"
FRAME: Final = struct.Struct("<8sQQQIIII")
# magic, first sequence number, length of the block, records, steps, keys, crc of both tables, crc of what precedes
BLOCK_MAGIC: Final = b"TLBLOCK1"
BLOCK: Final = struct.Struct("<8sQQQIIII")


@dataclass(frozen=True, slots=True)
class Limits:
    """When the writer turns its newest steps into a block, and when it begins another segment."""

    block_steps: int = 256
    block_bytes: int = 16 << 20
    segment_bytes: int = 1 << 30


# What a reader accepts; far beyond what a writer makes, and far below what hurts.
MAX_JSON: Final = 256 << 20
MAX_LINE: Final = 64 << 20
MAX_NAMES: Final = 1 << 30
MAX_SOURCE: Final = 64 << 20
MAX_KEYS: Final = 1 << 22
MAX_BLOCK: Final = 1 << 30
MAX_BLOCK_STEPS: Final = 1 << 16


def rank_name(rank: int) -> str:
    """The folder of a rank."""
    return f"rank-{rank:05d}"


def segment_name(number: int) -> str:
    """The file of a segment of statistics."""
    return f"stats-{number:04d}.bin"


def fetch_name(serial: int) -> str:
    """The file of a batch that was fetched."""
    return f"batch-{serial}.safetensors"


def tensors_name(step: int, phase: str) -> str:
    """The file of a step's full tensors, or of its whole batches."""
    return f"{'eval-' if phase == Phase.EVAL else ''}{step}.safetensors"
