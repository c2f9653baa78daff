"""What the demo measured, looked up and put into words."""

from __future__ import annotations

import re
from typing import Any

import pandas as pd

from svdecode.report.demo.analysis import CLASSIFIERS, MAIN, N_TRAINING_RUNS, Demo, Setup

METHODS = ("SVD", "GenSVD")
HALVES = "halves of the new runs"
#: a mean difference in accuracy below one percentage point counts as none
NOTHING = 0.01


class Found:
    """Measured values, looked up by what they are. A range holds nine tenths of the choices of runs."""

    def __init__(self, demo: Demo) -> None:
        self.rows = demo.rows

    def values(
        self,
        measure: str,
        method: str,
        *,
        setup: Setup = MAIN,
        runs: int = N_TRAINING_RUNS,
        components: int | None = None,
    ) -> pd.Series[float]:
        """One value a choice of training runs, indexed by choice."""
        rows = self.rows
        chosen = (rows.measure == measure) & (rows.method == method) & (rows.setup == setup.name)
        chosen &= rows.n_training_runs == runs
        if components is not None:
            chosen &= rows.n_components == components
        return rows[chosen].set_index("training_runs")["value"]

    def mean(self, measure: str, method: str, **where: Any) -> float:
        """Mean over the choices."""
        return float(self.values(measure, method, **where).mean())

    def range(self, measure: str, method: str, **where: Any) -> tuple[float, float]:
        """Where the middle nine tenths of the choices lie."""
        low, high = self.values(measure, method, **where).quantile([0.05, 0.95])
        return float(low), float(high)

    def closer(self, **where: Any) -> tuple[int, int]:
        """In how many choices, of how many, GenSVD is closer to new samples than SVD is."""
        plain, corrected = (self.values("distance", method, **where) for method in METHODS)
        return int((corrected < plain - 1e-9).sum()), len(plain)

    def sizes(self) -> list[int]:
        """Numbers of training runs that were tried."""
        return sorted(int(n) for n in self.rows.loc[self.rows.setup == MAIN.name, "n_training_runs"].unique())

    def component_numbers(self) -> list[int]:
        """Numbers of components that classifiers were given."""
        tried = self.rows[self.rows.measure.str.startswith("accuracy")]
        return sorted(int(k) for k in tried.n_components.unique())

    def gains(self) -> dict[tuple[str, int], float]:
        """Mean gain in accuracy by GenSVD over SVD, for each classifier and number of components."""
        return {
            (name, k): self.mean(f"accuracy, {name}", "GenSVD", components=k)
            - self.mean(f"accuracy, {name}", "SVD", components=k)
            for name in CLASSIFIERS
            for k in self.component_numbers()
        }

    def verdict(self) -> str:
        """Whether classifiers get better, in a few words."""
        gains = self.gains().values()
        gains_somewhere, loses_somewhere = max(gains) >= NOTHING, min(gains) <= -NOTHING
        if gains_somewhere and not loses_somewhere:
            return "it does"
        if loses_somewhere and not gains_somewhere:
            return "it gets worse"
        return "on the whole it does not"


def text(words: str) -> str:
    """Words of a paragraph on one line; spaces that do not break are kept."""
    return re.sub(r"[ \n]+", " ", words).strip()


def percent(share: float) -> str:
    """Share in percent, with no break before the sign."""
    return f"{100 * share:.0f}\N{NO-BREAK SPACE}%"


def percents(low: float, high: float) -> str:
    """Range of shares."""
    return f"{100 * low:.0f}\N{EN DASH}{percent(high)}"


def points(difference: float) -> str:
    """Difference of two shares in percentage points, with a sign."""
    return f"{100 * difference:+.1f}".replace("-", "\N{MINUS SIGN}")


def chance(n_classes: int) -> str:
    """Accuracy of guessing."""
    return f"{100 / n_classes:.3g}\N{NO-BREAK SPACE}%"
