"""Studies that are stopped, in any way, and go on: only what is missing is computed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import joblib
import numpy as np
import pytest
from study.studies import Counted, brain, counted, fits, same_cells

from svdecode import Study
from svdecode.study import METHODS, Method, Store

TESTS = Path(__file__).parents[1]


def both(path):
    """A method that is batched, one that knows rows alone, one that counts its fits."""
    return [
        METHODS["svdm"](sizes=[1, 2], shrinkage=(0.3, 0.1)),
        METHODS["svd_svm"](sizes=[2], C=(0.1, 1.0)),
        counted(path),
    ]


def test_a_second_run_computes_what_is_missing_only(tmp_path):
    data, path = brain(), tmp_path / "study.sqlite"
    n_fits = 4 * 2 + 1  # two weights in four inner folds, and the one that is reported
    first = Study(data, counted(tmp_path / "fits")).run(path)
    assert fits(tmp_path / "fits") == 5 * n_fits
    second = Study(data, counted(tmp_path / "fits")).run(path)
    assert fits(tmp_path / "fits") == 5 * n_fits
    same_cells(first, second)
    Study(data, counted(tmp_path / "fits"), n_permutations=2).run(path)
    assert fits(tmp_path / "fits") == 3 * 5 * n_fits
    # the same data under another name are the same data
    renamed = Study({"other": data}, counted(tmp_path / "fits")).run(path)
    assert fits(tmp_path / "fits") == 3 * 5 * n_fits
    assert renamed.table["dataset"].unique().tolist() == ["other"]
    assert renamed.accuracy()["over"].tolist() == ["runs"]


def test_a_store_of_other_data_is_left_as_it_is(tmp_path):
    path = tmp_path / "study.sqlite"
    first = Study(brain(seed=0), both(tmp_path / "fits")).run(path)
    kept = {cell.key: cell for cell in first.store.cells()}
    second = Study(brain(seed=1), both(tmp_path / "fits")).run(path)
    assert len(second.table) == len(second.study)
    with Store(path) as store:
        assert len(store) == 2 * len(kept)
        for cell in store.cells(kept):
            np.testing.assert_array_equal(cell.scores, kept[cell.key].scores)
            assert cell.seconds == kept[cell.key].seconds


class Stop(Counted):
    """Presses Ctrl-C at one of its fits."""

    def fit(self, X, y):
        super().fit(X, y)
        if fits(self.path) == 20:
            raise KeyboardInterrupt
        return self


@pytest.mark.parametrize("n_jobs", [None, 2])
def test_ctrl_c_leaves_a_store_to_go_on_with(tmp_path, n_jobs):
    data, path = brain(), tmp_path / "study.sqlite"
    method = Method("ridge", Stop, {"alpha": (100.0, 1.0)}, fixed={"path": str(tmp_path / "fits")})
    study = Study(data, [METHODS["svdm"](sizes=[1], shrinkage=(0.3, 0.1)), method])
    with (
        joblib.parallel_config(backend="threading"),
        pytest.raises(
            KeyboardInterrupt, match=r"stopped: \d of 10 cells are done and in .*\.sqlite; run"
        ) as stopped,
    ):
        study.run(path, n_jobs=n_jobs)
    with Store(path) as store:
        store.check()
        n_done = len(store)
    assert 5 < n_done < 10
    assert f"stopped: {n_done} of 10" in str(stopped.value)
    before = fits(tmp_path / "fits")
    result = study.run(path)
    if n_jobs is None:  # of two threads the other one goes on to the end of its split, and counts
        assert fits(tmp_path / "fits") - before == (10 - n_done) * 9
    assert len(result.table) == 10
    other = Method("ridge", Counted, {"alpha": (100.0, 1.0)}, fixed={"path": str(tmp_path / "others")})
    whole = Study(data, [study.methods[0], other]).run()
    np.testing.assert_array_equal(result.predictions["prediction"], whole.predictions["prediction"])


def test_ctrl_c_without_a_store_says_that_nothing_is_kept(tmp_path):
    method = Method("ridge", Stop, {"alpha": (100.0, 1.0)}, fixed={"path": str(tmp_path / "fits")})
    with pytest.raises(KeyboardInterrupt, match="2 of 5 cells were done; none is kept, for want of a store"):
        Study(brain(), method).run()


def test_an_error_leaves_what_was_done(tmp_path):
    class Failing(Counted):
        def fit(self, X, y):
            if fits(self.path) == 20:
                raise ValueError("y: found nothing")
            return super().fit(X, y)

    method = Method("ridge", Failing, {"alpha": (100.0, 1.0)}, fixed={"path": str(tmp_path / "fits")})
    with pytest.raises(ValueError, match=r"y: found nothing \(ridge, simulated, run 3\)"):
        Study(brain(), method).run(tmp_path / "study.sqlite")
    with Store(tmp_path / "study.sqlite") as store:
        assert len(store) == 2


SCRIPT = """
import sys
sys.path.insert(0, {tests!r})
from study.test_study_resume import here
from pathlib import Path
here(Path({folder!r})).run(Path({folder!r}) / "study.sqlite")
"""


def here(folder):
    """The same study in any process."""
    methods = [METHODS["svdm"](sizes=[1, 2], shrinkage=(0.3, 0.1)), counted(folder / "fits")]
    return Study(brain(n_runs=8, per_run=6), methods)


N_CELLS, N_FITS = 8 * 3, 7 * 2 + 1  # a split of the counted method takes so many fits


def in_a_process(folder, seconds):
    script = SCRIPT.format(tests=str(TESTS), folder=str(folder))
    environment = os.environ | {"SECONDS_A_FIT": str(seconds)}
    return subprocess.Popen(
        [sys.executable, "-c", script], stderr=subprocess.PIPE, text=True, env=environment
    )


def wait_for(folder, n_fits, process):
    deadline = time.monotonic() + 200
    while fits(folder / "fits") < n_fits and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.02)


def as_if_nothing_had_happened(folder, result):
    assert len(result.table) == N_CELLS
    (folder / "whole").mkdir()
    whole = here(folder / "whole").run()
    for name in ("prediction", "truth", "fold", "n_components"):
        assert result.predictions[name].equals(whole.predictions[name])
    for a, b in zip(result.cells("svdm", dual=True), whole.cells("svdm", dual=True), strict=True):
        np.testing.assert_array_equal(a.dual, b.dual)
        assert a.chosen == b.chosen


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no kill -9")
def test_kill_9_and_go_on(tmp_path):
    process = in_a_process(tmp_path, 0.06)
    wait_for(tmp_path, 3 * N_FITS + 4, process)
    process.kill()
    _, said = process.communicate()
    assert process.returncode == -signal.SIGKILL, said
    with Store(tmp_path / "study.sqlite") as store:
        store.check()
        done = len(store)
    assert 16 < done < N_CELLS  # all batched cells, and some of the others
    before = fits(tmp_path / "fits")
    result = here(tmp_path).run(tmp_path / "study.sqlite")
    assert fits(tmp_path / "fits") - before == (N_CELLS - done) * N_FITS
    as_if_nothing_had_happened(tmp_path, result)


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no signals of this kind")
def test_ctrl_c_in_a_terminal(tmp_path):
    process = in_a_process(tmp_path, 0.06)
    wait_for(tmp_path, 3 * N_FITS + 4, process)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=100)
    with Store(tmp_path / "study.sqlite") as store:
        done = len(store)
    assert f"KeyboardInterrupt: stopped: {done} of {N_CELLS} cells are done and in" in said
    assert "run the same study with the same store to go on" in said
    assert done >= 16 + 3  # what was finished is kept, not only what had been written


def test_two_processes_fill_one_store(tmp_path):
    processes = [in_a_process(tmp_path, 0.02) for _ in range(2)]
    for process in processes:
        _, said = process.communicate(timeout=300)
        assert process.returncode == 0, said
    before = fits(tmp_path / "fits")
    assert before <= 2 * 8 * N_FITS
    result = here(tmp_path).run(tmp_path / "study.sqlite")
    assert fits(tmp_path / "fits") == before  # all is there
    with Store(tmp_path / "study.sqlite") as store:
        store.check()
        assert len(store) == N_CELLS
    as_if_nothing_had_happened(tmp_path, result)


def test_a_split_that_another_process_did_meanwhile_is_left_out(tmp_path):
    """The store is asked again before each split, not only at the start."""

    class Meanwhile(Counted):
        def fit(self, X, y):
            super().fit(X, y)
            if fits(self.path) == 5:  # in the first split: another finishes the last
                store.put(others)
            return self

    def study():
        method = Method("ridge", Meanwhile, {"alpha": (100.0, 1.0)}, fixed={"path": str(tmp_path / "fits")})
        return Study(brain(), method)

    others = []
    with Store(tmp_path / "other.sqlite") as store:
        others = [cell for cell in study().run(store).cells() if cell.fold in ("run 4", "run 5")]
    (tmp_path / "fits").unlink()
    with Store(tmp_path / "study.sqlite") as store:
        study().run(store)
    assert fits(tmp_path / "fits") == 3 * 9
