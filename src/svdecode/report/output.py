"""A folder for results: they appear whole, all of them together, or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class Output:
    """Results on their way into a folder.

    Parameters
    ----------
    folder : path
        Where they go.
    argument : str, default "out"
        What messages call the folder.

    See Also
    --------
    output_folder : Makes one, and finishes it.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from svdecode.report import output_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with output_folder(Path(folder) / "results") as output:
    ...         output.write("report.html", "<!DOCTYPE html>")
    ...     (Path(folder) / "results" / "report.html").read_text()
    '<!DOCTYPE html>'
    """

    def __init__(self, folder: Path, argument: str = "out") -> None:
        self.folder = folder
        self.argument = argument
        self._staged: dict[Path, Path] = {}
        self._made: list[Path] = []

    def open(self) -> None:
        """Make the folder if it is not there, and see whether it can be written to."""
        with self._trouble_named():
            self.folder.mkdir(parents=True, exist_ok=True)
            probe = self.folder / f".{os.getpid()}.part"
            probe.touch()
            probe.unlink()

    def write(self, name: str, content: str | bytes) -> None:
        """Write a file beside its final place.

        Parameters
        ----------
        name : str
            The file's name in the folder, or in a folder in it ("maps/face.nii.gz").
        content : str or bytes
            What it holds.
        """
        final = self.folder / name
        with self._trouble_named():
            if final.is_dir():
                raise IsADirectoryError(f"{name} in it is a folder")
            beside = final.with_name(f".{final.name}.{os.getpid()}.part")
            self._made.extend(_missing(final.parent))
            final.parent.mkdir(exist_ok=True)
            self._staged[final] = beside
            beside.write_bytes(content.encode("utf-8") if isinstance(content, str) else content)

    def finish(self) -> None:
        """Put every file into its place."""
        with self._trouble_named():
            for final, beside in self._staged.items():
                beside.replace(final)

    def abandon(self) -> None:
        """Remove what was written beside the final places."""
        for beside in self._staged.values():
            beside.unlink(missing_ok=True)
        for folder in self._made:
            if folder.is_dir() and not any(folder.iterdir()):
                folder.rmdir()

    @contextmanager
    def _trouble_named(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            why = error.strerror or str(error)
            raise ValueError(
                f"{self.argument}: found {self.folder} ({why}), expected a folder that can be written to"
            ) from error


@contextmanager
def output_folder(path: str | os.PathLike[str], argument: str = "out") -> Iterator[Output]:
    """Open a folder for results, made if it is not there.

    It is tried at once, so that nobody computes for hours and then cannot save. If the block fails or
    is interrupted, the folder is as it was before.

    Parameters
    ----------
    path : path
        The folder.
    argument : str, default "out"
        What messages call it.

    Yields
    ------
    Output
        Takes the files; they are put into place when the block ends.

    Raises
    ------
    ValueError
        If the folder cannot be made or written to.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from svdecode.report import output_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with output_folder(Path(folder) / "results") as output:
    ...         output.write("results.csv", "a,b")
    ...     [path.name for path in (Path(folder) / "results").iterdir()]
    ['results.csv']
    """
    output = Output(Path(path), argument)
    made = _missing(output.folder)
    done = False
    try:
        output.open()
        yield output
        output.finish()
        done = True
    finally:
        if not done:
            output.abandon()
            for folder in made:
                if folder.is_dir() and not any(folder.iterdir()):
                    folder.rmdir()


def _missing(folder: Path) -> list[Path]:
    """The folder and its parents that are not there yet, deepest first."""
    return [path for path in (folder, *folder.parents) if not os.path.lexists(path)]
