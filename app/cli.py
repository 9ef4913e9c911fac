"""The command line: what each subcommand takes. What it does stands in the modules beside."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from .. import __version__
from ..render.errors import PagesightError
from ..render.settings import DEFAULT_SECONDS
from .cli_datasets import DATASET_COMMANDS, usage

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
Policy = Annotated[
    str,
    typer.Option(help="What counts as main content: web, article, cleaneval, or your model's own."),
]
ModelPath = Annotated[str | None, typer.Option("--model", help="A model of your own: its .onnx.")]
BaseUrl = Annotated[str, typer.Option("--url", help="Where stored HTML came from.")]
Timeout = Annotated[float, typer.Option(min=0.1, help="Seconds for each page.")]
Private = Annotated[bool, typer.Option("--allow-private", help="Allow loopback and private hosts.")]


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
    policy: Policy = "",
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
    vision: Annotated[bool, typer.Option("--vision", help="Let the page's picture count.")] = False,
    site: Annotated[
        bool,
        typer.Option("--site", help="Of one site or a few: what repeats on pages is left out."),
    ] = False,
    timeout: Timeout = DEFAULT_SECONDS,
    allow_private: Private = False,
) -> None:
    """Extract the main content of pages."""
    from .extraction import FORMATS, Request, extract_all

    if format not in FORMATS:
        usage(f"--format {format}: there are {', '.join(FORMATS)}")
    if precision and recall:
        usage("--precision and --recall exclude each other")
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
        usage("nothing to extract: name a URL, a file, a folder or -")
    favour = "precision" if precision else "recall" if recall else ""
    raise typer.Exit(
        extract_all(
            request,
            site=site,
            render=render,
            policy=policy,
            favour=favour,
            links=links,
            images=images,
            tables=tables,
            model=model,
            vision=vision,
            timeout=timeout,
            allow_private=allow_private,
        )
    )


@app.command()
def explain(
    source: Source,
    output: Annotated[Path, typer.Option("-o", "--output", help="A .html or .png file.")],
    policy: Policy = "",
    model: ModelPath = None,
    url: BaseUrl = "",
    timeout: Timeout = DEFAULT_SECONDS,
    allow_private: Private = False,
) -> None:
    """Show what was kept and dropped, on the picture of the page."""
    from .extraction import explain_one

    if output.suffix not in {".html", ".png"}:
        usage(f"--output {output}: a .html or a .png file")
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


for command in DATASET_COMMANDS:
    app.command()(command)


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
