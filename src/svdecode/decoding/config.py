"""config.yaml: what was asked, in a form that can be given again.

The file is the part of YAML that such a file needs: one `name: value` a line, values as JSON writes them or
bare words, lists in brackets or a line an item, comments. Any YAML parser reads what is written here.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

BARE = re.compile(r"[A-Za-z_./~][\w./~+ -]*")
WORDS = {"true": True, "false": False, "null": None, "~": None, "": None, "yes": True, "no": False}


def write_config(values: Mapping[str, Any], comments: Iterable[str] = ()) -> str:
    """Write values down, a line each.

    Parameters
    ----------
    values : dict
        Numbers, text, truth values, None and lists of such.
    comments : iterable of str
        Lines at the top.

    Returns
    -------
    str
        A file's content.

    Examples
    --------
    >>> from svdecode.decoding.config import write_config
    >>> print(write_config({"labels": "a.tsv", "components": [2, 4], "mask": None}), end="")
    labels: "a.tsv"
    components: [2, 4]
    mask: null
    """
    lines = [f"# {' '.join(comment.split())}" for comment in comments]
    lines += [f"{name}: {json.dumps(value, ensure_ascii=False)}" for name, value in values.items()]
    return "\n".join(lines) + "\n"


def read_config(path: Any, known: Iterable[str]) -> dict[str, Any]:
    """Read what `write_config` wrote, or what a person wrote in its place.

    Parameters
    ----------
    path : path
        The file.
    known : iterable of str
        Names that it may have.

    Returns
    -------
    dict
        The values.

    Raises
    ------
    ValueError
        With the line that is not understood.
    """
    path, names = Path(path).expanduser(), tuple(known)
    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"--config: found {path} ({error}), expected a file that can be read") from error
    out: dict[str, Any] = {}
    last = ""
    for number, line in enumerate(lines, 1):
        where = f"line {number} of {path.name}"
        bare = line.strip()
        if not bare or bare.startswith("#") or bare == "---":
            continue
        if bare.startswith("- ") and last:
            out[last] = [*(out[last] or []), _value(bare[2:], where)]
            continue
        name, colon, rest = bare.partition(":")
        name = name.strip().replace("-", "_")
        if not colon or line[0] in " \t":
            raise ValueError(f"--config: found {bare!r} in {where}, expected name: value")
        if name not in names:
            raise ValueError(f"--config: found {name!r} in {where}, expected one of {', '.join(names)}")
        if name in out:
            raise ValueError(f"--config: found {name!r} twice in {path.name}, expected it once")
        out[name], last = _value(rest, where), name
    return out


def _value(text: str, where: str) -> Any:
    text = text.strip()
    if text[:1] not in "\"'[":
        text = re.sub(r"(^|\s+)#.*$", "", text).strip()  # a comment behind a value
    if text.lower() in WORDS:
        return WORDS[text.lower()]
    if text.startswith("[") and text.endswith("]"):
        try:
            return json.loads(text)
        except ValueError:
            return [_value(item, where) for item in text[1:-1].split(",") if item.strip()]
    if len(text) > 1 and text[0] == text[-1] == "'":
        return text[1:-1].replace("''", "'")
    try:
        return json.loads(text)
    except ValueError:
        if text[:1] in "\"'[{&*!|>%@`":
            raise ValueError(f"--config: found {text!r} in {where}, expected a value") from None
        return text
