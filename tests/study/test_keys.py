"""A key depends on content, and on nothing else."""

import numpy as np
import pytest
import scipy.sparse as sp

from svdecode.study.keys import cell_key, fingerprint
from svdecode.study.store import Store

KEYED = {
    "dataset": "5f2c",
    "method": "svdm",
    "parameters": {"a": 1, "b": [0.1, None, "x", True]},
    "n_components": 4,
    "protocol": "runs",
    "fold": "run 1",
    "train_rows": [0, 1, 2],
    "test_rows": [3],
    "seed": 0,
}
OTHERWISE = {
    "dataset": "5f2d",
    "method": "svm",
    "parameters": {"a": 1, "b": [0.1, None, "x", 1]},
    "n_components": 5,
    "protocol": "subjects",
    "fold": "run 2",
    "train_rows": [0, 2, 1],
    "test_rows": [4],
    "seed": None,
    "inner": "runs",
}


@pytest.mark.parametrize("name", OTHERWISE)
def test_a_key_depends_on(name):
    assert cell_key(**(KEYED | {name: OTHERWISE[name]})) != cell_key(**KEYED)


def test_a_key_does_not_depend_on_how_content_is_written():
    same_content = {
        "parameters": {"b": (np.float64(0.1), None, np.str_("x"), np.bool_(True)), "a": np.int64(1)},
        "n_components": np.int32(4),
        "train_rows": np.array([0, 1, 2], dtype=np.uint8),
    }
    assert cell_key(**(KEYED | same_content)) == cell_key(**KEYED)


def test_whole_numbers_and_fractions_stay_apart():
    one, other = ({"parameters": {"n_components": value}} for value in (1, 1.0))
    assert cell_key(**(KEYED | one)) != cell_key(**(KEYED | other))


@pytest.mark.parametrize("value", [print, object(), Store, {1: 2}, {"x": {3, 4}}, 1j])
def test_what_has_no_lasting_text_makes_no_key(value):
    with pytest.raises(ValueError, match=r"parameters\['parameters'\]\['a'\].*: found"):
        cell_key(**(KEYED | {"parameters": {"a": value}}))


def test_a_fingerprint_sees_values_not_memory(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.standard_normal((50, 7))
    y = np.array(["a", "b"] * 25)
    name = fingerprint(X, y, None)
    assert fingerprint(np.asfortranarray(X), y.astype("<U9"), None) == name
    assert fingerprint(X[:, ::1], y.astype(object), None) == name
    assert fingerprint(X.astype(">f8"), y, None) == name
    monkeypatch.setattr("svdecode.study.keys.BLOCK", 100)  # fewer rows at a time
    assert fingerprint(X, y, None) == name
    changed = X.copy()
    changed[49, 6] = np.nextafter(changed[49, 6], 2)
    others = [(changed, y, None), (X, y[::-1], None), (X, y, y), (X, y), (X.T, y, None), (X.ravel(), y, None)]
    others += [(X.astype(np.float32), y, None), (sp.csr_matrix(X), y, None)]
    assert len({name, *(fingerprint(*other) for other in others)}) == len(others) + 1


def test_a_fingerprint_of_sparse_rows_sees_their_entries():
    X = sp.random(20, 30, 0.2, random_state=0, format="csr")
    unsorted = X.tocoo()
    order = np.random.default_rng(0).permutation(unsorted.nnz)
    shuffled = sp.coo_matrix((unsorted.data[order], (unsorted.row[order], unsorted.col[order])), X.shape)
    assert fingerprint(X) == fingerprint(X.tocsc()) == fingerprint(shuffled)
    assert fingerprint(X) != fingerprint(2 * X)
    assert fingerprint(X) != fingerprint(sp.csr_matrix((X.data, X.indices, X.indptr), (20, 31)))
