import gzip
import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pagesight.data.cleaneval import CleanEval, plain_gold
from pagesight.data.datasets import ALL, PARTS, Aeb, Dataset, Folder, Wcxb, open_dataset
from pagesight.data.records import bucket
from pagesight.data.wcxb import site
from pagesight.render.errors import DatasetError

Write = Callable[[str, str], None]

DATA = Path(os.environ.get("PAGESIGHT_DATA") or Path(__file__).parents[2] / "shared" / "data")
needs_data = pytest.mark.skipif(
    not (DATA / "cleaneval").is_dir(), reason=f"no data sets in {DATA}; set PAGESIGHT_DATA"
)


@pytest.fixture(params=["plain", "gz"])
def write(request: pytest.FixtureRequest, tmp_path: Path) -> Write:
    def write_file(name: str, text: str) -> None:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if request.param == "gz":
            path.with_name(path.name + ".gz").write_bytes(gzip.compress(text.encode()))
        else:
            path.write_bytes(text.encode())

    return write_file


def write_cleaneval(write: Write) -> None:
    page = (
        '<text id="http://a.com/?b&amp;c" title="A "B"" encoding="unset">\n<p>hé\r\nyo\n</text>\n'
    )
    write("orig/1.html", page)
    write("clean/1.txt", "\ufeffURL: http://a.com/\n\n<p>hé\n<H> yo</p> <b>\n")
    write("aligned/1.txt", "□□□hé\nyo")


def test_cleaneval(write: Write, tmp_path: Path) -> None:
    write_cleaneval(write)
    dataset = open_dataset("cleaneval", tmp_path)
    assert isinstance(dataset, CleanEval)
    page = dataset.load("1")
    assert page.content == "<p>hé\nyo".encode()
    assert page.mask == "□□□hé\nyo"
    assert page.gold == "hé\n yo <b>"
    assert (page.url, page.title, page.charset) == ("http://a.com/?b&c", 'A "B"', "utf-8")


def test_cleaneval_splits(write: Write, tmp_path: Path) -> None:
    write_cleaneval(write)
    dataset = CleanEval(tmp_path)
    assert dataset.splits == (ALL, "web2text", "cleaneval")
    assert [len(dataset.ids("web2text", part)) for part in PARTS] == [531, 58, 148]
    assert [len(dataset.ids("cleaneval", part)) for part in PARTS] == [56, 5, 676]
    assert dataset.ids("web2text") == dataset.ids() == dataset.ids("cleaneval")
    assert dataset.ids("cleaneval", "test")[:3] == ("64", "65", "66")
    with pytest.raises(DatasetError, match="no split 'dev'"):
        dataset.ids("dev")
    with pytest.raises(DatasetError, match="'cleaneval' 'dev'"):
        dataset.ids("cleaneval", "dev")
    with pytest.raises(DatasetError):
        dataset.ids(ALL, "test")


def test_cleaneval_damage(write: Write, tmp_path: Path) -> None:
    write_cleaneval(write)
    dataset = CleanEval(tmp_path)
    with pytest.raises(DatasetError, match=r"2\.html: no such file"):
        dataset.load("2")
    write("aligned/1.txt", "□")
    with pytest.raises(DatasetError, match="8 characters, but 1 are aligned"):
        dataset.load("1")
    write("orig/1.html", "<p>no wrapper")
    with pytest.raises(DatasetError, match=r"no <text .* wrapper"):
        dataset.load("1")


@pytest.mark.parametrize(
    ("marked", "plain"),
    [
        ("URL: http://a.com\n", ""),
        ("<p> a <pre> \n<l>b", "a <pre> \nb"),
        ("no url\nURL: x", "no url\nURL: x"),
    ],
)
def test_plain_gold(marked: str, plain: str) -> None:
    assert plain_gold(marked) == plain


def write_wcxb(write: Write, domains: list[str], types: tuple[str, ...] = ("forum",)) -> None:
    pages = {
        f"{number:04}": {
            "split": "dev",
            "page_type": types[number % len(types)],
            "domain": domain,
        }
        for number, domain in enumerate(domains)
    }
    held_out = {"9999": {"split": "test", "page_type": "forum", "domain": "z.com"}}
    write("metadata.json", json.dumps({"files": pages | held_out}))
    truth = {
        "title": "T",
        "author": None,
        "publish_date": "2026-01-02",
        "main_content": "héllo",
        "with": ["a"],
        "without": ["b", "c"],
    }
    for id in pages:
        write(f"dev/html/{id}.html", f"<p>{id}")
        write(
            f"dev/ground-truth/{id}.json",
            json.dumps({"url": "https://a.com/", "ground_truth": truth}),
        )
    del truth["main_content"]
    write(
        "dev/ground-truth/0001.json",
        json.dumps({"url": "https://a.com/", "ground_truth": truth}),
    )


def test_wcxb(write: Write, tmp_path: Path) -> None:
    write_wcxb(write, ["a.com", "b.com"])
    dataset = open_dataset("wcxb", tmp_path)
    assert dataset.ids() == ("0000", "0001")
    page = dataset.load("0000")
    assert (page.content, page.gold, page.charset) == (b"<p>0000", "héllo", "")
    assert (page.title, page.author, page.date) == ("T", None, "2026-01-02")
    assert (page.page_type, page.mask) == ("forum", None)
    assert (page.with_snippets, page.without_snippets) == (("a",), ("b", "c"))
    assert dataset.load("0001").gold is None
    with pytest.raises(DatasetError, match=r"0002\.json: no such file"):
        dataset.load("0002")
    write("dev/ground-truth/0000.json", "{}")
    with pytest.raises(DatasetError, match=r"0000\.json: not as published"):
        dataset.load("0000")


def test_wcxb_folds_share_no_site(write: Write, tmp_path: Path) -> None:
    domains = [f"{host}{number // 2}.com" for number in range(40) for host in ("", "www.a")]
    write_wcxb(write, domains)
    dataset = open_dataset(str(tmp_path))
    assert isinstance(dataset, Wcxb)
    tested: list[str] = []
    for fold in range(5):
        parts = [dataset.ids(f"fold{fold}", part) for part in PARTS]
        assert sorted(id for part in parts for id in part) == list(dataset.ids())
        sites = [{site(domains[int(id)]) for id in part} for part in parts]
        assert not sites[0] & sites[1] | sites[0] & sites[2] | sites[1] & sites[2]
        tested += dataset.ids(f"fold{fold}", "test")
    assert sorted(tested) == list(dataset.ids())


def test_wcxb_articles(write: Write, tmp_path: Path) -> None:
    write_wcxb(write, [f"{number}.com" for number in range(6)], ("forum", "article", "product"))
    dataset = open_dataset("wcxb", tmp_path)
    assert dataset.ids("articles", "train") == dataset.ids("articles") == ("0001", "0004")
    assert dataset.ids("articles", "validation") == dataset.ids("articles", "test") == ()


@pytest.mark.parametrize(
    ("domain", "expected"),
    [
        ("example.com", "example.com"),
        ("docs.Example.com", "example.com"),
        ("www.example.co.uk", "example.co.uk"),
        ("example.co.uk", "example.co.uk"),
        ("localhost", "localhost"),
    ],
)
def test_site(domain: str, expected: str) -> None:
    assert site(domain) == expected


def test_aeb(write: Write, tmp_path: Path) -> None:
    write("ground-truth.json", json.dumps({"b": {"articleBody": "B", "url": "u"}, "a": {}}))
    write("html/b.html", "<p>B")
    write("output/Diffbot.json", json.dumps({"b": {"articleBody": "x"}, "a": {}}))
    write("output/Own.json", json.dumps({"b": "y"}))
    write("output/Go.json", json.dumps({"version": "1", "output": {"b": {"articleBody": "z"}}}))
    answer = {"b": {"objects": [{"type": "article", "text": "w"}]}, "a": {"objects": []}}
    write("output/Live.json", json.dumps(answer))
    write("output/bad.json", "[]")
    (tmp_path / "html").mkdir(exist_ok=True)
    dataset = open_dataset("aeb", tmp_path)
    assert isinstance(dataset, Aeb)
    assert dataset.ids() == ("b", "a")
    page = dataset.load("b")
    assert (page.content, page.gold, page.url, page.page_type) == (b"<p>B", "B", "u", "article")
    assert dataset.systems == ("Diffbot", "Go", "Live", "Own", "bad")
    assert dataset.recorded("Diffbot") == {"b": "x", "a": ""}
    assert dataset.recorded("Own") == {"b": "y"}
    assert dataset.recorded("Go") == {"b": "z"}
    assert dataset.recorded("Live") == {"b": "w", "a": ""}
    for id in ("a", "c"):
        with pytest.raises(DatasetError, match=f"no article {id}"):
            dataset.load(id)
    with pytest.raises(DatasetError, match=r"bad\.json: not as published"):
        dataset.recorded("bad")
    write("output/deep.json", "[" * 200_000)
    with pytest.raises(DatasetError, match=r"deep\.json: no JSON"):
        dataset.recorded("deep")
    with pytest.raises(DatasetError, match=r"None\.json: no such file"):
        dataset.recorded("None")


def test_folder(write: Write, tmp_path: Path) -> None:
    for number in range(300):
        write(f"{number:03}.html", f"<p>{number}")
    write("007.txt", "seven")
    dataset = open_dataset(str(tmp_path))
    assert isinstance(dataset, Folder)
    assert dataset.ids()[:2] == ("000", "001")
    assert (dataset.load("007").content, dataset.load("007").gold) == (b"<p>7", "seven")
    assert dataset.load("008").gold is None
    parts = [dataset.ids("random", part) for part in PARTS]
    assert sorted(id for part in parts for id in part) == list(dataset.ids())
    assert [len(part) / 300 for part in parts] == pytest.approx([0.8, 0.1, 0.1], abs=0.05)


def test_buckets_never_change() -> None:
    assert [bucket(key, 10) for key in ("", "a", "b", "example.com")] == [7, 3, 9, 3]


def test_open_dataset_by_place(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in range(2):
        write(f"cleaneval/{('orig', 'clean')[number]}/1", "")
    write("cleaneval/aligned/1", "")
    monkeypatch.setenv("PAGESIGHT_DATA", str(tmp_path))
    opened = [
        open_dataset("cleaneval"),
        open_dataset("cleaneval", tmp_path),
        open_dataset("cleaneval", tmp_path / "cleaneval"),
        open_dataset(str(tmp_path / "cleaneval")),
    ]
    assert {(type(dataset), dataset.root) for dataset in opened} == {
        (CleanEval, tmp_path / "cleaneval")
    }


def test_open_dataset_names_what_is_missing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PAGESIGHT_DATA", raising=False)
    with pytest.raises(DatasetError, match="set PAGESIGHT_DATA"):
        open_dataset("wcxb")
    with pytest.raises(DatasetError, match="wcxb/dev/html: missing"):
        open_dataset("wcxb", tmp_path)
    with pytest.raises(DatasetError, match="cleaneval/orig: missing"):
        open_dataset("cleaneval", tmp_path)
    with pytest.raises(DatasetError, match="no such folder, and no data set's name"):
        open_dataset("nothing")
    with pytest.raises(DatasetError, match=r"no \*\.html"):
        open_dataset(str(tmp_path))
    (tmp_path / "ground-truth.json").write_text("{")
    (tmp_path / "html").mkdir()
    with pytest.raises(DatasetError, match="no JSON"):
        open_dataset("aeb", tmp_path)


def test_damaged_gzip(tmp_path: Path) -> None:
    (tmp_path / "a.html.gz").write_bytes(gzip.compress(b"x" * 1000)[:-9])
    (tmp_path / "b.html.gz").write_bytes(b"no gzip")
    for id in ("a", "b"):
        with pytest.raises(DatasetError, match=f"{id}.html: cannot be read"):
            Folder(tmp_path).load(id)


def every(dataset: Dataset, step: int) -> tuple[str, ...]:
    return dataset.ids()[::step]


@needs_data
def test_published_cleaneval() -> None:
    dataset = open_dataset("cleaneval", DATA)
    pages = [dataset.load(id) for id in every(dataset, 5)]
    assert all(len(page.content.decode()) == len(page.mask or "") for page in pages)
    assert all(page.url.startswith("http") for page in pages)
    assert not any("<p>" in (page.gold or "") for page in pages)
    published = json.loads((DATA / "cleaneval" / "splits.json").read_text())
    for split in ("web2text", "cleaneval"):
        for part in PARTS:
            assert dataset.ids(split, part) == tuple(map(str, published[split][part]))


@needs_data
def test_published_wcxb() -> None:
    dataset = open_dataset("wcxb", DATA)
    pages = [dataset.load(id) for id in every(dataset, 15)]
    assert len(dataset.ids()) == 1358
    assert {page.page_type for page in pages} >= {"article", "forum", "product", "listing"}
    sizes = [len(dataset.ids(f"fold{fold}", "test")) for fold in range(5)]
    assert sum(sizes) == 1358
    assert min(sizes) > 200


@needs_data
def test_published_aeb() -> None:
    dataset = open_dataset("aeb", DATA)
    assert isinstance(dataset, Aeb)
    assert len([dataset.load(id) for id in dataset.ids()]) == 181
    assert {"Diffbot", "AutoExtract"} <= set(dataset.systems)
    for system in dataset.systems:
        assert set(dataset.recorded(system)) == set(dataset.ids())
