"""The command `svdecode`: what users type, handed on to the rooms that do it."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.table import Table

import svdecode

BAD_INPUT = 2
INTERRUPTED = 130
BROKEN_PIPE = 1  # as rich and typer have it

#: unknown commands and options, missing arguments; where typer keeps these errors changes with its version
UsageError: type[Exception] = typer.BadParameter.__bases__[0]

app = typer.Typer(
    help="Decode from few samples of very many features.",
    add_completion=False,
    pretty_exceptions_enable=False,
)
data_app = typer.Typer(help="Data sets that svdecode knows.")
app.add_typer(data_app, name="data")

DataFolder = Annotated[
    Path | None,
    typer.Option(
        "--data",
        exists=True,
        file_okay=False,
        help="Folder of the sets that are not embedded; by default $SVDECODE_DATA.",
    ),
]
DataName = Annotated[str, typer.Argument(help="A name that `svdecode data list` shows.")]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and turn what users can do wrong into one line and an exit code."""
    try:
        code = app(args=arguments, prog_name="svdecode", standalone_mode=False)
        sys.stdout.flush()
    except UsageError as error:
        return _complain(_usage(error), BAD_INPUT)
    except (typer.Abort, KeyboardInterrupt):
        code = INTERRUPTED
    except BrokenPipeError:
        # whoever read our output has gone; without this Python would complain once more on its way out
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE
    except (ValueError, OSError) as error:
        return _complain(str(error), BAD_INPUT)
    if code == INTERRUPTED:
        return _complain("interrupted", INTERRUPTED)
    return code if isinstance(code, int) else 0


def _complain(message: str, code: int) -> int:
    print(f"svdecode: {' '.join(message.split())}", file=sys.stderr)
    return code


def _usage(error: Exception) -> str:
    message = getattr(error, "format_message", lambda: str(error))()
    command = getattr(getattr(error, "ctx", None), "command_path", "svdecode")
    return f"{message} (see {command} --help)"


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"svdecode {svdecode.__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[  # noqa: ARG001
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Decode from few samples of very many features.

    Start with `svdecode demo`: it takes a few seconds and makes a page that explains itself.
    """
    _help_without_command(context)


@data_app.callback(invoke_without_command=True)
def _data(context: typer.Context) -> None:
    """Data sets that svdecode knows, and where they are."""
    _help_without_command(context)


def _help_without_command(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def demo(
    out: Annotated[
        Path, typer.Option("--out", help="Folder for report.html and results.csv; made if it is not there.")
    ] = Path("svdecode-demo"),
) -> None:
    """Compare GenSVD and SVD on the embedded data: a page to read, and its numbers in a table.

    The page opens in any browser and needs no network. Results already in the folder are replaced.
    """
    from svdecode.datasets import load_haxby2001_slice
    from svdecode.report.demo.analysis import n_steps, run_demo
    from svdecode.report.demo.page import demo_page
    from svdecode.report.output import output_folder

    with output_folder(out, "--out") as output:
        dataset = load_haxby2001_slice()
        with _progress("comparing GenSVD and SVD", n_steps(dataset)) as advance:
            result = run_demo(dataset, advance)
        output.write("report.html", demo_page(result).html())
        output.write("results.csv", result.rows.to_csv(index=False))
    typer.echo(str(out / "report.html"))


@data_app.command("list")
def list_data(data: DataFolder = None) -> None:
    """List the data sets, and which of them are here."""
    from svdecode.datasets import available

    table = Table(box=None, pad_edge=False, header_style="bold")
    for title in ("name", "samples", "features", "here"):
        table.add_column(title, no_wrap=title == "name")
    records = available(data)
    for record in records:
        here = "no" if not record.found else "embedded" if record.where == "embedded" else "yes"
        table.add_row(record.name, record.samples, record.features, here)
    Console(markup=False, highlight=False).print(table)
    typer.echo(f"Sets that are not embedded are looked for in {records[-1].where}.")


@data_app.command("info")
def show_info(name: DataName, data: DataFolder = None) -> None:
    """Tell what a data set is, where it comes from, and how to load it."""
    from svdecode.datasets import info

    typer.echo(info(name, data))


@data_app.command("fetch")
def fetch(name: DataName, data: DataFolder = None) -> None:
    """Tell how to get a data set. Nothing is downloaded: svdecode never uses the network."""
    from svdecode.datasets import available, info

    typer.echo(info(name, data))
    record = next(record for record in available(data) if record.name == name)
    if not record.found:
        raise FileNotFoundError(
            f"{name}: found no {name}.npz in {record.where}, expected it there. svdecode downloads "
            "nothing: get the data from their source, and name the folder by --data or $SVDECODE_DATA"
        )
    typer.echo("Nothing to fetch: it is here.")


@contextmanager
def _progress(what: str, total: int) -> Iterator[Callable[[], None]]:
    """Progress bar with the time left, on a terminal only."""
    console = Console(stderr=True)
    if not console.is_terminal:  # a bar that is disabled prints an empty line with older versions of rich
        yield lambda: None
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task(what, total=total)
        yield lambda: progress.advance(task)


if __name__ == "__main__":
    sys.exit(main())
