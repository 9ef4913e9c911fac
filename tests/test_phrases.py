"""What the words of a block say of its role: blocks by hand, languages, odd and hostile texts."""

from __future__ import annotations

import time

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagesight.layout.features.phrases import PATTERNS, PHRASES, phrase_features
from pagesight.layout.page import Page, build_page
from pagesight.render.static import parse


def page_of(*texts: str) -> Page:
    """A page of one paragraph a text; the texts must have no markup."""
    html = "".join(f"<p>{text}</p>" for text in texts)
    return build_page(parse(html.encode("utf-8", "replace"), "utf-8"))


def shares(text: str) -> dict[str, float]:
    """The columns of a one-block page that are not zero."""
    (row,) = phrase_features(page_of(text)).tolist()
    return {name: round(v, 4) for name, v in zip(PHRASES.columns, row, strict=True) if v}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Read more of it", {"more": 2 / 4}),
        ("READ MORE...", {"more": 2 / 2}),
        ("Next", {"paging": 1}),
        ("The next day", {"opening": 1 / 3}),
        ("By Jane Doe", {"byline": 1 / 3}),
        ("Stand by me", {"self": 1 / 3}),
        ("3 hours ago", {"date": 1 / 3}),
        ("12/31/2007", {"date": 3 / 5, "separators": 2 / 5}),
        ("Home » News", {"navigation": 1 / 3, "separators": 1 / 3, "topic": 1 / 3}),
        ("| Sign-in |", {"separators": 2 / 4, "account": 2 / 4}),
        ("All rights reserved.", {"legal": 3 / 3}),
        ("Add to cart", {"shop": 3 / 3}),
        ("Green ideas sleep furiously", {}),
        ("Powered by", {"machine": 1}),
        ("Why?", {"question": 1 / 2}),
        ("Photo: Getty Images", {"credit": 3 / 4}),
    ],
)
def test_blocks_by_hand(text: str, expected: dict[str, float]) -> None:
    assert shares(text) == {name: round(value, 4) for name, value in expected.items()}


@pytest.mark.parametrize(
    ("column", "texts"),
    [
        (
            "navigation",
            ["Startseite", "Accueil", "Inicio", "Pomoc", "Главная", "首页", "ホーム", "홈"],
        ),
        (
            "more",
            ["Weiterlesen", "Lire la suite", "Leia mais", "Подробнее", "続きを読む", "더보기"],
        ),
        ("share", ["Teilen", "Partager", "Compartir", "Delen", "Paylaş", "分享", "공유", "مشاركة"]),
        (
            "comments",
            ["Kommentare", "Répondre", "Rispondi", "Yorumlar", "コメント", "评论", "댓글"],
        ),
        ("legal", ["Impressum", "Tous droits réservés", "版权所有", "جميع الحقوق محفوظة"]),
        ("consent", ["Akzeptieren", "Aceptar", "Kabul et", "同意する"]),
        ("account", ["Anmelden", "Se connecter", "Войти", "ログイン", "로그인"]),
        ("search", ["Suche", "Buscar", "Szukaj", "Поиск", "搜索", "بحث"]),
        ("related", ["Leggi anche", "Lees ook", "Читайте также", "おすすめ", "추천"]),
        ("date", ["3 janvier 2007", "12 мая", "2007年3月1日", "il y a 3"]),
    ],
)
def test_languages(column: str, texts: list[str]) -> None:
    values = phrase_features(page_of(*texts))[:, PHRASES.columns.index(column)]
    assert (values > 0.3).all(), dict(zip(texts, values.tolist(), strict=True))


def test_every_phrase_is_found() -> None:
    number = {"#": "7", "####": "2007", "^": ""}
    for name, phrases in PATTERNS.items():
        for phrase in phrases.split(", "):
            text = " ".join(number.get(token, token) for token in phrase.split(" "))
            assert shares(text.replace("<", "&lt;")).get(name, 0) > 0, phrase


def test_no_phrase_stands_twice_in_a_column() -> None:
    for name, phrases in PATTERNS.items():
        found = phrases.split(", ")
        assert len(set(found)) == len(found), name


def test_blocks_do_not_mix() -> None:
    both = phrase_features(page_of("read", "more", "read more"))[:, PHRASES.columns.index("more")]
    assert both.tolist() == [0, 1, 1]


def test_a_phrase_weighs_less_in_a_long_block() -> None:
    column = PHRASES.columns.index("legal")
    texts = ["copyright", *("copyright" + " word" * n for n in (1, 9, 99, 999))]
    values = phrase_features(page_of(*texts))[:, column]
    assert values[:3].tolist() == pytest.approx([1, 1 / 2, 1 / 10])
    assert values[3] == pytest.approx(1 / 100, rel=0.1)  # words counted from its two ends
    assert values[4] == pytest.approx(1 / 1000, rel=0.1)


def test_of_a_long_block_both_ends_are_read() -> None:
    filler = " word" * 60
    values = phrase_features(
        page_of(f"copyright{filler}", f"x{filler} copyright", f"x{filler} copyright{filler}")
    )[:, PHRASES.columns.index("legal")]
    assert values[0] > 0
    assert values[1] > 0
    assert values[2] == 0


def test_where_the_middle_is_left_out_no_phrase_is_made() -> None:
    text = "x" * 95 + " read" + " word" * 60 + " more" + " " + "y" * 55
    assert len(text) > 200
    assert text[95:100] == " read"
    assert text[-60:-56] == "more"
    assert "more" not in shares(text)


def test_a_page_without_blocks() -> None:
    features = phrase_features(page_of())
    assert features.shape == (0, len(PHRASES))
    assert features.dtype == np.float32


@settings(max_examples=150, deadline=None)
@given(st.lists(st.text(st.characters(exclude_characters="<&"), max_size=300), max_size=5))
def test_any_text(texts: list[str]) -> None:
    page = page_of(*texts)
    features = phrase_features(page)
    assert features.shape == (len(page), len(PHRASES))
    assert features.dtype == np.float32
    assert np.isfinite(features).all()
    assert ((features >= 0) & (features <= 1)).all()


PHRASE_WORDS = sorted({word for phrases in PATTERNS.values() for word in phrases.split()})


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(PHRASE_WORDS), max_size=30))
def test_any_row_of_phrase_words(words: list[str]) -> None:
    features = phrase_features(page_of(" ".join(words).replace("<", "")))
    assert ((features >= 0) & (features <= 1)).all()


@pytest.mark.parametrize(
    "unit", ["a", "read ", "read more ", "| ", "1/", "^", "年", "\u0301", "@.", "table of "]
)
def test_hostile_texts_take_no_time(unit: str) -> None:
    one = page_of(unit * (5_000_000 // len(unit)))
    many = page_of(*[unit * 200] * 1000)
    phrase_features(page_of("the tables are built once"))
    start = time.process_time()
    for page in (one, many):
        assert np.isfinite(phrase_features(page)).all()
    assert time.process_time() - start < 2
