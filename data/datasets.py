"""Open a data set by its name or its folder."""

import os
from pathlib import Path

from ..render.errors import DatasetError
from .aeb import Aeb
from .cleaneval import CleanEval
from .folder import Folder
from .records import ALL, PARTS, Dataset, PageRecord
from .styled import ROOT, Styled
from .wcxb import Wcxb

__all__ = ["ALL", "PARTS", "Aeb", "CleanEval", "Dataset", "Folder", "PageRecord", "Styled"]
__all__ += ["Wcxb", "open_dataset"]

ENVIRONMENT = "PAGESIGHT_DATA"

# A path that each published data set has, and no other.
_PUBLISHED: dict[type[CleanEval | Wcxb | Aeb], str] = {
    CleanEval: "orig",
    Wcxb: "dev/ground-truth",
    Aeb: "ground-truth.json",
}


def open_dataset(name_or_dir: str, root: Path | None = None) -> Dataset:
    """A published data set by name (`cleaneval`, `wcxb`, `aeb`), or any by its folder.

    For a name, `root` is the data set's own folder or the folder that holds it; without one the
    environment variable PAGESIGHT_DATA says. A folder that is laid out like none of them is read
    as one's own pages (`folder`). `styled` lies where Debian
    installs documentation, if not at `root` or in PAGESIGHT_DATA.
    Raises DatasetError if the name is unknown, or a part of the layout is missing.
    """
    if name_or_dir == Styled.name:
        own = Path(os.environ.get(ENVIRONMENT, "")) / Styled.name
        return Styled(root or (own if own.is_dir() else ROOT))
    for reader, landmark in _PUBLISHED.items():
        if name_or_dir == reader.name:
            return reader(_locate(reader.name, landmark, root))
    folder = Path(name_or_dir)
    if not folder.is_dir():
        names = ", ".join(reader.name for reader in (*_PUBLISHED, Styled))
        raise DatasetError(f"{name_or_dir}: no such folder, and no data set's name ({names})")
    for reader, landmark in _PUBLISHED.items():
        if _has(folder, landmark):
            return reader(folder)
    return Folder(folder)


def _locate(name: str, landmark: str, root: Path | None) -> Path:
    if root is None:
        named = os.environ.get(ENVIRONMENT)
        if not named:
            raise DatasetError(f"{name}: say where the data lie: a folder, or set {ENVIRONMENT}")
        root = Path(named)
    # Only the data set's own folder has the landmark; if neither has, name the usual place.
    return root if _has(root, landmark) else root / name


def _has(folder: Path, landmark: str) -> bool:
    return (folder / landmark).exists() or (folder / f"{landmark}.gz").exists()
