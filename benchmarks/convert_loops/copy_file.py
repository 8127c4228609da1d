"""shutil.copyfile; prints its CPU seconds."""

from __future__ import annotations

import shutil
import sys
import time

start = time.process_time()
shutil.copyfile(*sys.argv[1:])
print(time.process_time() - start)
