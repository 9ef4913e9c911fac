"""What a block's own words say of its role: "read more", "posted by", "all rights reserved".

A phrase is a row of tokens: words, numbers, signs, the block's edges. All phrases stand in one
trie, and all tokens of a page walk down it at once.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import repeat
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..page import Page
from .schema import FeatureSet, Float32
from .tokens import EDGE, HEAD, LONG, TAIL, page_tokens, phrase_tokens

Bool = npt.NDArray[np.bool_]
Int64 = npt.NDArray[np.int64]

# Phrases between commas. `^` is an edge of the block, `#` a number of up to two digits, `####` a
# year. After English: German, French, Spanish, Italian, Portuguese, Dutch, Polish, Russian,
# Turkish, Japanese, Chinese, Korean, Arabic.
PATTERNS = {
    "navigation": "home page, home, homepage, main page, site map, sitemap, skip to, jump to, "
    "navigation, menu, back to top, top of page, to top, about us, faq, help, about, startseite, "
    "übersicht, nach oben, zum inhalt, über uns, hilfe, accueil, plan du site, haut de page, "
    "aller au contenu, à propos, aide, inicio, mapa del sitio, ir al contenido, ayuda, mappa del "
    "sito, início, mapa do site, sobre nós, ajuda, naar boven, strona główna, mapa strony, pomoc, "
    "главная, карта сайта, наверх, о нас, меню, anasayfa, ana sayfa, site haritası, yardım, menü, "
    "ホーム, トップ, サイトマップ, メニュー, ヘルプ, 首页, 首頁, 网站地图, 關於我們, 关于我们, "
    "홈, 사이트맵, 메뉴, الرئيسية, من نحن, القائمة",
    "paging": "^ next, next ^, next page, ^ previous, previous ^, previous page, ^ prev, prev ^, "
    "^ back ^, ^ first ^, ^ last ^, older posts, newer posts, older entries, go back, page #, "
    "page # of #, weiter ^, zurück ^, nächste seite, vorherige, suivant, précédent, siguiente ^, "
    "anterior ^, successivo, próxima, próximo ^, volgende ^, vorige ^, następna, poprzednia, "
    "далее, назад ^, sonraki, önceki, 次へ, 前へ, 下一页, 上一页, 다음, 이전, التالي, السابق",
    "separators": "|, », ›, >, •, ·, →, «, ‹, <, ←, ▶, ►, ▼, ▲, /, *, [, ], +",
    "more": "more », more >, read more, more info, more information, more details, learn more, "
    "find out more, see more, show more, view more, load more, full story, full article, continue "
    "reading, read the full, click here, click for, view all, see all, show all, ^ more, more ^, "
    "details ^, weiterlesen, mehr lesen, mehr erfahren, mehr ^, alle anzeigen, lire "
    "la suite, en savoir plus, lire plus, voir plus, voir tout, leer más, ver más, más "
    "información, seguir leyendo, ver todo, ver todos, leggi tutto, continua a leggere, scopri di "
    "più, leia mais, saiba mais, ver mais, lees meer, lees verder, meer ^, czytaj więcej, więcej "
    "^, читать далее, подробнее, читать дальше, devamını oku, 続きを読む, もっと見る, 詳細, "
    "阅读全文, 更多, 더보기, 자세히, اقرأ المزيد, المزيد",
    "share": "share, facebook, twitter, linkedin, pinterest, instagram, whatsapp, youtube, tweet, "
    "reddit, print, printer friendly, printable, e mail this, email a friend, e mail a friend, "
    "send to a friend, tell a friend, bookmark, rss, follow us, permalink, permanent link, "
    "trackback, link to this, copy link, teilen, drucken, druckversion, partager, imprimer, "
    "suivez, compartir, imprimir, síguenos, condividi, stampa, compartilhar, compartilhe, siga, "
    "delen, afdrukken, udostępnij, drukuj, поделиться, версия для печати, paylaş, yazdır, シェア, "
    "ツイート, 印刷, 共有, 分享, 打印, 转发, 공유, 인쇄, مشاركة, شارك, طباعة",
    "comments": "leave a comment, leave a reply, post a comment, no comments, comment, comments, "
    "reply, replies, respond, responses, report abuse, report this, votes, kommentar, kommentare, "
    "antworten, antwort, commentaire, commentaires, répondre, comentario, comentarios, responder, "
    "commenti, commento, rispondi, comentário, comentários, reactie, reacties, reageer, "
    "komentarz, komentarze, odpowiedz, комментарии, комментарий, ответить, yorum, yorumlar, "
    "yanıtla, コメント, 返信, 评论, 評論, 回复, 回覆, 댓글, 답글, تعليق, تعليقات, التعليقات, رد",
    "byline": "^ by, posted by, written by, submitted by, published by, reported by, author, "
    "authors, contributor, correspondent, staff writer, staff, reporter, editor, edited by, "
    "reviewed by, ^ von, ^ par, ^ por, autor, автор, 作者, 記者, بقلم",
    "posted": "posts, posted, posted on, posted in, posted at, published, published on, updated, "
    "last updated, last modified, last update, created, joined, filed under, member since, "
    "registered",
    "date": "# / #, may, march, # : # am, january, february, april, june, july, august, "
    "september, october, november, december, jan, feb, mar, apr, jun, jul, aug, sep, sept, oct, "
    "nov, dec, monday, tuesday, wednesday, thursday, friday, saturday, sunday, mon, tue, wed, "
    "thu, fri, # # ####, #### # #, # ####, # : #, # : # pm, # am, # pm, ago, yesterday, today, "
    "gmt, utc, uhr, januar, februar, märz, mai, juni, oktober, dezember, janvier, février, mars, "
    "avril, juin, juillet, août, septembre, octobre, décembre, il y a #, hace #, enero, febrero, "
    "marzo, abril, mayo, junio, julio, agosto, septiembre, octubre, noviembre, diciembre, "
    "gennaio, febbraio, aprile, maggio, giugno, luglio, settembre, ottobre, dicembre, # geleden, "
    "января, февраля, марта, апреля, мая, июня, июля, августа, сентября, октября, ноября, "
    "декабря, önce, # 年, # 月, #### 年, # 月 # 日, #### 년, # 일, # 시간, منذ #, 前",
    "legal": "all rights reserved, terms of use, terms of service, terms and conditions, terms & "
    "conditions, privacy policy, ©, copyright, terms, privacy, disclaimer, legal, trademark, "
    "accessibility, impressum, datenschutz, agb, nutzungsbedingungen, alle rechte vorbehalten, "
    "tous droits réservés, mentions légales, confidentialité, conditions d utilisation, todos los "
    "derechos reservados, derechos reservados, aviso legal, política de privacidad, privacidad, "
    "tutti i diritti riservati, note legali, todos os direitos reservados, política de "
    "privacidade, termos de uso, alle rechten voorbehouden, algemene voorwaarden, wszelkie prawa "
    "zastrzeżone, regulamin, polityka prywatności, все права защищены, политика "
    "конфиденциальности, tüm hakları saklıdır, gizlilik, プライバシー, 利用規約, 版权所有, "
    "版權所有, 隐私, 隱私, 저작권, 개인정보처리방침, 이용약관, جميع الحقوق محفوظة, سياسة "
    "الخصوصية, شروط الاستخدام",
    "consent": "we use cookies, cookie, cookies, consent, accept, accept all, reject all, i "
    "agree, preferences, gdpr, enable javascript, your browser, akzeptieren, ablehnen, zustimmen, "
    "einwilligung, accepter, consentement, aceptar, accetta, aceitar, accepteren, zgoda, "
    "согласие, принять, файлы cookie, çerez, kabul et, クッキー, 同意する, 同意, 쿠키, 동의, أوافق",
    "contact": "contact, contact us, phone, telephone, tel, fax, toll free, mailto, p o box, po "
    "box, feedback, webmaster, kontakt, contacto, контакты, お問い合わせ, 联系我们, اتصل بنا",
    "account": "login, signin, signup, log in, log out, logout, log on, sign in, sign up, sign "
    "out, register, registration, my account, account, create an account, password, forgot "
    "password, username, user name, join, join now, subscribe, subscription, unsubscribe, "
    "newsletter, newsletters, subscribe to, join us, anmelden, registrieren, abonnieren, "
    "passwort, connexion, se connecter, inscription, s inscrire, s abonner, mot de passe, iniciar "
    "sesión, registrarse, suscribirse, accedi, registrati, iscriviti, entrar, inloggen, "
    "aanmelden, nieuwsbrief, wachtwoord, zaloguj, zarejestruj, войти, вход, регистрация, "
    "подписаться, пароль, giriş, üye ol, abone ol, ログイン, 新規登録, 会員登録, 登录, 登入, "
    "登錄, 注册, 註冊, 订阅, 로그인, 회원가입, 구독, تسجيل الدخول, تسجيل, اشترك",
    "search": "search, ^ find, ^ go ^, filter, filters, sort by, sort, select, choose, suche, "
    "suchen, rechercher, recherche, buscar, búsqueda, cerca, ricerca, pesquisar, busca, zoeken, "
    "szukaj, wyszukaj, поиск, найти, искать, ara ^, arama, 検索, 搜索, 搜尋, 검색, بحث, ابحث",
    "advertisement": "advertisement, advertise, advertising, ad, ads, sponsored, sponsor, "
    "sponsors, promoted, promotion, special offer, special offers, ad choices, adchoices, "
    "partner, partners, affiliate, anzeige, werbung, publicité, annonce, publicidad, anuncio, "
    "pubblicità, publicidade, anúncio, advertentie, reklama, реклама, reklam, 広告, 广告, 廣告, "
    "광고, إعلان, إعلانات",
    "related": "related, see also, also see, you may also like, you might also like, also on, "
    "recommended, popular, most read, most viewed, trending, top stories, latest, recent, "
    "featured, editor s picks, in this section, more from, more in, more on, more stories, "
    "external links, ähnliche, auch interessant, meistgelesen, beliebt, articles similaires, à "
    "lire aussi, les plus lus, relacionados, lo más leído, leggi anche, più letti, leia também, "
    "mais lidas, lees ook, zobacz także, zobacz też, popularne, похожие, читайте также, "
    "популярное, ilgili, en çok okunan, 関連, おすすめ, ランキング, 相关, 推荐, 热门, 관련, 인기, "
    "추천, ذات صلة, الأكثر قراءة, اقرأ أيضا",
    "topic": "archive, archives, category, categories, tag, tags, tagged, topics, sections, "
    "section, blog, forum, news, sports, sport, business, entertainment, lifestyle, opinion, "
    "politics, weather, travel, technology, health, links, resources, events, calendar, jobs, "
    "careers, videos, photos, products, services, support, press, kategorien, catégories, "
    "categorías, категории, カテゴリー, 分类, 标签",
    "shop": "our price, list price, buy, buy now, add to cart, add to basket, add to bag, add to "
    "wishlist, wishlist, cart, shopping cart, basket, checkout, shipping, free shipping, in "
    "stock, out of stock, discount, coupon, order now, quantity, qty, sku, delivery, shop, "
    "warenkorb, panier, carrito, carrello, корзина, купить, カート, 购物车",
    "credit": "photo, photo by, photos by, image, images, picture, credit, photo credit, image "
    "credit, photograph, getty, reuters, associated press, ap photo, ap, afp, "
    "shutterstock, courtesy of, courtesy, enlarge, click to enlarge, caption, foto, quelle, фото, "
    "写真, صورة",
    "machine": "powered by, hosted by, designed by, design by, site by, website by, web design, "
    "developed by, theme by, built with, created with, generated by, valid xhtml, wordpress, "
    "blogger, movable type, drupal, vbulletin, phpbb, syndicate, visitors, counter, best viewed, "
    "loading, please wait, submit, cancel, close, close this window, reset, ^ ok ^",
    "self": "i, i m, i ve, my, me, you, your, we, our, us, you re",
    "speech": "said, says, told, asked, according to, he said, she said, added, explained, wrote, "
    '“, ”, ", „, say, think, believe',
    "opening": "^ the, ^ a, ^ an, ^ in, ^ it, ^ this, ^ there, ^ when, ^ if, ^ as, ^ for, ^ at, ^ "
    "on, ^ he, ^ she, ^ they, ^ but, ^ and, ^ so, ^ after, ^ while, ^ one, ^ that, ^ these, ^ "
    "although, ^ however, ^ since, ^ with, ^ to, ^ not",
    "question": "?, ？, ¿, ؟",
}

PHRASES = FeatureSet("phrases", 1, tuple(PATTERNS))


class _Trie(NamedTuple):
    """All phrases, as steps from state to state; 0 is the root, k others."""

    number: dict[str, int]  # of each token of a text; 0 for those that no phrase has
    size: int  # one more than the highest number
    key: Int64  # [k] state * size + number of the step that leads to state 1, 2, ...; rising
    first: Int64  # [size] the state that a token of each number leads to from the root, 0 for none
    columns: Bool  # [k + 1, c] of which columns a phrase ends in each state
    ends: Bool  # [k + 1] whether any does
    goes_on: Bool  # [k + 1] whether a longer one passes it


def phrase_features(page: Page) -> Float32:
    """[b, len(PHRASES)] share of a block's words, from 0 to 1, that stand in a column's phrases.

    Of a long block only the start and the end are looked at; all of its words count.
    """
    out = np.zeros((len(page), len(PHRASES)), np.float32)
    if not len(page):
        return out
    trie = _trie()
    tokens = page_tokens(page.text)
    token = np.fromiter(map(trie.number.get, tokens, repeat(0)), np.int64, len(tokens))  # [t]
    inner = token != trie.number[EDGE]
    before = np.cumsum(inner)  # [t]
    block = np.cumsum(~inner) - 1  # [t]
    for start, last, state in _walks(trie, token):
        ends = np.flatnonzero(trie.ends[state])
        start, last, state = start[ends], last[ends], state[ends]
        phrase, column = np.nonzero(trie.columns[state])
        covered = before[last] - before[start] + inner[start]
        np.add.at(out, (block[start[phrase]], column), covered[phrase])
    length = np.fromiter(map(len, page.text), np.int64, len(page))
    per_seen = np.where(length > LONG, length / (HEAD + TAIL), 1)
    words = np.bincount(block[inner], minlength=len(page)) * per_seen
    out /= np.maximum(words, 1)[:, None]
    return np.minimum(out, 1)


def _walks(trie: _Trie, token: Int64) -> Iterator[tuple[Int64, Int64, Int64]]:
    """First token, last token, state of every walk down the trie; longer by one token each time."""
    start = last = np.flatnonzero(trie.first[token])
    state = trie.first[token[start]]
    while len(start):
        yield start, last, state
        on = (last + 1 < len(token)) & trie.goes_on[state]
        start, last = start[on], last[on] + 1
        key = state[on] * trie.size + token[last]
        found = np.searchsorted(trie.key, key)
        on = trie.key[np.minimum(found, len(trie.key) - 1)] == key
        start, last, state = start[on], last[on], found[on] + 1


@cache
def _trie() -> _Trie:
    rows = [
        (column, phrase_tokens(phrase))
        for column, phrases in enumerate(PATTERNS.values())
        for phrase in phrases.split(", ")
    ]
    known = {token: i for i, token in enumerate(sorted({t for _, r in rows for t in r}), start=1)}
    numbered = [(column, tuple(known[token] for token in row)) for column, row in rows]
    prefixes = {row[:end] for _, row in numbered for end in range(1, len(row) + 1)}
    # By length, then by the numbers: the keys of the steps to them then rise.
    state = {(): 0} | {
        row: i for i, row in enumerate(sorted(prefixes, key=lambda row: (len(row), row)), start=1)
    }
    size = len(known) + 1
    key = np.array([state[row[:-1]] * size + row[-1] for row in state if row], np.int64)
    columns = np.zeros((len(state), len(PATTERNS)), bool)
    for column, row in numbered:
        columns[state[row], column] = True
    number = known | {f"{n:0{width}}": known["#"] for n in range(100) for width in (1, 2)}
    number |= {str(n): known["####"] for n in range(1900, 2100)}
    first = np.zeros(size, np.int64)
    first[key[key < size]] = np.flatnonzero(key < size) + 1
    goes_on = np.zeros(len(state), bool)
    goes_on[key // size] = True
    return _Trie(number, size, key, first, columns, np.asarray(columns.any(1)), goes_on)
