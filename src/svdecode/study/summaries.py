"""What a study's tables are boiled down to: accuracies with intervals, chance, units, votes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from svdecode._checks import FloatArray
from svdecode.study.cells import Cell
from svdecode.study.statistics import accuracy_interval
from svdecode.study.tables import NAMED
from svdecode.study.voting import vote_by_fold
from svdecode.svdm.labels import unknown

if TYPE_CHECKING:
    from svdecode.study.prepared import Prepared
    from svdecode.study.runner import Study

Size = int | str | None
"""A number of components, as a user names it."""

CHOSEN_INSIDE = "chosen"
"""What stands for a number of components that was chosen inside, in arguments."""


def in_order(table: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Rows in the order of the study, and a column that tells sizes chosen inside from none.

    Parameters
    ----------
    table : pandas.DataFrame
        Of cells or samples.
    study : Study
        The study.

    Returns
    -------
    pandas.DataFrame
        Data sets, methods and folds in the order of the study, not of the alphabet.
    """
    names: dict[str, Iterable[str]] = {
        "dataset": [data.name for data in study.data],
        "method": [method.name for method in study.methods],
        "fold": dict.fromkeys(name for data in study.data for name in data.splits.names),
    }
    places = {column: {name: i for i, name in enumerate(listed)} for column, listed in names.items()}
    by = [*NAMED, *(["row"] if "row" in table else [])]
    table = table.sort_values(
        by,
        key=lambda values: values.map(places[values.name]) if values.name in places else values,
        kind="stable",
        ignore_index=True,
    )
    sized = {method.name for method in study.methods if method.sizes is not None}
    inside = table["n_components"].isna() & table["method"].isin(sized)
    table.insert(list(table.columns).index("n_components") + 1, "size_chosen", inside)
    return table


def with_groups(table: pd.DataFrame, study: Study) -> pd.DataFrame:
    """Add the run and the subject of each sample, where they are known.

    Parameters
    ----------
    table : pandas.DataFrame
        Of samples.
    study : Study
        The study.

    Returns
    -------
    pandas.DataFrame
        With columns `run` and `subject` after `row`.
    """
    place = list(table.columns).index("row") + 1
    for column in ("subject", "run"):
        known = {data.name: getattr(data.dataset, f"{column}s") for data in study.data}
        if all(values is None for values in known.values()):
            continue
        found = pd.Series(pd.NA, index=table.index, dtype="object")
        for name, rows in table.groupby("dataset")["row"]:
            if known[str(name)] is not None:
                found[rows.index] = known[str(name)][rows.to_numpy(dtype=np.intp)]
        table.insert(place, column, found.infer_objects())
    return table


def accuracies(
    predictions: pd.DataFrame, level: float, by_dataset: bool, guessing: Mapping[str, float]
) -> pd.DataFrame:
    """Accuracy of each method and number of components, with its interval.

    Parameters
    ----------
    predictions : pandas.DataFrame
        Of samples.
    level : float
        Coverage of the interval.
    by_dataset : bool
        Whether each data set has a row.
    guessing : dict of str to float
        Chance, by data set, or for all under "".

    Returns
    -------
    pandas.DataFrame
        In the order of the study.
    """
    keys = ["method", "n_components", "size_chosen"] + (["dataset"] if by_dataset else [])
    rows = []
    scored = predictions[predictions["correct"].notna()]
    for values, part in scored.groupby(keys, dropna=False, sort=False):
        samples = per_sample(part)
        runs, subjects = groups_of(samples)
        right = samples["correct"].to_numpy()
        try:
            interval = accuracy_interval(right, runs=runs, subjects=subjects, level=level)
            ends = (interval.estimate, interval.low, interval.high, interval.over)
        except ValueError:  # a subject with a single run: nothing tells how its runs differ
            ends = (float(right.mean()), np.nan, np.nan, "")
        name = str(values[-1]) if by_dataset else ""
        rows.append((*values, *ends, guessing[name], len(right), part["seed"].nunique(dropna=False)))
    columns = [*keys, "accuracy", "low", "high", "over", "chance", "n_samples", "n_seeds"]
    table = pd.DataFrame(rows, columns=columns)
    table["n_components"] = table["n_components"].astype("Int64")
    return table


def describe(table: pd.DataFrame) -> list[str]:
    """A line a row of a table of accuracies.

    Parameters
    ----------
    table : pandas.DataFrame
        As `accuracies` gives it.

    Returns
    -------
    list of str
        For people.
    """
    lines = []
    for row in table.to_dict("records"):
        size = row["n_components"]
        of = "" if pd.isna(size) else f", {size} component{'s' if size > 1 else ''}"
        of = ", components chosen inside" if row["size_chosen"] else of
        ends = f" ({row['low']:.3f} to {row['high']:.3f} over {row['over']})" if row["over"] else ""
        lines.append(f"  {row['method']}{of}: {row['accuracy']:.3f}{ends}, chance {row['chance']:.3f}")
    return lines


def per_sample(part: pd.DataFrame) -> pd.DataFrame:
    """How often each sample was predicted rightly: over seeds, and over folds that test it again."""
    groups = [name for name in ("subject", "run") if name in part]
    with_means = {"correct": ("correct", "mean"), **{name: (name, "first") for name in groups}}
    table = part.groupby(["dataset", "row"], sort=False).agg(**with_means).reset_index()
    return table.astype({"correct": float})


def groups_of(samples: pd.DataFrame) -> tuple[Any, Any]:
    """Runs and subjects of samples of several data sets; without subjects data sets take their place."""
    found: dict[str, Any] = {}
    for name in ("run", "subject"):
        if name in samples and samples[name].notna().all():
            found[name] = (samples["dataset"] + " " + samples[name].astype(str)).to_numpy(dtype=object)
    if "subject" not in found and samples["dataset"].nunique() > 1:
        found["subject"] = samples["dataset"].to_numpy(dtype=object)
    return found.get("run"), found.get("subject")


def chance(study: Study, by_dataset: bool) -> dict[str, float]:
    """Accuracy of guessing the most frequent class (or set of labels) of the test rows.

    Parameters
    ----------
    study : Study
        The study.
    by_dataset : bool
        Whether for each data set.

    Returns
    -------
    dict of str to float
        By data set, or for all under "". Of pairs of classes the mean over the pairs.
    """
    hits: dict[str, list[tuple[int, int]]] = {}
    for data in study.data:
        tested: dict[Any, list[Any]] = {}
        for split in data.splits:
            y = data.dataset.y[split.test]
            y = y[~unknown(y).reshape(len(y), -1).all(axis=1)]
            if split.classes is not None:
                y = y[np.isin(y, split.classes)]
            tested.setdefault(split.classes, []).append(y)
        for parts in tested.values():
            counts = np.unique(np.concatenate(parts), axis=0, return_counts=True)[1]
            if counts.size:
                hits.setdefault(data.name if by_dataset else "", []).append((counts.max(), counts.sum()))
    return {name: sum(h for h, _ in found) / sum(n for _, n in found) for name, found in hits.items()}


def select(
    table: pd.DataFrame, method: str, n_components: Size = None, *, any_size: bool = False
) -> pd.DataFrame:
    """Rows of one method at one number of components.

    Parameters
    ----------
    table : pandas.DataFrame
        Of cells or samples.
    method : str
        Its name.
    n_components : int or "chosen", optional
        Needed where the method has several.
    any_size : bool
        Whether several are wanted.

    Returns
    -------
    pandas.DataFrame
        These rows.
    """
    part = table[table["method"] == method]
    if part.empty:
        known = ", ".join(map(repr, dict.fromkeys(table["method"])))
        raise ValueError(f"method: found {method!r}, expected one of {known}")
    sizes: list[Any] = sorted(part["n_components"].dropna().unique().tolist())
    if part["size_chosen"].any():
        sizes.append(CHOSEN_INSIDE)
    if any_size or not sizes or (n_components is None and len(sizes) == 1):
        return part
    if n_components not in sizes:
        expected = ", ".join(map(repr, sizes))
        raise ValueError(f"n_components: found {n_components!r} for {method!r}, expected one of {expected}")
    if n_components == CHOSEN_INSIDE:
        return part[part["size_chosen"]]
    return part[(part["n_components"] == n_components).fillna(False)]


def _one_score_a_row(cell: Cell) -> FloatArray | None:
    """Scores that say by one number which class of two it is, positive for the second."""
    scores = cell.scores
    if scores is None or scores.size == len(cell.test_rows):
        return None if scores is None else scores.ravel()
    return np.asarray(scores[:, 1] - scores[:, 0]) if scores.shape[1] == 2 else None  # probabilities


def vote_table(prepared: Sequence[Prepared], cells: Sequence[Cell]) -> pd.DataFrame:
    """One class a sample from classifiers of pairs.

    Parameters
    ----------
    prepared : sequence of Prepared
        The data.
    cells : sequence of Cell
        Of one method and number of components.

    Returns
    -------
    pandas.DataFrame
        A row a sample of a fold, data set and seed.
    """
    columns = ["dataset", "seed", "fold", "row", "truth", "prediction", "correct"]
    rows: list[tuple[Any, ...]] = []
    for data in prepared:
        if any(split.classes is None for split in data.splits):
            raise ValueError("protocol: found splits of all classes, expected class_pairs with test='all'")
        for seed in dict.fromkeys(cell.seed for cell in cells if cell.dataset == data.name):
            own = {cell.fold: cell for cell in cells if cell.dataset == data.name and cell.seed == seed}
            parts = [own[split.name] for split in data.splits]
            known = [scores for cell in parts if (scores := _one_score_a_row(cell)) is not None]
            margins = known if len(known) == len(parts) else None
            said = vote_by_fold(data.splits, [cell.predictions for cell in parts], margins)
            for fold, (tested, labels) in said.items():
                truth = data.dataset.y[tested].tolist()
                for row, t, p in zip(tested.tolist(), truth, labels.tolist(), strict=True):
                    rows.append((data.name, seed, fold, row, t, p, t == p))
    return pd.DataFrame(rows, columns=columns).astype({"seed": "Int64"})
