"""What the page says in words. Every number in it is taken from what was found."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

import svdecode
from svdecode.decoding.settings import PERMUTED_SHRINKAGE
from svdecode.decoding.whole import most_frequent
from svdecode.study.two_phase import svdm

if TYPE_CHECKING:
    from svdecode.decoding.result import DecodingResult

PROTOCOLS = {
    "leave_one_run_out": "each run was left out once, and tested by what was learned from all others",
    "leave_one_subject_out": "each subject was left out once, and tested by what was learned from all others",
    "stratified_folds": "samples were left out in stratified folds, tested by what was learned elsewhere",
}
STANDARDIZED = {
    "run": "each voxel was standardized within each run, without looking at labels",
    "subject": "each voxel was standardized within each subject, without looking at labels",
    "training": "each voxel was standardized by the mean and standard deviation of the training samples",
    None: "voxels were not standardized",
}
CHOICE = {
    "best": "the best mean inner accuracy (of equals the simplest)",
    "one_standard_error": "the simplest within one standard error of the best inner accuracy",
    "just_below_perfect": "training accuracy just below perfect (Pereira & Gordon 2006)",
}


def text(words: str) -> str:
    """Words on one line."""
    return re.sub(r"\s+", " ", words).strip()


def percent(share: float) -> str:
    """A share in percent, to a tenth."""
    return f"{100 * share:.1f}".removesuffix(".0") + " %"


def design(result: DecodingResult) -> str:
    """What was tested on what."""
    return PROTOCOLS.get(
        result.settings.protocol, f"the protocol {result.settings.protocol} said what was tested on what"
    )


def p_value(result: DecodingResult) -> str:
    """The p-value, or what stands in its place."""
    test = result.permutation
    if test is None:
        return "not tested"
    sign = "≤" if test.p_max.min() <= test.resolution * (1 + 1e-9) else "="
    return f"p {sign} {test.p_max.min():.3g}"


def lead(result: DecodingResult) -> str:
    """First paragraph."""
    data, head = result.dataset, result.headline
    classes = listed([str(label) for label in data.classes], "and")
    return text(
        f"""Which of {len(data.classes)} classes ({classes}) a sample belongs to was predicted from
        {data.n_features} values of each of {data.n_samples} samples{of_units(result)}; {design(result)}.
        {head.method} names the class of {percent(head.accuracy)} of the samples rightly (95 % interval
        {percent(head.low)} to {percent(head.high)}, over {head.over}), where chance is
        {percent(head.chance)}{_tested(result)}."""
    )


def _tested(result: DecodingResult) -> str:
    test = result.permutation
    if test is None:
        return ""
    whose = "" if result.settings.permute == "all" else " of an SVDM whose parameters are fixed"
    return f". A permutation test{whose} gives {p_value(result)} ({test.n_permutations} permutations)"


def of_units(result: DecodingResult) -> str:
    """Of how many runs and subjects."""
    parts = []
    for name in ("runs", "subjects"):
        values = getattr(result.dataset, name)
        if values is not None and len(np.unique(values)) > 1:
            parts.append(f"{len(np.unique(values))} {name}")
    return f" from {' of '.join(parts)}" if parts else ""


def listed(names: list[str], word: str, most: int = 10) -> str:
    """Names as a list in a sentence."""
    if len(names) > most:
        return f"{', '.join(names[:most])}, …"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {word} {names[-1]}"


def comparison(result: DecodingResult) -> list[str]:
    """What the methods differ in, a sentence each."""
    out = []
    for other, test in result.comparisons().items():
        out.append(f"{result.methods[0]} less {other}: {test}.")
    return out


def methods_paragraph(result: DecodingResult) -> str:
    """A paragraph that can be pasted into an article."""
    settings, data, head = result.settings, result.dataset, result.headline
    steps = " ".join(data.steps)
    sizes = ", ".join(map(str, settings.components))
    sentences = [
        f"Samples ({data.n_samples}, of {data.n_features} voxels{of_units(result)}) were assigned to "
        f"{len(data.classes)} classes with svdecode {svdecode.__version__}.",
        steps,
        f"Testing: {design(result)} ({len(result.splits)} splits); {STANDARDIZED[settings.standardize]}.",
        f"Methods: {listed([_method(m) for m in settings.methods], 'and')}.",
        f"Parameters were chosen inside the training samples of each split, in {settings.n_inner} inner "
        f"folds{_whole(result)}, by {CHOICE.get(settings.choice, settings.choice)}"
        + (f", the number of components among {sizes}." if len(settings.components) > 1 else "."),
        f"{head.method} reached an accuracy of {head.accuracy:.3f} (95 % interval {head.low:.3f} to "
        f"{head.high:.3f}, over {head.over}; chance {head.chance:.3f}).",
        permutation_words(result),
        *comparison(result),
        "Maps are means over the splits of coefficients, each split’s of norm 1, and of the patterns of "
        "Haufe et al. (2014)." if result.maps() else "",
    ]  # fmt: skip
    return text(" ".join(sentences))


def _whole(result: DecodingResult) -> str:
    kept = result.splits.kept_apart
    return f" of whole {' and '.join(kept)}" if kept else ""


def _method(method: Any) -> str:
    known = {
        "SVDM": "the Support Vector Decomposition Machine (Pereira & Gordon 2006; here in the balanced, "
        "well-posed formulation)",
        "SVD + SVM": "a linear support vector machine on the leading singular vectors",
        "SVM on all voxels": "a linear support vector machine on all voxels",
    }
    grid = "; ".join(f"{name} of {', '.join(map(str, values))}" for name, values in method.grid.items())
    told = known.get(str(method.name), str(method.name))
    return f"{told} ({grid})" if grid else told


def permutation_words(result: DecodingResult) -> str:
    """How the test against chance was made."""
    test, settings = result.permutation, result.settings
    if test is None or result.null is None:
        return "No permutation test was made."
    within = "within runs" if result.dataset.runs is not None else (
        "within subjects" if result.dataset.subjects is not None else "over all samples"
    )  # fmt: skip
    true = float(test.statistic[int(np.argmin(test.p_max))])
    null = test.null.max(axis=1)
    if settings.permute == "all":
        what = (
            f"{result.headline.method} was fitted again, with everything chosen again, to "
            f"{test.n_permutations} permutations of the labels {within}; p is corrected for all numbers of "
            "components by the maximum over them"
        )
    else:
        size = (result.null.study.methods[0].sizes or (0,))[0]
        what = (
            f"an SVDM of {size} components and shrinkage {PERMUTED_SHRINKAGE:g}, which the package fixes, so "
            f"that nothing is chosen by the labels, was fitted to {test.n_permutations} permutations of the "
            f"labels {within}"
        )
    return text(
        f"""Permutation test: {what}. Its accuracy is {true:.3f} with the true labels and {null.mean():.3f} on
        average (at most {null.max():.3f}) with permuted ones, {p_value(result)}; the smallest p there could
        have been is {test.resolution:.2g}."""
    )


def chosen_words(result: DecodingResult) -> str:
    """What was chosen inside."""
    out = []
    for method in result.settings.methods:
        if not method.grid and (method.sizes is None or len(method.sizes) == 1):
            continue
        parameters = most_frequent(result, method.name)
        if method.sizes is None:
            parameters.pop("n_components")
        told = ", ".join(f"{name} {value:g}" for name, value in parameters.items())
        out.append(f"{method.name}: {told}")
    return f"Chosen inside most often: {'; '.join(out)}." if out else ""


def has_svdm(result: DecodingResult) -> bool:
    """Whether an SVDM is among the methods."""
    return any(method.make is svdm for method in result.settings.methods)
