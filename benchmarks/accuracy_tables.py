"""Tables of `bench_accuracy.py`: accuracy by set, method and l; the default and the best beside peers."""

from __future__ import annotations

import numpy as np
import pandas as pd

#: as constructed without numbers, and what did best
DEFAULT, BEST = "balanced a=1 | joint", "balanced a=.1 | least_squares"
PEERS = ("PCA + SVM", "PLS-DA", "SVM, all features", "ridge, all features")
FROM_4_TO_15 = ("4", "6", "8", "10", "15")


def by_unit(results: pd.DataFrame) -> pd.DataFrame:
    """Accuracy of each unit (rows: set, method, l; columns: units), folds and tasks of a unit averaged."""
    means = results.groupby(["set", "method", "l", "unit"])["accuracy"].mean()
    return means.unstack("unit")


def show(results: pd.DataFrame) -> None:
    """Print everything."""
    table = by_unit(results)
    columns = ["2", "4", "6", "8", "10", "15", "20", "cv"]
    for name in dict.fromkeys(results["set"]):
        print(f"\n{name}: accuracy at l = {', '.join(columns[:-1])}, and with l chosen inside")
        for method in dict.fromkeys(results.query("set == @name")["method"]):
            rows = table.loc[name, method]
            constant = "0" in rows.index
            values = [rows.loc["0" if constant and c != "cv" else c].mean()
                      if (c in rows.index or constant) else np.nan for c in columns]  # fmt: skip
            print(f"  {method:<44}" + " ".join("  -  " if np.isnan(v) else f"{v:.3f}" for v in values))
    names = list(dict.fromkeys(results["set"]))
    for ours in (DEFAULT, BEST):
        differences(table, names, ours)
    print(f"\neach variant minus {DEFAULT}, l from 4 to 15, over all sets (in %)")
    for method in dict.fromkeys(results["method"]):
        if method not in (*PEERS, DEFAULT):
            average(table, [n for n in names if method in table.loc[n].index], method)


def difference(table: pd.DataFrame, name: str, ours: str, peer: str, l: str) -> np.ndarray:
    """Ours minus the peer's, unit by unit."""
    peers_l = "0" if "0" in table.loc[name, peer].index and l != "cv" else l
    return (table.loc[(name, ours, l)] - table.loc[(name, peer, peers_l)]).dropna().to_numpy()


def differences(table: pd.DataFrame, names: list[str], ours: str) -> None:
    """Ours minus each peer: by set and l, and over all sets."""
    for peer in (*PEERS, DEFAULT) if ours != DEFAULT else PEERS:
        print(f"\n{ours} minus {peer}, ± paired standard error over units (in %)")
        for name in names:
            cells = []
            for l in (*FROM_4_TO_15, "20", "cv"):
                d = 100 * difference(table, name, ours, peer, l)
                cells.append(f"{d.mean():+5.1f} ± {d.std(ddof=1) / np.sqrt(len(d)):3.1f}")
            print(f"  {name:<26}" + "  ".join(cells))
        at = [np.mean([100 * difference(table, n, ours, peer, l).mean() for n in names])
              for l in (*FROM_4_TO_15, "20", "cv")]  # fmt: skip
        print(f"  {'mean over sets':<26}" + "        ".join(f"{d:+5.1f}" for d in at))
        means, errors = [], []
        for name in names:
            d = np.mean([100 * difference(table, name, ours, peer, l) for l in FROM_4_TO_15], axis=0)
            means.append(d.mean())
            errors.append(d.std(ddof=1) / np.sqrt(len(d)))
        total, error = np.mean(means), np.sqrt(np.sum(np.square(errors))) / len(names)
        each = ", ".join(f"{n} {m:+.1f} ± {e:.1f}" for n, m, e in zip(names, means, errors, strict=True))
        print(f"  l from 4 to 15: {total:+.2f} ± {error:.2f} over all sets; {each}")


def average(table: pd.DataFrame, names: list[str], method: str) -> None:
    """A method minus the default over sets and the dimensions that both have."""
    means, errors = [], []
    for name in names:
        shared = [l for l in FROM_4_TO_15 if l in table.loc[name, method].index]
        d = np.mean([100 * difference(table, name, method, DEFAULT, l) for l in shared], axis=0)
        means.append(d.mean())
        errors.append(d.std(ddof=1) / np.sqrt(len(d)))
    error = np.sqrt(np.sum(np.square(errors))) / len(names)
    print(f"  {method:<44}{np.mean(means):+.1f} ± {error:.1f} over {len(names)} sets")
