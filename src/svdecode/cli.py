"""The command `svdecode`: what users type, handed on to the rooms that do it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
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


class StoppedError(Exception):
    """Ctrl-C, with what was kept."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command, and turn what users can do wrong into one line and an exit code."""
    try:
        code = app(args=arguments, prog_name="svdecode", standalone_mode=False)
        sys.stdout.flush()
    except UsageError as error:
        return _complain(_usage(error), BAD_INPUT)
    except StoppedError as stopped:
        return _complain(str(stopped), INTERRUPTED)
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

    Start with `svdecode demo`: it takes less than a minute and makes a page that explains itself.
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
        Path,
        typer.Option("--out", help="Folder for the results; made if it is not there, else gone on with."),
    ] = Path("svdecode-demo"),
    jobs: Annotated[int, typer.Option("--jobs", help="Workers.")] = 2,
) -> None:
    """Decode the embedded data: eight categories of pictures, 12 runs; a page, tables and maps.

    It is `svdecode decode` on images that come with the package. The page opens in any browser and needs no
    network.
    """
    from svdecode.decoding.command import run
    from svdecode.decoding.demo import demo_request

    with _stopped(out):
        run(demo_request(), out, resume=True, n_jobs=jobs)
    typer.echo(str(out / "report.html"))


def _option(name: str, text: str, **more: Any) -> Any:
    return typer.Option(name, help=text, show_default=False, **more)


@app.command("decode")
def decode_images(
    images: Annotated[
        list[str] | None,
        typer.Argument(help="4-D or many 3-D NIfTI, a table of paths, .npy, .npz, .csv, or a BIDS folder."),
    ] = None,
    labels: Annotated[str | None, _option("--labels", "Table with a row a volume (TSV or CSV).")] = None,
    out: Annotated[Path | None, _option("--out", "Folder for the results; made if it is not there.")] = None,
    label_column: Annotated[str | None, _option("--label-column", "Column of the labels.")] = None,
    runs: Annotated[str | None, _option("--runs", "Column of the runs; none for no runs.")] = None,
    subjects: Annotated[str | None, _option("--subjects", "Column of the subjects; or none.")] = None,
    drop: Annotated[
        list[str] | None, _option("--drop", "Label that is no sample (rest). Repeatable.")
    ] = None,
    classes: Annotated[
        list[str] | None, _option("--class", "Class to keep. Repeatable; default all.")
    ] = None,
    mask: Annotated[str | None, _option("--mask", "Mask or atlas; or background, epi, brain.")] = None,
    region: Annotated[list[str] | None, _option("--region", "Region of the atlas. Repeatable.")] = None,
    events: Annotated[
        list[str] | None, _option("--events", "Table of events, one a run. Repeatable.")
    ] = None,
    t_r: Annotated[float | None, _option("--t-r", "Seconds from volume to volume.")] = None,
    trials: Annotated[
        str | None, _option("--trials", "block_average, least_squares_all, …_separate.")
    ] = None,
    lag: Annotated[float | None, _option("--lag", "Seconds from an event to its volumes (5).")] = None,
    average_blocks: Annotated[bool | None, _option("--average-blocks", "Average volumes of a block.")] = None,
    detrend: Annotated[bool | None, _option("--detrend", "Remove the linear trend of each run.")] = None,
    smoothing: Annotated[float | None, _option("--smoothing", "Full width at half maximum in mm.")] = None,
    resample: Annotated[bool | None, _option("--resample", "Resample images to the mask’s grid.")] = None,
    ignore: Annotated[list[str] | None, _option("--ignore", "Column that is no feature. Repeatable.")] = None,
    name: Annotated[str | None, _option("--name", "What to call the data.")] = None,
    anatomy: Annotated[str | None, _option("--anatomy", "Image to draw maps on, on the mask’s grid.")] = None,
    standardize: Annotated[
        str | None, _option("--standardize", "auto, run, subject, training or none.")
    ] = None,
    protocol: Annotated[str | None, _option("--protocol", "Who is tested, e.g. leave_one_run_out.")] = None,
    methods: Annotated[
        str | None, _option("--methods", "Names with commas: svdm,svd_svm,linear_svm.")
    ] = None,
    components: Annotated[str | None, _option("--components", "Numbers with commas: 2,4,8,16,32.")] = None,
    choice: Annotated[
        str | None, _option("--choice", "best, one_standard_error or just_below_perfect.")
    ] = None,
    inner: Annotated[int | None, _option("--inner", "Inner folds to choose parameters in (5).")] = None,
    permutations: Annotated[int | None, _option("--permutations", "Of the labels (99); 0 for none.")] = None,
    permute: Annotated[str | None, _option("--permute", "fixed, or all: choose anew each time.")] = None,
    seed: Annotated[int | None, _option("--seed", "Of what is random (0).")] = None,
    config: Annotated[
        Path | None, _option("--config", "A config.yaml; what is given beside it counts more.")
    ] = None,
    jobs: Annotated[int | None, _option("--jobs", "Workers; by default one for each processor.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with what is in the folder.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only say what would be done.")] = False,
) -> None:
    """Decode labels from images: an accuracy to defend, a comparison, maps, and a page.

    Whatever is not asked for follows from the data: subjects are left out where there are several, else runs.
    """
    from svdecode.decoding.command import merge, preview, run

    given = {
        "images": images, "labels": labels, "label_column": label_column, "runs": runs, "subjects": subjects,
        "drop": drop, "classes": classes, "mask": mask, "region": region, "events": events, "t_r": t_r,
        "trials": trials, "lag": lag, "average_blocks": average_blocks, "detrend": detrend,
        "smoothing_fwhm": smoothing, "resample": resample, "ignore": ignore, "name": name, "anatomy": anatomy,
        "standardize": standardize, "protocol": protocol, "methods": _names(methods),
        "components": _numbers(components), "choice": choice, "inner": inner, "permutations": permutations,
        "permute": permute, "seed": seed,
    }  # fmt: skip
    values = merge(given, config)
    n_jobs = os.cpu_count() if jobs is None else jobs
    if dry_run:
        preview(values, typer.echo, n_jobs)
        return
    if out is None:
        raise ValueError("--out: found none, expected a folder for the results")
    with _stopped(out):
        run(values, out, resume=resume, n_jobs=n_jobs)
    typer.echo(str(out / "report.html"))


def _names(given: str | None) -> list[str] | None:
    return None if given is None else [name.strip() for name in given.split(",") if name.strip()]


def _numbers(given: str | None) -> list[int] | None:
    try:
        return None if given is None else [int(part) for part in given.split(",") if part.strip()]
    except ValueError:
        raise ValueError(f"--components: found {given!r}, expected whole numbers with commas") from None


@contextmanager
def _stopped(out: Path) -> Iterator[None]:
    """Say how to go on."""
    try:
        yield
    except KeyboardInterrupt:
        if not (out / "unfinished.sqlite").exists():
            raise
        kept = f"interrupted; what is done is kept in {out}, the same command with --resume goes on"
        raise StoppedError(kept) from None


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


if __name__ == "__main__":
    sys.exit(main())
