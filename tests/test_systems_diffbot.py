from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import parse_qs, quote, urlsplit

import pytest

from pagesight.app.systems.diffbot import ADDRESS, TOKEN, Diffbot, Limits
from pagesight.app.systems.protocol import StudyPage
from pagesight.render.errors import PagesightError

SECRET = "5ecre7+token/of mine"
QUICK = Limits(interval=0, pause=0.01, timeout=5)
PAGE = StudyPage("1", "https://site.example/a?b=c&d", "<p>Größe und Maß, read by Diffbot.</p>")


@dataclass
class Answer:
    body: object
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    content_type: str = "application/json;charset=utf-8"
    delay: float = 0.0


def article(*texts: str) -> Answer:
    """As documented for the Article API."""
    objects = [{"type": "article", "title": "A page", "text": text} for text in texts]
    return Answer({"request": {"api": "article", "version": 3}, "objects": objects})


def error(code: int, reason: str, **headers: str) -> Answer:
    """As documented: the code again in the body, and a sentence."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Answer({"errorCode": code, "error": reason}, code, named)


@dataclass
class Call:
    path: str
    query: dict[str, list[str]]
    content_type: str
    body: bytes
    at: float


class Service:
    """Answers as planned, one call after the other; the last plan holds for all calls after it."""

    def __init__(self) -> None:
        self.plan: list[Answer] = []
        self.calls: list[Call] = []
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._http.server_port}"
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._http.shutdown()
        self._thread.join()
        self._http.server_close()

    def _answer(self, call: Call) -> Answer:
        self.calls.append(call)
        if call.query.get("token") != [SECRET]:
            return error(401, "Not authorized API token.")
        return self.plan.pop(0) if len(self.plan) > 1 else self.plan[0]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        service = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                address = urlsplit(self.path)
                answer = service._answer(
                    Call(
                        address.path,
                        parse_qs(address.query),
                        self.headers["Content-Type"],
                        self.rfile.read(int(self.headers["Content-Length"])),
                        time.monotonic(),
                    )
                )
                time.sleep(answer.delay)
                raw = isinstance(answer.body, bytes)
                body = answer.body if raw else json.dumps(answer.body).encode()
                try:
                    self.send_response(answer.status)
                    self.send_header("Content-Type", answer.content_type)
                    self.send_header("Content-Length", str(len(body)))
                    for name, value in answer.headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(body)
                except OSError:
                    return

            def log_message(self, *_: object) -> None:
                return

        return Handler


@pytest.fixture
def service(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    made = Service()
    monkeypatch.setenv(ADDRESS, made.url)
    monkeypatch.setenv(TOKEN, SECRET)
    yield made
    made.close()


def files(cache: Path) -> list[Path]:
    return sorted((cache / "diffbot").glob("*"))


def test_sends_the_page_itself_and_gives_the_text(service: Service, tmp_path: Path) -> None:
    service.plan = [article("The text.\nMore of it.", "Not this.")]
    assert Diffbot(QUICK, tmp_path).extract(PAGE) == "The text.\nMore of it."
    (call,) = service.calls
    assert call.path == "/v3/article"
    assert call.query["url"] == [PAGE.url]
    assert call.query["paging"] == ["false"]
    assert call.content_type == "text/html; charset=utf-8"
    assert call.body.decode() == PAGE.html


def test_a_page_without_an_address_is_sent_with_a_made_up_one(
    service: Service, tmp_path: Path
) -> None:
    service.plan = [article("text")]
    assert Diffbot(QUICK, tmp_path).extract(StudyPage("1", "", "<p>x")) == "text"
    assert service.calls[0].query["url"] == ["https://page.invalid/"]


def test_a_blank_page_costs_nothing(service: Service, tmp_path: Path) -> None:
    assert Diffbot(QUICK, tmp_path).extract(StudyPage("1", PAGE.url, " \n")) == ""
    assert not service.calls


@pytest.mark.parametrize(
    "body",
    [
        {"request": {}, "objects": []},
        {"request": {}},
        {"objects": [{"type": "article", "title": "no text"}]},
        {"objects": [{"text": None}]},
        {"objects": "none"},
    ],
)
def test_no_text_is_an_empty_text(service: Service, tmp_path: Path, body: object) -> None:
    service.plan = [Answer(body)]
    system = Diffbot(QUICK, tmp_path)
    assert system.extract(PAGE) == ""
    assert system.extract(PAGE) == ""
    assert len(service.calls) == 1  # it was paid for


def test_an_answer_is_kept_and_needs_no_token_later(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    service.plan = [article("kept \ud800 é")]
    assert Diffbot(QUICK, tmp_path).extract(PAGE) == "kept \ud800 é"
    (path,) = files(tmp_path)
    assert json.loads(path.read_text())["objects"][0]["title"] == "A page"
    monkeypatch.delenv(TOKEN)
    later = Diffbot(QUICK, tmp_path)
    assert later.extract(PAGE) == "kept \ud800 é"
    assert len(service.calls) == 1
    for other in (StudyPage("1", PAGE.url, "<p>b"), StudyPage("1", "http://b.example/", PAGE.html)):
        with pytest.raises(PagesightError, match=TOKEN):
            later.extract(other)


def test_the_cache_is_that_of_the_environment(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAGESIGHT_CACHE", str(tmp_path))
    service.plan = [article("text")]
    Diffbot(QUICK).extract(PAGE)
    assert len(files(tmp_path)) == 1


def test_a_damaged_answer_is_asked_for_again(service: Service, tmp_path: Path) -> None:
    service.plan = [article("first"), article("second")]
    system = Diffbot(QUICK, tmp_path)
    system.extract(PAGE)
    files(tmp_path)[0].write_text('{"objects": [')
    assert system.extract(PAGE) == "second"
    assert system.extract(PAGE) == "second"


@pytest.mark.parametrize("token", [None, "", "  "])
def test_without_token_and_answers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, token: str | None
) -> None:
    monkeypatch.delenv(TOKEN, raising=False)
    if token is not None:
        monkeypatch.setenv(TOKEN, token)
    with pytest.raises(PagesightError, match=f"{TOKEN}.*recorded outputs"):
        Diffbot(QUICK, tmp_path)


def test_a_stray_space_in_the_token_does_not_matter(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN, f" {SECRET}\n")
    service.plan = [article("text")]
    assert Diffbot(QUICK, tmp_path).extract(PAGE) == "text"


def test_a_wrong_token_is_refused_at_once(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(TOKEN, "wrong")
    with pytest.raises(PagesightError, match=r"error 401: Not authorized API token\."):
        Diffbot(QUICK, tmp_path).extract(PAGE)
    assert len(service.calls) == 1
    assert not files(tmp_path)


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (
            error(404, "Could not download page (404)"),
            r"error 404: Could not download page \(404\)",
        ),
        (Answer({"code": 400, "message": "Bad\nrequest"}, 400), "error 400: Bad request"),
        (Answer({"errorCode": 404, "error": "as 200"}), "error 404: as 200"),
        (Answer({"objects": []}, 302, {"Location": "/elsewhere"}), "error 302: Found"),
        (Answer(b"<h1>It works!</h1>", content_type="text/html"), "no JSON object but text/html"),
        (Answer(b""), "status 200, and no JSON object"),
        (Answer([1]), "status 200, and no JSON object"),
    ],
)
def test_what_will_not_pass_is_not_tried_again(
    service: Service, tmp_path: Path, answer: Answer, message: str
) -> None:
    service.plan = [answer]
    with pytest.raises(PagesightError, match=f"diffbot: {message}" if ":" in message else message):
        Diffbot(QUICK, tmp_path).extract(PAGE)
    assert len(service.calls) == 1
    assert not files(tmp_path)


@pytest.mark.parametrize(
    "passing",
    [
        error(500, "Site has received too many requests. Please try again later."),
        error(429, "Site has received too many requests. Please try again later."),
        Answer({"errorCode": 500, "error": "as 200"}),
        Answer(b"<h1>Bad gateway</h1>", 502, content_type="text/html"),
    ],
)
def test_what_may_pass_is_tried_three_times(
    service: Service, tmp_path: Path, passing: Answer
) -> None:
    service.plan = [passing, passing, article("at last")]
    assert Diffbot(QUICK, tmp_path).extract(PAGE) == "at last"
    assert len(service.calls) == 3
    service.plan = [passing]
    with pytest.raises(PagesightError, match="diffbot: "):
        Diffbot(QUICK, tmp_path / "other").extract(PAGE)
    assert len(service.calls) == 6


def test_pauses_double(service: Service, tmp_path: Path) -> None:
    service.plan = [error(500, "busy"), error(500, "busy"), article("text")]
    Diffbot(Limits(interval=0, pause=0.1), tmp_path).extract(PAGE)
    first, second, third = (call.at for call in service.calls)
    assert second - first >= 0.1
    assert third - second >= 0.2


def test_retry_after_is_respected(service: Service, tmp_path: Path) -> None:
    service.plan = [error(429, "wait", Retry_After="1"), article("text")]
    assert Diffbot(QUICK, tmp_path).extract(PAGE) == "text"
    first, second = (call.at for call in service.calls)
    assert second - first >= 1
    # Longer than one is ready to wait: the page is given up, and nothing is sent too early.
    service.plan = [error(429, "Quota Exceeded", Retry_After="86400")]
    with pytest.raises(PagesightError, match="error 429: Quota Exceeded"):
        Diffbot(QUICK, tmp_path / "other").extract(PAGE)
    assert len(service.calls) == 3


def test_retry_after_as_a_date_is_not_understood_but_survived(
    service: Service, tmp_path: Path
) -> None:
    date = "Wed, 21 Oct 2026 07:28:00 GMT"
    service.plan = [error(429, "wait", Retry_After=date), article("text")]
    assert Diffbot(QUICK, tmp_path).extract(PAGE) == "text"


def test_calls_of_all_threads_and_systems_keep_apart(service: Service, tmp_path: Path) -> None:
    service.plan = [article("text")]
    polite = Limits(interval=0.2)
    systems = [Diffbot(polite, tmp_path) for _ in range(2)]
    pages = [StudyPage(str(number), "", f"<p>{number}") for number in range(4)]
    threads = [
        threading.Thread(target=system.extract, args=(page,))
        for system, page in zip(systems * 2, pages, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    times = sorted(call.at for call in service.calls)
    assert len(times) == 4
    # Between a call's leave and its arrival lies some time: over the three gaps it evens out.
    assert times[-1] - times[0] >= 3 * 0.2 - 0.1


def test_what_is_kept_is_read_without_a_wait(service: Service, tmp_path: Path) -> None:
    service.plan = [article("text")]
    Diffbot(QUICK, tmp_path).extract(PAGE)
    start = time.monotonic()
    Diffbot(Limits(interval=60), tmp_path).extract(PAGE)
    assert time.monotonic() - start < 5


def test_no_answer_in_time(service: Service, tmp_path: Path) -> None:
    service.plan = [Answer({}, delay=1.0)]
    with pytest.raises(PagesightError, match=r"diffbot: no answer within 0\.1 s"):
        Diffbot(Limits(interval=0, timeout=0.1), tmp_path).extract(PAGE)
    assert len(service.calls) == 1


@pytest.mark.parametrize("address", ["http://127.0.0.1:9", "no address", "http://[", "ftp://x"])
def test_no_service_there(
    service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, address: str
) -> None:
    monkeypatch.setenv(ADDRESS, address)
    with pytest.raises(PagesightError, match="diffbot: no answer: "):
        Diffbot(QUICK, tmp_path).extract(PAGE)


def test_the_token_is_kept_secret(
    service: Service,
    tmp_path: Path,
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    said: list[str] = []
    # A service that repeats the token in all that it says.
    repeating = Answer({"objects": [{"text": "text"}], "request": {"token": SECRET}})
    service.plan = [error(500, f"no: {SECRET}"), repeating]
    Diffbot(QUICK, tmp_path).extract(PAGE)
    said += [path.read_text() for path in files(tmp_path)]
    for answer in (error(404, f"no: {SECRET} {quote(SECRET, safe='')}"), Answer(b"", delay=0.3)):
        service.plan = [answer]
        with pytest.raises(PagesightError) as caught:
            Diffbot(Limits(interval=0, timeout=0.2), tmp_path / "other").extract(PAGE)
        said.append(str(caught.value))
    # httpx reports addresses, and httpcore what it sends.
    logging.getLogger("httpx").info("still heard")
    assert "still heard" in caplog.text
    said.append(caplog.text)
    assert len(said) == 4
    for text in said:
        assert "5ecre7" not in text, text
    assert "***" in said[0]
