"""What all tests share."""

import os
import sys

from hypothesis import settings

# A machine that is busy is no fault of the code: examples may take what they take.
settings.register_profile("patient", deadline=None)
settings.load_profile("patient")

# Hundreds of tests start Python: without bytecode on disk, each of them compiles the packages anew.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
