"""The command line: what each subcommand takes. What it does stands in the modules beside."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, NoReturn

import typer

from .. import __version__
from ..render.errors import PagesightError
from ..render.settings import DEFAULT_SECONDS

app = typer.Typer(
    name="pagesight",
    help="The main content of any web page, found the way a person sees it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

SOURCES = "A URL, a file, a folder of pages, or - for standard input."
Source = Annotated[str, typer.Argument(help="A URL, a file, or - for standard input.")]
Render = Annotated[bool, typer.Option(help="Lay the page out in a browser.")]
Policy = Annotated[str, typer.Option(help="What counts as main content: web or cleaneval.")]
ModelPath = Annotated[str | None, typer.Option("--model", help="A model of your own: its .onnx.")]
BaseUrl = Annotated[str, typer.Option("--url", help="Where stored HTML came from.")]
Timeout = Annotated[float, typer.Option(min=0.1, help="Seconds for each page.")]
Private = Annotated[bool, typer.Option("--allow-private", help="Allow loopback and private hosts.")]
DatasetName = Annotated[str, typer.Option(help="cleaneval, wcxb, aeb, or a folder of your own.")]
Data = Annotated[Path | None, typer.Option(help="Where the data set lies; else PAGESIGHT_DATA.")]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first pages.")]
FROM_STORE = "Use the renderings that `prepare` stored."


@app.command()
def extract(
    sources: Annotated[list[str] | None, typer.Argument(help=SOURCES)] = None,
    format: Annotated[
        str, typer.Option("-f", "--format", help="text, markdown, html or json.")
    ] = "text",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="File to write.")] = None,
    input_file: Annotated[
        Path | None, typer.Option("-i", "--input-file", help="A file of sources, one a line.")
    ] = None,
    input_dir: Annotated[Path | None, typer.Option(help="A folder of pages.")] = None,
    render: Render = True,
    policy: Policy = "web",
    precision: Annotated[bool, typer.Option("--precision", help="Rather miss than add.")] = False,
    recall: Annotated[bool, typer.Option("--recall", help="Rather add than miss.")] = False,
    links: Annotated[bool, typer.Option("--links", help="Keep link targets.")] = False,
    images: Annotated[bool, typer.Option("--images", help="Keep images.")] = False,
    tables: Annotated[bool, typer.Option(help="Keep data tables.")] = True,
    with_metadata: Annotated[
        bool, typer.Option("--with-metadata", help="Title, author, date and more before the text.")
    ] = False,
    url: BaseUrl = "",
    model: ModelPath = None,
    timeout: Timeout = DEFAULT_SECONDS,
    allow_private: Private = False,
) -> None:
    """Extract the main content of pages."""
    from .extraction import FORMATS, Request, extract_all

    if format not in FORMATS:
        _usage(f"--format {format}: there are {', '.join(FORMATS)}")
    if precision and recall:
        _usage("--precision and --recall exclude each other")
    request = Request(
        sources=tuple(sources or ()),
        input_file=input_file,
        input_dir=input_dir,
        url=url,
        format=format,
        with_metadata=with_metadata,
        output=output,
    )
    if request.is_empty():
        _usage("nothing to extract: name a URL, a file, a folder or -")
    favour = "precision" if precision else "recall" if recall else ""
    _check_policy(policy)
    raise typer.Exit(
        extract_all(
            request,
            render=render,
            policy=policy,
            favour=favour,
            links=links,
            images=images,
            tables=tables,
            model=model,
            timeout=timeout,
            allow_private=allow_private,
        )
    )


@app.command()
def explain(
    source: Source,
    output: Annotated[Path, typer.Option("-o", "--output", help="A .html or .png file.")],
    policy: Policy = "web",
    model: ModelPath = None,
    url: BaseUrl = "",
    timeout: Timeout = DEFAULT_SECONDS,
    allow_private: Private = False,
) -> None:
    """Show what was kept and dropped, on the picture of the page."""
    from .extraction import explain_one

    if output.suffix not in {".html", ".png"}:
        _usage(f"--output {output}: a .html or a .png file")
    _check_policy(policy)
    options = {"policy": policy, "model": model, "timeout": timeout}
    explain_one(source, output, url, allow_private=allow_private, **options)


@app.command()
def render(
    source: Source,
    output: Annotated[Path, typer.Option("-o", "--output", help="The snapshot file to write.")],
    url: BaseUrl = "",
    timeout: Timeout = DEFAULT_SECONDS,
    allow_private: Private = False,
) -> None:
    """Save a rendering: `extract` reads it again, offline."""
    from .extraction import render_one

    render_one(source, output, url, timeout=timeout, allow_private=allow_private)


@app.command()
def prepare(
    dataset: DatasetName,
    data: Data = None,
    split: Annotated[str, typer.Option(help="A split of the data set, or all.")] = "all",
    limit: Limit = None,
    tabs: Annotated[int, typer.Option(min=1, help="Pages rendered at a time.")] = 2,
) -> None:
    """Render a data set into the store; call it again to go on."""
    from .training import Selection, prepare_command

    tally = prepare_command(Selection(dataset, data, split, limit), tabs)
    for id, cut in tally.partial.items():
        typer.echo(f"pagesight: {id}: partial: {', '.join(cut)}", err=True)
    for error in tally.failures.values():
        typer.echo(f"pagesight: {error}", err=True)
    typer.echo(", ".join(f"{count} {what}" for what, count in sorted(tally.done.items())))
    raise typer.Exit(1 if tally.failures else 0)


@app.command()
def train(
    dataset: DatasetName,
    output: Annotated[Path, typer.Option("-o", "--output", help="The .onnx file to write.")],
    split: Annotated[str, typer.Option(help="The split whose training pages to use.")],
    data: Data = None,
    seed: Annotated[int, typer.Option(help="The first seed.")] = 0,
    seeds: Annotated[int, typer.Option(min=1, help="How many models; the best is kept.")] = 1,
    steps: Annotated[int, typer.Option(min=1, help="Training steps.")] = 5_000,
    pairwise_weight: Annotated[float, typer.Option(help="Lambda of the chain.")] = 0.1,
    render: Annotated[bool, typer.Option(help=FROM_STORE)] = True,
    recipe: Annotated[
        str, typer.Option(help="pagesight, or web2text: the paper's features and chain.")
    ] = "pagesight",
    device: Annotated[str, typer.Option(help="cpu or cuda.")] = "cpu",
) -> None:
    """Train a model on a data set; call it again after an interrupt to go on."""
    from ..model.predict import RECIPES
    from ..train.fit import FitSettings
    from .training import Selection, train_command

    if recipe not in RECIPES:
        _usage(f"--recipe {recipe}: there are {', '.join(RECIPES)}")
    settings = FitSettings(seed=seed, steps=steps, device=device)
    chosen = Selection(dataset, data, split)
    for card in train_command(chosen, output, seeds, render, settings, recipe, pairwise_weight):
        typer.echo(f"{card.name}: {card.figures}")


@app.command()
def evaluate(
    dataset: DatasetName,
    split: Annotated[str, typer.Option(help="The split whose test pages to use, or all.")] = "all",
    data: Data = None,
    model: Annotated[
        list[str] | None, typer.Option(help="Models to score; else the one of this split.")
    ] = None,
    render: Annotated[bool, typer.Option(help=FROM_STORE)] = False,
    limit: Limit = None,
    json_file: Annotated[Path | None, typer.Option("--json", help="File to write.")] = None,
) -> None:
    """Score a model on the test pages of a split."""
    import json

    from .report import print_evaluations
    from .training import Selection, evaluate_command, summary

    evaluations = evaluate_command(Selection(dataset, data, split, limit), model or [], render)
    if json_file is not None:
        json_file.write_text(json.dumps(summary(evaluations), indent=2) + "\n")
    print_evaluations(evaluations)


@app.command()
def compare(
    dataset: DatasetName,
    data: Data = None,
    split: Annotated[str, typer.Option(help="The split whose test pages to use, or all.")] = "all",
    systems: Annotated[
        str, typer.Option(help="Names with commas between; all for every one. A wrong one lists all.")
    ] = "pagesight,trafilatura,readability-lxml,justext,resiliparse",
    metrics: Annotated[
        str, typer.Option(help="Names with commas between; the first ranks. Else the data set's.")
    ] = "",
    limit: Limit = None,
    workers: Annotated[int, typer.Option(min=1, help="Processes for each system.")] = 1,
    input: Annotated[
        str, typer.Option(help="What systems that read HTML are given: raw or rendered.")
    ] = "raw",
    learn_from: Annotated[
        str, typer.Option(help="DATASET:SPLIT to train systems on that learn; else this split.")
    ] = "",
    retrieval: Annotated[
        bool, typer.Option("--retrieval", help="Also index the texts and search them.")
    ] = False,
    json_file: Annotated[Path | None, typer.Option("--json", help="File to write.")] = None,
    report: Annotated[Path | None, typer.Option(help="Folder for the HTML report.")] = None,
) -> None:
    """Compare systems on the same pages; call it again after an interrupt to go on."""
    from .comparison import compare_command
    from .study.study import INPUTS, Request
    from .systems.registry import expand

    if input not in INPUTS:
        _usage(f"--input {input}: there are {', '.join(INPUTS)}")
    names = tuple(expand(systems))
    if not names:
        _usage("--systems: name one at least")
    if retrieval and "all-text" not in names:
        names += ("all-text",)
    chosen = tuple(part.strip() for part in metrics.split(",") if part.strip())
    request = Request(dataset, data, split, names, limit, workers, input, learn_from)
    compare_command(request, chosen, retrieval, json_file, report)


@app.command()
def setup() -> None:
    """Get a browser, and say which."""
    from .setup import setup as get_browser

    get_browser()


@app.command()
def doctor() -> None:
    """Check the whole installation, offline."""
    from .doctor import run_checks
    from .report import print_checks

    checks = run_checks()
    print_checks(checks)
    raise typer.Exit(0 if all(check.ok for check in checks) else 1)


@app.callback(invoke_without_command=True)
def _root(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"pagesight {__version__}")
        raise typer.Exit


def _check_policy(policy: str) -> None:
    from ..model.predict import POLICIES

    if policy not in POLICIES:
        _usage(f"--policy {policy}: there are {', '.join(POLICIES)}")


def _usage(message: str) -> NoReturn:
    typer.echo(f"pagesight: {message}", err=True)
    raise typer.Exit(2)


def main() -> None:
    """Run the command line; what goes wrong on purpose is one line on stderr and exit code 1."""
    try:
        app()
    except PagesightError as error:
        typer.echo(f"pagesight: {error}", err=True)
        raise SystemExit(1) from None
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        typer.echo(f"pagesight: {where}{error.strerror or error}", err=True)
        raise SystemExit(1) from None
    except ModuleNotFoundError as error:
        extra = "compare" if sys.argv[1:2] == ["compare"] else "train"
        message = f"{error.name} is not installed: pip install 'pagesight[{extra}]'"
        typer.echo(f"pagesight: {message}", err=True)
        raise SystemExit(1) from None
    except KeyboardInterrupt:
        raise SystemExit(130) from None
