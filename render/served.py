"""The files that a stored page may ask for: some folders of an installed system, read-only."""

from __future__ import annotations

import mimetypes
import os
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import unquote, urlsplit

SHARE = "/usr/share"

MOST_BYTES = 4_000_000
"""A larger file is not served: indexes of searches, which nobody sees and which cost seconds."""

# As many as Linux follows in one path.
_MOST_LINKS = 40


@dataclass(frozen=True, slots=True)
class Served:
    """Folders below `/usr/share`, of which a copy may lie anywhere.

    share: the folder that stands for `/usr/share`; whatever is linked to must lie in it.
    folders: what may be asked for, below `share`, such as "doc/bind9-doc".
    """

    share: Path
    folders: tuple[str, ...]

    def answer(self, url: str) -> tuple[str, bytes] | None:
        """The type and the bytes of what a URL's path names; None where it is not served."""
        try:
            path = PurePosixPath(os.path.normpath(unquote(urlsplit(url).path)))
            if not any(path.is_relative_to(f"{SHARE}/{folder}") for folder in self.folders):
                return None
            file = self.resolve(path)
            if file is None or file.stat().st_size > MOST_BYTES:
                return None
            kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
            return kind, file.read_bytes()
        except (OSError, ValueError):
            return None

    def resolve(self, path: PurePosixPath) -> Path | None:
        """Where a path of the system lies, its links followed; None where that is not in `share`.

        Installed pages share their scripts by links, absolute ones too: those mean the system
        that is served, not the one that this runs on. Raises OSError.
        """
        waiting, at, links = [*reversed(path.parts[1:])], PurePosixPath("/"), 0
        while waiting:
            at = at.parent if waiting[-1] == ".." else at / waiting[-1]
            waiting.pop()
            if not at.is_relative_to(SHARE):
                continue
            here = self.share / at.relative_to(SHARE)
            # `share` itself is the user's own choice, link or not.
            if here != self.share and here.is_symlink():
                target = PurePosixPath(os.readlink(here))
                waiting += reversed(target.parts[1:] if target.is_absolute() else target.parts)
                at, links = PurePosixPath("/") if target.is_absolute() else at.parent, links + 1
                if links > _MOST_LINKS:
                    return None
        return self.share / at.relative_to(SHARE) if at.is_relative_to(SHARE) else None
