"""How long a decoding should take: its first split and one permutation, timed."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from svdecode.decoding.settings import Settings
from svdecode.svdm import SVDMClassifier

if TYPE_CHECKING:
    from svdecode.decoding.analysis import Plan


def estimated_seconds(plan: Plan, n_jobs: int | None = None) -> float:
    """Seconds that a decoding should take, from two small parts of it.

    Parameters
    ----------
    plan : Plan
        What is to be done.
    n_jobs : int, optional
        Workers.

    Returns
    -------
    float
        Right to a factor of two or so: inner folds that splits share are counted as often as they occur.
    """
    from svdecode.decoding.analysis import Plan as Part

    compile_loops()
    splits = plan.splits
    few = replace(splits, parts=splits.parts[:1])
    settings = replace(plan.settings, n_permutations=0)
    one = _timed(Part(plan.dataset, settings, few), n_jobs) * len(splits)
    if plan.null is None:
        return one
    less: Settings = replace(plan.settings, n_permutations=1, methods=plan.settings.methods[:1])
    part = Part(plan.dataset, less, few)
    assert part.null is not None  # it has a permutation
    began = time.perf_counter()
    part.null.run(n_jobs=n_jobs, progress=False)
    # with the true labels and with one permutation
    return one + (time.perf_counter() - began) / 2 * len(splits) * (plan.settings.n_permutations + 1)


def _timed(part: Plan, n_jobs: int | None) -> float:
    began = time.perf_counter()
    part.study.run(n_jobs=n_jobs, progress=False)
    return time.perf_counter() - began


def compile_loops() -> None:
    """Compile before anything is timed."""
    rng = np.random.default_rng(0)
    SVDMClassifier(2).fit(rng.standard_normal((12, 20)), np.arange(12) % 3)


def in_words(seconds: float) -> str:
    """A duration for people."""
    if seconds < 90:
        return f"about {max(1, round(seconds))} s"
    return f"about {round(seconds / 60)} min" if seconds < 5400 else f"about {seconds / 3600:.1f} h"
