"""What a reviewer would ask: the weak points of a design, found before anybody else finds them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from svdecode.decoding.whole import most_frequent
from svdecode.study import check_standardization, unit_codes

if TYPE_CHECKING:
    from svdecode.decoding.result import DecodingResult
    from svdecode.imaging import Dataset

UNBALANCED = 1.5
FEW_RUNS = 5
FEW_SUBJECTS = 8
CONFOUNDED = 0.3
"""Cramér's V above which runs or subjects tell too much of the labels."""


def concerns(result: DecodingResult) -> list[str]:
    """Weak points of a decoding, a sentence or two each.

    Parameters
    ----------
    result : DecodingResult
        What was found.

    Returns
    -------
    list of str
        Empty where there is nothing to say.
    """
    dataset = result.dataset
    out = [*_of_labels(dataset), *_of_units(dataset, result.headline.over), *_of_splits(result)]
    return [*out, *_of_fits(result), *_of_choice(result), *_of_chance(result)]


def _of_labels(dataset: Dataset) -> list[str]:
    classes, counts = np.unique(dataset.y, return_counts=True)
    if counts.max() < UNBALANCED * counts.min():
        return []
    most, least = classes[counts.argmax()], classes[counts.argmin()]
    return [
        f"Unbalanced classes: {counts.max()} samples of {most}, {counts.min()} of {least}. Read the balanced "
        "accuracy beside the confusion matrix: naming the most frequent class alone gives "
        f"{counts.max() / counts.sum():.0%}."
    ]


def _of_units(dataset: Dataset, over: str) -> list[str]:
    out = []
    for name, few in (("runs", FEW_RUNS), ("subjects", FEW_SUBJECTS)):
        if getattr(dataset, name) is None:
            continue
        codes = unit_codes(dataset, name)
        n_units = int(codes.max()) + 1
        noun = name.removesuffix("s")
        if 1 < n_units < few:
            out.append(f"Few {name}: with {n_units} the interval is wide and its coverage is rough.")
        strength = cramers_v(dataset.y, codes)
        if n_units > 1 and strength > CONFOUNDED:
            out.append(
                f"Label and {noun} go together (Cramér’s V = {strength:.2f}): what tells {name} apart tells "
                "classes apart, without any effect of the labels."
            )
    if over == "samples":
        out.append(
            "The interval takes samples as independent, because neither runs nor subjects are named. Samples "
            "that follow each other in time are not: name the runs if there are any."
        )
    n_subjects = 1 if dataset.subjects is None else len(np.unique(dataset.subjects))
    if over != "subjects" and n_subjects == 1:
        out.append("One subject: the accuracy speaks of new data of this subject, not of other people.")
    return out


def cramers_v(labels: Any, units: Any) -> float:
    """How well units tell labels: 0 not at all, 1 exactly; corrected for chance (Bergsma 2013)."""
    a, b = (np.unique(values, return_inverse=True)[1] for values in (labels, units))
    table = np.zeros((a.max() + 1, b.max() + 1))
    np.add.at(table, (a, b), 1)
    n, (k, r) = table.sum(), table.shape
    if min(k, r) < 2 or n < 2:
        return 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    phi = max(0.0, float(((table - expected) ** 2 / expected).sum() / n - (k - 1) * (r - 1) / (n - 1)))
    least = min(k - (k - 1) ** 2 / (n - 1), r - (r - 1) ** 2 / (n - 1)) - 1
    return float(np.sqrt(phi / least)) if least > 0 else 0.0


def _of_splits(result: DecodingResult) -> list[str]:
    y, parts = result.dataset.y, list(result.splits)
    everything = set(result.dataset.classes.tolist())
    absent = [part.name for part in parts if set(y[part.test].tolist()) != everything]
    out = []
    if absent:
        more = f" and {len(absent) - 3} more" if len(absent) > 3 else ""
        out.append(
            f"Test classes absent: {', '.join(absent[:3])}{more} of {len(parts)} splits do not test every "
            "class, so that accuracies of single splits cannot be compared with one chance level."
        )
    shares = [np.unique(y[part.train], return_counts=True)[1] for part in parts]
    if result.settings.protocol == "leave_one_sample_out":
        out.append(
            "Leaving out single samples: what is held out is missing in the training classes’ counts, which "
            "pushes accuracies below chance where there is no effect, and neighbors in time are trained on."
        )
    if any(counts.max() >= 2 * counts.min() for counts in shares) and not _of_labels(result.dataset):
        out.append("Some training sets are unbalanced although the data as a whole are not.")
    try:
        check_standardization(result.dataset, parts, result.settings.standardize)
    except ValueError as error:  # pragma: no cover - refused before anything is computed
        out.append(str(error))
    return out


def _of_fits(result: DecodingResult) -> list[str]:
    table = result.study.table
    known = table[table["converged"].notna()]
    stopped = known[~known["converged"].astype(bool)]
    if stopped.empty:
        return []
    names = ", ".join(f"{count} of {name}" for name, count in stopped["method"].value_counts().items())
    return [
        f"Not converged: {len(stopped)} of {len(known)} fits stopped at the limit of iterations ({names})."
    ]


def _of_choice(result: DecodingResult) -> list[str]:
    """Where what was chosen lies at the end of what was tried."""
    out = []
    for method in result.settings.methods:
        chosen = most_frequent(result, method.name)
        tried = {name: sorted(values) for name, values in method.grid.items() if len(values) > 1}
        if method.sizes is not None and len(method.sizes) > 1:
            tried["n_components"] = sorted(method.sizes)
        for name, values in tried.items():
            if name in chosen and chosen[name] in (values[0], values[-1]):
                out.append(f"{name} {chosen[name]:g} of {method.name}")
    if not out:
        return []
    return [
        f"Chosen most often at the end of what was tried: {'; '.join(out)}. Values beyond might do better, "
        "so that the comparison of methods depends on what was tried."
    ]


def _of_chance(result: DecodingResult) -> list[str]:
    headline, test, out = result.headline, result.permutation, []
    if headline.low <= headline.chance <= headline.high:
        out.append("The interval of the accuracy holds the chance level.")
    if test is None:
        out.append("No permutation test was made: the accuracy was not tested against chance.")
    elif test.p.min() <= test.resolution * (1 + 1e-9):
        out.append(
            f"The p-value is the smallest that {test.n_permutations} permutations can give. More of them "
            "would tell whether it is smaller."
        )
    return out
