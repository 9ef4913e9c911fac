"""Sites with their themes: gold by container, splits by theme, renderings that load their files."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from pagesight.data.datasets import PARTS, Styled, open_dataset
from pagesight.data.records import bucket
from pagesight.data.sites import SITES, Site
from pagesight.data.styled import LEAST_WORDS, PAGES, fetch_command, packages, part_of
from pagesight.data.visible import visible_text
from pagesight.render.capture import Renderer
from pagesight.render.errors import DatasetError
from pagesight.render.loop import LoopThread
from pagesight.render.served import MOST_BYTES, SHARE, Served
from pagesight.render.snapshot import Snapshot
from pagesight.render.store import Store
from pagesight.train.prepare import prepare, stored_snapshots

WORDS = " ".join(f"word{number}" for number in range(LEAST_WORDS))
PAGE = f"""<!doctype html><title>x</title>
<link rel=stylesheet href="../theme/style.css">
<nav id=menu>Menu</nav>
<main><h1>Heading<a class=headerlink>#</a></h1><p id=text>{WORDS}</main>
<img src="../pictures/red.svg">
<script src="/usr/share/javascript/lib/lib.js"></script>
"""
STYLE = "#menu { position: absolute; left: 700px; top: 50px; width: 123px } img { display: block }"
SCRIPT = "document.querySelector('main').append('added by script')"
PICTURE = '<svg xmlns="http://www.w3.org/2000/svg" width="77" height="33"></svg>'
SITE = Site("one", "one-doc", "plain", "doc/one-doc/html", "main", ("a.headerlink",))


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small system: two sites with a page each, and a secret beside what is served."""
    files = {
        "doc/one-doc/html/page.html": PAGE,
        "doc/one-doc/html/short.html": "<main>too few words</main>",
        "doc/one-doc/html/_modules/code.html": f"<main>{WORDS}",
        "doc/one-doc/theme/style.css": STYLE,
        "doc/one-doc/pictures/red.svg": PICTURE,
        "doc/two-doc/index.html": PAGE.replace("<main>", "<div class=body>"),
        "javascript/real/lib.js": SCRIPT,
        "secret/key.css": STYLE,
    }
    for name, text in files.items():
        path = tmp_path / "usr/share" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    # As packages do: an absolute link into another package.
    (tmp_path / "usr/share/javascript/lib").symlink_to(f"{SHARE}/javascript/real")
    return tmp_path


@pytest.fixture
def sites() -> tuple[Site, Site]:
    return SITE, replace(
        SITE, name="two", package="two-doc", folder="doc/two-doc", main=".body", theme="other"
    )


def test_pages_and_their_gold(root: Path, sites: tuple[Site, Site]) -> None:
    dataset = Styled(root, sites)
    assert dataset.ids() == ("one/page.html", "two/index.html")
    page = dataset.load("one/page.html")
    assert page.gold == f"Heading\n{WORDS}"
    assert page.url == "http://one.invalid/usr/share/doc/one-doc/html/page.html"
    assert page.content == PAGE.encode()
    assert page.page_type == "documentation"
    # The folder of the documentation itself will do.
    assert Styled(root / "usr/share/doc", sites).load("one/page.html").content == page.content
    for wrong in ("one/none.html", "three/page.html"):
        with pytest.raises(DatasetError):
            dataset.load(wrong)


def test_a_fixed_choice_of_many_pages(root: Path) -> None:
    folder = root / "usr/share/doc/one-doc/html"
    for number in range(2 * PAGES):
        (folder / f"{number}.html").write_text(PAGE)
    chosen = Styled(root, (SITE,)).ids()
    paths = [*(f"{number}.html" for number in range(2 * PAGES)), "page.html"]
    by_digest = sorted(paths, key=lambda path: bucket(f"one/{path}", 2**64))
    assert chosen == tuple(f"one/{path}" for path in by_digest[:PAGES])


def test_missing_packages_are_named(root: Path, sites: tuple[Site, Site]) -> None:
    absent = replace(SITE, name="three", package="three-doc", folder="doc/three-doc")
    with pytest.raises(DatasetError, match=r"1 packages are missing.*download .* three-doc &&"):
        Styled(root, (*sites, absent))
    with pytest.raises(DatasetError, match="apt-get download"):
        open_dataset("styled", root)
    assert fetch_command(["b", "a", "b"]).startswith("apt-get download a b && ")
    assert {"libjs-jquery", SITES[0].package} <= set(packages())


def test_the_table_of_sites() -> None:
    names = [site.name for site in SITES]
    assert len(set(names)) == len(names)
    assert len({site.package for site in SITES}) >= 30
    themes = {part: {s.theme for s in SITES if part_of(s.theme) == part} for part in PARTS}
    assert len(themes["test"]) >= 10
    assert len(themes["train"]) >= 3 * len(themes["validation"]) > 0
    assert not themes["test"] & (themes["train"] | themes["validation"])


def test_sites_of_one_theme_are_in_one_part(root: Path, sites: tuple[Site, Site]) -> None:
    found = set()
    for number in range(60):
        one, two = (replace(site, theme=f"theme {number}") for site in sites)
        dataset = Styled(root, (one, two))
        (part,) = (part for part in PARTS if dataset.ids("themes", part))
        assert dataset.ids("themes", part) == dataset.ids()
        found.add(part)
    assert found == set(PARTS)


@pytest.mark.parametrize(
    ("html", "text"),
    [
        ("<main>a<b>b</b> <i>c</i><p>d\n e</p>f<br>g</main>", "ab c\nd e\nf\ng"),
        ("<main><pre>x = 1\n  y</pre>z</main>", "x = 1\n  y\nz"),
        ("<main>a<script>b</script><style>c</style><template>d</template></main>", "a"),
        ("<main>a<p hidden>b<p style='display: none'>c<p>d</main>", "a\nd"),
        ("<main>a<nav>b<nav>c</nav></nav></main>", "a"),
        ("<main>a<details><summary>b</summary>c</details></main>", "a\nb"),
        ("<main>a<details open><summary>b</summary>c</details></main>", "a\nb\nc"),
        ("<main>a<main>b</main></main><p>c<main>d</main>", "a\nb\nd"),
        ("<table><tr><td>a<td>b</table><main>c</main>", "c"),
        ("<main><table><tr><td>a<td>b</table></main>", "a\nb"),
        ("", ""),
    ],
)
def test_visible_text(html: str, text: str) -> None:
    assert visible_text(html, "main", ("nav",)) == text


def box(page: Snapshot, tag: str) -> list[float]:
    """x, y, width and height of the first element of a tag."""
    names = [page.strings[name] for name in page.name.tolist()]
    row = np.flatnonzero(page.row_node == names.index(tag))[0]
    return [float(edge) for edge in page.row_box[row]]


def render(loop: LoopThread, renderer: Renderer, page: bytes, served: Served | None) -> Snapshot:
    url = "http://one.invalid/usr/share/doc/one-doc/html/page.html"
    return loop.run(renderer.replay(page, url, "utf-8", served=served))


def texts(page: Snapshot) -> str:
    return " ".join(page.text(node) for node in sorted(set(page.row_node.tolist())))


def test_styles_scripts_and_pictures_are_loaded(
    root: Path, sites: tuple[Site, Site], loop: LoopThread, renderer: Renderer, tmp_path: Path
) -> None:
    dataset = Styled(root, sites)
    store = Store(tmp_path / "cache")
    tally = loop.run(prepare(dataset, dataset.ids(), renderer, store))
    assert tally.done == {"rendered": 2}
    snapshot_of = stored_snapshots(store, renderer, loop.run(renderer.version()))
    record = dataset.load("one/page.html")
    page = snapshot_of(record)
    assert page is not None
    assert page.meta.cut == ()
    assert page.meta.resolved_url == record.url
    assert box(page, "nav")[:3] == [700, 50, 123]
    assert box(page, "img")[2:] == [77, 33]
    assert "added by script" in texts(page)
    # Once rendered, it is not rendered again.
    assert loop.run(prepare(dataset, dataset.ids(), renderer, store)).done == {"stored": 2}


def test_without_files_nothing_is_loaded(
    root: Path, sites: tuple[Site, Site], loop: LoopThread, renderer: Renderer
) -> None:
    record = Styled(root, sites).load("one/page.html")
    for served in (record.served, None):
        page = render(loop, renderer, record.content, served)
        assert ("added by script" in texts(page)) == (served is not None)
        assert (box(page, "nav")[0] == 700) == (served is not None)


def test_nothing_else_is_reached(
    root: Path, sites: tuple[Site, Site], loop: LoopThread, renderer: Renderer, server
) -> None:
    for path in ("/style.css", "/frame", "/data"):
        server.add(path, STYLE, headers={"Access-Control-Allow-Origin": "*"})
    record = Styled(root, sites).load("one/page.html")
    asked = [
        "../../two-doc/index.html",
        "../../../secret/key.css",
        "/usr/share/secret/key.css",
        "/usr/share/doc/one-doc/..%2f..%2fsecret/key.css",
        "/etc/passwd",
        "file:///etc/passwd",
        "http://two.invalid/usr/share/doc/one-doc/theme/style.css",
        server.url + "/data",
    ]
    page = f"""<link rel=stylesheet href="{server.url}/style.css">
    <link rel=stylesheet href="/usr/share/secret/key.css"><nav id=menu>Menu</nav>
    <iframe src="{server.url}/frame"></iframe><iframe src="../theme/style.css"></iframe>
    <main>start </main><script>
    const write = text => document.querySelector('main').append(text)
    for (const url of {asked})
      fetch(url).then(a => a.text()).then(t => write('reached ' + url), () => write(' refused'))
    fetch('../theme/style.css').then(a => a.text()).then(t => write(' its own'))
    </script>"""
    shown = render(loop, renderer, page.encode(), record.served)
    assert "its own" in texts(shown)
    assert texts(shown).count("refused") == len(asked)
    assert "reached" not in texts(shown)
    assert box(shown, "nav")[0] != 700
    assert "position" not in texts(shown)
    assert server.requests == []


def test_paths_and_links(root: Path) -> None:
    share = root / "usr/share"
    served = Served(share, ("doc/one-doc", "javascript"))
    at = "http://one.invalid/usr/share"
    (share / "doc/one-doc/link.css").symlink_to("../two-doc/../one-doc/theme/style.css")
    for name, target in {"out": "/etc/passwd", "up": "../../../../x", "loop": "loop"}.items():
        (share / "doc/one-doc" / name).symlink_to(target)
    (root / "x").write_text("outside")
    (share / "doc/one-doc/large.js").write_bytes(b" " * (MOST_BYTES + 1))
    style = ("text/css", STYLE.encode())
    assert served.answer(f"{at}/doc/one-doc/theme/style.css?v=1#x") == style
    assert served.answer(f"{at}/doc/one-doc/theme/../theme/style%2ecss") == style
    assert served.answer(f"{at}/doc/one-doc/link.css") == style
    assert served.answer(f"{at}/javascript/lib/lib.js") == ("text/javascript", SCRIPT.encode())
    for path in (
        "/doc/one-doc/out",
        "/doc/one-doc/up",
        "/doc/one-doc/loop",
        "/doc/one-doc/theme",
        "/doc/one-doc/large.js",
        "/doc/one-doc/none.css",
        "/doc/one-doc/../two-doc/index.html",
        "/doc/one-doc-not",
        "/secret/key.css",
        "/doc/one-doc/%00",
        "",
    ):
        assert served.answer(at + path) is None
