"""What the COBIDAS report (Nichols et al. 2017) asks of a decoding study, filled in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

import svdecode
from svdecode.decoding import words

if TYPE_CHECKING:
    from svdecode.decoding.result import DecodingResult


def fields(result: DecodingResult) -> list[list[str]]:
    """Items and what they are here.

    Parameters
    ----------
    result : DecodingResult
        What was done and found.

    Returns
    -------
    list of [str, str]
        In the order of the checklist.
    """
    return [*_data(result), *_analysis(result), *_results(result)]


def _data(result: DecodingResult) -> list[list[str]]:
    data = result.dataset
    classes, counts = np.unique(data.y, return_counts=True)
    shares = "; ".join(
        f"{label}: {count} ({count / counts.sum():.1%})" for label, count in zip(classes, counts, strict=True)
    )
    rows = [
        ["samples", f"{data.n_samples}{words.of_units(result)}"],
        ["class proportions", shares],
    ]
    before = "not known"
    if data.mask is not None:
        before = f"{int(np.prod(data.mask.shape))} in the image, {data.n_features} in the mask"
    smallest = min(len(part.train) for part in result.splits)
    most = min(smallest - 1, data.n_features)
    rows.append(["voxels before and after selection", before])
    rows.append(
        [
            "features after reduction",
            f"at most {most}: coordinates in the span of the training samples, lossless",
        ]
    )
    steps = [step for step in data.steps if not step.startswith("Samples:")]
    for number, step in enumerate(steps or [words.text(data.description) or "not told"]):
        rows.append(["preprocessing" if number == 0 else "", step])
    return rows


def _analysis(result: DecodingResult) -> list[list[str]]:
    settings, splits = result.settings, result.splits
    train = sorted({len(part.train) for part in splits})
    test = sorted({len(part.test) for part in splits})
    span = [f"{v[0]}" if v[0] == v[-1] else f"{v[0]} to {v[-1]}" for v in (train, test)]
    apart = " and ".join(splits.kept_apart) or "nothing: samples are tested one by one"
    grids = {m.name: ", ".join(f"{k} {list(v)}" for k, v in m.grid.items()) for m in settings.methods}
    tried = "; ".join(f"{name}: {grid or 'none'}" for name, grid in grids.items())
    return [
        ["target", "the class of a sample"],
        ["standardization", words.STANDARDIZED[settings.standardize]],
        ["classifiers", "; ".join(words.listed(result.methods, "and").split("; "))],
        ["parameters tried", tried],
        ["splits", f"{settings.protocol}: {len(splits)}, {span[0]} samples to train, {span[1]} to test"],
        ["kept whole", apart],
        ["inner splits", f"{settings.n_inner} folds of the training samples, to choose parameters"],
        ["feature selection", "none but the mask"],
    ]  # fmt: skip


def _results(result: DecodingResult) -> list[list[str]]:
    head = result.headline
    return [
        ["metric", "accuracy; balanced accuracy beside it"],
        ["accuracy", f"{head.accuracy:.3f}, 95 % interval {head.low:.3f}–{head.high:.3f} over {head.over}"],
        ["chance", f"{head.chance:.3f}, the most frequent class of the test samples"],
        ["significance", words.permutation_words(result)],
        ["correction for several tests", "one test" if result.settings.permute == "fixed" else
         "maximum over numbers of components"],
        ["importance of features", "coefficients, patterns and stability over the splits; see the maps"],
        ["software", f"svdecode {svdecode.__version__}; versions and seed at the end of this page"],
    ]  # fmt: skip
