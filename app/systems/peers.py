"""Extractors that people use today, each called as its own documentation says for plain text.

Where the published benchmarks agree on arguments, theirs are taken: the Article Extraction
Benchmark (Zyte, 2019 on, `extractors/run_*.py`) and WCEB (Bevendorff, Gupta, Kiesel, Stein: An
Empirical Comparison of Web Content Extraction Algorithms, SIGIR 2023, `extractors.py`).
All of them are given the decoded page; none is left to fetch anything.
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any, TypeAlias

from ...render.errors import PagesightError
from .dom import UNPRINTABLE
from .protocol import StudyPage, System

# From a page's source and its address to its text.
Extract: TypeAlias = Callable[[str, str], str | None]

# Of the jusText algorithm: lengths, stop-word densities, link density, heading distance, and no
# headings. Both benchmarks call it so; the package's own defaults are stricter.
_JUSTEXT = (50, 200, 0.1, 0.2, 0.2, 200, True)


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one peer is called.

    packages: what decides its output, as the package index names them.
    logger: what it reports the failures of pages to, which it raises as well.
    build: imports the packages. revision: grows with every change to the call.
    """

    packages: tuple[str, ...]
    logger: str
    build: Callable[[], Extract]
    revision: int = 1


class Peer(System):
    """The extractor of that name in `RECIPES`.

    Raises PagesightError if its package is not installed. `extract` raises whatever the package
    does on pages that it cannot read.
    """

    def __init__(self, name: str) -> None:
        recipe = RECIPES[name]
        try:
            with warnings.catch_warnings(action="ignore"):  # of optional parts that are not there
                self._extract = recipe.build()
        except ImportError as error:
            reason = str(error).partition("\n")[0]
            raise PagesightError(f"{name}: {reason}: pip install 'pagesight[compare]'") from error
        # What is raised is reported by the study.
        logging.getLogger(recipe.logger).setLevel(logging.CRITICAL)
        self.name = name
        parts = [*map(version, recipe.packages), f"r{recipe.revision}"]
        self.version = "+".join(parts)

    def extract(self, page: StudyPage) -> str:
        """The text that the package gives, "" for a blank page: some packages refuse those."""
        # Nobody sees them, and no page is the better extracted for a parser's failing on them.
        html = UNPRINTABLE.sub("", page.html.replace("\f", " "))
        if not html.strip():
            return ""
        with warnings.catch_warnings(action="ignore"):  # of what the packages use that is outdated
            return self._extract(html, page.url) or ""


def _trafilatura(**options: Any) -> Callable[[], Extract]:
    def build() -> Extract:
        from trafilatura import extract

        return lambda html, url: extract(html, url=url or None, include_comments=False, **options)

    return build


def _readability() -> Extract:
    from html_text import extract_text
    from readability import Document

    # It gives HTML; the benchmarks take this library to make it text.
    return lambda html, _: extract_text(Document(html).summary(html_partial=True))


def _justext() -> Extract:
    from justext import get_stoplist, justext

    english = get_stoplist("English")
    return lambda html, _: "\n".join(
        paragraph.text
        for paragraph in justext(html, english, *_JUSTEXT)
        if not paragraph.is_boilerplate
    )


def _boilerpipe(extractor: str) -> Recipe:
    def build() -> Extract:
        from boilerpy3 import extractors
        from selectolax.lexbor import LexborHTMLParser

        made = getattr(extractors, extractor)()
        # The original stands behind a parser that repairs pages; this port sees nothing of a page
        # without a body tag, fails on stray end tags, and asks for HTML that is clean.
        return lambda html, _: made.get_content(LexborHTMLParser(html).html or "")

    return Recipe(("boilerpy3",), "boilerpy3", build)


def _resiliparse() -> Extract:
    from resiliparse.extract.html2text import extract_plain_text

    return lambda html, _: extract_plain_text(
        html,
        preserve_formatting=True,
        main_content=True,
        list_bullets=False,
        alt_texts=False,
        links=False,
        comments=False,
    )


def _newspaper() -> Extract:
    import newspaper

    def extract(html: str, url: str) -> str:
        # By default it downloads the pictures of a page to choose one of them.
        return newspaper.article(url, input_html=html, fetch_images=False).text

    return extract


def _goose() -> Extract:
    from goose3 import Goose

    goose = Goose({"enable_image_fetching": False})
    return lambda html, _: goose.extract(raw_html=html).cleaned_text


def _inscriptis() -> Extract:
    from inscriptis import get_text

    return lambda html, _: get_text(html)


def _html_text() -> Extract:
    from html_text import extract_text

    return lambda html, _: extract_text(html)


_TRAFILATURA = {
    "trafilatura": _trafilatura(),
    "trafilatura-recall": _trafilatura(favor_recall=True),
    "trafilatura-precision": _trafilatura(favor_precision=True),
    "trafilatura-fast": _trafilatura(fast=True),
}

RECIPES: dict[str, Recipe] = {
    **{
        name: Recipe(("trafilatura",), "trafilatura", build) for name, build in _TRAFILATURA.items()
    },
    "readability-lxml": Recipe(("readability-lxml", "html-text"), "readability", _readability),
    "justext": Recipe(("justext",), "justext", _justext),
    "boilerpipe-numwords": _boilerpipe("NumWordsRulesExtractor"),
    "boilerpipe-default": _boilerpipe("DefaultExtractor"),
    "boilerpipe-article": _boilerpipe("ArticleExtractor"),
    "boilerpipe-largest": _boilerpipe("LargestContentExtractor"),
    "boilerpipe-article-sentences": _boilerpipe("ArticleSentencesExtractor"),
    "boilerpipe-canola": _boilerpipe("CanolaExtractor"),
    "boilerpipe-everything": _boilerpipe("KeepEverythingExtractor"),
    "resiliparse": Recipe(("resiliparse",), "resiliparse", _resiliparse),
    "newspaper4k": Recipe(("newspaper4k",), "newspaper", _newspaper),
    "goose3": Recipe(("goose3",), "goose3", _goose),
    "inscriptis": Recipe(("inscriptis",), "inscriptis", _inscriptis),
    "html-text": Recipe(("html-text",), "html_text", _html_text),
}
"""Every peer by the name that it goes by."""
