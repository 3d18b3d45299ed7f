"""Tests of whole reports: the goldens' module lies one folder above, the path language beside."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [folder for folder in (str(HERE), str(HERE.parent)) if folder not in sys.path]
