"""The Python face: real pages, a real browser, a real server."""

from __future__ import annotations

import asyncio
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from conftest import Server

from pagesight import AsyncExtractor, Extractor, Snapshot, extract, extract_snapshot
from pagesight.app.outcome import HINT
from pagesight.render.errors import BrowserError, ModelError

SAMPLES = Path(__file__).parent.parent / "data" / "samples"
ARTICLE = {
    "title": "The tide mill at the river's mouth",
    "paragraphs": [
        "The mill stands at the mouth of the river, where the tide fills a pond twice a day and "
        "the water leaves it through a wheel of oak. It is older than the town behind it, and it "
        "has outlived three bridges and a railway.",
        "For six hours the gate holds the sea back. Then the miller opens the sluice, and the "
        "stones turn until the pond is empty again. On a good day a pair of stones grinds half a "
        "ton of barley between two tides.",
        "Nobody has ground corn here for a living since the war. The wheel still turns on the "
        "first Sunday of each month, and whoever comes early may take a bag of flour home.",
    ],
}
SHELL = """<!doctype html><html lang="en"><title>Tide mills</title>
<body><div id="root"></div><script>
fetch('/api/article').then(answer => answer.json()).then(article => {
  const root = document.getElementById('root');
  root.innerHTML = '<nav><a href="/">Home</a> <a href="/m">Mills</a></nav><article></article>';
  const body = root.querySelector('article');
  for (const [tag, text] of [['h1', article.title], ...article.paragraphs.map(p => ['p', p])]) {
    const element = document.createElement(tag);
    element.textContent = text;
    body.append(element);
  }
});
</script>"""


@pytest.fixture(scope="module")
def extractor():
    with Extractor(allow_private=True, timeout=20) as made:
        yield made


@pytest.fixture
def shell(server: Server) -> str:
    server.add("/api/article", json.dumps(ARTICLE), content_type="application/json", delay=0.5)
    return server.add("/", SHELL)


def test_article_written_by_a_script_from_a_fetch(extractor: Extractor, shell: str) -> None:
    document = extractor.extract(shell)
    assert document.status == "ok"
    assert document.text == "\n\n".join([ARTICLE["title"], *ARTICLE["paragraphs"]])
    assert document.title == "Tide mills"
    kept = [block for block in document.blocks if block.label == "content"]
    assert [block.text for block in kept] == [ARTICLE["title"], *ARTICLE["paragraphs"]]
    for block in document.blocks:
        assert block.bbox is not None
        assert block.bbox[2] > 0
        assert block.xpath.startswith("/html[1]/body[1]/div[1]/")
        assert 0 <= block.probability <= 1
        assert block.reason


def test_the_same_shell_without_rendering(shell: str) -> None:
    document = extract(shell, render=False, allow_private=True)
    assert document.status == "empty"
    assert document.text == ""
    assert HINT in document.error


def test_a_call_to_enable_scripts_is_no_content() -> None:
    shell = (
        "<title>App</title><noscript>You need to enable JavaScript to run this app.</noscript>"
        "<div id=root></div><script src=/main.js></script>"
    )
    document = extract(shell, render=False)
    assert (document.status, document.text) == ("empty", "")
    assert HINT in document.error


def test_a_short_page_without_scripts_is_a_page() -> None:
    document = extract("<p>Nothing but a short note, but one that was meant.</p>", render=False)
    assert (document.status, document.error) == ("ok", None)
    assert document.text == "Nothing but a short note, but one that was meant."


@pytest.mark.parametrize("sample", sorted(path.name for path in SAMPLES.glob("*.html")))
def test_a_saved_snapshot_extracts_to_the_same(
    extractor: Extractor, sample: str, tmp_path: Path
) -> None:
    snapshot = extractor.snapshot(SAMPLES / sample)
    snapshot.save(tmp_path / "x.snapshot")
    direct = extractor.extract(SAMPLES / sample)
    again = extractor.extract(tmp_path / "x.snapshot")
    offline = extract_snapshot(Snapshot.load(tmp_path / "x.snapshot"))
    assert json.dumps(again.to_dict()) == json.dumps(direct.to_dict())
    assert json.dumps(offline.to_dict()) == json.dumps(direct.to_dict())
    assert direct.status == "ok"


@pytest.mark.parametrize("render", [True, False])
def test_every_way_to_give_a_page(extractor: Extractor, tmp_path: Path, render: bool) -> None:
    html = (SAMPLES / "article.html").read_text()
    path = tmp_path / "page.html"
    path.write_text(html)
    with Extractor(render=render) as one:
        texts = {one.extract(s).text for s in (html, html.encode(), path, str(path))}
    assert len(texts) == 1
    assert "Water does not flow uphill" in texts.pop()


def test_base_url_makes_links_absolute(extractor: Extractor) -> None:
    html = (SAMPLES / "article.html").read_text().replace('rel="canonical"', 'rel="x"')
    html = html.replace("does not flow", '<a href="/why">does not</a> flow')
    assert "/why" in html
    document = extract(html, url="https://almanac.example/a/b", render=False, links=True)
    assert '<a href="https://almanac.example/why">does not</a>' in document.html


@pytest.mark.parametrize("render", [True, False])
@pytest.mark.parametrize(
    ("status", "expected", "reason"),
    [
        (404, "error", "HTTP 404 Not Found"),
        (500, "error", "HTTP 500 Internal Server Error"),
        (403, "blocked", "HTTP 403 Forbidden"),
        (429, "blocked", "HTTP 429 Too Many Requests"),
    ],
)
def test_http_errors(server: Server, status: int, expected: str, reason: str, render: bool) -> None:
    url = server.add("/page", "<p>" + "Nothing to see here, whoever you are. " * 20, status=status)
    document = extract(url, render=render, allow_private=True)
    assert (document.status, document.error) == (expected, f"{url}: {reason}")
    assert document.text == ""
    assert document.url == url


@pytest.mark.parametrize("render", [True, False])
@pytest.mark.parametrize(
    ("source", "status", "reason"),
    [
        ("no-such-file.html", "error", "no such file"),
        ("/", "error", "a folder"),
        ("https://no-such-host.invalid/", "error", "no such host"),
        ("file:///etc/hostname", "error", "only http and https"),
        ("javascript:alert(1)", "error", "only http and https"),
        ("http://127.0.0.1/", "error", "127.0.0.1"),
        (b"", "empty", "no content"),
        ("", "empty", "no content"),
        (b"%PDF-1.7 ...", "unsupported", "a PDF"),
        (b"\x89PNG\r\n\x1a\n....", "unsupported", "a PNG"),
        (b"GIF89a", "unsupported", "a GIF"),
        (b"\x00\x01\x02binary", "unsupported", "binary"),
    ],
)
def test_bad_sources(source: str | bytes, status: str, reason: str, render: bool) -> None:
    document = extract(source, render=render, timeout=10)
    assert document.status == status
    assert reason in document.error
    assert "\n" not in document.error


def test_a_pdf_from_a_server(server: Server) -> None:
    url = server.add("/paper", b"%PDF-1.7 ...", content_type="application/pdf")
    for render in (True, False):
        document = extract(url, render=render, allow_private=True)
        assert document.status == "unsupported"
        assert "application/pdf" in document.error


def test_loopback_is_refused_unless_allowed(server: Server, tmp_path: Path) -> None:
    url = server.add("/secret", "<p>secret")
    for render in (True, False):
        document = extract(url, render=render)
        assert document.status == "error"
    inner = tmp_path / "page.html"
    inner.write_text(f"<p>text<iframe src={url}></iframe><img src={url}>")
    extract(inner)
    assert server.requests == []


def test_a_server_that_never_answers(server: Server) -> None:
    url = server.add("/slow", "<p>late", delay=8)
    for render in (True, False):
        document = extract(url, render=render, allow_private=True, timeout=1.5)
        assert document.status == "timeout"


def test_a_page_that_is_cut_says_so(extractor: Extractor) -> None:
    many = "<p>" + "<b>x</b> " * 60_000
    for render in (True, False):
        document = extract(many, render=render)
        assert document.status == "partial"
        assert "nodes" in document.error


def test_deep_nesting_and_many_nodes() -> None:
    deep = "<div>" * 5_000 + "<p>" + "Down here is a sentence that somebody wrote. " * 5
    for render in (True, False):
        document = extract(deep, render=render)
        assert document.status in {"ok", "partial"}
        assert "Down here is a sentence" in "".join(block.text for block in document.blocks)


def test_damaged_model(tmp_path: Path) -> None:
    (tmp_path / "m.onnx").write_bytes(b"no model")
    (tmp_path / "m.json").write_text("{}")
    with pytest.raises(ModelError):
        extract("<p>x", render=False, model=str(tmp_path / "m.onnx"))


def test_unknown_options_are_refused() -> None:
    with pytest.raises(ValueError, match="favour 'everything': there are 'precision', ''"):
        Extractor(favour="everything")
    with pytest.raises(ModelError, match="no policy 'everything' in this model; there is web"):
        extract("<p>x", render=False, policy="everything")
    with pytest.raises(TypeError):
        extract("<p>x", rendr=False)


def test_no_browser_raises(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PAGESIGHT_BROWSER", str(tmp_path / "none"))
    with pytest.raises(BrowserError, match="PAGESIGHT_BROWSER"):
        extract("<p>x")


def test_the_async_face_gives_the_same(extractor: Extractor) -> None:
    paths = [SAMPLES / "article.html", SAMPLES / "forum.html", SAMPLES / "article-ja.html"]

    async def together() -> list[dict[str, object]]:
        async with AsyncExtractor(timeout=20) as many:
            found = await asyncio.gather(*(many.extract(path) for path in paths))
        return [document.to_dict() for document in found]

    assert asyncio.run(together()) == [extractor.extract(path).to_dict() for path in paths]


def test_several_threads_share_one_extractor(extractor: Extractor) -> None:
    path = SAMPLES / "article.html"
    with ThreadPoolExecutor(3) as pool:
        texts = list(pool.map(lambda _: extractor.extract(path).text, range(6)))
    assert len(set(texts)) == 1


def test_a_closed_extractor_starts_again(tmp_path: Path) -> None:
    extractor = Extractor()
    with ThreadPoolExecutor(3) as pool:
        first = set(pool.map(lambda _: extractor.extract("<p>A text.").text, range(3)))
    extractor.close()
    assert first == {extractor.extract("<p>A text.").text}
    extractor.close()


def test_render_is_a_function_and_a_package(tmp_path: Path) -> None:
    import pagesight.render.snapshot  # binds the package's name anew

    text = "The bridge was built in 1805 by people who had never seen the sea, and it still stands."
    snapshot = pagesight.render(f"<h1>The bridge</h1><p>{text}<p>{text}", render=False)
    assert isinstance(snapshot, Snapshot)
    assert text in pagesight.extract_snapshot(snapshot).text


def test_precision_keeps_no_more_than_recall() -> None:
    html = (SAMPLES / "forum.html").read_text()
    strict, loose = (
        {
            block.id
            for block in extract(html, render=False, favour=favour).blocks
            if block.label == "content"
        }
        for favour in ("precision", "recall")
    )
    assert strict <= loose
    assert strict
