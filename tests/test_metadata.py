"""What pages say of themselves, well and badly."""

from __future__ import annotations

import pytest

from pagesight.app.metadata import Metadata, read_metadata
from pagesight.render.snapshot import Meta
from pagesight.render.static import parse


def metadata_of(html: str) -> Metadata:
    return read_metadata(parse(html.encode(), "utf-8", Meta(url="https://site.example/dir/page")))


def json_ld(source: str) -> str:
    return f"<script type='application/ld+json'>{source}</script>"


def test_all_at_once() -> None:
    found = metadata_of(
        "<html lang=en-gb><title>T | Site</title><meta property=og:title content=' A  title '>"
        "<meta name=Author content='A. Body'><meta property=og:site_name content=Site>"
        "<meta property=article:published_time content=2024-04-18T23:30:00+02:00>"
        "<meta name=description content=plain><meta property=og:description content=open>"
        "<meta property=og:image content=/i.png><link rel='x canonical' href=../c>"
    )
    assert found == Metadata(
        title="A title",
        author="A. Body",
        date="2024-04-18",
        language="en-gb",
        sitename="Site",
        description="open",
        image="https://site.example/i.png",
        url="https://site.example/c",
    )


def test_nothing_at_all() -> None:
    assert (
        metadata_of("") == metadata_of("<meta><meta name=x><link><script></script>") == Metadata()
    )


@pytest.mark.parametrize(
    ("source", "title"),
    [
        ("<title>A - B - Site</title><meta property=og:site_name content=Site>", "A - B"),
        ("<title>Site | A</title><meta property=og:site_name content=Site>", "A"),
        ("<title>Site</title><meta property=og:site_name content=Site>", "Site"),
        ("<title>A — Somewhere</title><h1>A</h1>", "A"),
        ("<title>A-B: c</title><h1>A</h1>", "A-B: c"),
        ("<title>A - b</title>", "A - b"),
        ("<svg><title>Icon</title></svg><title>A</title>", "A"),
        ("<title>A</title><svg><title>Icon</title></svg>", "A"),
        ("<title>A</title>" + json_ld('{"@type": "Article", "headline": "B &amp; C"}'), "B & C"),
    ],
)
def test_title(source: str, title: str) -> None:
    assert metadata_of(source).title == title


@pytest.mark.parametrize(
    ("source", "author"),
    [
        ('{"@type": "NewsArticle", "author": "A"}', "A"),
        ('{"@type": ["Thing", "BlogPosting"], "author": {"name": "A"}}', "A"),
        (
            '[{"@graph": [3, {"@type": "Article", "author": [{"name": "A"}, "B"]}]}]',
            "A, B",
        ),
        ('{"@type": "Article", "author": {"name": ["x"]}}', None),
        ('{"@type": "Article", "author": "https://site.example/a"}', None),
        ('{"author": {"name": "no type"}}', None),
        ('{"@type": null, "@graph": null}', None),
        ('{"@type": "Product", "author": "A"}', None),
        ('{"@type": "Article", "author": "A"', None),
        ("[" * 100_000, None),
        ("", None),
        ("3", None),
        ('{"@type": "Article", "headline": "line\nend", "author": "A"}', "A"),
    ],
)
def test_json_ld(source: str, author: str | None) -> None:
    assert metadata_of(json_ld(source)).author == author


def test_broken_json_ld_does_not_hide_what_follows() -> None:
    source = json_ld("{oops") + json_ld('{"@type": "Article", "datePublished": "2020-01-02"}')
    assert metadata_of(source).date == "2020-01-02"


@pytest.mark.parametrize(
    ("written", "date"),
    [
        ("2024-04-18", "2024-04-18"),
        ("2024/04/18 10:00", "2024-04-18"),
        ("20240418", "2024-04-18"),
        ("Thu, 18 Apr 2024 10:00:00 GMT", "2024-04-18"),
        ("2024-13-45", None),
        ("202404181", None),
        ("yesterday", None),
        ("0000-00-00", None),
    ],
)
def test_date(written: str, date: str | None) -> None:
    assert metadata_of(f"<meta name=date content='{written}'>").date == date


@pytest.mark.parametrize(
    ("source", "language"),
    [
        ("<html lang='de'>", "de"),
        ("<html lang='zh_Hant_TW'>", "zh-Hant-TW"),
        ("<html lang='{{lang}}'><meta property=og:locale content=fr_FR>", "fr-FR"),
        ("<meta http-equiv=Content-Language content='es, en'>", "es"),
        (json_ld('{"@type": "Article", "inLanguage": "it"}'), "it"),
    ],
)
def test_language(source: str, language: str) -> None:
    assert metadata_of(source).language == language


@pytest.mark.parametrize("address", ["javascript:x()", "data:image/png;base64,x", "http://[x", ""])
def test_addresses_that_lead_nowhere(address: str) -> None:
    found = metadata_of(
        f"<meta property=og:image content='{address}'><link rel=canonical href='{address}'>"
    )
    assert (found.image, found.url) == (None, None)
