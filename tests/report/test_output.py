"""Results appear whole, or the folder is as it was."""

import errno
from pathlib import Path

import pytest

from svdecode.report import output_folder


def names(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))


def write_two(folder, first="<p>", second="a,b"):
    with output_folder(folder) as output:
        output.write("report.html", first)
        output.write("results.csv", second)


def test_files_appear_in_a_new_folder(tmp_path):
    write_two(tmp_path / "a" / "b")
    assert names(tmp_path) == ["a", "a/b", "a/b/report.html", "a/b/results.csv"]
    assert (tmp_path / "a" / "b" / "report.html").read_text(encoding="utf-8") == "<p>"


def test_files_are_replaced_and_others_left_alone(tmp_path):
    write_two(tmp_path, "old")
    (tmp_path / "notes.txt").write_text("mine")
    write_two(tmp_path, "new é")
    assert names(tmp_path) == ["notes.txt", "report.html", "results.csv"]
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == "new é"


def test_nothing_is_in_place_before_the_end(tmp_path):
    with output_folder(tmp_path) as output:
        output.write("report.html", "<p>")
        assert not (tmp_path / "report.html").exists()


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, SystemExit, OSError])
def test_trouble_leaves_a_new_folder_unmade(tmp_path, error):
    def write_and_fail():
        with output_folder(tmp_path / "a" / "b") as output:
            output.write("report.html", "half")
            raise error("on the way")

    with pytest.raises(error, match="on the way"):
        write_and_fail()
    assert names(tmp_path) == []


def test_trouble_leaves_old_results_as_they_were(tmp_path):
    write_two(tmp_path, "old")

    def write_and_fail():
        with output_folder(tmp_path) as output:
            output.write("report.html", "new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        write_and_fail()
    assert names(tmp_path) == ["report.html", "results.csv"]
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == "old"


def test_a_full_disk_leaves_nothing_behind(tmp_path, monkeypatch):
    whole = Path.write_bytes

    def fill(path, content):
        whole(path, content[:2])
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(Path, "write_bytes", fill)
    with pytest.raises(ValueError, match=r"out: found .*a \(No space left on device\), expected a folder"):
        write_two(tmp_path / "a")
    assert names(tmp_path) == []


@pytest.mark.parametrize("below", ["", "deeper"])
def test_a_file_is_no_folder(tmp_path, below):
    (tmp_path / "file").write_text("mine")
    with pytest.raises(ValueError, match=r"--out: found .*file.*expected a folder that can be written to"):  # noqa: SIM117
        with output_folder(tmp_path / "file" / below, "--out"):
            pytest.fail("nobody should compute for a folder that cannot be written to")
    assert names(tmp_path) == ["file"]
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_in_a_file_s_place_is_named(tmp_path):
    (tmp_path / "results.csv").mkdir()
    with pytest.raises(ValueError, match=r"results\.csv in it is a folder"):
        write_two(tmp_path)
    assert names(tmp_path) == ["results.csv"]


def test_a_file_in_a_folder_of_its_own(tmp_path):
    with output_folder(tmp_path) as output:
        output.write("maps/face.nii.gz", b"\x1f\x8b")
        assert not (tmp_path / "maps" / "face.nii.gz").exists()
    assert (tmp_path / "maps" / "face.nii.gz").read_bytes() == b"\x1f\x8b"
    with pytest.raises(ZeroDivisionError), output_folder(tmp_path) as output:  # noqa: PT012
        output.write("more/a.txt", "a")
        raise ZeroDivisionError
    assert [path.name for path in tmp_path.iterdir()] == ["maps"]
    assert [path.name for path in (tmp_path / "maps").iterdir()] == ["face.nii.gz"]
