"""The build hook: compiles native/*.c beside the kernel; without a compiler the package is pure Python."""

from __future__ import annotations

import runpy
import sysconfig
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class NativeKernel(BuildHookInterface[Any]):
    """Builds the native kernel into the wheel or beside the sources of an editable install."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and mark the wheel as this platform's where that worked."""
        del version
        build = runpy.run_path(str(Path(self.root) / "native" / "compile.py"))
        trouble = build["compile_native"](Path(self.root))
        if trouble is not None:
            self.app.display_warning(f"native kernel not built, the slower NumPy twin is used instead: {trouble}")
            return
        build_data["artifacts"].append(f"/{build['TARGET'].as_posix()}")
        build_data["pure_python"] = False
        platform = sysconfig.get_platform().replace("-", "_").replace(".", "_")
        build_data["tag"] = f"py3-none-{platform}"
