"""Outcomes of many splits, put together to the tables that `bench_tensor.py` prints."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

import numpy as np
from tensor_sets import Array, Split

Outcome = dict[str, Array]  # how right each test sample is, for each column


class Collected:
    """Outcomes by table, column and unit, and the labels they belong to."""

    def __init__(self) -> None:
        self.outcomes: dict[str, dict[str, dict[str, list[Array]]]] = {}
        self.labels: dict[str, dict[str, list[Array]]] = {}

    def add(self, table: str, split: Split, outcome: Outcome) -> None:
        """Take in the outcome of a split."""
        columns = self.outcomes.setdefault(table, {name: defaultdict(list) for name in outcome})
        for name, values in outcome.items():
            columns[name][split.unit].append(np.asarray(values, dtype=float))
        self.labels.setdefault(table, defaultdict(list))[split.unit].append(split.y_test)

    def print(self) -> None:
        """Print a table with a row a unit, and the mean and the standard deviation."""
        for table, columns in self.outcomes.items():
            print(f"\n{table}\n\n| unit | {' | '.join(columns)} |\n|---{'|---' * len(columns)}|")
            rates = {
                name: [mean_over_classes(units[u], self.labels[table][u]) for u in units]
                for name, units in columns.items()
            }
            units = list(next(iter(columns.values())))
            if len(units) <= 4:
                for i, unit in enumerate(units):
                    print(f"| {unit} | " + " | ".join(f"{100 * r[i]:.1f}" for r in rates.values()) + " |")
            cells = [f"{100 * np.mean(r):.1f} ± {100 * np.std(r, ddof=1):.1f}" for r in rates.values()]
            print(f"| average of {len(units)} | " + " | ".join(cells) + " |")


def mean_over_classes(outcome: Iterable[Array], labels: Iterable[Array]) -> float:
    """Mean over the classes of the mean outcome of their samples."""
    values, y = np.concatenate(list(outcome)), np.concatenate(list(labels))
    return float(np.mean([values[y == c].mean() for c in np.unique(y)]))
