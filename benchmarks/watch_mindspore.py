"""What watching costs in MindSpore's PyNative mode: reported, without a limit."""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from pathlib import Path

import mindspore as ms
from measure import RATIO_HEADER, print_ratios, ratios_to_first
from record_mindspore import Variant
from watched import watch_with

from trueline.watch.state import Watch


def main() -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeat", type=int, default=60)
    options = parser.parse_args()
    # Without it convolutions take a hundred times as long where AVX-512 is, and nothing else would count.
    os.environ.setdefault("ONEDNN_MAX_CPU_ISA", "AVX2")
    ms.set_device("CPU")
    watches = {"watch": Watch(), "watch --no-replay": Watch(replay=False)}
    print(RATIO_HEADER)
    with tempfile.TemporaryDirectory() as folder:
        variants = {"plain": Variant(None, Path(folder) / "plain")}
        for name, watch in watches.items():
            variants[name] = Variant({}, Path(folder) / name)
            watch_with(variants[name].recorder, watch)
        found = ratios_to_first({name: one.step for name, one in variants.items()}, repeat=options.repeat)
        assert all(one.recorder is None or one.recorder.on for one in variants.values()), "a watch went off"
    print_ratios("cnn", found, {})
    print(f"cnn: {watches['watch'].kept_bytes / 1e6:.1f} MB kept")
    return 0


if __name__ == "__main__":
    sys.exit(main())
