"""The part of the page that checks: fits that converged, training samples that are not too wide."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from matplotlib.figure import Figure

from svdecode.decoding.words import text
from svdecode.report.blocks import Heading, Paragraph, Picture, Table
from svdecode.report.figures import scree
from svdecode.report.page import Block, Section

if TYPE_CHECKING:
    from svdecode.decoding.result import DecodingResult


def checks_section(result: DecodingResult) -> Section:
    """Say how fits ended, and whether test projections are as wide as training ones."""
    blocks: list[Block] = [
        Heading("Did the fits end where they should?"),
        _fits(result),
        *_optimality(result),
        Heading("Are new samples as wide as training ones?"),
        Paragraph(_widths(result)),
        _scree(result),
    ]
    return Section("Checks", blocks)


def _fits(result: DecodingResult) -> Table:
    rows = []
    for method, part in result.study.table.groupby("method", sort=False):
        known = part["converged"].dropna()
        worst = part["stationarity"].max()
        rows.append(
            [
                str(method),
                str(len(part)),
                f"{int(known.astype(bool).sum())} of {len(known)}" if len(known) else "not told",
                "not told" if np.isnan(worst) else f"{worst:.1e}",
                f"{part['seconds'].sum():.1f} s",
            ]
        )
    return Table(
        ["method", "fits reported", "converged", "largest residual", "time"],
        rows,
        caption="Fits on the training samples of the splits. The residual is that of the optimality "
        "conditions of all blocks at once, relative; below 1e-6 a fit is a stationary point.",
    )


def _optimality(result: DecodingResult) -> list[Block]:
    whole = result.whole
    gap: Any = None if whole is None else getattr(whole.estimator, "optimality_gap_", None)
    if whole is None or gap is None or not np.isfinite(gap):
        return []
    return [
        Paragraph(
            text(
                f"""The SVDM on all samples ({len(whole.share)} components) is at most {100 * gap:.2g} % above
                the global optimum of its objective, by a certificate from the convex problem of any rank; its
                residual is {whole.estimator.stationarity_:.1e}."""
            )
        )
    ]


def _widths(result: DecodingResult) -> str:
    found = result.widths
    spread = {name: float(np.sqrt((found[name] ** 2).sum())) for name in ("SVD", "GenSVD", "new")}
    if spread["new"] == 0:
        return "New samples have no spread along the components of the training samples."
    svd, gen = spread["SVD"] / spread["new"], spread["GenSVD"] / spread["new"]
    corrected = abs(np.log(max(gen, 1e-12))) < abs(np.log(svd))
    verdict = (
        "the correction brings them closer to new samples"
        if corrected and abs(svd - gen) > 0.01
        else "the correction does not bring them closer to new samples"
    )
    return text(
        f"""A basis fits the samples that it was made from, so that these look wider in it than new ones.
        Over {found["n_splits"]} splits the training samples spread {svd:.2f} times as far as new samples
        along the components of their SVD, and {gen:.2f} times as corrected by Generalizable SVD: {verdict}. A
        classifier trained on coordinates that are too wide meets narrower ones when it is used."""
    )


def _scree(result: DecodingResult) -> Picture:
    found = result.widths
    most = min(len(found["SVD"]), 40)
    values = [found[name][:most] for name in ("SVD", "GenSVD", "new")]
    figures = []
    for size in ((7.4, 3.9), (4.2, 3.9)):
        figure = Figure(figsize=size, layout="constrained")
        scree(*values, ax=figure.subplots())
        figures.append(figure)
    first = ", ".join(
        f"{v[0]:.3g} ({name})" for v, name in zip(values, ("SVD", "GenSVD", "new"), strict=True)
    )
    return Picture(
        figures[0],
        "Standard deviation along each component of the training samples’ SVD, root mean square over splits.",
        f"Three curves over {most} components; at the first: {first}.",
        narrow=figures[1],
    )
