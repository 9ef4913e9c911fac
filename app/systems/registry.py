"""The names of systems, and how each is made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module

from ...data.datasets import Aeb, Dataset
from ...model.card import DEFAULT, packaged, read_card
from ...render.errors import PagesightError, StudyError
from ..code_digest import code_digest
from .protocol import System

ALL = "all"

# name -> (module of this folder, class, its arguments)
_OWN: dict[str, tuple[str, str, dict[str, object]]] = {
    "all-text": ("ours", "AllText", {}),
    "text-density": ("text_density", "TextDensity", {}),
    "text-density-mean": ("text_density", "TextDensity", {"mean": True}),
    "threshold": ("threshold", "Threshold", {}),
    **{
        f"rprop-{number}": ("rprop", "RpropNetwork", {"feature_set": number})
        for number in range(1, 7)
    },
    "adaboost": ("boosting", "AdaBoost", {}),
    "row-blocks": ("row_blocks", "RowBlocks", {}),
    "habr": ("habr", "Habr", {}),
    "habr-length": ("habr", "Habr", {"length_only": True}),
    "site-comparison": ("sitewise", "SiteComparison", {}),
    "block-frequency": ("block_frequency", "BlockFrequency", {}),
    "bte": ("bte", "Bte", {}),
    "block-fusion": ("densitometric", "BlockFusion", {}),
    "unfluff": ("unfluff", "Unfluff", {}),
    "victor": ("victor", "Victor", {}),
    "cetd": ("cetd", "Cetd", {}),
    "ccb": ("blurring", "CodeBlurring", {}),
    "accb": ("blurring", "CodeBlurring", {"links": False}),
    "tccb": ("blurring", "CodeBlurring", {"tokens": True}),
    "crunch": ("crunch", "Crunch", {}),
}
_PEERS = (
    "trafilatura trafilatura-recall trafilatura-precision trafilatura-fast readability-lxml "
    "justext boilerpipe-numwords boilerpipe-default boilerpipe-article boilerpipe-largest "
    "boilerpipe-article-sentences boilerpipe-canola boilerpipe-everything resiliparse newspaper4k "
    "goose3 inscriptis html-text"
).split()
_LIVE: dict[str, tuple[str, str, dict[str, object]]] = {"diffbot": ("diffbot", "Diffbot", {})}
# Of the systems that are written here.
_SHARED_CODE = (
    *(f"app/systems/{name}.py" for name in ("blocks", "dom", "lines", "texts")),
    *("layout/cdom.py", "layout/features/stopwords.py", "render/static.py", "train/align.py"),
)
_RENDERED, _BY_SITE = "-rendered", "-site"
_RECORDED = "recorded:"


@dataclass(frozen=True, slots=True)
class Spec:
    """How a system is made, in whatever process.

    module: its full name. code: what of our own code decides the outputs, see `code_digest`.
    """

    name: str
    module: str
    maker: str
    arguments: Mapping[str, object]
    code: tuple[str, ...] = ()

    def make(self) -> System:
        """Raises PagesightError, where a package is missing as well."""
        try:
            maker = getattr(import_module(self.module), self.maker)
            system: System = maker(**self.arguments)
        except ModuleNotFoundError as error:
            raise StudyError(f"{self.name}: {missing_package(error)}") from error
        except PagesightError:
            raise
        except Exception as error:  # packages fail in many ways where a part of them is missing
            reason = " ".join(str(error).split())
            raise StudyError(f"{self.name}: {type(error).__name__}: {reason}") from error
        if self.code:
            system.version += f"+{code_digest(*self.code)}"
        return system


def missing_package(error: ModuleNotFoundError) -> str:
    """What to do about it."""
    return f"{error.name} is not installed: pip install 'pagesight[compare]'"


def names() -> tuple[str, ...]:
    """Every system that runs by itself, `all` of them, in the order of the tables."""
    ours = ("pagesight", "pagesight-site", "pagesight-rendered", "web2text")
    return (*ours, *_OWN, *_PEERS)


def find(name: str, dataset: Dataset, split: str) -> Spec:
    """The system of a name, fit to be tested on a split.

    `pagesight`, `pagesight-site`, `pagesight-rendered` and `web2text` take the packaged model that
    was trained for the split; `pagesight:MODEL` takes a policy of the default model, a packaged
    model, or the path of one's own.
    `recorded:FILE` are outputs in a file, `recorded:NAME` those that AEB has of a system.
    Raises StudyError for an unknown name, and for a model that was trained on pages of the test.
    """
    if name in _OWN:
        module, maker, arguments = _OWN[name]
        code = () if module == "ours" else (f"app/systems/{module}.py", *_SHARED_CODE)
        return Spec(name, f"{__package__}.{module}", maker, arguments, code)
    if name in _LIVE:
        return _own(name, *_LIVE[name])
    if name in _PEERS:
        return _own(name, "peers", "Peer", {"name": name})
    if name.startswith(_RECORDED):
        path = name.removeprefix(_RECORDED)
        if isinstance(dataset, Aeb) and path in dataset.systems:
            path = str(dataset.root / "output" / f"{path}.json")
        return _own(name, "recorded", "Recorded", {"name": name, "path": path})
    family, _, model = name.partition(":")
    recipe = family.removesuffix(_RENDERED).removesuffix(_BY_SITE)
    if recipe not in ("pagesight", "web2text"):
        raise StudyError(f"{name}: no such system; there are {', '.join((*names(), *_LIVE))}")
    model, policy = _chosen(model) if model else (_model_for(recipe, dataset.name, split), "")
    card = read_card(model)
    if dataset.name != "folder" and card.knows(dataset.name, split):
        splits = " or ".join({part for name, part in card.sources() if name == dataset.name})
        raise StudyError(
            f"{name}: the model {card.name} was trained on pages of {dataset.name}, for the split "
            f"{splits!r}: it may know these pages; choose --split {splits}"
        )
    arguments = {
        **{"name": name, "model": model, "policy": policy},
        **{"rendered": family.endswith(_RENDERED), "by_site": family.endswith(_BY_SITE)},
    }
    return _own(name, "ours", "Pagesight", arguments)


def _chosen(asked: str) -> tuple[str, str]:
    """A model, and a policy of it: the default model's policies go by their names alone."""
    return (DEFAULT, asked) if asked in read_card(DEFAULT).policies else (asked, "")


def _own(name: str, module: str, maker: str, arguments: Mapping[str, object]) -> Spec:
    return Spec(name, f"{__package__}.{module}", maker, arguments)


def _model_for(recipe: str, dataset: str, split: str) -> str:
    """The packaged model for a split, or the one that saw the most pages and none of these."""
    cards = {name: card for name in packaged() if (card := read_card(name)).recipe == recipe}
    unknown = [name for name, card in cards.items() if not card.knows(dataset, split)]
    fitting = [name for name in unknown if cards[name].home == (dataset, split)]
    return max(
        fitting or unknown or cards, key=lambda name: int(cards[name].figures["training_pages"])
    )


def expand(asked: str) -> Iterator[str]:
    """The names in a comma-separated list, `all` for every one, each once."""
    listed = (part.strip() for part in asked.split(","))
    yield from dict.fromkeys(
        name for part in listed if part for name in (names() if part == ALL else (part,))
    )
