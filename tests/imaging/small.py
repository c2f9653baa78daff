"""Small images written to disk, with numbers that tell each voxel and volume apart."""

import nibabel
import numpy as np
import pandas as pd

AFFINE = np.array([[3.0, 0, 0, -9], [0, 3.0, 0, -12], [0, 0, 3.0, 6], [0, 0, 0, 1]])
SHAPE = (5, 4, 3)


def brain(shape=SHAPE):
    """The voxels that are not on the border: what a mask of the background finds."""
    inside = np.zeros(shape, dtype=bool)
    inside[1:-1, 1:-1, :] = True
    return inside


def volumes(n, seed=0, shape=SHAPE):
    """Values of n volumes, 0 outside `brain`, about 100 inside."""
    data = np.random.default_rng(seed).standard_normal((*shape, n)) + 100
    data[~brain(shape)] = 0
    return data


def image(data, affine=AFFINE, t_r=None):
    made = nibabel.Nifti1Image(np.asarray(data), affine)
    if np.ndim(data) == 4 and t_r is not None:
        made.header.set_xyzt_units("mm", "sec")
        made.header.set_zooms((*made.header.get_zooms()[:3], t_r))
    return made


def save(data, path, affine=AFFINE, t_r=None):
    path.parent.mkdir(parents=True, exist_ok=True)
    nibabel.save(image(data, affine, t_r), path)
    return path


def mask_image(inside=None, affine=AFFINE):
    return image((brain() if inside is None else inside).astype(np.uint8), affine)


def design(n_runs=3, per_run=4):
    """Labels that alternate, in runs."""
    y = np.array(["face", "house"] * (n_runs * per_run // 2))
    return y, np.repeat(np.arange(1, n_runs + 1), per_run)


def write_table(path, **columns):
    path.parent.mkdir(parents=True, exist_ok=True)
    frame = pd.DataFrame(columns)
    frame.to_csv(path, sep="\t" if path.name.endswith(".tsv") else ",", index=False)
    return path
