"""Features: their names, a page worked out by hand, counts, odd pages."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagesight.layout.features import (
    BLOCK,
    CONTEXT,
    DECLARED,
    EDGE,
    GEOMETRY,
    GROUPS,
    NAMES,
    PHRASES,
    SECTIONS,
    WEB2TEXT_BLOCK,
    Features,
    FeatureSet,
    extract,
)
from pagesight.layout.features.characters import read_characters
from pagesight.layout.features.stopwords import STOP_WORDS
from pagesight.layout.features.survey import survey_page
from pagesight.layout.features.text import TextCounts, count_texts, sum_ranges
from pagesight.layout.features.web2text import LEAF_TAGS, PARENT_TAGS
from pagesight.layout.page import Page, build_page
from pagesight.render.static import parse

# Trained weights fit exactly these. Where a column is added, moved or renamed, or where it is
# computed in another way (then raise the set's version), put the new digest here and train anew.
DIGESTS = {
    "web2text-block": "1495c2d0e34fdc11",
    "web2text-edge": "929f614e7d980c6d",
    "names": "f56114bfbf1ffb72",
    "context": "de7e19ec1c1488ef",
    "geometry": "4cb30035e65fae1d",
    "phrases": "4658de504aca92ed",
    "groups": "e97488e8abfd4d2c",
    "declared": "6ea57cf6480f3734",
    "sections": "8cccee4d864b4c19",
    "web2text+names+phrases+context+groups+sections+declared+geometry": "364c92c20d7bc5b0",
}


def page_of(html: str) -> Page:
    return build_page(parse(html.encode("utf-8", "replace"), "utf-8"))


@pytest.mark.parametrize(
    "columns",
    [WEB2TEXT_BLOCK, EDGE, NAMES, PHRASES, CONTEXT, GROUPS, SECTIONS, DECLARED, GEOMETRY, BLOCK],
    ids=lambda s: s.name,
)
def test_sets_of_features(columns: FeatureSet) -> None:
    assert len(set(columns.columns)) == len(columns)
    assert columns.digest == DIGESTS[columns.name], (
        "The features have changed, and no trained model fits them any more. If that is meant, "
        "pin the new digest here and train the packaged models anew."
    )
    renamed = FeatureSet(columns.name, columns.version, (*columns.columns[:-1], "renamed"))
    newer = FeatureSet(columns.name, columns.version + 1, columns.columns)
    moved = FeatureSet(columns.name, columns.version, columns.columns[::-1])
    assert len({columns.digest, renamed.digest, newer.digest, moved.digest}) == 4


def test_how_many_there_are() -> None:
    assert (len(WEB2TEXT_BLOCK), len(EDGE)) == (128, 25)
    parts = (NAMES, PHRASES, CONTEXT, GROUPS, SECTIONS, DECLARED, GEOMETRY)
    assert len(BLOCK) == 128 + sum(map(len, parts))
    assert BLOCK.columns[:128] == WEB2TEXT_BLOCK.columns
    assert (len(PARENT_TAGS), len(set(PARENT_TAGS)), len(set(LEAF_TAGS))) == (20, 19, 19)


# A page by hand: 3 leaves, 40 characters.
#
# [document html body] ┬ [div.m] ┬ [p "See the cat. Dogs ran!"]      22 characters
#                      │         └ [p a "Read more"]                 9, a link
#                      └ [form span "Read more"]                     9, beside an input
BY_HAND = """<body><div class=m><p>See the cat. Dogs ran!</p><p><a href=x>Read more</a></p></div>
<form><input name=q><span>Read more</span></form>"""


def z(value: float, mean: float, deviation: float) -> float:
    return (value - mean) / deviation


def clip(value: float, low: float, high: float) -> float:
    return min(max(value, low), high)


def words(mean_length: float, stop: float, capitals: float, sentence: float) -> dict[str, float]:
    """L3 to L5, L12 and L22 to L24 of the paper, by their formulas."""
    return {
        "mean_word_length": z(clip(mean_length, 3, 15), 4.91, 1.9057),
        "has_stop_word": 1 if stop else -1,
        "stop_word_ratio": z(stop, 0.374, 0.1529),
        "log_sentence_length": z(clip(math.log(sentence), 2, 5), 3.109, 1.011),
        "capitalised_ratio": z(capitals, 0.4476, 0.4129),
        "capitalised_ratio_squared": z(capitals**2, 0.3708, 0.4334),
        "capitalised_ratio_cubed": z(capitals**3, 0.3408, 0.4404),
    }


# L10, L11, L17 to L21: no digit, no question, no sign, no address anywhere on the page.
NOWHERE = {
    "has_digit": z(-1, -0.5901, 0.8073),
    "digit_ratio": z(0, 0.2656, 0.3053),
    "ends_in_question_mark": -1,
    "has_copyright": -1,
    "has_email": -1,
    "has_url": -1,
    "has_year": -1,
}

# "See the cat. Dogs ran!": 5 words of 16 characters, 1 stop word (the list is case-sensitive),
# 2 of 5 with a capital, 2 marks, 2 sentences.
LEAF_0 = {
    **words(16 / 5, 1 / 5, 2 / 5, 22 / 2),
    **NOWHERE,
    "has_word": z(1, 0.8255, 0.5644),
    "log_words": z(math.log(5), 1.5086, 1.205),
    "log_characters": z(math.log(22), 3.392, 1.0645),
    "has_punctuation": 1,
    "punctuation": z(2, 0.0694, 0.4084),
    "log_punctuation_ratio": z(clip(math.log(2 / 22), -4, -2.5), -3.3385, 0.6059),
    "several_sentences": 1,
    "position": z(0, 0.5198, 0.2996),
    "position_squared": z(0, 0.36, 0.3157),
    "ends_in_punctuation": 1,
}
# "Read more": 2 words of 8 characters, "more" is a stop word, 1 of 2 with a capital; ln 9 < 2.5.
LEAF_1 = {
    **words(8 / 2, 1 / 2, 1 / 2, 9),
    **NOWHERE,
    "has_word": z(1, 0.8255, 0.5644),
    "log_words": z(math.log(2), 1.5086, 1.205),
    "log_characters": z(2.5, 3.392, 1.0645),
    "has_punctuation": -1,
    "punctuation": z(0, 0.0694, 0.4084),
    "log_punctuation_ratio": 0,
    "several_sentences": -1,
    "position": z(22 / 40, 0.5198, 0.2996),
    "position_squared": z((22 / 40) ** 2, 0.36, 0.3157),
    "ends_in_punctuation": -1,
}
LEAF_2 = LEAF_1 | {
    "position": z(31 / 40, 0.5198, 0.2996),
    "position_squared": z((31 / 40) ** 2, 0.36, 0.3157),
}
# div.m: 31 characters, 9 of them in a link; 7 words of 24 characters, 2 stop words, 3 capitals,
# 2 marks, 3 sentences; it ends as its last leaf does.
DIV = {
    **words(24 / 7, 2 / 7, 3 / 7, 31 / 3),
    **NOWHERE,
    "share_of_text": 31 / 40,
    "link_density": z(9 / 31, 0.5, 0.5),
    "log_characters": z(math.log(31), 6, 2.14),
    "log_punctuation_ratio": z(clip(math.log(2 / 31), -4, -2.5), -3.3385, 0.6059),
    "ends_in_punctuation": -1,
    "has_input": -1,
}
# All of it: 40 characters, 9 words of 32, 3 stop words, 4 capitals, 4 sentences.
ROOT = {
    **words(32 / 9, 3 / 9, 4 / 9, 40 / 4),
    **NOWHERE,
    "share_of_text": 1,
    "link_density": z(9 / 40, 0.5, 0.5),
    "log_characters": z(math.log(40), 6, 2.14),
    "log_punctuation_ratio": z(clip(math.log(2 / 40), -4, -2.5), -3.3385, 0.6059),
    "ends_in_punctuation": -1,
    "has_input": 1,
}
NONE = dict.fromkeys(ROOT, 0.0)


def prefixed(prefix: str, values: dict[str, float]) -> dict[str, float]:
    return {f"{prefix}.{name}": value for name, value in values.items()}


def tags(prefix: str, names: tuple[str, ...], numbered: bool, have: set[str]) -> dict[str, float]:
    return {
        f"{prefix}{i if numbered else ''}.{tag}": 1.0 if tag in have else -1.0
        for i, tag in enumerate(names)
    }


def block(
    leaf: dict[str, float],
    leaf_tags: set[str],
    parent: dict[str, float],
    parent_tags: set[str],
    grandparent: dict[str, float] | None,
    duplicate: float,
) -> dict[str, float]:
    return {
        "duplicate": duplicate,
        "duplicate_10": -1,
        "class_path_share": 1 / 3,
        "parent.exists": 1,
        "grandparent.exists": -1 if grandparent is None else 1,
        **prefixed("leaf", leaf),
        **prefixed("parent", parent),
        **prefixed("grandparent", grandparent or NONE),
        **prefixed("root", ROOT),
        **tags("parent.tag", PARENT_TAGS, True, parent_tags),
        **tags("leaf.tag", LEAF_TAGS, False, leaf_tags),
    }


BLOCKS_BY_HAND = [
    block(LEAF_0, {"p"}, DIV, {"div"}, ROOT, -1),
    block(LEAF_1, {"p", "a"}, DIV, {"div"}, ROOT, 1),
    block(LEAF_2, {"span"}, ROOT, {"body"}, None, 1),
]
# The first two are 2 hops apart below div.m, the next two 3 hops below the root.
EDGES_BY_HAND = [
    {"distance_2": 1, "distance_3": -1, "distance_4": -1, "distance_more": -1, "break": 1}
    | prefixed("ancestor", DIV),
    {"distance_2": -1, "distance_3": 1, "distance_4": -1, "distance_more": -1, "break": 1}
    | prefixed("ancestor", ROOT),
]


def assert_rows(columns: FeatureSet, rows: np.ndarray, wanted: list[dict[str, float]]) -> None:
    assert len(rows) == len(wanted)
    for row, values in zip(rows, wanted, strict=True):
        assert {*values} == {*columns.columns}
        for name, value in zip(columns.columns, row.tolist(), strict=True):
            assert value == pytest.approx(values[name], abs=1e-5), name


def test_a_page_by_hand() -> None:
    page = page_of(BY_HAND)
    assert page.text == ("See the cat. Dogs ran!", "Read more", "Read more")
    features = extract(page)
    assert_rows(WEB2TEXT_BLOCK, features.blocks[:, :128], BLOCKS_BY_HAND)
    assert_rows(EDGE, features.edges, EDGES_BY_HAND)
    assert features.blocks.dtype == features.edges.dtype == np.float32


def test_columns_of_a_leaf_that_the_page_by_hand_lacks() -> None:
    html = "<p>{}</p>" * 4
    page = page_of(
        html.format(
            "***", "In 2024: 12,5 % &copy; me@a.example", "See www.a.example. Why?", "x" * 999
        )
    )
    rows = [dict(zip(BLOCK.columns, row, strict=True)) for row in extract(page).blocks.tolist()]
    assert rows[0]["leaf.has_word"] == pytest.approx(z(-1, 0.8255, 0.5644), abs=1e-5)
    assert rows[0]["leaf.log_words"] == 0
    assert rows[0]["leaf.mean_word_length"] == -1
    assert [row["leaf.has_year"] for row in rows] == [-1, 1, -1, -1]
    assert [row["leaf.has_email"] for row in rows] == [-1, 1, -1, -1]
    assert [row["leaf.has_copyright"] for row in rows] == [-1, 1, -1, -1]
    assert [row["leaf.has_url"] for row in rows] == [-1, -1, 1, -1]
    assert [row["leaf.ends_in_question_mark"] for row in rows] == [-1, -1, 1, -1]
    text = page.text[1]
    ratio = sum(character.isdigit() for character in text) / len(text)
    assert rows[1]["leaf.digit_ratio"] == pytest.approx(z(ratio, 0.2656, 0.3053), abs=1e-5)
    assert rows[1]["leaf.has_digit"] == pytest.approx(z(1, -0.5901, 0.8073), abs=1e-5)
    assert rows[3]["leaf.mean_word_length"] == pytest.approx(z(15, 4.91, 1.9057), abs=1e-5)
    assert rows[3]["leaf.log_characters"] == pytest.approx(z(5.5, 3.392, 1.0645), abs=1e-5)


def test_duplicates() -> None:
    html = "<p class=a>same</p>" * 10 + "<p class=b>same</p><p>twin</p><p>twin</p><div>own</div>"
    rows = extract(page_of(html)).blocks[:, :3].tolist()
    assert rows[0] == pytest.approx([1, 1, 10 / 14], abs=1e-6)
    assert rows[10] == pytest.approx([1, 1, 1 / 14], abs=1e-6)
    assert rows[11] == pytest.approx([1, -1, 2 / 14], abs=1e-6)
    assert rows[13] == pytest.approx([-1, -1, 1 / 14], abs=1e-6)
    ten = extract(page_of("<p>same</p>" * 10)).blocks[:, :2]
    assert ten.tolist() == [[1, -1]] * 10


def test_distances() -> None:
    # 1 and 2 hang in one p: 2 hops; 2 and 3: 3; 3 and 4: 4; 4 and 5: 6.
    html = """<p>1<b>2</b></p><div><i>3</i><u><s>x</s>y</u></div>
    <ul><li>4</li><li>5<em>6</em></li></ul>"""
    edges = extract(page_of(html)).edges
    hops = [row.index(1) for row in edges[:, :4].tolist()]
    #      1-2 2-3 3-x x-y y-4 4-5 5-6
    assert hops == [0, 2, 1, 0, 3, 1, 0]
    assert edges[:, 4].tolist() == [0, 1, 0, 0, 1, 1, 0]


def counts_of(*texts: str, links: bool = False) -> TextCounts:
    return count_texts(read_characters(texts), np.full(len(texts), links))


def test_counts_of_unicode_text() -> None:
    counts = counts_of(
        "Élan vital! Ça va? oui", "世界は広い。そうですか？", "", "Straße №5 ٤٢", "𝐀b 😀."
    )
    assert counts.characters.tolist() == [22, 12, 1, 12, 5]
    assert counts.words.tolist() == [5, 2, 0, 3, 1]
    assert counts.word_characters.tolist() == [16, 10, 0, 9, 2]
    assert counts.punctuation.tolist() == [2, 2, 0, 0, 1]
    assert counts.digits.tolist() == [0, 0, 0, 3, 0]
    assert counts.capitalised.tolist() == [2, 0, 0, 1, 1]
    assert counts.sentences.tolist() == [2, 1, 1, 1, 1]
    assert counts.ends_in_punctuation.tolist() == [False, True, False, False, True]
    assert counts.ends_in_question_mark.tolist() == [False, False, False, False, False]
    assert counts.link_characters.tolist() == [0] * 5
    assert counts_of("ab", "", links=True).link_characters.tolist() == [2, 1]


@pytest.mark.parametrize(
    ("text", "copyright", "email", "url", "year"),
    [
        ("© 2024 and &copy; or (c), (C), ℗", 5, 0, 0, 1),
        ("a.b+c@d-e.example, x@y, @z.example", 0, 1, 0, 0),
        ("http://a https://b www.c www. httpx://d", 0, 0, 3, 0),
        ("1999-2001, 12345, a1999, 1999th 0000", 0, 0, 0, 3),
        ("", 0, 0, 0, 0),
    ],
)
def test_counts_of_patterns(text: str, copyright: int, email: int, url: int, year: int) -> None:
    counts = counts_of("before", text, "after")
    found = (counts.copyright, counts.email, counts.url, counts.year)
    assert [column.tolist() for column in found] == [
        [0, number, 0] for number in (copyright, email, url, year)
    ]


def test_a_pattern_does_not_reach_into_the_next_text() -> None:
    counts = counts_of("me@", "a.example", "www.", "x", "19", "99")
    assert counts.email.sum() == counts.url.sum() == counts.year.sum() == 0


# Texts as blocks have them: white space collapsed, never empty.
WORDS = [
    "The",
    "the",
    "a",
    "Cat",
    "1999",
    "x@y.example",
    "www.a",
    "©",
    "?",
    "End.",
    "世界。",
    "Ж",
    "_",
    "…",
]
LINES = st.one_of(
    st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join),
    st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
    .map(lambda text: " ".join(text.split()))
    .filter(bool),
)
ADDITIVE = (
    *("words", "word_characters", "stop_words", "punctuation", "digits", "capitalised"),
    *("copyright", "email", "url", "year"),
)


@given(st.lists(LINES, min_size=1, max_size=6), st.data())
@settings(max_examples=150, deadline=None)
def test_counts_and_sums(texts: list[str], data: st.DataObject) -> None:
    links = np.array(data.draw(st.lists(st.booleans(), min_size=len(texts), max_size=len(texts))))
    counts = count_texts(read_characters(texts), links)
    for i, text in enumerate(texts):
        found = re.findall(r"\w+", text)
        assert counts.words[i] == len(found)
        assert counts.word_characters[i] == sum(map(len, found))
        assert counts.stop_words[i] == sum(word in STOP_WORDS for word in found)
        assert counts.capitalised[i] == sum(word[0].isupper() for word in found)
        assert counts.digits[i] == sum(character.isdigit() for character in text)
        assert counts.characters[i] == len(text)
        assert counts.ends_in_question_mark[i] == text.endswith("?")
        parts = [
            j for j in range(len(text) - 2) if text[j] in ".?!;。？！；؟।" and text[j + 1] == " "
        ]
        assert counts.sentences[i] == 1 + sum(text[j + 2].isupper() for j in parts)
    first = data.draw(st.integers(0, len(texts) - 1))
    last = data.draw(st.integers(first + 1, len(texts)))
    total = sum_ranges(counts, np.array([first], np.int32), np.array([last], np.int32))
    joined = counts_of("\n".join(texts[first:last]))
    for name in ADDITIVE:
        assert getattr(total, name).tolist() == getattr(joined, name).tolist(), name
    for name in ("characters", "sentences", "link_characters"):
        assert getattr(total, name).tolist() == [getattr(counts, name)[first:last].sum()], name
    assert total.ends_in_punctuation.tolist() == [counts.ends_in_punctuation[last - 1]]
    assert total.ends_in_question_mark.tolist() == [texts[last - 1].endswith("?")]


def assert_sound(page: Page) -> Features:
    features = extract(page)
    assert features.blocks.shape == (len(page), len(BLOCK))
    assert features.edges.shape == (max(len(page) - 1, 0), len(EDGE))
    assert features.blocks.dtype == features.edges.dtype == np.float32
    assert np.isfinite(features.blocks).all()
    assert np.isfinite(features.edges).all()
    assert np.abs(features.blocks).max(initial=0) < 100
    return features


@pytest.mark.parametrize(
    ("html", "blocks"),
    [
        *(("", 0), ("x", 1), ("<p>x<p>y", 2), ("<a>x</a>", 1), ("\x01", 1), ("<b>-</b>", 1)),
        *(("<p>\ud800", 1), ("<frameset>", 0), ("<title>t</title>x", 1), ("a\x00b", 1)),
    ],
)
def test_small_pages(html: str, blocks: int) -> None:
    page = page_of(html)
    assert len(page) == blocks
    assert_sound(page)


MARKUP = st.lists(
    st.one_of(
        st.sampled_from(
            """<p> </p> <a\thref=x> </a> <table> <td> <li> <h1\tclass='title\tnav'> <title> </title>
            <div\tid=footer> </div> <input> <br> <noscript> </noscript> <svg> <b> </b> <pre>
            <body\trole=main> <template> 2024 A@b.example ©""".split()
        ),
        st.text(max_size=6),
    ),
    max_size=20,
)


@given(MARKUP)
@settings(max_examples=120, deadline=None)
def test_any_page_has_sound_features(parts: list[str]) -> None:
    features = assert_sound(page_of("".join(parts)))
    assert not features.blocks[:, [c.startswith("geometry.") for c in BLOCK.columns]].any()


def above(page: Page, node: int) -> list[tuple[str, str]]:
    """Tag and class of the elements above a node."""
    snapshot = page.snapshot
    return [
        (snapshot.tag(n), snapshot.attributes(n).get("class", "")) for n in snapshot.ancestors(node)
    ]


@given(MARKUP)
@settings(max_examples=60, deadline=None)
def test_what_is_found_once(parts: list[str]) -> None:
    page = page_of("".join(parts))
    seen = survey_page(page)
    assert seen.depth.tolist() == [
        len(list(page.snapshot.ancestors(node))) for node in range(len(page.snapshot.parent))
    ]
    assert seen.words == [re.findall(r"\w+", text) for text in page.text]
    paths = [above(page, node) for node in page.tree.leaf_node.tolist()]
    same = [[one == other for other in paths] for one in paths]
    assert (seen.path[:, None] == seen.path).tolist() == same
    assert sorted(set(seen.path.tolist())) == list(range(len(set(map(tuple, paths)))))
    linked = [any(tag == "a" for tag, _ in path) for path in paths]
    assert (seen.counts.link_characters > 0).tolist() == linked


def test_paths_differ_by_tag_by_class_and_by_order() -> None:
    page = page_of(
        "<p class=a>1</p><p class=b>2</p><p>3</p><div class=a>4</div><p class=a>5</p>"
        "<b><i>6</i></b><i><b>7</b></i><b>8</b>"
    )
    path = survey_page(page).path
    assert path[0] == path[4]
    assert len(set(path.tolist())) == 7


def test_names_reach_into_a_shadow_root() -> None:
    page = page_of(
        "<div class=sidebar><p><template shadowrootmode=open><b>x</b></template></p></div><b>y</b>"
    )
    side = extract(page).blocks[:, BLOCK.columns.index("names.side")].tolist()
    assert dict(zip(page.text, side, strict=True)) == {
        "x": pytest.approx(0.85**3, abs=1e-6),
        "y": 0,
    }
