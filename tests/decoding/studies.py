"""Small studies on disk: images of a few voxels that tell their classes apart, with a table."""

import nibabel
import numpy as np
import pandas as pd

AFFINE = np.array([[3.0, 0, 0, -9], [0, 3.0, 0, -12], [0, 0, 3.0, 6], [0, 0, 0, 1]])
SHAPE = (6, 5, 4)
HOSTILE = "<script>document.title = 'taken'</script>\"' onload='x' & $x$ |"


def write_study(folder, *, classes=("cat", "face", "house"), n_runs=4, repeats=2, strength=1.5, seed=0):
    """A 4-D image, a table and a mask: samples of each class in every run."""
    rng = np.random.default_rng(seed)
    inside = np.zeros(SHAPE, dtype=bool)
    inside[1:-1, 1:-1] = True
    means = rng.standard_normal((len(classes), int(inside.sum())))
    rows = [(k, run) for run in range(1, n_runs + 1) for _ in range(repeats) for k in range(len(classes))]
    data = np.zeros((*SHAPE, len(rows)))
    for i, (k, _) in enumerate(rows):
        data[inside, i] = 100 + strength * means[k] + rng.standard_normal(int(inside.sum()))
    folder.mkdir(parents=True, exist_ok=True)
    nibabel.save(nibabel.Nifti1Image(data, AFFINE), folder / "bold.nii.gz")
    nibabel.save(nibabel.Nifti1Image(inside.astype(np.uint8), AFFINE), folder / "mask.nii.gz")
    table = pd.DataFrame({"label": [classes[k] for k, _ in rows], "run": [run for _, run in rows]})
    table.to_csv(folder / "labels.tsv", sep="\t", index=False)
    return table


def quick(folder):
    """Arguments of a decoding of such a study that takes a second."""
    return [
        "decode", folder / "bold.nii.gz", "--labels", folder / "labels.tsv", "--mask", folder / "mask.nii.gz",
        "--components", "2,3", "--permutations", "9", "--jobs", "1",
    ]  # fmt: skip
