from __future__ import annotations

import pytest

from pagesight.render.capture import Renderer
from pagesight.render.errors import *


def texts(s):
    return [s.text(i) for i in range(len(s.kind)) if s.kind[i] == 3]


def test_open(server, loop, renderer):
    url = server.add(
        "/",
        "<title>t</title><p>Hello</p><script>fetch('/x').then(r=>r.text()).then(t=>document.body.append(t))</script>",
    )
    server.add("/x", "article", delay=1.5)
    s = loop.run(renderer.open(url))
    print(s.meta, texts(s))
    s = loop.run(renderer.open(url + "nope"))
    print(s.meta, texts(s))


@pytest.mark.parametrize(
    "path",
    [
        "http://127.0.0.1:1/",
        "https://127.0.0.1:1/",
        "http://nosuchhost.invalid/",
        "https://nosuchhost.invalid/",
        "file:///etc/passwd",
        "/pdf",
        "/dl",
        "/204",
        "/redir",
        "/redirs",
    ],
)
def test_err(server, loop, renderer, path):
    server.add("/pdf", b"%PDF-1.4", content_type="application/pdf")
    server.add("/dl", b"zzz", headers={"Content-Disposition": "attachment; filename=x.html"})
    server.add("/204", status=204)
    server.redirect("/redir", "http://127.0.0.1:1/")
    server.redirect("/redirs", "https://127.0.0.1:1/")
    try:
        s = loop.run(renderer.open(path if "://" in path else server.url + path))
    except PagesightError as e:
        print(repr(e))
    else:
        print(s.meta)


def test_forbidden(loop, server):
    r = Renderer()
    server.add("/", "secret")
    for u in [
        server.url,
        "https://127.0.0.1/",
        "http://127.0.0.1/",
        "http://localhost/",
        "http://169.254.169.254/latest",
    ]:
        try:
            print(loop.run(r.open(u)).meta)
        except PagesightError as e:
            print(repr(e))
    loop.run(r.close())
    assert not server.requests
