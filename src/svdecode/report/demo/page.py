"""The demo's page: where each paragraph, picture and table goes."""

from __future__ import annotations

import hashlib

import numpy as np

from svdecode.imaging import Dataset
from svdecode.report.demo import words
from svdecode.report.demo.analysis import CLASSIFIERS, MAIN, N_TRAINING_RUNS, SINGLE, UNSCALED, Demo, Setup
from svdecode.report.demo.found import HALVES, METHODS, Found, chance, percent, percents, points, text
from svdecode.report.demo.pictures import accuracies, categories, clouds, component_widths, widths_by_runs
from svdecode.report.page import Highlights, Page, Paragraph, Section, Table, versions
from svdecode.report.style import page_style


def demo_page(demo: Demo) -> Page:
    """Write the page of a finished demo.

    Parameters
    ----------
    demo : Demo
        What `run_demo` measured.

    Returns
    -------
    Page
        Not yet written to a file.
    """
    found = Found(demo)
    with page_style():
        return Page(
            title="Do new brain scans look like the ones we learned from?",
            lead=words.lead(found),
            highlights=_highlights(demo, found),
            sections=[
                Section("The data, and what counts as new", [Paragraph(p) for p in words.data(demo)]),
                _projections(demo),
                _components(demo, found),
                _choices(found),
                _classifiers(demo, found),
            ],
            methods=words.methods(demo),
            provenance=_provenance(demo.dataset),
        )


def _highlights(demo: Demo, found: Found) -> Highlights:
    closer, of = found.closer()
    numbers = found.component_numbers()
    k = numbers[len(numbers) // 2]
    svd, gensvd = (found.mean("accuracy, linear SVM", method, components=k) for method in METHODS)
    guessing = chance(len(demo.dataset.classes))
    return Highlights(
        [
            (
                f"{found.mean('overall width', 'SVD'):.2f}",
                "spread of training samples by SVD; new ones have 1",
            ),
            (f"{found.mean('overall width', 'GenSVD'):.2f}", "spread of training samples by GenSVD"),
            (f"{closer} of {of}", "choices of training runs for which GenSVD is closer to new samples"),
            (
                f"{100 * svd:.0f} → {percent(gensvd)}",
                f"accuracy of a linear classifier on {k} components, SVD → GenSVD (chance {guessing})",
            ),
        ]
    )


def _projections(demo: Demo) -> Section:
    whole, by_category = words.projections(demo)
    return Section(
        "Training and new samples side by side",
        [Paragraph(whole), clouds(demo), Paragraph(by_category), categories(demo)],
    )


def _components(demo: Demo, found: Found) -> Section:
    example = demo.example
    _, of = found.closer()
    rows = [
        ("SVD, training samples", "SVD", example.distance("SVD")),
        ("GenSVD, training samples", "GenSVD", example.distance("GenSVD")),
        ("new samples, half against half", HALVES, example.distance_of_halves()),
    ]
    before, after = words.components(found)
    return Section(
        "Component by component",
        [
            Paragraph(before),
            component_widths(demo),
            Paragraph(after),
            Table(
                ["", "split drawn above", f"mean of all {of}", "range of nine tenths"],
                [
                    [
                        name,
                        percent(one),
                        percent(found.mean("distance", key)),
                        percents(*found.range("distance", key)),
                    ]
                    for name, key, one in rows
                ],
                caption="Distance to the standard deviations of the new samples.",
            ),
        ],
    )


def _choices(found: Found) -> Section:
    by_runs, by_setup = words.choices(found)
    return Section(
        "When it matters, and when it does not",
        [
            Paragraph(by_runs),
            widths_by_runs(found),
            Paragraph(by_setup),
            Table(
                ["setup", "SVD", "GenSVD", "GenSVD closer in"],
                [_setup_row(found, setup) for setup in (MAIN, UNSCALED, SINGLE)],
                caption=text(
                    f"""Mean distance to the standard deviations of the new samples, with {N_TRAINING_RUNS}
                    training runs. The first row is the setup of this page."""
                ),
            ),
        ],
    )


def _setup_row(found: Found, setup: Setup) -> list[str]:
    closer, of = found.closer(setup=setup)
    distances = [percent(found.mean("distance", method, setup=setup)) for method in METHODS]
    return [setup.name, *distances, f"{closer} of {of}"]


def _classifiers(demo: Demo, found: Found) -> Section:
    at = found.component_numbers()
    rows = []
    for name in CLASSIFIERS:
        shares = {m: [found.mean(f"accuracy, {name}", m, components=k) for k in at] for m in METHODS}
        rows += [
            [f"{name}, {method}", *(f"{100 * share:.1f}" for share in shares[method])] for method in METHODS
        ]
        gains = zip(*(shares[method] for method in METHODS), strict=True)
        rows.append([f"{name}, difference", *(points(gensvd - svd) for svd, gensvd in gains)])
    return Section(
        "Does a classifier get better?",
        [
            Paragraph(words.classifiers(found)),
            accuracies(demo, found),
            Table(
                ["components", *map(str, at)],
                rows,
                caption=f"Accuracy in percent (chance: {chance(len(demo.dataset.classes))}).",
            ),
        ],
    )


def _provenance(dataset: Dataset) -> dict[str, str]:
    return {
        **versions(),
        "data": dataset.name,
        "SHA-256 of the data": data_hash(dataset),
        "seed": "none: no random numbers are drawn",
    }


def data_hash(dataset: Dataset) -> str:
    """Fingerprint of samples, labels and runs as they were analyzed."""
    digest = hashlib.sha256(np.ascontiguousarray(dataset.X, dtype="<f8").tobytes())
    for labels in (dataset.y, dataset.runs):
        digest.update("\n".join(map(str, np.asarray(labels).tolist())).encode())
    return digest.hexdigest()
