"""When a page is taken to be done."""

from __future__ import annotations

import time

import pytest

from pagesight.render.capture import Renderer
from pagesight.render.loop import LoopThread
from pagesight.render.snapshot import TEXT, Snapshot


def text(page: Snapshot) -> str:
    shown = sorted(set(page.row_node.tolist()))
    return " ".join(page.text(node) for node in shown if page.kind[node] == TEXT)


def timed(loop: LoopThread, renderer: Renderer, url: str) -> tuple[Snapshot, float]:
    began = time.monotonic()
    page = loop.run(renderer.open(url))
    return page, time.monotonic() - began


WRITTEN = """<main></main><script>
  const write = t => document.querySelector('main').append(t)
  %s
</script>"""


def test_an_article_from_a_late_fetch(loop: LoopThread, renderer: Renderer, server) -> None:
    url = server.add("/", WRITTEN % "fetch('/a').then(a => a.text()).then(write)")
    server.add("/a", "the article", delay=1.6)
    page, _ = timed(loop, renderer, url)
    assert "the article" in text(page)
    assert page.meta.cut == ()


def test_a_chain_of_requests(loop: LoopThread, renderer: Renderer, server) -> None:
    url = server.add(
        "/",
        WRITTEN
        % """
        fetch('/1').then(a => a.text()).then(t => { write(t); return fetch('/2') })
          .then(a => a.text()).then(t => setTimeout(() => write(t), 50))""",
    )
    server.add("/1", "first ", delay=0.5)
    server.add("/2", "second", delay=0.5)
    page, _ = timed(loop, renderer, url)
    assert "first" in text(page)
    assert "second" in text(page)


def test_a_dom_written_in_small_steps(loop: LoopThread, renderer: Renderer, server) -> None:
    url = server.add(
        "/",
        WRITTEN % "let n = 0; const id = setInterval(() => ++n > 20 ? clearInterval(id) "
        ": write(n == 20 ? 'last' : '.'), 40)",
    )
    page, _ = timed(loop, renderer, url)
    assert "last" in text(page)


@pytest.mark.timeout(60)
def test_pages_that_never_rest_end_soon_after_load(
    loop: LoopThread, renderer: Renderer, server
) -> None:
    polls = "setInterval(() => fetch('/poll').then(a => a.text()).then(write), 60); write('here')"
    url = server.add("/", WRITTEN % polls)
    server.add("/poll", "p ", delay=0.1)
    page, seconds = timed(loop, renderer, url)
    assert "here" in text(page)
    assert seconds < 8
    assert page.meta.cut == ()


def test_connections_that_stay_open_are_not_waited_for(
    loop: LoopThread, renderer: Renderer, server
) -> None:
    def forever():
        for _ in range(100):
            yield b"data: x\n\n"
            time.sleep(0.1)

    server.add("/events", forever(), content_type="text/event-stream")
    server.add("/fast", "<p>here<script>new EventSource('/events')</script>")
    page, seconds = timed(loop, renderer, server.url + "/fast")
    assert "here" in text(page)
    assert seconds < 2.5


@pytest.mark.timeout(40)
def test_a_picture_that_never_comes(loop: LoopThread, renderer: Renderer, server) -> None:
    server.add("/picture", b"", delay=25)
    url = server.add("/", "<p>here<img src=/picture>")
    page, seconds = timed(loop, renderer, url)
    assert "here" in text(page)
    assert page.meta.cut == ()
    assert seconds < 20


def test_a_still_page_is_quick(loop: LoopThread, renderer: Renderer, server) -> None:
    url = server.add("/", "<p>here")
    timed(loop, renderer, url)
    _, seconds = timed(loop, renderer, url)
    assert seconds < 2


def test_forwarding_by_script_and_by_meta(loop: LoopThread, renderer: Renderer, server) -> None:
    server.add("/end", "<p>arrived")
    server.add("/meta", "<meta http-equiv=refresh content='0;url=/end'><p>leaving")
    url = server.add("/", "<p>start<script>location = '/meta'</script>")
    page, _ = timed(loop, renderer, url)
    assert "arrived" in text(page)
    assert page.meta.url == url
    assert page.meta.resolved_url == server.url + "/end"


def test_a_stored_page_that_writes_itself(loop: LoopThread, renderer: Renderer) -> None:
    html = WRITTEN % "setTimeout(() => write('now'), 5); addEventListener('load', () => write('!'))"
    page = loop.run(renderer.replay(html.encode(), "http://a.example/", "utf-8"))
    assert "now" in text(page)
    assert "!" in text(page)


def test_a_stored_page_whose_image_asks_again_at_each_error(
    loop: LoopThread, renderer: Renderer
) -> None:
    page = b'<p>text</p><img src="/a.png" onerror="this.src = \'/b.png?\' + Math.random()">'
    began = time.monotonic()
    shown = loop.run(renderer.replay(page, "http://stored.invalid/", "utf-8"))
    assert shown.meta.cut == ()
    assert "text" in text(shown)
    assert time.monotonic() - began < 15
