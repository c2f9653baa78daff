"""The command: what it prints, where it writes, and that bad input is one line and exit code 2."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

import pandas as pd
import pytest
from typer.testing import CliRunner

import svdecode
from svdecode.cli import app, main
from svdecode.datasets import available
from svdecode.report.demo import analysis

COMMAND = Path(sys.executable).with_name("svdecode")
DEMO_FILES = ["report.html", "results.csv"]


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def names(folder):
    return sorted(path.name for path in folder.iterdir())


@pytest.fixture
def quick(monkeypatch):
    """A demo of a few choices of runs, where only what is around it is tested."""
    monkeypatch.setattr(analysis, "N_CHOICES", 2)
    monkeypatch.setattr(analysis, "CLASSIFIER_STRIDE", 250)
    whole = analysis._plan
    monkeypatch.setattr(
        analysis,
        "_plan",
        lambda runs: (step for number, step in enumerate(whole(runs)) if number % 100 == 0 or number > 490),
    )


def test_version():
    result = run("--version")
    assert result.exit_code == 0
    assert result.output == f"svdecode {svdecode.__version__}\n"


@pytest.mark.parametrize("arguments", [[], ["--help"], ["data"], ["demo", "--help"], ["data", "--help"]])
def test_help_names_what_there_is(arguments):
    result = run(*arguments)
    assert result.exit_code == 0
    expected = {"demo": ["--out"], "data": ["list", "info", "fetch"]}.get(
        "".join(arguments[:1]), ["demo", "data"]
    )
    assert all(word in result.output for word in expected)


@pytest.mark.usefixtures("quick")
def test_demo_writes_the_page_and_the_table(tmp_path):
    result = run("demo", "--out", tmp_path / "new" / "out")
    assert result.exit_code == 0, result.output
    assert result.output.splitlines()[-1] == str(tmp_path / "new" / "out" / "report.html")
    assert names(tmp_path / "new" / "out") == DEMO_FILES


@pytest.mark.usefixtures("quick")
def test_demo_replaces_its_results_and_leaves_other_files_alone(tmp_path):
    for name in (*DEMO_FILES, "notes.txt"):
        (tmp_path / name).write_text("old")
    assert run("demo", "--out", tmp_path).exit_code == 0
    assert names(tmp_path) == ["notes.txt", *DEMO_FILES]
    assert (tmp_path / "notes.txt").read_text() == "old"
    ElementTree.parse(tmp_path / "report.html")
    assert len(pd.read_csv(tmp_path / "results.csv"))


def test_the_installed_command_makes_the_whole_page(tmp_path):
    """As a user runs it, from another folder, with all choices of runs."""
    result = subprocess.run(
        [COMMAND, "demo", "--out", "out"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert result.returncode == 0, result.stderr
    assert result.stdout == f"{Path('out') / 'report.html'}\n"
    assert result.stderr == ""
    assert names(tmp_path) == ["out"]
    assert names(tmp_path / "out") == DEMO_FILES
    page = ElementTree.parse(tmp_path / "out" / "report.html")
    assert "495 of 495" in [element.text for element in page.iter("strong")]
    rows = pd.read_csv(tmp_path / "out" / "results.csv")
    measured = rows[(rows.measure == "distance") & (rows.n_training_runs == 4) & (rows.method == "GenSVD")]
    assert measured.value.between(0, 1).all()
    assert len(measured) > 495


def test_ctrl_c_is_one_line_and_leaves_nothing(tmp_path):
    process = subprocess.Popen(
        [COMMAND, "demo", "--out", tmp_path / "a" / "b"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        # a shell that starts tests in the background has them ignore Ctrl-C
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    while not (tmp_path / "a" / "b").exists():
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    output, error = process.communicate()
    assert process.returncode == 130, error
    assert output == ""
    assert error.strip().splitlines() == ["svdecode: interrupted"]
    assert names(tmp_path) == []


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


def test_out_is_a_file(capsys, tmp_path):
    (tmp_path / "file").write_text("mine")
    refused = "expected a folder that can be written to"
    assert_refused(capsys, ["demo", "--out", tmp_path / "file"], "--out: found", "file", refused)
    assert_refused(capsys, ["demo", "--out", tmp_path / "file" / "x"], "--out: found", "file", refused)
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


@pytest.mark.parametrize("trouble", [ValueError("X: found\n nothing"), FileNotFoundError("X: found nothing")])
def test_trouble_on_the_way_leaves_nothing(capsys, tmp_path, monkeypatch, trouble):
    def fail(*_):
        raise trouble

    monkeypatch.setattr(analysis, "run_demo", fail)
    assert_refused(capsys, ["demo", "--out", tmp_path / "out"], "X: found nothing")
    assert names(tmp_path) == []


def test_a_bug_is_not_hidden(tmp_path, monkeypatch):
    def fail(*_):
        raise ZeroDivisionError

    monkeypatch.setattr(analysis, "run_demo", fail)
    with pytest.raises(ZeroDivisionError):
        main(["demo", "--out", str(tmp_path / "out")])
    assert names(tmp_path) == []


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["nonsense"], "nonsense"),
        (["demo", "--nonsense"], "--nonsense"),
        (["demo", "too", "many"], "too many"),
        (["demo", "--out"], "--out"),
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
