"""The command: what it prints, where it writes, and that bad input is one line and exit code 2."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import nibabel
import numpy as np
import pandas as pd
import pytest
from decoding.studies import quick, write_study
from typer.testing import CliRunner

import svdecode
from svdecode.cli import app, main
from svdecode.datasets import available

COMMAND = Path(sys.executable).with_name("svdecode")
FILES = sorted(
    [
        "config.yaml",
        "maps",
        "predictions.csv",
        "provenance.json",
        "report.html",
        "results.csv",
        "study.sqlite",
    ]
)


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    """Images, a table and a mask on disk."""
    folder = tmp_path_factory.mktemp("study")
    write_study(folder)
    return folder


def test_version():
    result = run("--version")
    assert result.exit_code == 0
    assert result.output == f"svdecode {svdecode.__version__}\n"


@pytest.mark.parametrize(
    "arguments", [[], ["--help"], ["data"], ["demo", "--help"], ["data", "--help"], ["decode", "--help"]]
)
def test_help_names_what_there_is(arguments):
    result = run(*arguments)
    assert result.exit_code == 0
    expected = {"demo": ["--out"], "data": ["list", "info", "fetch"], "decode": ["--labels", "--resume"]}.get(
        "".join(arguments[:1]), ["demo", "decode", "data"]
    )
    assert all(word in result.output for word in expected)


def assert_whole(folder):
    """All results are there, none is half-written, and the page is well-formed."""
    assert names(folder) == FILES
    page = ElementTree.parse(folder / "report.html")
    assert page.getroot().findtext(".//h1").startswith("Decoding")
    assert len(pd.read_csv(folder / "results.csv"))
    assert (
        json.loads((folder / "provenance.json").read_text())["versions"]["svdecode"] == svdecode.__version__
    )
    assert all(name.endswith(".nii.gz") for name in names(folder / "maps"))


def test_decode_writes_everything(study, tmp_path):
    result = run(*quick(study), "--out", tmp_path / "new" / "out")
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[-1] == str(tmp_path / "new" / "out" / "report.html")
    assert_whole(tmp_path / "new" / "out")
    predictions = pd.read_csv(tmp_path / "new" / "out" / "predictions.csv")
    labels = pd.read_csv(study / "labels.tsv", sep="\t")
    assert (predictions["truth"] == labels["label"].to_numpy()[predictions["row"]]).all()
    assert (predictions["run"] == labels["run"].to_numpy()[predictions["row"]]).all()
    assert predictions["correct"].mean() > 0.6
    mask = nibabel.load(study / "mask.nii.gz")
    for path in (tmp_path / "new" / "out" / "maps").iterdir():
        image = nibabel.load(path)
        assert image.shape[:3] == mask.shape
        np.testing.assert_array_equal(image.affine, mask.affine)
        assert not np.asarray(image.dataobj)[np.asarray(mask.dataobj) == 0].any()


def test_the_config_does_the_same_again(study, tmp_path):
    first = [*quick(study), "--seed", "3", "--methods", "svdm,linear_svm", "--out", tmp_path / "a"]
    assert run(*first).exit_code == 0
    again = run("decode", "--config", tmp_path / "a" / "config.yaml", "--out", tmp_path / "b", "--jobs", "2")
    assert again.exit_code == 0, again.output
    for name in ("predictions.csv", "config.yaml"):
        assert (tmp_path / "a" / name).read_bytes() == (tmp_path / "b" / name).read_bytes()
    for name in names(tmp_path / "a" / "maps"):
        assert (tmp_path / "a" / "maps" / name).read_bytes() == (tmp_path / "b" / "maps" / name).read_bytes()


def test_a_dry_run_writes_nothing(study, tmp_path):
    result = run(*quick(study), "--out", tmp_path / "out", "--dry-run")
    assert result.exit_code == 0, result.output
    assert "Protocol: leave_one_run_out, 4 splits." in result.output
    assert "should take about" in result.output
    assert names(tmp_path) == []


def test_decode_replaces_its_results_and_leaves_other_files_alone(study, tmp_path):
    for name in ("notes.txt", "report.html"):
        (tmp_path / name).write_text("old")
    assert run(*quick(study), "--out", tmp_path).exit_code == 0
    assert (tmp_path / "notes.txt").read_text() == "old"
    (tmp_path / "notes.txt").unlink()
    assert_whole(tmp_path)


def test_ctrl_c_keeps_what_is_done_and_resume_goes_on(study, tmp_path):
    """Stopped as soon as something is in the store; the second run computes the rest and no more."""
    arguments = [str(a) for a in [*quick(study), "--permutations", "3000", "--out", tmp_path / "a"]]
    process = subprocess.Popen(
        [COMMAND, *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a shell that starts tests in the background has them ignore Ctrl-C
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    unfinished = tmp_path / "a" / "unfinished.sqlite"
    while not (unfinished.exists() and cells(unfinished)):
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    output, error = process.communicate()
    assert process.returncode == 130, error
    assert output == ""
    assert error.strip().splitlines()[-1].startswith("svdecode: interrupted; what is done is kept in")
    assert names(tmp_path / "a") == ["unfinished.sqlite"]
    kept = cells(unfinished)
    assert kept
    refused = run(*quick(study), "--out", tmp_path / "a")
    assert "expected --resume to go on with it" in str(refused.exception)
    assert run(*quick(study), "--out", tmp_path / "a", "--resume").exit_code == 0
    assert_whole(tmp_path / "a")
    assert set(kept) <= set(cells(tmp_path / "a" / "study.sqlite"))


def cells(path):
    with sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=10) as connection:
        try:
            return connection.execute("SELECT key, created FROM cells").fetchall()
        except sqlite3.OperationalError:
            return []


def test_the_installed_demo_makes_the_whole_page(tmp_path):
    """As a user runs it, from another folder: eight categories, twelve runs."""
    result = subprocess.run(
        [COMMAND, "demo", "--out", "out"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"{Path('out') / 'report.html'}\n"
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == sorted([*FILES, "labels.tsv"])
    rows = pd.read_csv(tmp_path / "out" / "results.csv")
    assert set(rows["method"]) == {"SVDM", "SVD + SVM", "SVM on all voxels"}
    assert rows["fold"].nunique() == 12
    predictions = pd.read_csv(tmp_path / "out" / "predictions.csv")
    assert predictions["truth"].nunique() == 8
    assert predictions[predictions["method"] == "SVDM"].groupby("n_components")["correct"].mean().max() > 0.7


def assert_refused(capsys, arguments, *words):
    """Exit code 2, nothing on stdout, one line on stderr that has these words."""
    assert main([str(argument) for argument in arguments]) == 2
    output, error = capsys.readouterr()
    assert output == ""
    assert error.startswith("svdecode: ")
    assert error.count("\n") == 1
    assert error.endswith("\n")
    for word in words:
        assert word in error


def test_out_is_a_file(capsys, tmp_path, study):
    (tmp_path / "file").write_text("mine")
    refused = "expected a folder that can be written to"
    for out in (tmp_path / "file", tmp_path / "file" / "x"):
        for command in (["demo"], quick(study)):
            assert_refused(capsys, [*command, "--out", out], "--out: found", "file", refused)
    assert names(tmp_path) == ["file"]
    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_out_cannot_be_written_to(capsys, tmp_path):
    tmp_path.chmod(0o500)
    try:
        assert_refused(capsys, ["demo", "--out", tmp_path], "--out: found", "Permission denied")
        assert_refused(capsys, ["demo", "--out", tmp_path / "new"], "--out: found", "Permission denied")
    finally:
        tmp_path.chmod(0o700)
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    "trouble",
    [
        ValueError("X: found\n nothing"),
        FileNotFoundError("X: found nothing"),
        OSError(28, "X: found nothing"),
    ],
)
@pytest.mark.parametrize("where", ["svdecode.decoding.command.read", "svdecode.decoding.files.results_table"])
def test_trouble_on_the_way_leaves_nothing_but_what_is_done(
    capsys, tmp_path, monkeypatch, study, trouble, where
):
    def fail(*_):
        raise trouble

    monkeypatch.setattr(where, fail)
    assert_refused(capsys, [*quick(study), "--out", tmp_path / "out"], "X: found nothing")
    left = names(tmp_path / "out") if (tmp_path / "out").exists() else []
    assert left == ([] if where.endswith("read") else ["unfinished.sqlite"])


def test_a_full_disk_leaves_the_old_results(capsys, tmp_path, monkeypatch, study):
    assert main([str(a) for a in [*quick(study), "--out", tmp_path]]) == 0
    capsys.readouterr()
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.suffix != ".sqlite"}
    write = Path.write_bytes

    def full(path, content):
        if "predictions" in path.name:
            raise OSError(28, "No space left on device")
        return write(path, content)

    monkeypatch.setattr(Path, "write_bytes", full)
    assert_refused(capsys, [*quick(study), "--seed", "1", "--out", tmp_path], "No space left on device")
    after = {path: path.read_bytes() for path in tmp_path.rglob("*.*") if path.suffix != ".sqlite"}
    assert after == before


def test_a_bug_is_not_hidden(tmp_path, monkeypatch, study):
    def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setattr("svdecode.decoding.command.read", fail)
    with pytest.raises(ZeroDivisionError):
        main([str(a) for a in [*quick(study), "--out", tmp_path / "out"]])
    assert names(tmp_path) == []


def test_bad_input_is_one_line(capsys, tmp_path, study):
    def table(name, labels):
        frame = pd.read_csv(study / "labels.tsv", sep="\t").assign(label=labels)
        frame.to_csv(tmp_path / f"{name}.tsv", sep="\t", index=False)
        return ["--labels", tmp_path / f"{name}.tsv"]

    out = ["--out", tmp_path / "out"]
    cut = tmp_path / "cut.nii.gz"
    cut.write_bytes((study / "bold.nii.gz").read_bytes()[:2000])
    cases = {
        "expected one of 'label', 'run'": ["--label-column", "nonsense"],
        "found one class (face), expected at least two": table("one", "face"),
        "run 1": table("lonely", ["cat", "face"] * 3 + ["face", "house"] * 9),
        "expected one of": ["--protocol", "nonsense"],
        "methods: found 'nonsense'": ["--methods", "svdm,nonsense"],
        "--components: found 'two'": ["--components", "two"],
        "components: found 500, expected at most": ["--components", "500"],
        "components: found 0": ["--components", "0"],
        "--config: found": ["--config", tmp_path / "nowhere.yaml"],
        "mask: found no file": ["--mask", tmp_path / "nowhere.nii"],
    }
    for words, more in cases.items():
        assert_refused(capsys, [*quick(study), *out, *more], words)
    assert_refused(capsys, ["decode", cut, *quick(study)[2:], *out], "cut.nii.gz")
    assert_refused(capsys, ["decode", *out], "IMAGES: found none")
    assert_refused(capsys, quick(study), "--out: found none")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["nonsense"], "nonsense"),
        (["demo", "--nonsense"], "--nonsense"),
        (["demo", "too", "many"], "too many"),
        (["demo", "--out"], "--out"),
        (["decode", "--nonsense"], "--nonsense"),
        (["decode", "a.nii", "--seed", "x"], "--seed"),
        (["data", "info"], "Missing argument"),
        (["data", "nonsense"], "nonsense"),
        (["data", "list", "--data", "no/such/folder"], "no/such/folder"),
    ],
)
def test_wrong_usage_is_one_line(capsys, arguments, word):
    assert_refused(capsys, arguments, word, "--help")


def test_data_list_names_every_set(tmp_path):
    (tmp_path / "colon.npz").touch()
    result = run("data", "list", "--data", tmp_path)
    assert result.exit_code == 0
    lines = {line.split()[0]: line.split()[-1] for line in result.output.splitlines()}
    for record in available(tmp_path):
        assert record.name in lines
    assert (lines["haxby2001_slice"], lines["colon"], lines["srbct"]) == ("embedded", "yes", "no")


def test_data_list_without_a_folder_says_where_it_looks(monkeypatch):
    monkeypatch.delenv("SVDECODE_DATA", raising=False)
    assert "$SVDECODE_DATA" in run("data", "list").output


def test_data_info(capsys):
    result = run("data", "info", "haxby2001_slice")
    assert result.exit_code == 0
    assert "load_haxby2001_slice()" in result.output
    assert_refused(capsys, ["data", "info", "nonsense"], "name: found 'nonsense', expected one of")


def test_data_fetch_downloads_nothing_and_says_so(capsys, monkeypatch, tmp_path):
    assert "Nothing to fetch" in run("data", "fetch", "haxby2001_slice").output
    assert main(["data", "fetch", "colon", "--data", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1
    assert f"colon: found no colon.npz in {tmp_path}, expected it there" in error
    assert "downloads nothing" in error
    (tmp_path / "colon.npz").touch()
    assert run("data", "fetch", "colon", "--data", tmp_path).exit_code == 0


def test_a_reader_that_stops_listening_is_no_error():
    """As in `svdecode data list | head -1`."""
    process = subprocess.Popen([COMMAND, "data", "list"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()
    error = process.stderr.read()
    process.stderr.close()
    assert process.wait() in {0, 1}
    assert error == b""


def test_it_runs_as_a_module():
    result = subprocess.run(
        [sys.executable, "-m", "svdecode.cli", "--version"], capture_output=True, text=True, check=True
    )
    assert result.stdout == f"svdecode {svdecode.__version__}\n"
