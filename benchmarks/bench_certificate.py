"""What the certificate of a `balanced` fit costs, as a share of the fit that it certifies.

At 84 × 16000 (simulated, two classes and seven labels) and 392 × 1000 (haxby2011 pooled where it is there,
else simulated, seven classes): a whole `SVDMClassifier.fit`, reduction and lifting included, and the
certificate alone (bound, gap and direction of escape), taking turns.

    SVDECODE_DATA=... python benchmarks/bench_certificate.py
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator

import numpy as np
import sets
from timing import race

from svdecode import SVDMClassifier
from svdecode._threads import threads_for
from svdecode.reduction import reduce_rows
from svdecode.svdm.convex import certify
from svdecode.svdm.fitting import data_scale
from svdecode.svdm.formulations import Problem, balanced
from svdecode.svdm.labels import encode
from svdecode.svdm.solver import minimise
from svdecode.svdm.starts import choose_start


def cases() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    """Name, samples and labels."""
    rng = np.random.default_rng(0)
    Z, W = rng.standard_normal((84, 10)), rng.standard_normal((10, 16000))
    X = Z @ W + 3 * rng.standard_normal((84, 16000))
    yield "84 x 16000, two classes", X, (Z @ rng.standard_normal(10) > 0).astype(int)
    yield "84 x 16000, seven classes", X, (Z @ rng.standard_normal((10, 7))).argmax(axis=1)
    for data in sets.found("haxby2011"):
        yield "392 x 1000, haxby2011 pooled", data.X, np.asarray(data.y)
    Z, W = rng.standard_normal((392, 10)), rng.standard_normal((10, 1000))
    X = Z @ W + 3 * rng.standard_normal((392, 1000))
    yield "392 x 1000, simulated", X, (Z @ rng.standard_normal((10, 7))).argmax(axis=1)


def main() -> None:
    """Print a line for each case, number of components, and stopping rule."""
    rules = {
        "stationary": {"stopping": "stationary"},
        "papers' stop": {"stopping": "decrease", "tol": 1e-3, "solver": "alternating"},
    }
    print(f"{'':<30} {'l':>3} {'stopping':<13} {'fit, ms':>9} {'certificate, ms':>16} {'share':>7}")
    for name, X, y in cases():
        for l in (8, 20):
            reduction = reduce_rows(X)
            scale = data_scale(reduction.coordinates, X.shape[1])
            Y = encode(y, len(y)).Y
            o = balanced(Problem(reduction.coordinates / scale, Y, np.abs(Y), X.shape[1], l, shrinkage=0.1))
            start = choose_start(o, "svd", l, np.random.default_rng(0), 0, with_labels=True)
            result = minimise(o, start)
            for rule, params in rules.items():

                def certificate(o=o, result=result, thorough=rule == "stationary"):  # type: ignore[no-untyped-def]
                    with threads_for(o.X.size):
                        return certify(o, result.factors, result.multipliers, thorough=thorough)

                model = SVDMClassifier(l, shrinkage=0.1, **params)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    seconds = race(
                        {"fit": lambda model=model, X=X, y=y: model.fit(X, y), "certificate": certificate}, 5
                    )
                share = seconds["certificate"] / seconds["fit"]
                print(
                    f"{name:<30} {l:>3} {rule:<13} {1e3 * seconds['fit']:9.1f} "
                    f"{1e3 * seconds['certificate']:16.2f} {share:7.1%}",
                    flush=True,
                )


if __name__ == "__main__":
    main()
