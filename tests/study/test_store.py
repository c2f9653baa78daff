"""The store gives back what was put."""

import numpy as np
import pytest
from study.stored import filled, make_cell, same

from svdecode.study.cells import Cell, pack, unpack
from svdecode.study.store import Store


@pytest.fixture
def path(tmp_path):
    return tmp_path / "study.sqlite"


def test_cells_come_back_as_they_were(path):
    with Store(filled(path, 60)) as store:
        cells = list(store.cells())
        assert len(cells) == len(store) == 60
        assert all(same(cell, make_cell(number)) for number, cell in enumerate(cells))
        assert same(store.get("00000007"), make_cell(7))
        assert store.get("nobody") is None
        assert "00000007" in store
        assert "nobody" not in store
        store.check()


def test_the_comparison_of_cells_sees_a_difference():
    assert not same(make_cell(3), make_cell(3, accuracy=0.123))
    assert not same(make_cell(3), make_cell(3, predictions=np.roll(make_cell(3).predictions, 1)))
    assert not same(make_cell(3), make_cell(3, n_components=9))


def test_cells_are_asked_for_by_key_and_in_order(path):
    with Store(filled(path)) as store:
        cells = store.cells(["00000009", "nobody", "00000002"], dual=False)
        assert [cell.key for cell in cells] == ["00000009", "00000002"]
        assert next(store.cells(["00000004"])).dual.shape == (4, 300)
        assert next(store.cells(["00000004"], dual=False)).dual is None


def test_what_is_there_is_not_put_again(path):
    with Store(filled(path, 10)) as store:
        assert store.put([make_cell(number) for number in range(5, 15)]) == 5
        assert store.put([make_cell(3, accuracy=0.5)]) == 0
        assert same(store.get("00000003"), make_cell(3))
        assert store.put([]) == 0


def test_what_is_missing_is_told_in_order(path):
    with Store(filled(path, 1200)) as store:  # more than are asked for at a time
        keys = [f"{number:08d}" for number in range(1210, 0, -1)]
        assert store.missing([*keys, *keys]) == keys[:11]
        assert store.missing([]) == []


def test_a_second_run_computes_only_what_is_missing(path):
    computed = []

    def run(numbers):
        with Store(path) as store:
            for key in store.missing([f"{number:08d}" for number in numbers]):
                computed.append(key)
                store.put([make_cell(int(key))])

    run(range(4))
    run(range(6))
    assert computed == [f"{number:08d}" for number in range(6)]


def test_a_batch_is_kept_whole_or_not_at_all(path):
    with Store(path) as store:
        with pytest.raises(ValueError, match=r"chosen\['C'\]: found function"):
            store.put([make_cell(0), make_cell(1, chosen={"C": make_cell})])
        assert len(store) == 0


@pytest.mark.parametrize("error", [KeyboardInterrupt, RuntimeError])
def test_what_breaks_into_a_transaction_undoes_it(path, monkeypatch, error):
    with Store(path) as store:

        def broken_off():
            with store._transaction() as connection:
                connection.execute("INSERT INTO cells (key) VALUES ('half')")
                raise error("now")

        with pytest.raises(error, match="now"):
            broken_off()
        assert store.keys() == []
        assert store.put([make_cell(0)]) == 1


LABELS = {
    "text": np.array(["a", "bb", "a"]),
    "text as pandas hands it over": np.array(["a", "bb", "a"], dtype=object),
    "numbers": np.array([3, 1, 300]),
    "negative numbers": np.array([-1, 1, 200]),
    "fractions": np.array([0.5, np.nan, 1.0]),
    "truth values": np.array([True, False, True]),
    "several a sample": np.array([[0, 1], [1, 1], [0, 0]]),
}


@pytest.mark.parametrize("case", LABELS)
def test_labels_of_every_kind_come_back(path, case):
    put = make_cell(0, test_rows=[4, 5, 6], predictions=LABELS[case], truth=LABELS[case], scores=None)
    with Store(path) as store:
        store.put([put])
        got = store.get(put.key)
    assert got.predictions.dtype == put.predictions.dtype
    np.testing.assert_array_equal(got.predictions, put.predictions)
    np.testing.assert_array_equal(got.predictions.tolist(), LABELS[case].tolist())


@pytest.mark.parametrize("shape", [(0,), (0, 3), (2, 0), (1,), (2, 3)])
@pytest.mark.parametrize("dtype", ["<i8", "<u8", "<f8", ">f8", "<f4", "|b1", "<U3"])
def test_arrays_of_every_shape_pack(shape, dtype):
    array = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
    back = unpack(pack(array))
    assert back.dtype == array.dtype
    assert back.shape == shape
    np.testing.assert_array_equal(back, array)


def test_extreme_whole_numbers_pack():
    for values in ([-(2**63), 2**63 - 1], [0, 2**63 - 1], [-129, 127], [255, 0], [256]):
        np.testing.assert_array_equal(unpack(pack(np.array(values))), values)


BAD_CELLS = {
    "predictions: found 2 rows, expected one for each of the 3 test rows": {"predictions": ["a", "b"]},
    "scores: found 1 rows": {"scores": np.zeros((1, 4))},
    "predictions: found values of type object": {"predictions": ["a", 1, None]},
    "test_rows: found shape": {"test_rows": [0.5, 1.0, 2.0]},
    "key: found ''": {"key": ""},
}


@pytest.mark.parametrize("message", BAD_CELLS)
def test_a_cell_that_contradicts_itself_is_refused(message):
    good = {"test_rows": [0, 1, 2], "predictions": ["a", "b", "a"], "truth": None, "scores": None}
    change = BAD_CELLS[message]
    if "predictions" in change and None in change["predictions"]:
        change = {"predictions": np.array(change["predictions"], dtype=object)}
    with pytest.raises(ValueError, match=message):
        make_cell(0, **(good | change))


def test_a_cell_needs_names():
    with pytest.raises(TypeError):
        Cell("key", "dataset")  # by name only: twenty values in a row are too easily mixed up
