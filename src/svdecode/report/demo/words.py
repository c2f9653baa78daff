"""What the demo's page says. Every number in it is taken from what was measured."""

from __future__ import annotations

from math import comb

import numpy as np

from svdecode.report.demo.analysis import CLASSIFIER_STRIDE, N_CHOICES, N_TRAINING_RUNS, Demo
from svdecode.report.demo.found import HALVES, Found, percent, points, text

#: names of the data set that are no words
PLAIN_NAMES = {"scrambledpix": "scrambled pictures"}


def lead(found: Found) -> str:
    """First paragraph, for a reader who has heard of none of this."""
    return text(
        f"""A brain scan has many thousands of measuring points, a study only a few dozen scans. So an
        analysis first boils the scans down: a singular value decomposition (SVD) finds the main directions in
        which they differ, and keeps of each scan only where it lies along these directions. There is a trap
        in this step. The scans from which the directions were computed look more spread out along them than
        any new scan ever will. Generalizable SVD (GenSVD) corrects that, by looking at each scan with the
        eyes of the others. This page shows on real data how large the error is, how much of it GenSVD
        removes, and whether a computer that learns to tell from a scan what the person saw gets better at it:
        {found.verdict()}."""
    )


def data(demo: Demo) -> list[str]:
    """What a sample is, and which samples are new."""
    dataset, example = demo.dataset, demo.example
    n_runs = len(np.unique(example.new_runs)) + len(example.training_runs)
    names = ", ".join(PLAIN_NAMES.get(str(name), str(name)) for name in dataset.classes)
    return [
        text(
            f"""One person saw pictures of {len(dataset.classes)} categories
            ({names}) in a scanner, in {n_runs} runs with one block of each
            category. A sample, on this page, is the mean of the volumes of one block at {dataset.n_features}
            voxels of one slice of the brain: {dataset.n_samples} samples of {dataset.n_features} numbers
            each."""
        ),
        text(
            f"""Samples of one run are not independent: they share the scanner’s drift and the person’s state.
            So whole runs are held out: {N_TRAINING_RUNS} runs are learned from ({len(example.plain)} training
            samples), and the other {n_runs - N_TRAINING_RUNS} ({len(example.new)} samples) stand for all that
            is still to come. Within each run, and by that run alone, each voxel is brought to mean zero and
            standard deviation one, as is usual, so that runs can be compared."""
        ),
    ]


def projections(demo: Demo) -> tuple[str, str]:
    """What to see in the two scatter plots."""
    example = demo.example
    first, last = example.training_runs[0], example.training_runs[-1]
    return (
        text(
            f"""Below, runs {first} to {last} were learned from (the first ones, chosen before anything was
            computed). Each point is a sample, placed by its coordinates on the two strongest directions. The
            new samples (open points) lie in the same places in both plots. With SVD the training samples
            (filled) spread {example.overall("SVD"):.1f} times as far as the new ones, all components taken
            together; with GenSVD {example.overall("GenSVD"):.1f} times."""
        ),
        text(
            f"""The same by category, for some of them, so that it can be read. A category has only
            {N_TRAINING_RUNS} training samples, one a run, so its solid ellipse is a rough estimate."""
        ),
    )


def components(found: Found) -> tuple[str, str]:
    """What is compared along every component, and what the distance between the curves means."""
    closer, of = found.closer()
    return (
        text(
            """Now along every component: the standard deviation of the training samples as SVD has it, the
            same as GenSVD corrects it, and that of the new samples."""
        ),
        text(
            f"""The table puts a number on it: the root-mean-square distance of a curve to that of the new
            samples, as a share of the new samples’ root-mean-square standard deviation. It cannot come down
            to zero, because new runs differ among themselves: one half of them against the other gives
            {percent(found.mean("distance", HALVES))}. GenSVD is closer than SVD for {closer} of the {of} ways
            to choose {N_TRAINING_RUNS} training runs."""
        ),
    )


def choices(found: Found) -> tuple[str, str]:
    """How the error depends on the number of runs, and the correction on the setup."""
    few, many = found.sizes()[0], found.sizes()[-1]
    svd_few, svd_many = (found.mean("overall width", "SVD", runs=n) for n in (few, many))
    gensvd_few = found.mean("overall width", "GenSVD", runs=few)
    return (
        text(
            f"""The fewer runs there are to learn from, the larger the error: the spread by SVD is
            {svd_few:.2f} times that of new samples with {few} runs, {svd_many:.2f} times with {many}. GenSVD
            stays near one; with very few runs it corrects too much ({gensvd_few:.2f} with {few}), because
            each run is then judged by very few others."""
        ),
        text(
            """The correction also depends on how the data are handed over. If single samples are left out in
            place of runs, nothing is corrected at all: with its run’s mean removed, each sample is minus the
            sum of the others of its run, so the others span it completely. If voxels keep
            their own scale, SVD is closer to begin with, and there is less to correct."""
        ),
    )


def classifiers(found: Found) -> str:
    """Whether correct spreads make better classifiers."""
    gains = found.gains()
    (best_name, best_k), best = max(gains.items(), key=lambda item: item[1])
    (worst_name, worst_k), worst = min(gains.items(), key=lambda item: item[1])
    return text(
        f"""A classifier that learned from the corrected coordinates meets new samples as spread out as it
        expects. Does it tell their categories better? Two classifiers were tried, with nothing tuned. The
        differences of GenSVD to SVD lie between {points(worst)} percentage points ({worst_name}, {worst_k}
        components) and {points(best)} ({best_name}, {best_k} components). So on these data,
        {found.verdict()}. A likely reason: the correction rescales each component as a whole, the distances
        between categories along with the spread within them. What GenSVD gives is a description of the
        training samples that also holds for new ones."""
    )


def methods(demo: Demo) -> list[str]:
    """How it was done, for who wants to do it again."""
    n_runs = len(np.unique(demo.example.new_runs)) + len(demo.example.training_runs)
    paragraphs = [
        """SVD: the right singular vectors of the training samples are the basis, up to the rank. GenSVD
        (Kjems, Hansen & Strother 2000): the same basis; each training run is projected on the span of the
        other training runs, and the standard deviation of a component is taken from these projections.
        svdecode computes that in closed form from one decomposition. New samples are projected on the basis
        as they are, the same for both.""",
        f"""All {comb(n_runs, N_TRAINING_RUNS)} choices of {N_TRAINING_RUNS} from {n_runs} runs were computed;
        of other setups and other numbers of training runs at most {N_CHOICES}, spread evenly over all;
        classifiers on every {CLASSIFIER_STRIDE}th. Choices share runs, so the ranges show how much the choice
        matters; they are no confidence intervals. All of it is one subject and one slice.""",
        """Classifiers: linear support vector machine (one against the rest, squared hinge, weight 1) and
        nearest class mean (Euclidean), on coordinates divided by one number, the root of their mean
        square.""",
        "Data. " + demo.dataset.description,
        "All measured values are in results.csv beside this page, one a row.",
    ]
    return [text(paragraph) for paragraph in paragraphs]
