"""Tables are tidy, and their files whole."""

import csv
import json
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from study.stored import filled, make_cell

from svdecode.study.statistics import accuracy_interval
from svdecode.study.store import Store


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.sqlite"


def test_the_table_of_cells(path):
    with Store(filled(path, 40)) as store:
        table = store.to_frame()
    assert len(table) == 40
    assert table.columns[:5].tolist() == ["dataset", "method", "n_components", "seed", "fold"]
    for _, row in table.iterrows():
        cell = make_cell(int(row["key"]))
        assert row["accuracy"] == cell.accuracy
        assert row["n_test"] == len(cell.test_rows)
        assert row["shrinkage"] == cell.parameters["shrinkage"]
        assert row["chosen_hinge_weight"] == cell.chosen["hinge_weight"]
        assert json.loads(row["extra_weights"]) == [1, 2.5, None]
        assert pd.isna(row["converged"]) if cell.converged is None else row["converged"] == cell.converged
        assert (
            pd.isna(row["n_components"])
            if cell.n_components is None
            else row["n_components"] == cell.n_components
        )
    assert table["method"].is_monotonic_increasing


def test_the_table_of_samples(path):
    with Store(filled(path, 20)) as store:
        table = store.to_frame("samples", keys=[f"{number:08d}" for number in (3, 4)])
    for number in (3, 4):
        cell = make_cell(number)
        part = table[table["key"] == cell.key].set_index("row").loc[cell.test_rows]
        assert part["prediction"].tolist() == cell.predictions.tolist()
        assert part["truth"].tolist() == cell.truth.tolist()
        assert part["correct"].tolist() == (cell.predictions == cell.truth).tolist()
    assert len(table) == sum(len(make_cell(number).test_rows) for number in (3, 4))


def test_from_the_table_of_samples_to_an_interval(path):
    """Two folds, two seeds each: four cells, twelve samples."""
    runs = np.repeat([1, 2, 3], 4)
    truth = np.array(["a", "b"] * 6)
    rng = np.random.default_rng(0)
    predictions = rng.choice(["a", "b"], (2, 12))
    with Store(path) as store:
        for seed in (0, 1):
            for rows in (np.arange(8), np.arange(8, 12)):
                cell = {"test_rows": rows, "truth": truth[rows], "predictions": predictions[seed, rows]}
                store.put([make_cell(0, key=f"{seed} {rows[0]}", seed=seed, scores=None, **cell)])
        samples = store.to_frame("samples")
    right = samples.groupby("row")["correct"].mean()
    found = accuracy_interval(right, runs=runs[right.index])
    assert found == accuracy_interval((predictions == truth).mean(axis=0), runs=runs)
    assert (found.n_samples, found.n_units) == (12, 3)


def test_samples_of_several_labels_and_of_unknown_truth(path):
    with Store(path) as store:
        store.put([make_cell(0, test_rows=[1, 2], predictions=[[0, 1], [1, 1]], truth=None, scores=None)])
        table = store.to_frame("samples")
    assert table["prediction"].tolist() == ["[0,1]", "[1,1]"]
    assert table["truth"].isna().all()
    assert table["correct"].isna().all()


def test_tables_do_not_depend_on_who_wrote_first(tmp_path):
    for name, order in (("a", range(30)), ("b", range(29, -1, -1))):
        with Store(tmp_path / f"{name}.sqlite") as store:
            for number in order:
                store.put([make_cell(number)])
            store.to_csv(tmp_path / f"{name}.csv")
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()


def test_a_table_of_nothing_has_its_columns(path, tmp_path):
    with Store(path) as store:
        assert list(store.to_frame().columns)[:3] == ["dataset", "method", "n_components"]
        assert len(store.to_frame("samples")) == 0
        store.to_csv(tmp_path / "out.csv")
        with pytest.raises(ValueError, match="rows: found 'voxels', expected one of 'cells', 'samples'"):
            store.to_frame("voxels")


def test_a_column_of_numbers_and_text_becomes_text(path):
    with Store(path) as store:
        values = ["scale", 0.5, None, True, [1, 2]]
        store.put([make_cell(i, parameters={"gamma": value, "fold": i}) for i, value in enumerate(values)])
        table = store.to_frame().set_index("key").sort_index()
    assert table["gamma"].tolist()[:2] == ["scale", "0.5"]
    assert table["gamma"].tolist()[3:] == ["true", "[1,2]"]
    assert table["parameter_fold"].tolist() == [0, 1, 2, 3, 4]  # `fold` is a column of ours


def test_csv_keeps_every_digit(path, tmp_path):
    with Store(filled(path)) as store:
        table = store.to_frame()
        store.to_csv(tmp_path / "out.csv")
    with (tmp_path / "out.csv").open(newline="") as file:
        back = list(csv.DictReader(file))
    assert [row["key"] for row in back] == table["key"].tolist()
    for name in ("accuracy", "seconds", "stationarity", "chosen_hinge_weight"):
        np.testing.assert_array_equal([float(row[name] or "nan") for row in back], table[name])


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_table_appears_whole_or_not_at_all(path, tmp_path, monkeypatch, error):
    def write_half(self, beside, **more):
        Path(beside).write_text("dataset,meth")
        raise error("broken off")

    out = tmp_path / "out" / "study.csv"
    out.parent.mkdir()
    out.write_text("before")
    with Store(filled(path)) as store:
        monkeypatch.setattr(pd.DataFrame, "to_csv", write_half)
        with pytest.raises(error, match="broken off"):
            store.to_csv(out)
    assert [file.name for file in out.parent.iterdir()] == ["study.csv"]
    assert out.read_text() == "before"


def test_where_no_table_can_be_written(path, tmp_path):
    with Store(filled(path)) as store, pytest.raises(OSError, match=r"path: found that .* can't be written"):
        store.to_csv(tmp_path / "nowhere" / "study.csv")


def test_parquet_without_pyarrow_names_what_to_install(path, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with (
        Store(filled(path)) as store,
        pytest.raises(ImportError, match=r"found no pyarrow.*pip install pyarrow"),
    ):
        store.to_parquet(tmp_path / "out.parquet")


@pytest.mark.parametrize("rows", ["cells", "samples"])
def test_parquet_comes_back(path, tmp_path, rows):
    pytest.importorskip("pyarrow")
    with Store(filled(path)) as store:
        store.to_parquet(tmp_path / "out.parquet", rows)
        table = store.to_frame(rows)
    back = pd.read_parquet(tmp_path / "out.parquet")
    pd.testing.assert_frame_equal(back, table, check_dtype=False)
