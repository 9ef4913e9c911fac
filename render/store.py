"""A content-addressed store of renderings: data sets are rendered once."""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from platformdirs import user_cache_path

from .errors import SnapshotError
from .settings import RenderSettings
from .snapshot import FORMAT, Snapshot
from .sources import StoredPage

ENVIRONMENT = "PAGESIGHT_CACHE"


def cache_folder() -> Path:
    """Where pagesight keeps what it can make again: PAGESIGHT_CACHE, or the user's cache."""
    named = os.environ.get(ENVIRONMENT)
    return Path(named) if named else user_cache_path("pagesight")


class Store:
    """Snapshots by the digest of all that decides what a rendering looks like."""

    def __init__(self, root: Path | None = None) -> None:
        self.root = (root or cache_folder()) / "snapshots"

    def key(self, page: StoredPage, settings: RenderSettings, browser: str) -> str:
        """The digest of the page's bytes, its address and type, the settings and the browser."""
        facts: dict[str, Any] = {
            "url": page.address,
            "charset": page.charset,
            "settings": asdict(settings),
            "browser": browser,
            "format": FORMAT,
        }
        if page.content_type != "text/html":
            facts["content_type"] = page.content_type
        digest = hashlib.sha256(json.dumps(facts, sort_keys=True).encode())
        digest.update(page.content)
        return digest.hexdigest()

    def get(self, key: str) -> Snapshot | None:
        """The snapshot of a key, None where there is none.

        A damaged file is removed: as long as it lay there, its page would count as stored.
        """
        try:
            return Snapshot.load(self._path(key))
        except FileNotFoundError:
            return None
        except SnapshotError:
            self._path(key).unlink(missing_ok=True)
            return None

    def put(self, key: str, snapshot: Snapshot) -> None:
        """Keep a snapshot, whole or not at all."""
        path = self._path(key)
        path.parent.mkdir(parents=True, exist_ok=True)
        snapshot.save(path)

    def __contains__(self, key: str) -> bool:
        return self._path(key).exists()

    def _path(self, key: str) -> Path:
        return self.root / key[:2] / f"{key}.snapshot"
