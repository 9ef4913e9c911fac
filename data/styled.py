"""Documentation sites that Debian installs with their style sheets, scripts and images.

Layout: a folder with `usr/share/doc`, or `/usr/share/doc` itself. The packages need not be
installed; this fetches them into a folder (3 GB unpacked):

    apt-get download $(python -m pagesight.data.styled)
    for deb in *.deb; do dpkg-deb --extract "$deb" .; done
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from pathlib import Path
from urllib.parse import quote

from ..render.charset import choose, decode
from ..render.errors import DatasetError
from ..render.served import SHARE, Served
from .records import PARTS, Dataset, PageRecord, bucket, read_bytes
from .sites import SHARED, SITES, Site
from .visible import count_words, visible_text

ROOT = Path("/usr/share/doc")

PAGES = 10
LEAST_WORDS = 60
# Manuals on one page of this size are no pages that people read.
MOST_BYTES = 500_000

# Pages of source code and of search forms, and lists of links that nobody wrote.
_NO_PAGES = {"_modules", "_sources", "search", "src", "src-html", "class-use", "source"}

# Of 50 buckets of themes: the first are tested on, and of the rest a fifth validates.
_BUCKETS, _TEST, _VALIDATION = 50, 7, 10


class Styled(Dataset):
    """Up to 10 pages of each site, chosen by the digest of their paths.

    The gold is the text of the container that the site's theme has for the content. `themes` is
    the split: no theme, hence no site, is in two parts. Each record says what its rendering may
    load: the files of its package, and the scripts that packages share.
    """

    name = "styled"

    def __init__(self, root: Path = ROOT, sites: Sequence[Site] = SITES):
        self.share = root / "usr/share" if (root / "usr/share/doc").is_dir() else root.parent
        missing = [s.package for s in sites if not (self.share / s.folder).is_dir()]
        if missing:
            raise DatasetError(
                f"{root}: {len(missing)} packages are missing; in a folder of your own: "
                f"{fetch_command([*missing, *SHARED])}"
            )
        self._sites = {site.name: site for site in sites}
        pages = {site.name: tuple(self._choose(site)) for site in sites}
        parts = {
            part: tuple(id for s in sites if part_of(s.theme) == part for id in pages[s.name])
            for part in PARTS
        }
        order = tuple(id for ids in pages.values() for id in ids)
        super().__init__(root, order, {"themes": parts})

    def site(self, id: str) -> Site:
        """The site of a page; raises DatasetError."""
        site = self._sites.get(id.partition("/")[0])
        if site is None:
            raise DatasetError(f"{self.name}: no site of page {id!r}")
        return site

    def load(self, id: str) -> PageRecord:
        """One page; raises DatasetError."""
        site = self.site(id)
        path = id.partition("/")[2]
        content = read_bytes(self.share / site.folder / path)
        return PageRecord(
            id=id,
            url=f"http://{site.name}.invalid{SHARE}/{site.folder}/{quote(path)}",
            content=content,
            charset="",
            gold=gold_text(content, site),
            page_type="documentation",
            served=Served(self.share, (_top(site.folder), "javascript")),
        )

    def _choose(self, site: Site) -> Iterator[str]:
        folder, found = self.share / site.folder, 0
        for path in sorted(_pages(folder), key=lambda path: bucket(f"{site.name}/{path}", 2**64)):
            if found == PAGES:
                return
            content = read_bytes(folder / path)
            if len(content) <= MOST_BYTES and count_words(gold_text(content, site)) >= LEAST_WORDS:
                found += 1
                yield f"{site.name}/{path}"


def part_of(theme: str) -> str:
    """The part of the split `themes` that all pages of a theme are in."""
    place = bucket(f"theme {theme}", _BUCKETS)
    return "test" if place < _TEST else "validation" if place < _VALIDATION else "train"


def gold_text(content: bytes, site: Site) -> str:
    """The text of what holds the content on a page of a site."""
    return visible_text(decode(content, choose(content)), site.main, site.drop)


def packages(sites: Sequence[Site] = SITES) -> list[str]:
    """The Debian packages that the sites need."""
    return sorted({site.package for site in sites} | set(SHARED))


def fetch_command(names: Sequence[str]) -> str:
    """The shell command that fetches packages into the present folder."""
    fetch = f"apt-get download {' '.join(sorted(set(names)))}"
    return f'{fetch} && for deb in *.deb; do dpkg-deb --extract "$deb" .; done'


def _pages(folder: Path) -> Iterator[str]:
    """Paths of the HTML files below a folder; links to folders are not followed."""
    for at, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if name not in _NO_PAGES]
        here = Path(at).relative_to(folder)
        yield from ((here / f).as_posix() for f in files if f.endswith((".html", ".htm")))


def _top(folder: str) -> str:
    return "/".join(folder.split("/")[:2])


if __name__ == "__main__":
    print(*packages())
