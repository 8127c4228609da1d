"""``python -m trueline`` is the ``trueline`` command."""

import sys

from trueline.cli.main import main

sys.exit(main())
