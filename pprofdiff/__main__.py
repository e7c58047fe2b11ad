"""``python -m pprofdiff``."""

import sys

from pprofdiff.cli.main import main

sys.exit(main())
