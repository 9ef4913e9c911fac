"""Pages of one site side by side: what is the same is template, what differs is content."""

from __future__ import annotations

from functools import lru_cache

from .blocks import TextBlock, joined, text_blocks
from .dom import parse_html
from .protocol import StudyPage, System

SIBLINGS = 4
# Pages of one site come one after another, and each is a sibling of the others.
CACHED_PAGES = 16


class SiteComparison(System):
    """A page without the blocks that any other page of its site has, too.

    A block is the same if its text and the block-level tags around it are the same; case and
    white space do not count. Siblings that are copies of the page, or empty, say nothing and are
    passed over; with none left, all text that can be seen on the page is kept.
    """

    name = "site-comparison"
    version = "1"
    siblings = SIBLINGS

    def extract(self, page: StudyPage) -> str:
        """The blocks that stand in none of the siblings."""
        template = frozenset[tuple[int, str]]().union(
            *(_keys(sibling) for sibling in others_of(page))
        )
        return joined([block for block in page_blocks(page.html) if _key(block) not in template])


def others_of(page: StudyPage) -> list[str]:
    """The siblings of a page that differ from it and from each other, and are not empty."""
    return [html for html in dict.fromkeys(page.siblings) if html.strip() and html != page.html]


@lru_cache(CACHED_PAGES)
def page_blocks(html: str) -> tuple[TextBlock, ...]:
    """The blocks of a page's source; the last few pages are remembered."""
    return tuple(text_blocks(parse_html(html)))


@lru_cache(CACHED_PAGES)
def _keys(html: str) -> frozenset[tuple[int, str]]:
    return frozenset(_key(block) for block in page_blocks(html))


def _key(block: TextBlock) -> tuple[int, str]:
    return block.path, block.text.lower()
