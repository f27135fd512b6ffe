"""Makes the generator importable, whatever folder the tests start from."""
import os
import sys
from pathlib import Path

TOOLS = Path(__file__).resolve().parents[1]
ROOT = TOOLS.parents[1]
SWIG = os.environ.get("SWIG", "swig")
sys.path.insert(0, str(TOOLS))
