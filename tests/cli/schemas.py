"""Helpers for comparing the command's answers with their published schemas."""

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SCHEMAS = ROOT / "docs/schema"
sys.path.insert(0, str(ROOT / "tests/reports/json"))

from schema_case import GONE, SchemaCase  # noqa: E402, F401  (it lies beside the other readers)
