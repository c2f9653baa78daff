"""The main job on a real study, from NIfTI files to the page, beside nilearn's Decoder on the same files.

`woo2014_contrasts` (Woo et al. 2014: 30 subjects × 4 conditions, 27942 voxels) is written out as 120
images, a table and a mask. `svdecode decode` gets these files: leave one subject out, four classes, three
methods, weights and numbers of components chosen inside, 99 permutations, maps, the page. nilearn's
`Decoder` (linear SVM, one class against the rest) gets the same files, once for each subject that is left
out, its weight chosen in five inner folds of whole subjects; it makes one method's accuracy, without
numbers of components, permutations, maps or a page. Each runs in a process of its own; wall time, processor
time and the peak memory of all its processes together are taken. Required of svdecode: at most 5 minutes on
2 cores, at most 1.5 GB.

    python benchmarks/bench_decode.py [--keep FOLDER] [--without-nilearn]
"""

from __future__ import annotations

import argparse
import contextlib
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import nibabel
import pandas as pd

from svdecode.datasets.catalog import load

PEER = """
import sys
import numpy as np, pandas as pd
from nilearn.decoding import Decoder
from nilearn.maskers import NiftiMasker
from sklearn.model_selection import LeaveOneGroupOut, GroupKFold
table = pd.read_csv("labels.tsv", sep="\\t")
images, y, subjects = table["image"].to_numpy(), table["condition"].to_numpy(), table["subject"].to_numpy()
right = 0
for train, test in LeaveOneGroupOut().split(y, y, subjects):
    decoder = Decoder("svc", mask="mask.nii.gz", standardize="zscore_sample", cv=GroupKFold(5),
                      screening_percentile=100, scoring="accuracy", n_jobs=2)
    decoder.fit(list(images[train]), y[train], groups=subjects[train])
    right += (decoder.predict(list(images[test])) == y[test]).sum()
print("accuracy", right / len(y))
"""


def write_study(folder: Path) -> None:
    """Images, table and mask, as a user has them."""
    data = load("woo2014_contrasts")
    rows = []
    for i in range(data.n_samples):
        name = f"sub-{data.subjects[i]:02d}_{data.y[i]}.nii.gz"
        nibabel.save(data.image(data.X[i]), folder / name)
        rows.append({"image": name, "condition": data.y[i], "subject": data.subjects[i]})
    pd.DataFrame(rows).to_csv(folder / "labels.tsv", sep="\t", index=False)
    nibabel.save(data.mask, folder / "mask.nii.gz")


class Taken(NamedTuple):
    """What a command took."""

    seconds: float
    processor: float
    megabytes: float

    def __str__(self) -> str:
        return f"{self.seconds:.0f} s ({self.processor:.0f} s of processors), peak {self.megabytes:.0f} MB"


def timed(command: list[str], folder: Path) -> Taken:
    """Run a command; memory is that of its processes together, shared pages counted once."""
    began, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    peak = 0
    with subprocess.Popen(command, cwd=folder) as process:
        while process.poll() is None:
            peak = max(peak, sum(memory(pid) for pid in family(process.pid)))
            time.sleep(0.2)
    if process.returncode:
        raise SystemExit(f"{command[0]} ended with {process.returncode}")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Taken(time.perf_counter() - began, processor, peak / 1024)


def family(pid: int) -> list[int]:
    """A process and all that it started."""
    found = [pid]
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            found += [one for child in path.read_text().split() for one in family(int(child))]
    return found


def memory(pid: int) -> int:
    """Kilobytes of a process, its share of what it shares."""
    with contextlib.suppress(OSError):
        for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
            if line.startswith("Pss:"):
                return int(line.split()[1])
    return 0


def main() -> None:
    """Print both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--keep", type=Path, help="copy the results here")
    parser.add_argument("--without-nilearn", action="store_true")
    given = parser.parse_args()
    if not (Path(os.environ.get("SVDECODE_DATA", "")) / "woo2014_contrasts.npz").is_file():
        print("no woo2014_contrasts.npz in $SVDECODE_DATA: nothing to measure")
        return
    with tempfile.TemporaryDirectory(prefix="svdecode-bench-") as name:
        folder = Path(name)
        write_study(folder)
        command = [
            sys.executable, "-m", "svdecode.cli", "decode", "labels.tsv", "--label-column", "condition",
            "--mask", "mask.nii.gz", "--out", "out", "--jobs", "2", "--name", "woo2014",
        ]  # fmt: skip
        taken = timed(command, folder)
        page = (folder / "out" / "report.html").stat().st_size / 1e6
        print(
            f"svdecode decode: {taken} (at most 300 s, 1500 MB), page {page:.1f} MB (at most 5)", flush=True
        )
        table = pd.read_csv(folder / "out" / "results.csv")
        means = table[table["n_components"].isna() | table.get("size_chosen", False)]
        print(means.groupby("method", sort=False)["accuracy"].mean().round(3).to_string(), flush=True)
        if given.keep is not None:
            shutil.copytree(folder / "out", given.keep, dirs_exist_ok=True)
        if not given.without_nilearn:
            taken = timed([sys.executable, "-W", "ignore", "-c", PEER], folder)
            print(f"nilearn's Decoder, one method: {taken}", flush=True)


if __name__ == "__main__":
    main()
