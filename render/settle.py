"""Wait until a page is done: loaded, nothing on its way from the network, the DOM quiet."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from .traffic import Traffic

Evaluate = Callable[[str], Awaitable[Any]]

PAST_LOAD_SECONDS = 3.0
LIVE_QUIET_MS = 100
STORED_QUIET_MS = 25

# A request older than this is taken for one that never ends.
_PATIENCE = 2.0
# Before `load` a slow image or script may still matter.
_LOAD_PATIENCE = 5.0
# Past parsing: a picture that fails and is asked for again and again holds `load` up for ever.
_LOAD_SECONDS = 10.0
_STORED_LOAD_MS = 500
_NAVIGATIONS = 5

# The state is looked at now and then as well: a page that tries to leave while it is loading may
# get there without an event.
_REACHED = """(states => new Promise(done => {
  const look = () => {
    if (!states.includes(document.readyState)) return
    clearInterval(timer)
    done(true)
  }
  const timer = setInterval(look, 100)
  document.addEventListener('readystatechange', look)
  look()
}))"""
_PARSED = f"{_REACHED}(['interactive', 'complete'])"
_LOADED = f"{_REACHED}(['complete'])"

# Attributes are not watched: animated ones would keep a page busy for ever.
_QUIET = """((quiet, most) => new Promise(done => {
  let timer = 0
  const finish = () => {
    observer.disconnect()
    clearTimeout(timer)
    clearTimeout(last)
    done(true)
  }
  const restart = () => { clearTimeout(timer); timer = setTimeout(finish, quiet) }
  const observer = new MutationObserver(restart)
  const last = setTimeout(finish, most)
  observer.observe(document, {subtree: true, childList: true, characterData: true})
  document.fonts.ready.then(restart)
}))"""


class Navigated(Exception):
    """The document that was being waited for is gone; another one takes its place."""


async def settle_stored(evaluate: Evaluate, loads: bool = False) -> None:
    """Wait for a page that can load nothing, or with `loads` only what lies at hand.

    An image that answers its own error by asking again keeps `load` from ever coming.
    """
    seconds = _LOAD_SECONDS if loads else PAST_LOAD_SECONDS
    quiet = _quiet(LIVE_QUIET_MS if loads else STORED_QUIET_MS, PAST_LOAD_SECONDS)
    late = f"new Promise(done => setTimeout(done, {seconds * 1000:.0f}))"
    loaded = f"{_PARSED}.then(() => Promise.race([{_LOADED}, {late}]))"
    await evaluate(f"{loaded}.then(() => {quiet})")


async def settle_live(evaluate: Evaluate, traffic: Traffic) -> None:
    """Wait for a page on the network, and for those that it forwards to by script.

    evaluate: runs an expression in the page's present document; raises Navigated.
    """
    for _ in range(_NAVIGATIONS):
        try:
            await _loaded(evaluate, traffic)
            return await _still(evaluate, traffic)
        except Navigated:
            continue


async def _loaded(evaluate: Evaluate, traffic: Traffic) -> None:
    """Wait for `load`, or for a parsed page of which all that is missing is stuck."""
    await evaluate(_PARSED)
    clock = asyncio.get_running_loop().time
    until = clock() + _LOAD_SECONDS
    loaded = asyncio.ensure_future(evaluate(_LOADED))
    try:
        while not loaded.done() and traffic.busy(_LOAD_PATIENCE) and clock() < until:
            await asyncio.wait({loaded}, timeout=0.1)
        await asyncio.wait({loaded}, timeout=0.1)
        if loaded.done():
            loaded.result()
    finally:
        loaded.cancel()


async def _still(evaluate: Evaluate, traffic: Traffic) -> None:
    clock = asyncio.get_running_loop().time
    until = clock() + PAST_LOAD_SECONDS
    while clock() < until:
        await traffic.idle(_PATIENCE, until)
        started = traffic.started
        await evaluate(_quiet(LIVE_QUIET_MS, until - clock()))
        if started == traffic.started and not traffic.busy(_PATIENCE):
            return


def _quiet(quiet_ms: int, most_seconds: float) -> str:
    return f"{_QUIET}({quiet_ms}, {max(0, round(most_seconds * 1000))})"
