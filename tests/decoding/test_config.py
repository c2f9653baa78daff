"""config.yaml: what is written is read back, what people write is read, what is no such file is refused."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from svdecode.decoding.command import DEFAULTS, merge
from svdecode.decoding.config import read_config, write_config

VALUES = st.none() | st.booleans() | st.integers(-9, 99) | st.floats(-9, 9) | st.text(max_size=12)


@settings(max_examples=80, deadline=None, derandomize=True)
@given(values=st.dictionaries(st.sampled_from(["a", "b_c", "d"]), VALUES | st.lists(VALUES, max_size=3)))
def test_what_is_written_is_read_back(values, tmp_path_factory):
    path = tmp_path_factory.mktemp("config") / "config.yaml"
    path.write_text(write_config(values, ["made by\na test"]), encoding="utf-8")
    assert read_config(path, ["a", "b_c", "d"]) == values


def test_what_people_write(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(
        "---\n# mine\nlabels: my labels.tsv   # a comment\nlabel-column: 'it''s'\ncomponents: [2, 4]\n"
        "methods:\n  - svdm\n  - linear_svm\ndrop: [rest, fixation]\nmask: ~\ndetrend: yes\nseed: 3\n"
    )
    assert read_config(path, DEFAULTS) == {
        "labels": "my labels.tsv", "label_column": "it's", "components": [2, 4],
        "methods": ["svdm", "linear_svm"],
        "drop": ["rest", "fixation"], "mask": None, "detrend": True, "seed": 3,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("nonsense: 1\n", "found 'nonsense' in line 1"),
        ("seed: 1\nseed: 2\n", "'seed' twice"),
        ("seed\n", "expected name: value"),
        ("seed: 1\n  deeper: 2\n", "expected name: value"),
        ("mask: {a: 1}\n", "expected a value"),
    ],
)
def test_what_is_no_config_is_refused(tmp_path, text, words):
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(ValueError, match=words):
        read_config(tmp_path / "config.yaml", DEFAULTS)


def test_what_is_given_counts_more_than_the_config(tmp_path):
    (tmp_path / "config.yaml").write_text("images: a.nii\nseed: 3\nruns: none\n")
    values = merge({"seed": 5, "labels": None}, tmp_path / "config.yaml")
    assert (values["seed"], values["images"], values["runs"], values["inner"]) == (5, ["a.nii"], None, 5)
