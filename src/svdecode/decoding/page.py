"""The page of a decoding."""

from __future__ import annotations

import html
from pathlib import Path
from typing import TYPE_CHECKING, Any

from svdecode.decoding import words
from svdecode.decoding.brain import browser, sheet
from svdecode.decoding.checks import checks_section
from svdecode.decoding.files import data_hash
from svdecode.decoding.pictures import (
    accuracy_curves,
    class_positions,
    confusion_picture,
    split_picture,
    subject_picture,
)
from svdecode.decoding.reviewer import concerns
from svdecode.report.blocks import Excerpt, Heading, Highlights, Notes, Paragraph, Table
from svdecode.report.output import output_folder
from svdecode.report.page import Block, Page, Section, versions
from svdecode.report.style import page_style

if TYPE_CHECKING:
    from svdecode.decoding.result import DecodingResult


class DecodingReport:
    """The page of a decoding: one file that needs no network.

    Parameters
    ----------
    result : DecodingResult
        What it tells.

    See Also
    --------
    DecodingResult.report : Makes one.

    Examples
    --------
    >>> from svdecode import decode
    >>> from svdecode.datasets import load_haxby2001_slice
    >>> data = load_haxby2001_slice()
    >>> data = data.select((data.y == "face") | (data.y == "house"))
    >>> report = decode(data, methods="svdm", components=2, n_permutations=0).report()
    >>> report.html()[:15]
    '<!DOCTYPE html>'
    """

    def __init__(self, result: DecodingResult) -> None:
        self.result = result
        self._html = ""

    def html(self) -> str:
        """Write the page out.

        Returns
        -------
        str
            A whole HTML document.
        """
        if not self._html:
            with page_style():
                self._html = decoding_page(self.result).html()
        return self._html

    def save(self, path: Any) -> None:
        """Write the page into a file, whole or not at all.

        Parameters
        ----------
        path : path
            The file.
        """
        path = Path(path)
        with output_folder(path.parent, "path") as output:
            output.write(path.name, self.html())

    def _repr_html_(self) -> str:
        page = html.escape(self.html(), quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 45rem; border: 0"></iframe>'


def decoding_page(result: DecodingResult) -> Page:
    """Put the page together.

    Parameters
    ----------
    result : DecodingResult
        What was found.

    Returns
    -------
    Page
        In parts, shown one at a time.
    """
    name = result.dataset.name
    sections = [
        _accuracy(result),
        _details(result),
        *_maps(result),
        *_components(result),
        checks_section(result),
        _methods(result),
    ]
    return Page(
        title=f"Decoding {name}" if name else "Decoding",
        lead=words.lead(result),
        highlights=_highlights(result),
        sections=sections,
        provenance=_provenance(result),
        tabs=True,
    )


def _highlights(result: DecodingResult) -> Highlights:
    head = result.headline
    items = [
        (words.percent(head.accuracy), f"of {head.n_samples} test samples rightly named by {head.method}"),
        (f"{100 * head.low:.0f}–{100 * head.high:.0f} %", f"95 % interval over {head.over}"),
        (words.percent(head.chance), "chance: the most frequent class"),
    ]
    test = result.permutation
    if test is not None:
        what = "" if result.settings.permute == "all" else ", parameters fixed"
        items.append((words.p_value(result), f"{test.n_permutations} permutations of the labels{what}"))
    return Highlights(items)


def _accuracy(result: DecodingResult) -> Section:
    rows = []
    for row in result.table.to_dict("records"):
        interval = f"{100 * row['low']:.1f} – {100 * row['high']:.1f} %"
        balanced = words.percent(result.confusion(row["method"]).balanced_accuracy)
        rows.append([row["method"], words.percent(row["accuracy"]), interval, balanced])
    blocks: list[Block] = [
        Table(
            ["method", "accuracy", "95 % interval", "balanced accuracy"],
            rows,
            caption=words.text(
                f"""Share of test samples named rightly; intervals over {result.headline.over}. Parameters,
                the number of components among them, were chosen inside the training samples of each split."""
            ),
        )
    ]
    blocks.extend(Paragraph(sentence) for sentence in words.comparison(result))
    curve = accuracy_curves(result)
    if curve is not None:
        blocks.append(curve)
    chosen = words.chosen_words(result)
    if chosen:
        blocks.append(Paragraph(chosen))
    blocks.append(Paragraph(words.permutation_words(result)))
    noted = concerns(result)
    if noted:
        blocks.append(Notes("What a reviewer would ask", noted))
    return Section("Accuracy", blocks)


def _details(result: DecodingResult) -> Section:
    blocks: list[Block] = [confusion_picture(result), split_picture(result)]
    subjects = subject_picture(result)
    if subjects is not None:
        blocks.append(subjects)
    return Section("Confusions and splits", blocks)


def _maps(result: DecodingResult) -> list[Section]:
    maps = result.maps()
    if not maps:
        return []
    agreement = Table(
        ["map", *maps],
        [
            [str(label), *(f"{of.agreement[j]:.2f}" for of in maps.values())]
            for j, label in enumerate(next(iter(maps.values())).classes.tolist())
        ],
        caption="How much the coefficient maps of different splits agree: their mean correlation. The splits "
        "share training samples, so that maps of independent data would agree less.",
    )
    if result.dataset.mask is None:
        return [
            Section(
                "Maps",
                [Paragraph("No mask was given, so that weights have no place to be drawn at."), agreement],
            )
        ]
    return [Section("Maps", [sheet(result), browser(result), Paragraph(_how_to_read()), agreement])]


def _how_to_read() -> str:
    return words.text(
        """Coefficients are what the classifier multiplies voxels with: they use signal and cancel noise, so
        that a large one alone does not say that a voxel carries signal. Patterns (Haufe et al. 2014) say how
        voxels vary with the classifier’s score, and are what a place in the brain should be inferred from.
        Stability is the mean over the splits divided by the standard deviation. All maps are NIfTI files in
        the folder maps."""
    )


def _components(result: DecodingResult) -> list[Section]:
    whole = result.whole
    if whole is None:
        return []
    size = len(whole.share)
    intro = words.text(
        f"""One SVDM of {size} components on all samples, with the parameters that were chosen most often. Its
        components are shared by all classes, and come in the order in which they tell classes apart. These
        are the samples that it was fitted to: positions show what was learned, not how well it holds for new
        ones."""
    )
    return [Section("Components", [Paragraph(intro), class_positions(result)])]


def _methods(result: DecodingResult) -> Section:
    from svdecode.decoding.cobidas import fields

    settings = result.settings
    blocks: list[Block] = [Excerpt("Methods paragraph", words.methods_paragraph(result))]
    if settings.why:
        blocks += [Heading("What followed from the data"), *(Paragraph(reason) for reason in settings.why)]
    blocks += [
        Heading("Reporting checklist"),
        Table(["item", "here"], fields(result), caption="What COBIDAS asks of a decoding study.", prose=True),
    ]
    if result.dataset.description and not result.dataset.steps:
        blocks += [Heading("Data"), Paragraph(words.text(result.dataset.description))]
    return Section("Methods", blocks)


def _provenance(result: DecodingResult) -> dict[str, str]:
    return {
        **versions(("numpy", "scipy", "scikit-learn", "nilearn", "nibabel", "matplotlib")),
        "SHA-256 of the data": data_hash(result.dataset),
        "seed": str(result.settings.seed),
    }
