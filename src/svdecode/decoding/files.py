"""The files of a decoding: page, tables, maps, and what made them."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

from svdecode.decoding.images import as_bytes
from svdecode.report.page import versions

if TYPE_CHECKING:
    from svdecode.decoding.result import DecodingResult
    from svdecode.imaging import Dataset
    from svdecode.report.output import Output


def write_results(result: DecodingResult, output: Output) -> None:
    """Write all files beside their final places.

    Parameters
    ----------
    result : DecodingResult
        What was found.
    output : Output
        The folder.
    """
    output.write("report.html", result.report().html())
    output.write("results.csv", results_table(result).to_csv(index=False, lineterminator="\n"))
    output.write("predictions.csv", predictions_table(result).to_csv(index=False, lineterminator="\n"))
    output.write("provenance.json", json.dumps(provenance(result), indent=2, ensure_ascii=False) + "\n")
    for name, image in result.images.items():
        output.write(f"maps/{name}.nii.gz", as_bytes(image))


def results_table(result: DecodingResult) -> Any:
    """A row a method, number of components and split."""
    return result.study.table.drop(columns=["key"])


def predictions_table(result: DecodingResult) -> Any:
    """A row a method, number of components and test sample, with the sample's run and subject."""
    table = result.study.predictions.drop(columns=["key"])
    rows = table["row"].to_numpy(dtype=int)
    for name in ("runs", "subjects"):
        values = getattr(result.dataset, name)
        if values is not None and name.removesuffix("s") not in table.columns:
            table.insert(list(table.columns).index("row") + 1, name.removesuffix("s"), values[rows])
    return table


def provenance(result: DecodingResult) -> dict[str, Any]:
    """What made the results: versions, settings, seeds, and a hash of the data."""
    settings, dataset = result.settings, result.dataset
    return {
        "versions": versions(("numpy", "scipy", "scikit-learn", "numba", "nilearn", "nibabel", "matplotlib")),
        "settings": {
            "protocol": settings.protocol,
            "methods": {
                m.name: {"grid": dict(m.grid), "sizes": m.sizes, "fixed": dict(m.fixed)}
                for m in settings.methods
            },
            "components": settings.components,
            "standardize": settings.standardize,
            "choice": settings.choice,
            "inner_folds": settings.n_inner,
            "permutations": settings.n_permutations,
            "permute": settings.permute,
        },
        "seed": settings.seed,
        "data": {
            "name": dataset.name,
            "samples": dataset.n_samples,
            "features": dataset.n_features,
            "sha256": data_hash(dataset),
            "steps": list(dataset.steps),
        },
    }


def data_hash(dataset: Dataset) -> str:
    """SHA-256 of samples, labels, runs and subjects as they were analyzed."""
    X = dataset.X.toarray() if sp.issparse(dataset.X) else dataset.X
    digest = hashlib.sha256()
    for start in range(0, dataset.n_samples, 64):  # some rows at a time
        digest.update(np.ascontiguousarray(X[start : start + 64], dtype="<f8").tobytes())
    for labels in (dataset.y, dataset.runs, dataset.subjects):
        if labels is not None:
            digest.update("\n".join(map(str, np.asarray(labels).tolist())).encode())
    return digest.hexdigest()
