"""read_dataset: images, tables and events in, a Dataset out, with every step in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from svdecode._checks import check_choice
from svdecode.imaging import routes, runs_of_events
from svdecode.imaging.dataset import Dataset
from svdecode.imaging.events import check_trials
from svdecode.imaging.samples import STANDARDIZATIONS, Samples, check_design, listed
from svdecode.imaging.volumes import open_images

RESAMPLE = (False, True, "images")


def read_dataset(
    images: Any,
    *,
    labels: Any = None,
    label_column: str | None = None,
    runs: Any = "auto",
    subjects: Any = "auto",
    drop: Any = (),
    classes: Any = None,
    mask: Any = None,
    region: Any = None,
    region_names: Any = None,
    events: Any = None,
    t_r: float | None = None,
    trials: str = "block_average",
    lag: float = 5.0,
    join_gap: float = 0.0,
    hrf_model: str = "glover",
    noise_model: str = "ar1",
    entities: Any = None,
    average_blocks: bool = False,
    detrend: bool = False,
    standardize: str | None = None,
    smoothing_fwhm: float | None = None,
    resample: Any = False,
    ignore: Sequence[str] = (),
    name: str = "",
) -> Dataset:
    """Read images and what is known of them, and say in words what was done.

    A sample is a volume whose label stands in a table, or a trial whose onset stands in a table of events.

    Parameters
    ----------
    images : path, nibabel image, array, frame, or a list of paths or images
        A 4-D image or several (of a run each), many 3-D ones, a folder or pattern of such, a table
        with a column of their paths; a BIDS folder with derivatives; numbers, samples by features, as
        .npy, .npz (X, and perhaps y, runs, subjects, mask with affine), .csv, .tsv, array or frame.
    labels : path, frame or array, optional
        A table with a row a volume, in the order of the images; or the labels themselves. By default the
        table that `images` is, or the arrays beside X in a .npz.
    label_column : str, optional
        The table's column of labels (of events: trial_type); by default the first of the usual names.
    runs, subjects : "auto", str, array or None, default "auto"
        A column of the table, or one value a sample (with events: an image). "auto" takes a column of a
        usual name (run, chunk, session; subject, participant_id), and the entities of a BIDS folder.
    drop : str or list of str, default ()
        Labels that are no samples, such as "rest"; "n/a" stands for samples without a label. They take part
        in detrending and in models of trials.
    classes : list of str, optional
        Classes to keep, chosen last: all take part in standardizing.
    mask : path, nibabel image, "background", "epi", "brain" or None
        What is not 0 is inside. A word says how to compute it from the mean image; None is "background",
        for BIDS the intersection of the runs' brain masks.
    region : str, int or list, optional
        `mask` is an atlas, of which these regions are taken.
    region_names : path or frame, optional
        The atlas's table with the columns index and name; by default the one beside it.
    events : path, frame or list of such, optional
        One table a run with onset, duration (seconds) and trial_type.
    t_r : float, optional
        Seconds from one volume to the next; by default what the images' headers say.
    trials : {"block_average", "least_squares_all", "least_squares_separate"}
        How events become samples: the mean of their volumes, or their effects in nilearn's first-level model.
    lag : float, default 5.0
        How many seconds after the event its volumes begin and end, with "block_average".
    join_gap : float, default 0.0
        Events of one label at most this many seconds apart are one block; 0 joins none.
    hrf_model, noise_model : str
        Of the first-level model: "glover", "spm", …; "ar1" or "ols".
    entities : dict, optional
        What the names of a BIDS folder's images must have, such as ``{"task": "objects"}``.
    average_blocks : bool, default False
        Average contiguous volumes of one label, where labels stand in a table.
    detrend : bool, default False
        Remove each voxel's linear trend within each run, over all volumes and before anything is averaged.
    standardize : {None, "run", "subject"}, default None
        Give each voxel mean 0 and variance 1 within each run or subject.
    smoothing_fwhm : float, optional
        In mm.
    resample : {False, True, "images"}, default False
        Refuse images on another grid than the mask's; resample them to it; or the mask to the images'.
    ignore : list of str, default ()
        Columns of a table of numbers that are neither features nor labels.
    name : str, default ""
        What to call the data.

    Returns
    -------
    Dataset
        With `steps`, the sentences for a report.

    See Also
    --------
    SVDMDecoder : Images in, images out.

    Examples
    --------
    >>> import nibabel, numpy as np
    >>> from svdecode.imaging import read_dataset
    >>> rng = np.random.default_rng(0)
    >>> image = nibabel.Nifti1Image(rng.standard_normal((4, 4, 4, 12)) + 100, np.eye(4))
    >>> data = read_dataset(image, labels=["face", "house"] * 6, runs=np.repeat([1, 2, 3], 4), detrend=True)
    >>> data
    Dataset(12 samples of 64 features, 2 classes, 3 runs)
    >>> print(data.steps[-1])
    Detrending: the linear trend of each voxel was removed within each run, over all volumes.
    """
    check_choice(resample, "resample", RESAMPLE)
    check_choice(standardize, "standardize", STANDARDIZATIONS)
    how = check_trials(trials, lag, join_gap, hrf_model, noise_model)
    places = {"mask": mask, "region": region, "region_names": region_names, "resample": resample}
    numbers = routes.numbers(images)
    if numbers is not None:
        routes.refuse_image_options(places | {"smoothing_fwhm": smoothing_fwhm, "events": events})
        samples = routes.from_numbers(
            numbers, labels, label_column, runs, subjects, set(listed(ignore)), mask
        )
    elif events is not None or routes.is_bids(images):
        if labels is not None or average_blocks:
            what = "average_blocks: found True" if average_blocks else "labels: found a table"
            raise ValueError(f"{what} together with events, expected labels to come from the events")
        found = runs_of_events.find(images, events, entities, runs, subjects)
        read = routes.reader(
            [run.source for run in found], places, smoothing_fwhm, runs_of_events.masks(found, mask)
        )
        columns = (label_column or "trial_type", set(map(str, listed(drop))))
        return _finish(
            runs_of_events.samples(found, read, how, t_r, *columns, detrend=detrend),
            classes,
            standardize,
            name,
        )
    else:
        table, images = routes.table_of_images(images)
        labels = table if labels is None else labels
        samples = routes.from_volumes(
            open_images(images), labels, label_column, runs, subjects, places, smoothing_fwhm
        )
    if detrend:
        samples.detrend()
    if average_blocks:
        samples.average_blocks()
    if len(listed(drop)):
        samples.drop(drop)
    return _finish(samples, classes, standardize, name)


def _finish(samples: Samples, classes: Any, standardize: str | None, name: str) -> Dataset:
    """Standardize, choose, check, and put together."""
    y = samples.y
    unknown = [label is None for label in y.tolist()] if y.ndim == 1 and y.dtype.kind == "O" else []
    if any(unknown):
        raise ValueError(
            f"labels: found no label in row {unknown.index(True)}, expected one in every row "
            f"(drop='n/a' leaves out the {sum(unknown)} that have none)"
        )
    samples.y = np.array(y.tolist()) if y.dtype.kind == "O" else y
    samples.standardize(standardize)
    if classes is not None:
        samples.select(classes)
    check_design(samples)
    return Dataset(
        X=samples.X,
        y=samples.y,
        runs=samples.runs,
        subjects=samples.subjects,
        mask=samples.mask,
        name=name,
        description=" ".join(samples.steps),
        steps=tuple(samples.steps),
    )
