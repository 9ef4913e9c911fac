"""A digest of our own code: what it computed is kept by it, and so is never out of date."""

from __future__ import annotations

import hashlib
from functools import cache
from pathlib import Path

_PACKAGE = Path(__file__).parents[1]


@cache
def code_digest(*patterns: str) -> str:
    """Changes with every change of the modules that match, given as from the package's root."""
    digest = hashlib.sha256()
    for pattern in patterns:
        for path in sorted(_PACKAGE.glob(pattern)):
            digest.update(path.read_bytes())
    return digest.hexdigest()[:8]
