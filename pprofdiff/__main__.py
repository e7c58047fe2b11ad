"""``python -m pprofdiff``."""

import sys

from pprofdiff.cli import main

sys.exit(main())
