"""Brain-like data with known truth, in which the directions of large variance do not decode."""

from __future__ import annotations

from typing import Any

import nibabel
import numpy as np
from scipy.linalg import block_diag

from svdecode.datasets.fields import ellipsoid
from svdecode.datasets.ingredients import (
    Setup,
    Streams,
    View,
    brain_view,
    draw_labels,
    draw_loadings,
    stimulus_view,
)
from svdecode.imaging import Dataset

VOXEL_SIZE = 3.0  # mm, in the affine of the mask


def make_decoding(
    n_subjects: int = 1,
    n_runs: int = 6,
    n_samples_per_run: int = 16,
    *,
    shape: tuple[int, int, int] = (16, 16, 16),
    n_tasks: int = 1,
    n_classes: int = 2,
    n_shared: int = 2,
    n_specific: int = 1,
    n_nuisance: int = 8,
    signal: float = 0.4,
    scatter: float = 0.3,
    nuisance_ratio: float = 3.0,
    noise: float = 1.0,
    autocorrelation: float = 0.4,
    subject_offset: float = 1.0,
    run_offset: float = 0.5,
    smoothness: float = 2.0,
    region_radius: float = 3.5,
    second_view: int = 0,
    random_state: Any = None,
) -> Dataset:
    """Simulate brain-like decoding data whose truth is known.

    The labels move a few signal components, each a smooth pattern in a region of its own. Nuisance
    components are smooth maps over the whole brain that vary more than the signal and know nothing of
    the labels: the leading directions of a plain SVD are theirs. Add an offset for each subject and
    run, and noise that remembers the sample before.

    Parameters
    ----------
    n_subjects, n_runs, n_samples_per_run : int
        Subjects, runs of each subject, samples of each run. Every label is balanced within every run, so
        the samples of a run are a multiple of `n_classes`.
    shape : tuple of three int
        Voxel grid; the features are the voxels of the ellipsoid that fills it.
    n_tasks : int, default 1
        Number of binary labels a sample has. With more than one, `y` is an indicator in {0, 1}.
    n_classes : int, default 2
        Number of classes of a single task; `y` is then 0 to n_classes - 1.
    n_shared : int, default 2
        Signal components that every task (with more than two classes: every class) moves.
    n_specific : int, default 1
        Signal components each task (class) has for itself; 0 needs `n_shared` to be at least the number
        of tasks (classes).
    n_nuisance : int, default 8
        Nuisance components; a second view has as many of its own.
    signal : float, default 0.4
        Root mean square of a signal pattern in its region, in the units of `noise`.
    scatter : float, default 0.3
        Standard deviation of each signal component within a class; the classes of a binary task are
        at a distance of 2.
    nuisance_ratio : float, default 3.0
        Variance that each nuisance component adds to the data (summed over features) as a
        multiple of what the signal adds in its strongest direction.
    noise : float, default 1.0
        Standard deviation of the noise in each feature, independent between features.
    autocorrelation : float, default 0.4
        Correlation of noise, and of nuisance, between successive samples of a run: AR(1), below 1.
    subject_offset, run_offset : float, default 1.0 and 0.5
        Root mean square of the smooth map that is added to all samples of a subject, of a run.
    smoothness : float, default 2.0
        Standard deviation, in voxels, of the Gaussian by which all maps are smoothed.
    region_radius : float, default 3.5
        Radius, in voxels, of the region of a signal component.
    second_view : int, default 0
        Number of features of a paired second view, such as a description of the stimuli: the same
        signal components seen in other features, with nuisance and noise of its own and without
        offsets or autocorrelated noise.
    random_state : int, RandomState instance or None
        Seed. The same seed with another level of noise gives the same signal.

    Returns
    -------
    Dataset
        Samples in the order of time, subject by subject and run by run. `views` names the columns of
        "brain" and "stimulus" where a second view is asked for. `truth` has
        ``patterns`` (components × features), ``regions`` (components × voxels), ``loadings`` (tasks or
        classes × components), ``nuisance_patterns``, ``offsets`` (one row a run) and, with one row a sample,
        ``sample_coordinates``, ``sample_nuisance`` and ``sample_scan`` (row of ``offsets``). X without
        noise is offsets[sample_scan] + sample_coordinates · patterns + sample_nuisance · nuisance_patterns.

    See Also
    --------
    load_haxby2001_slice : Measured data.

    Examples
    --------
    >>> from svdecode.datasets import make_decoding
    >>> data = make_decoding(n_subjects=2, random_state=0)
    >>> data
    Dataset(192 samples of 2176 features, 2 classes, 6 runs, 2 subjects)
    >>> data.truth["patterns"].shape
    (3, 2176)
    >>> make_decoding(n_tasks=3, second_view=50, random_state=0)
    Dataset(96 samples of 2226 features, 3 labels, 6 runs, 1 subject, views brain, stimulus)
    """
    setup = Setup(**locals())
    streams = Streams.from_seed(random_state)
    y, codes = draw_labels(setup, streams.labels)
    loadings = draw_loadings(setup, streams.loadings)
    coordinates = codes @ loadings
    coordinates += scatter * streams.scatter.standard_normal(coordinates.shape)
    inside = ellipsoid(setup.shape)
    brain, regions = brain_view(setup, coordinates, inside, streams)
    both = [brain]
    if second_view:
        both.append(stimulus_view(setup, coordinates, streams.second))
    whole = View(
        patterns=np.hstack([view.patterns for view in both]),
        nuisance=np.hstack([view.nuisance for view in both]),
        nuisance_patterns=block_diag(*(view.nuisance_patterns for view in both)),
        offsets=np.hstack([view.offsets for view in both]),
        noise=np.hstack([view.noise for view in both]),
    )
    n_voxels = int(inside.sum())
    columns = {"brain": slice(0, n_voxels), "stimulus": slice(n_voxels, n_voxels + second_view)}
    return Dataset(
        X=whole.data(coordinates, setup.scan),
        y=y,
        runs=setup.scan % n_runs + 1,
        subjects=setup.scan // n_runs + 1,
        positions=np.argwhere(inside),
        mask=nibabel.Nifti1Image(inside.astype(np.uint8), np.diag([VOXEL_SIZE] * 3 + [1.0])),
        name="make_decoding",
        description=_describe(setup),
        views=columns if second_view else {},
        truth={
            "patterns": whole.patterns,
            "regions": regions,
            "loadings": loadings,
            "nuisance_patterns": whole.nuisance_patterns,
            "offsets": whole.offsets,
            "sample_coordinates": coordinates,
            "sample_nuisance": whole.nuisance,
            "sample_scan": setup.scan,
        },
    )


def _describe(setup: Setup) -> str:
    what = f"{setup.n_tasks} binary tasks" if setup.n_tasks > 1 else f"one task of {setup.n_classes} classes"
    second = f", and a second view of {setup.second_view} features" if setup.second_view else ""
    grid = " × ".join(map(str, setup.shape))
    return (
        f"Simulated data (svdecode.datasets.make_decoding): {what}, {setup.n_components} signal components "
        f"in regions of a {grid} grid{second}; {setup.n_nuisance} nuisance components of "
        f"{setup.nuisance_ratio:g} times the variance, offsets of subjects and runs, and AR(1) noise."
    )
