"""Which charset a page's bytes are read with."""

from __future__ import annotations

import codecs

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pagesight.render.charset import choose, decode

FRENCH = (
    "Les élèves étaient arrivés très tôt à l'école, où la maîtresse avait préparé une leçon sur "
    "les forêts brûlées de la région. Après le déjeuner, ils ont étudié la géographie."
)
CZECH = "Všichni lidé se rodí svobodní a sobě rovní co do důstojnosti a práv. Příliš žluťoučký kůň."
RUSSIAN = (
    "Это довольно длинный русский текст, который нужен для проверки того, что кодировка страницы "
    "определяется правильно даже без указания. Москва является столицей России."
)
GREEK = "Όλοι οι άνθρωποι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια και τα δικαιώματα."
JAPANESE = (
    "日本語の文章をここに書きます。これは文字コードの判定を確かめるための長い文章です。"
    "東京は日本の首都であり、多くの人が住んでいます。カタカナも含みます。"
)
CHINESE = (
    "这是一个用于测试字符编码检测的中文网页。北京是中华人民共和国的首都，有两千多万人口。"
    "我们希望程序能够正确地识别没有声明编码的页面。"
)
TAIWANESE = (
    "這是一個用於測試字元編碼偵測的中文網頁。臺北是臺灣的首都，有兩百多萬人口。"
    "我們希望程式能夠正確地識別沒有聲明編碼的頁面。"
)
KOREAN = (
    "이것은 문자 인코딩 감지를 시험하기 위한 긴 한국어 문장입니다. 서울은 대한민국의 수도이며 "
    "많은 사람들이 살고 있습니다. 선언이 없어도 올바르게 읽어야 합니다."
)
GERMAN = "Grüße aus München: Die Straße ist für Fußgänger geöffnet."
PORTUGUESE = "São Paulo é a maior cidade. A população não está contente com a situação"

# The language, the codec that its pages are stored in, the charset to be chosen.
LEGACY = [
    (FRENCH, "latin-1", "windows-1252"),
    (GERMAN, "latin-1", "windows-1252"),
    (PORTUGUESE, "cp1252", "windows-1252"),
    (CZECH, "cp1250", "windows-1250"),
    (GREEK, "cp1253", "windows-1253"),
    (RUSSIAN, "cp1251", "windows-1251"),
    (RUSSIAN, "koi8_r", "koi8-r"),
    (JAPANESE, "shift_jis", "shift_jis"),
    (JAPANESE, "euc_jp", "euc-jp"),
    (CHINESE, "gb18030", "gb18030"),
    (TAIWANESE, "big5", "big5"),
    (KOREAN, "euc_kr", "euc-kr"),
]
IDS = [f"{codec}-{i}" for i, (_, codec, _) in enumerate(LEGACY)]


def page(text: str, codec: str, head: str = "<title>t</title>") -> bytes:
    html = f"<html><head>{head}</head><body><p>{text}</p><p class=x>{text[:40]}</p></body></html>"
    return html.encode(codec)


@pytest.mark.parametrize(
    ("mark", "codec", "name"),
    [
        (codecs.BOM_UTF8, "utf-8", "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le", "utf-16le"),
        (codecs.BOM_UTF16_BE, "utf-16-be", "utf-16be"),
    ],
)
@pytest.mark.parametrize("label", ["", "windows-1251", "utf-8"])
def test_a_mark_comes_first_and_is_no_text(mark: bytes, codec: str, name: str, label: str) -> None:
    html = "<meta charset=shift_jis><p>Grüße 世界"
    content = mark + html.encode(codec)
    assert choose(content, label) == name
    assert decode(content, name) == html
    assert choose(mark) == name
    assert decode(mark, name) == ""


@pytest.mark.parametrize("label", ["", "windows-1252", "shift_jis", "utf-16", "nonsense"])
@pytest.mark.parametrize("head", ["", "<meta charset=iso-8859-1>", "<meta charset=utf-8>"])
def test_valid_utf8_is_utf8_whatever_is_said(label: str, head: str) -> None:
    assert choose(page("naïve 世界", "utf-8", head), label) == "utf-8"


@given(st.text(st.characters(exclude_categories=["Cs"])))
@settings(deadline=None)
def test_every_utf8_text_is_read_as_it_was(text: str) -> None:
    content = text.encode()
    if content.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return
    assert decode(content, choose(content)) == text.removeprefix("\ufeff")


@pytest.mark.parametrize(("text", "codec", "name"), LEGACY, ids=IDS)
def test_without_a_label(text: str, codec: str, name: str) -> None:
    content = page(text, codec)
    assert choose(content) == name
    assert decode(content, name) == content.decode(codec)


@pytest.mark.parametrize(("text", "codec", "name"), LEGACY, ids=IDS)
@pytest.mark.parametrize("wrong", ["utf-8", "UTF-16", "us-latin", "unknown-8bit", ""])
def test_a_label_that_is_wrong_or_unknown(text: str, codec: str, name: str, wrong: str) -> None:
    assert choose(page(text, codec), wrong) == name
    assert choose(page(text, codec, f"<meta charset='{wrong}'>")) == name


@pytest.mark.parametrize(("text", "codec", "name"), LEGACY, ids=IDS)
def test_a_right_label_is_believed(text: str, codec: str, name: str) -> None:
    assert choose(page(text, codec), name) == name
    assert choose(page(text, codec, f'<meta charset="{name}">')) == name
    # The transport's word counts for more than the page's.
    assert choose(page(text, codec, "<meta charset=iso-8859-7>"), name.upper()) == name


def test_a_short_text_with_a_label() -> None:
    assert choose(b"<p>caf\xe9", "iso-8859-1") == "windows-1252"
    assert choose(b"<p>\xbf", "windows-1251") == "windows-1251"


@pytest.mark.parametrize(
    "meta",
    [
        "<meta charset=windows-1251>",
        '<META CHARSET="Windows-1251">',
        "<meta charset = ' windows-1251 '/>",
        "<meta\n charset\n=\nwindows-1251>",
        "<meta/charset=cp1251>",
        '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">',
        "<meta content='text/html;charset=\"x-cp1251\"' http-equiv=content-type>",
        "<meta name=generator content='Pages 1.0'><meta charset=windows-1251>",
        f"<meta name=description content='{'x' * 200}' charset=windows-1251>",
        f"<!-- {'x' * 3000} --><meta charset=windows-1251>",
    ],
)
def test_forms_of_meta(meta: str) -> None:
    short = page("\N{CYRILLIC CAPITAL LETTER YA}", "cp1251", meta)
    assert choose(short) == "windows-1251"
    assert choose(f"<p>ascii{meta}".encode()) == "windows-1251"


@pytest.mark.parametrize(
    "meta",
    ["", "<meta charset>", "<meta charset=>", "<meta charset=klingon>", "<p charset=cp1251>"],
)
def test_ascii_without_a_known_label(meta: str) -> None:
    assert choose(f"{meta}<p>plain".encode()) == "utf-8"
    assert choose(b"", meta) == "utf-8"


@pytest.mark.parametrize("label", ["hz-gb-2312", "iso-2022-kr", "replacement"])
def test_a_retired_charset_does_not_empty_the_page(label: str) -> None:
    content = f"<meta charset={label}><p>still here".encode()
    assert decode(content, choose(content)).endswith("still here")
    assert decode(content, choose(content, label)).endswith("still here")


def test_an_ascii_page_in_escapes() -> None:
    content = page(JAPANESE, "iso2022_jp", "<meta charset=iso-2022-jp>")
    assert content.isascii()
    assert choose(content) == "iso-2022-jp"
    assert JAPANESE in decode(content, "iso-2022-jp")


def test_a_meta_of_utf16_can_only_be_utf8() -> None:
    assert choose(b"<meta charset=utf-16><p>plain") == "utf-8"
    assert choose("<meta charset=utf-16le><p>d\u00e9j\u00e0".encode()) == "utf-8"


def test_cut_in_the_middle_of_a_character() -> None:
    content = page("naïve", "utf-8") + "世".encode()
    for end in (1, 2):
        assert choose(content[:-end]) == "utf-8"
        assert decode(content[:-end], "utf-8").endswith("</html>\ufffd")
    whole = page(JAPANESE, "shift_jis")
    assert choose(whole[: len(whole) // 2]) == choose(whole[: len(whole) // 2 + 1]) == "shift_jis"


@pytest.mark.parametrize(("text", "codec", "name"), LEGACY, ids=IDS)
def test_long_pages_are_guessed_by_a_part(text: str, codec: str, name: str) -> None:
    script = f"<script>{'var a = 1; ' * 12_000}</script>"
    assert choose(page(text, codec, script)) == name
    for extra in ("", "x"):
        assert choose(page(extra + text * 700, codec)) == name


def test_a_few_damaged_characters_leave_utf8() -> None:
    content = page(RUSSIAN, "utf-8")
    damaged = content + b"\xff" + content + b"\xc3(" + content
    assert choose(damaged, "utf-8") == "utf-8"
    assert decode(damaged, "utf-8").count(RUSSIAN) == 3


def test_what_browsers_read_beyond_python_s_codecs() -> None:
    assert decode(b"\x87\x40\xfb\xfc", "shift_jis") == "①髙"
    assert decode(b"\x94\xee", "euc-kr") == b"\x94\xee".decode("cp949")
    assert decode("\N{CJK UNIFIED IDEOGRAPH-3400}".encode("gb18030"), "gbk") == "\u3400"
    assert decode("\N{CJK UNIFIED IDEOGRAPH-3400}".encode("gb18030"), "GB2312") == "\u3400"
    assert decode(b"\x80", "iso-8859-1") == "€"


@given(st.binary(max_size=200), st.sampled_from(["", "utf-8", "gbk", "iso-2022-jp", "x", "é"]))
@settings(max_examples=150, deadline=None)
def test_any_bytes_are_read(content: bytes, label: str) -> None:
    name = choose(content, label)
    assert name == name.lower()
    assert isinstance(decode(content, name), str)


def test_a_replacement_character_that_the_page_itself_has_is_no_damage() -> None:
    page = "<p>이미 깨진 \ufffd\ufffd 글자가 있는 문서</p>".encode()
    assert choose(page) == "utf-8"
    assert choose(page[:-7]) == "utf-8"
    assert choose(page.replace("문서".encode(), b"\xb9\xae\xbc\xad") * 9) != "utf-8"
