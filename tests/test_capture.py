"""Real pages in a real Chromium: what is captured, where it stands, and what a page may cost."""

from __future__ import annotations

import asyncio
import contextlib
import io
import json
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from PIL import Image

from pagesight.render.capture import Renderer
from pagesight.render.errors import (
    DeadlineError,
    ForbiddenError,
    RenderError,
    SourceError,
    UnsupportedError,
)
from pagesight.render.loop import LoopThread
from pagesight.render.settings import Limits, RenderSettings
from pagesight.render.snapshot import ELEMENT, PSEUDO, STYLES, TEXT, Snapshot

ADDRESS = "http://page.example/dir/page.html"


@pytest.fixture
def replay(loop: LoopThread, renderer: Renderer) -> Callable[[str], Snapshot]:
    def show(html: str) -> Snapshot:
        return loop.run(renderer.replay(html.encode("utf-8", "surrogatepass"), ADDRESS, "utf-8"))

    return show


@pytest.fixture
def custom(loop: LoopThread) -> Iterator[Callable[..., Renderer]]:
    """Renderers with options of their own, closed at the end."""
    made: list[Renderer] = []

    def make(**options: object) -> Renderer:
        made.append(Renderer(**options))  # type: ignore[arg-type]
        return made[-1]

    yield make
    for renderer in made:
        loop.run(renderer.close())


def texts(page: Snapshot, kind: int = TEXT) -> list[str]:
    """The laid-out texts, in order, white space dropped."""
    shown = sorted(set(page.row_node.tolist()))
    found = [page.text(number).strip() for number in shown if page.kind[number] == kind]
    return [text for text in found if text]


def node(page: Snapshot, **attributes: str) -> int:
    wanted = {key.rstrip("_"): value for key, value in attributes.items()}
    return next(i for i in range(len(page.kind)) if wanted.items() <= page.attributes(i).items())


def box(page: Snapshot, number: int) -> list[float]:
    return page.row_box[page.row_node == number][0].tolist()


VARIED = """<!doctype html><style>
  body { margin: 13px; font: 15px/1.4 serif } .row { display: flex; gap: 7px }
  .row > * { flex: 1; padding: 5px 3px; border: 2px solid } .two { columns: 2 }
  .grid { display: grid; grid-template-columns: 1fr 2fr 1fr } .at { position: absolute; right: 9px }
  table { border-spacing: 4px } .turned { transform: translate(20px, 5px) } .float { float: left }
</style>
<h1>A heading that is quite long</h1><div class=at>placed</div>
<div class=row><p>one <b>bold</b> and <i>slanted <code>code</code></i></p><p>two</p></div>
<div class=two><p>Many words that go on and on in a column</p><p>and then into another</p></div>
<div class=grid><span>a</span><span>b<br>c</span><span dir=rtl>שלום עולם</span></div>
<table><tr><td>cell<td rowspan=2>tall<tr><td>under</table><div class=turned>moved</div>
<span class=float>floated</span><ul><li>item<li>another<ol><li>inner</ol></ul><pre>  kept
   lines</pre><details open><summary>sum</summary>detail</details><textarea>typed</textarea>
<p style="height:2000px">long</p><p id=end>below the fold</p>"""

# One entry a text node with boxes: its text, and the box around all of its client rectangles.
RECTANGLES = """<script>addEventListener('load', () => {
  const out = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
  while (walker.nextNode()) {
    const range = document.createRange()
    range.selectNodeContents(walker.currentNode)
    const all = [...range.getClientRects()].filter(r => r.width && r.height)
    if (!all.length) continue
    const left = Math.min(...all.map(r => r.left)), top = Math.min(...all.map(r => r.top))
    out.push([walker.currentNode.data, [left, top + scrollY,
      Math.max(...all.map(r => r.right)) - left, Math.max(...all.map(r => r.bottom)) - top]])
  }
  document.documentElement.dataset.out = JSON.stringify(out)
})</script>"""


def test_boxes_agree_with_the_page_s_own(replay: Callable) -> None:
    page = replay(VARIED + RECTANGLES)
    expected = json.loads(next(v for v in map(page.attributes, range(3)) if v)["data-out"])
    lines = {row: page.line_box[page.line_row == row] for row in range(len(page.row_node))}
    found = []
    for row, number in enumerate(page.row_node.tolist()):
        boxes = lines[row]
        boxes = boxes[(boxes[:, 2] > 0) & (boxes[:, 3] > 0)]
        if page.kind[number] == TEXT and len(boxes):
            corner, far = boxes[:, :2].min(0), (boxes[:, :2] + boxes[:, 2:]).max(0)
            found.append((page.text(number), [*corner, *(far - corner)]))
    assert [text for text, _ in found] == [text for text, _ in expected]
    assert len(found) > 25
    for (text, got), (_, wanted) in zip(found, expected, strict=True):
        assert np.abs(np.subtract(got, wanted)).max() <= 1.01, text


def test_styles_and_meta(replay: Callable, renderer: Renderer, loop: LoopThread) -> None:
    page = replay("<title>t</title><p style='color: red; font-size: 20px'>x<b hidden>no</b>")
    row = int(page.row_style[page.row_node == node(page, style="color: red; font-size: 20px")][0])
    styles = dict(zip(STYLES, (page.strings[number] for number in page.styles[row]), strict=True))
    assert styles["color"] == "rgb(255, 0, 0)"
    assert styles["font-size"] == "20px"
    assert styles["display"] == "block"
    assert texts(page) == ["x"]
    meta = page.meta
    assert (meta.maker, meta.url, meta.resolved_url) == ("chromium", ADDRESS, ADDRESS)
    assert (meta.http_status, meta.cut, meta.viewport) == (0, (), (1280, 800))
    assert meta.page_size == (1280, 800)
    assert meta.browser == loop.run(renderer.version())
    assert Snapshot.from_bytes(page.to_bytes()).meta == meta


@pytest.mark.parametrize("mode", ["open", "closed"])
def test_shadow_roots_and_slots(replay: Callable, mode: str) -> None:
    page = replay(
        f"""<div id=host><span slot=b>B</span>A<span slot=c>C</span></div><p>after</p><script>
        document.getElementById('host').attachShadow({{mode: '{mode}'}}).innerHTML =
          '<i>start</i><slot name=c></slot><slot></slot><slot name=b></slot>' +
          '<slot name=d>none</slot>'
        </script>"""
    )
    assert texts(page) == ["start", "C", "A", "B", "none", "after"]
    host = node(page, id="host")
    assert all(host in page.ancestors(node(page, slot=slot)) for slot in "bc")


def test_pseudo_elements(replay: Callable) -> None:
    page = replay(
        "<style>p::before{content:'→ ' attr(title)}p::after{content:counter(x) '!'}"
        "b::first-letter{font-size:40px}b{display:block}</style><p title=T>text</p><b>Bold</b>"
        "<ol><li>item</ol>"
    )
    assert texts(page, PSEUDO) == ["→ T", "0!", "1."]
    assert texts(page) == ["text", "Bold", "item"]


def test_content_visibility(replay: Callable) -> None:
    page = replay(
        """<style>section { content-visibility: auto; contain-intrinsic-size: 10px }</style>
        <div style="height: 9000px"></div><section>far <b>down</b></section><div id=h></div><script>
        document.getElementById('h').attachShadow({mode: 'open'}).innerHTML =
          '<p style="content-visibility: auto">in a shadow</p>'</script>"""
    )
    assert texts(page) == ["far", "down", "in a shadow"]


def test_nested_frames(loop: LoopThread, renderer: Renderer, make_server: Callable) -> None:
    one, other = make_server(), make_server()
    inner = other.add("/inner", "<body style='margin:0'><p id=deep style='margin:11px'>deep")
    middle = one.add(
        "/middle",
        f"<body style='margin:0;height:2000px'><iframe style='border:3px solid;padding:4px 5px;"
        f"position:absolute;left:10px;top:400px' src={inner}></iframe>"
        "<script>onload = () => scrollTo(0, 250)</script>",
    )
    url = one.add(
        "/",
        f"<body style='margin:0'><p>before</p><iframe style='position:absolute;left:50px;top:100px;"
        f"border-style:solid;border-width:1px 2px 3px 7px;width:500px;height:400px' src={middle}>"
        "</iframe><iframe srcdoc='<p>written'></iframe><p>after</p>",
    )
    page = loop.run(renderer.open(url))
    assert texts(page) == ["before", "deep", "written", "after"]
    assert page.meta.frames == (url, middle, "about:srcdoc", inner)
    deep = node(page, id="deep")
    assert page.meta.frames[page.frame[deep]] == inner
    # 50 + 7 + 10 + 3 + 5 + 11, 100 + 1 + 400 - 250 + 3 + 4 + 11.
    assert box(page, deep)[:2] == [86, 269]


def test_a_frameset(loop: LoopThread, renderer: Renderer, server) -> None:
    server.add("/left", "<p>left")
    server.add("/right", "<p>right")
    url = server.add("/", "<frameset cols=50%,50%><frame src=/left><frame src=/right></frameset>")
    page = loop.run(renderer.open(url))
    assert texts(page) == ["left", "right"]
    right = next(i for i in page.row_node.tolist() if page.text(i) == "right")
    assert box(page, right)[0] > 640


def test_a_frame_of_itself(loop: LoopThread, renderer: Renderer, server) -> None:
    url = server.add("/", "<p>once</p><iframe src=/></iframe>")
    assert "once" in texts(loop.run(renderer.open(url)))


def test_the_picture(replay: Callable) -> None:
    page = replay(
        "<body style='margin:0;background:#fff'><div style='height:3000px;background:#00f'>"
    )
    picture = Image.open(io.BytesIO(page.screenshot))
    assert picture.size == (320, 750)
    red, _, blue = picture.getpixel((100, 740))
    assert (red < 30, blue > 220) == (True, True)
    assert page.meta.screenshot_scale == 0.25


def test_a_picture_of_a_page_without_end(replay: Callable) -> None:
    page = replay("<div style='height:100000px'>tall")
    assert Image.open(io.BytesIO(page.screenshot)).size == (320, 4096)
    assert page.meta.page_size[1] > 100_000


def test_no_picture(custom: Callable, loop: LoopThread) -> None:
    own = custom(settings=RenderSettings(width=700, screenshot_scale=0))
    page = loop.run(own.replay(b"<p>x", ADDRESS, ""))
    assert page.screenshot == b""
    assert page.meta.screenshot_scale == 0
    assert page.meta.viewport == (700, 800)
    assert box(page, next(i for i in range(9) if page.tag(i) == "html"))[2] == 700


def test_current_sources(loop: LoopThread, renderer: Renderer, server) -> None:
    pixel = b"GIF89a\x01\x00\x01\x00\x00\x00\x00,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x00;"
    server.add("/big.gif", pixel, content_type="image/gif")
    url = server.add("/", "<img src=/small.gif srcset='/big.gif 1x' data-src=/stale.gif>")
    page = loop.run(renderer.open(url))
    assert page.attributes(node(page, src="/small.gif"))["current-src"] == server.url + "/big.gif"


@pytest.mark.parametrize("charset", ["utf-8", "windows-1251", ""])
def test_charsets(loop: LoopThread, renderer: Renderer, charset: str) -> None:
    html = "<p>Съешь ещё этих мягких французских булок</p>"
    meta = "" if charset else "<meta charset=koi8-r>"
    content = (meta + html).encode(charset or "koi8-r")
    page = loop.run(renderer.replay(content, ADDRESS, charset))
    assert texts(page) == ["Съешь ещё этих мягких французских булок"]


def test_lone_surrogates(replay: Callable) -> None:
    page = replay(r"<p id=p></p><script>p.append('a\ud800b'); p.title = '\udc00'</script>")
    assert texts(page) == ["a\ufffdb"]
    assert page.attributes(node(page, id="p"))["title"] == "\ufffd"


@pytest.mark.parametrize(
    "html",
    [
        "",
        " ",
        "<!doctype html>",
        "<script>document.documentElement.remove()</script>",
        "<p>x<script>document.body.remove()</script>",
        "<p>x<script>document.open(); document.close()</script>",
        "<svg><template><p>x",
        "<frameset>",
        "\x00\x01\x02",
    ],
)
def test_pages_with_next_to_nothing(replay: Callable, html: str) -> None:
    page = replay(html)
    page.check()
    assert page.meta.resolved_url == ADDRESS


def test_deep_nesting(replay: Callable) -> None:
    page = replay(
        """<script>let at = document.body ?? document.documentElement
        for (let i = 0; i < 5000; i++) at = at.appendChild(document.createElement('div'))
        at.append('bottom')</script>"""
    )
    assert texts(page) == ["bottom"]
    bottom = next(i for i in page.row_node.tolist() if page.text(i) == "bottom")
    assert sum(1 for _ in page.ancestors(bottom)) > 5000


def test_dialogs_and_pop_ups(loop: LoopThread, renderer: Renderer, server) -> None:
    server.add("/popup", "<script>alert(3)</script>")
    url = server.add(
        "/",
        "<script>alert(1); confirm(2); prompt(3); open('/popup'); print()"
        "</script><p>here<script>onbeforeunload = () => 'stay'</script>",
    )
    assert texts(loop.run(renderer.open(url))) == ["here"]


def test_stored_pages_do_not_know_of_each_other(replay: Callable) -> None:
    remembers = """<p id=p></p><script>
    const seen = k => { try { return String(k()) } catch { return '' } }
    p.append('seen:' + seen(() => localStorage.a ?? '') + seen(() => sessionStorage.a ?? '')
      + seen(() => document.cookie) + (window.name || ''))
    localStorage.a = sessionStorage.a = 1; document.cookie = 'a=1'</script>"""
    assert [texts(replay(remembers)) for _ in range(3)] == [["seen:"]] * 3


def test_stored_pages_one_after_the_other_and_side_by_side(
    loop: LoopThread, renderer: Renderer
) -> None:
    async def many() -> list[Snapshot]:
        pages = (
            renderer.replay(f"<p>number {i}".encode(), f"http://a.example/{i % 3}#f{i}", "utf-8")
            for i in range(12)
        )
        return await asyncio.gather(*pages)

    found = loop.run(many())
    assert [texts(page) for page in found] == [[f"number {i}"] for i in range(12)]
    assert found[4].meta.url == "http://a.example/1#f4"


def test_a_stored_page_cannot_be_left(replay: Callable) -> None:
    leaving = "<meta http-equiv=refresh content='0;url=http://b.example/'><p>stays"
    assert texts(replay(leaving)) == ["stays"]
    assert texts(replay("<p>next")) == ["next"]
    assert texts(replay("<p>stays<script>location = 'http://b.example/'</script>")) == ["stays"]
    assert texts(replay("<p>stays<script>history.pushState(0, '', '/other')</script>")) == ["stays"]


def test_nothing_gets_out_of_a_stored_page(replay: Callable, server) -> None:
    at, ws = server.url, server.url.replace("http", "ws")
    page = replay(
        f"""<link rel=stylesheet href={at}/css><link rel=preload as=image href={at}/preload>
        <link rel=dns-prefetch href={at}><link rel=preconnect href={at}>
        <link rel=prefetch href={at}/prefetch><link rel=icon href={at}/icon>
        <link rel=manifest href={at}/manifest><base href={at}/>
        <img src={at}/img><iframe src={at}/frame></iframe><object data={at}/object></object>
        <embed src={at}/embed><video src={at}/video poster={at}/poster></video>
        <script src={at}/script></script><script type=module>import '{at}/module'</script>
        <form id=f action={at}/form></form><a id=a href={at}/a ping={at}/ping>x</a>
        <iframe srcdoc="<img src={at}/srcdoc><script>fetch('{at}/inner')</script>"></iframe>
        <p>kept<script>
        fetch('{at}/fetch').catch(() => 0); navigator.sendBeacon('{at}/beacon', 'x')
        new Image().src = '{at}/image'; try {{ new WebSocket('{ws}/ws') }} catch {{}}
        try {{ new EventSource('{at}/events') }} catch {{}}
        try {{ new Worker(URL.createObjectURL(new Blob(["fetch('{at}/worker')"]))) }} catch {{}}
        try {{ navigator.serviceWorker.register('/sw') }} catch {{}}
        const stun = 'stun:127.0.0.1:{server.port}'
        const rtc = new RTCPeerConnection({{iceServers: [{{urls: stun}}]}})
        rtc.createDataChannel('x'); rtc.createOffer().then(o => rtc.setLocalDescription(o))
        open('{at}/popup'); f.submit(); a.click(); setTimeout(() => location = '{at}/later', 20)
        </script>"""
    )
    assert "kept" in texts(page)
    time.sleep(1)
    assert server.requests == []


def test_live_pages_cannot_reach_this_machine(custom: Callable, loop: LoopThread, server) -> None:
    own = custom()
    url = server.add("/", "secret")
    for address in (url, "http://127.0.0.1/", "https://localhost/", "http://169.254.169.254/"):
        with pytest.raises(ForbiddenError):
            loop.run(own.open(address))
    assert server.requests == []
    assert len(own.guard.refused) == 4


def test_a_redirect_to_a_forbidden_address(custom: Callable, loop: LoopThread, server) -> None:
    own = custom(allow_private=True)
    loop.run(own.start())
    url = server.redirect("/", "http://127.0.0.1/secret")
    script = server.add("/script", "<script>location = 'http://127.0.0.1/secret'</script>")
    secure = server.redirect("/secure", "https://127.0.0.1/secret")
    # Past the first connection, the guard is as strict as it is for the public.
    own.guard.allow_private = False
    dial = own.guard._dial

    async def only_the_server(host: str, port: int):
        own.guard.allow_private = port == server.port
        return await dial(host, port)

    own.guard._dial = only_the_server
    for address in (url, script, secure):
        with pytest.raises(ForbiddenError, match="not public"):
            loop.run(own.open(address))


@pytest.mark.parametrize("url", ["file:///etc/passwd", "chrome://version", "data:text/html,x"])
def test_other_schemes(loop: LoopThread, renderer: Renderer, url: str) -> None:
    with pytest.raises(ForbiddenError):
        loop.run(renderer.open(url))
    with pytest.raises(ForbiddenError):
        loop.run(renderer.replay(b"<p>x", url, ""))


def test_http_errors_are_pages(loop: LoopThread, renderer: Renderer, server) -> None:
    url = server.add("/", "<p>not here", status=404)
    page = loop.run(renderer.open(url))
    assert (page.meta.http_status, texts(page)) == (404, ["not here"])
    moved = loop.run(renderer.open(server.redirect("/moved", url)))
    assert (moved.meta.http_status, moved.meta.resolved_url) == (404, url)
    assert moved.meta.url == server.url + "/moved"


@pytest.mark.parametrize("scheme", ["http", "https"])
def test_dead_hosts(loop: LoopThread, renderer: Renderer, scheme: str) -> None:
    with pytest.raises(SourceError, match=r"no-such-host\.invalid: no such host"):
        loop.run(renderer.open(f"{scheme}://no-such-host.invalid/"))
    with pytest.raises(SourceError, match="refused"):
        loop.run(renderer.open(f"{scheme}://127.0.0.1:49/"))


def test_no_tls(loop: LoopThread, renderer: Renderer, server) -> None:
    with pytest.raises(SourceError, match="SSL"):
        loop.run(renderer.open(server.url.replace("http", "https")))


def test_what_is_no_page(loop: LoopThread, renderer: Renderer, server) -> None:
    pdf = server.add("/pdf", b"%PDF-1.4", content_type="application/pdf")
    image = server.add("/image", b"GIF89a", content_type="image/gif")
    feed = server.add("/feed", b"<rss/>", content_type="application/rss+xml")
    saved = {"Content-Disposition": "attachment; filename=page.html"}
    download = server.add("/download", b"<p>x", headers=saved)
    for url in (pdf, image, feed, download):
        with pytest.raises(UnsupportedError, match=url):
            loop.run(renderer.open(url))
    with pytest.raises(SourceError, match="no content"):
        loop.run(renderer.open(server.add("/none", status=204)))
    with pytest.raises(UnsupportedError):
        loop.run(renderer.replay(b"%PDF", ADDRESS, "", "application/pdf"))


def test_a_page_that_starts_a_download(loop: LoopThread, renderer: Renderer, server) -> None:
    saved = {"Content-Disposition": "attachment; filename=x"}
    server.add("/file", b"xx", content_type="application/octet-stream", headers=saved)
    url = server.add("/", "<p>thanks<script>location = '/file'</script>")
    page = loop.run(renderer.open(url))
    assert texts(page) == ["thanks"]
    assert (page.meta.http_status, page.meta.content_type) == (200, "text/html")


def test_plain_text(loop: LoopThread, renderer: Renderer, server) -> None:
    url = server.add("/", "just <text>", content_type="text/plain")
    page = loop.run(renderer.open(url))
    assert texts(page) == ["just <text>"]
    assert page.meta.content_type == "text/plain"


LOOPS = {
    "at once": "<p>here<script>while (1);</script>",
    "later": "<p>here<script>setTimeout(() => { while (1); }, 10)</script>",
    "again and again": "<p>here<script>setInterval(() => { for (const t = Date.now(); "
    "Date.now() - t < 900;); }, 1)</script>",
    "promises": "<p>here<script>const f = () => Promise.resolve().then(f); f()</script>",
    "pattern": "<p>here<script>/^(a+)+$/.test('a'.repeat(60) + 'b')</script>",
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("name", LOOPS)
def test_endless_scripts(custom: Callable, loop: LoopThread, server, name: str) -> None:
    own = custom(limits=Limits(seconds=1.5), allow_private=True)
    loop.run(own.start())
    url = server.add("/", LOOPS[name])
    for road in (own.open(url), own.replay(LOOPS[name].encode(), ADDRESS, "utf-8")):
        began = time.monotonic()
        page = loop.run(road)
        assert time.monotonic() - began < 15
        assert texts(page) == ["here"]
        if name != "again and again":
            assert page.meta.cut == ("deadline",)
    assert texts(loop.run(own.replay(b"<p>next", ADDRESS, "utf-8"))) == ["next"]


@pytest.mark.timeout(60)
def test_a_server_that_never_answers(custom: Callable, loop: LoopThread, server) -> None:
    own = custom(limits=Limits(seconds=2), allow_private=True)
    url = server.add("/", "late", delay=20)
    with pytest.raises(DeadlineError, match="no answer"):
        loop.run(own.open(url))
    assert texts(loop.run(own.open(server.add("/fast", "<p>fast")))) == ["fast"]


@pytest.mark.timeout(60)
def test_a_page_that_never_ends(custom: Callable, loop: LoopThread, server) -> None:
    def slowly() -> Iterator[bytes]:
        yield b"<p>start"
        for _ in range(100):
            yield b"<p>more"
            time.sleep(0.1)

    own = custom(limits=Limits(seconds=3), allow_private=True)
    page = loop.run(own.open(server.add("/", slowly())))
    assert page.meta.cut == ("deadline",)
    assert texts(page)[:2] == ["start", "more"]


@pytest.mark.timeout(60)
def test_bytes_are_counted(custom: Callable, loop: LoopThread, server) -> None:
    def endless() -> Iterator[bytes]:
        yield b"<p>start</p>"
        while True:
            yield b"<p>" + b"x" * 10_000 + b"</p>"

    own = custom(limits=Limits(seconds=20, bytes=1_000_000), allow_private=True)
    began = time.monotonic()
    page = loop.run(own.open(server.add("/", endless())))
    assert time.monotonic() - began < 15
    assert page.meta.cut == ("bytes",)
    assert texts(page)[0] == "start"
    assert sum(map(len, texts(page))) < 20_000_000
    stored = loop.run(own.replay(b"<p>start" + b"x" * 2_000_000, ADDRESS, "utf-8"))
    assert stored.meta.cut == ("bytes",)
    assert sum(map(len, texts(stored))) < 1_000_000


def test_nodes_are_counted(custom: Callable, loop: LoopThread) -> None:
    own = custom(limits=Limits(nodes=1000))
    html = "".join(f"<div><p>{i}</p></div>" for i in range(2000))
    page = loop.run(own.replay(html.encode(), ADDRESS, "utf-8"))
    assert page.meta.cut == ("nodes",)
    assert len(page.kind) <= 1000
    assert texts(page)[:3] == ["0", "1", "2"]
    assert len(texts(page)) > 300
    small = loop.run(own.replay(b"<p>x", ADDRESS, "utf-8"))
    assert small.meta.cut == ()


@pytest.mark.timeout(60)
def test_a_page_that_eats_all_memory(custom: Callable, loop: LoopThread) -> None:
    own = custom(limits=Limits(seconds=3))
    bomb = "<script>const a = []; for (;;) a.push(new Array(1e6).fill(a.length))</script>"
    # Whether the memory or the time ends first depends on the machine.
    with contextlib.suppress(RenderError):
        assert loop.run(own.replay(bomb.encode(), ADDRESS, "utf-8")).meta.cut
    assert texts(loop.run(own.replay(b"<p>next", ADDRESS, "utf-8"))) == ["next"]


def test_elements_are_as_many_as_in_the_page(replay: Callable) -> None:
    page = replay("<!doctype html><body>" + "<p>x <b>y</b></p>" * 500)
    assert int((page.kind == ELEMENT).sum()) == 3 + 1000
