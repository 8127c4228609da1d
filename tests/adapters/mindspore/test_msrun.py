"""Two ranks under MindSpore's own launcher."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from pathlib import Path

from adapters.mindspore.programs import __file__ as programs
from adapters.mindspore.programs import environment


def _free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def test_a_rank_knows_itself_before_and_after_the_process_group_is_there(tmp_path: Path) -> None:
    path = str(Path(sys.executable).parent)
    done = subprocess.run(
        [
            *(f"{path}/msrun", "--worker_num=2", "--local_worker_num=2", f"--master_port={_free_port()}"),
            *("--join=True", f"--log_dir={tmp_path / 'logs'}", "--cluster_time_out=120"),
            *("python", str(Path(programs).with_name("ranks.py")), str(tmp_path)),
        ],
        env={**environment(), "PATH": f"{path}:{environment().get('PATH', '')}"},
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )
    logs = "\n".join(one.read_text("utf-8")[-1500:] for one in (tmp_path / "logs").glob("*.log"))
    assert done.returncode == 0, logs
    found = [json.loads(one.read_text("utf-8")) for one in tmp_path.glob("*.json")]
    workers = sorted(one["before"] for one in found if one["role"] == "MS_WORKER")
    assert workers == [[0, 2], [1, 2]], logs
    assert all(one["before"] == one["after"] for one in found if one["role"] == "MS_WORKER")
    assert all(one["before"] is None for one in found if one["role"] == "MS_SCHED")
