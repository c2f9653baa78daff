"""Figures show what they should, leave no state behind, and are the same every time."""

import subprocess
import sys

import matplotlib
import numpy as np
import pytest
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

from svdecode.report import Curve, Projection, covariance_ellipse, curves, projections, scree
from svdecode.report.style import class_look, new_axes, page_style, render

RNG = np.random.default_rng(0)
TRAINING, NEW = RNG.standard_normal((12, 3)) * [3, 2, 1], RNG.standard_normal((20, 3))
Y_TRAINING, Y_NEW = np.repeat(["cat", "face", "house"], 4), np.repeat(["cat", "face", "house", "cat"], 5)


def two_panels():
    return [Projection("SVD", TRAINING, NEW, "#d55e00"), Projection("GenSVD", TRAINING / 2, NEW)]


def is_filled(collection):
    return len(collection.get_facecolors()) > 0


def test_scree_draws_each_curve_over_the_component_numbers():
    ax = scree([3.0, 2.0, 1.0], [2.0, 1.0, 0.5], [1.9, 1.2, 0.4])
    lines = ax.get_lines()
    assert [line.get_xdata().tolist() for line in lines] == [[1, 2, 3]] * 3
    assert [line.get_ydata().tolist() for line in lines] == [[3, 2, 1], [2, 1, 0.5], [1.9, 1.2, 0.4]]
    assert len({line.get_linestyle() for line in lines}) == len({line.get_color() for line in lines}) == 3
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [line.get_label() for line in lines]
    assert ax.get_ylim()[0] == 0
    assert len(scree([1.0], [1.0]).get_lines()) == 2


def test_scree_draws_where_it_is_told():
    ax = new_axes(4, 3)
    assert scree([2.0, 1.0], [1.0, 0.5], ax=ax) is ax


def test_curves_draw_means_ranges_and_the_reference():
    items = [
        Curve("SVD", [2, 5], [0.3, 0.4], low=[0.2, 0.3], high=[0.4, 0.5], look={"color": "#d55e00"}),
        Curve("GenSVD", [2, 5], [0.35, 0.45]),
    ]
    ax = curves(items, xlabel="components", ylabel="accuracy", reference=(0.125, "chance"))
    assert [line.get_ydata().tolist() for line in ax.get_lines()[:2]] == [[0.3, 0.4], [0.35, 0.45]]
    (band,) = ax.collections  # the second curve has none
    corners = band.get_paths()[0].vertices
    assert {(2, 0.2), (2, 0.4), (5, 0.3), (5, 0.5)} <= {tuple(corner) for corner in corners}
    assert list(ax.get_lines()[2].get_ydata()) == [0.125, 0.125]
    assert [text.get_text() for text in ax.texts] == ["chance"]


@pytest.mark.parametrize("stacked", [False, True])
def test_projections_show_every_sample_of_both_kinds(stacked):
    figure = projections(two_panels(), stacked=stacked)
    for ax, panel in zip(figure.axes, two_panels(), strict=True):
        filled, open_ = ax.collections
        np.testing.assert_array_equal(filled.get_offsets(), panel.training[:, :2])
        np.testing.assert_array_equal(open_.get_offsets(), panel.test[:, :2])
        assert is_filled(filled)
        assert not is_filled(open_)
        solid, dotted = ax.patches
        assert (solid.get_linestyle(), dotted.get_linestyle()) == ("-", ":")
        for patch, points in ((solid, panel.training), (dotted, panel.test)):
            expected = covariance_ellipse(points[:, :2])
            assert (patch.width, patch.height, patch.angle) == (
                expected.width,
                expected.height,
                expected.angle,
            )
        assert ax.get_title() == panel.title
    assert to_hex(figure.axes[0].patches[0].get_edgecolor()) == "#d55e00"


def test_panels_have_the_same_scale_in_both_directions():
    first, second = projections(two_panels()).axes
    assert first.get_xlim() == second.get_xlim()
    assert first.get_ylim() == second.get_ylim()
    assert np.diff(first.get_xlim()) == pytest.approx(np.diff(first.get_ylim()))
    box = first.get_window_extent()
    assert box.width == pytest.approx(box.height)
    everything = np.vstack([TRAINING, NEW])[:, :2]
    low, high = np.transpose([first.get_xlim(), first.get_ylim()])
    assert (everything > low).all()
    assert (everything < high).all()


def test_classes_have_their_own_color_glyph_and_ellipses():
    figure = projections(two_panels()[:1], Y_TRAINING, Y_NEW)
    (ax,) = figure.axes
    for number, label in enumerate(["cat", "face", "house"]):
        filled, open_ = ax.collections[2 * number : 2 * number + 2]
        np.testing.assert_array_equal(filled.get_offsets(), TRAINING[label == Y_TRAINING, :2])
        np.testing.assert_array_equal(open_.get_offsets(), NEW[label == Y_NEW, :2])
        color = class_look(number)["color"].lower()
        assert to_hex(filled.get_facecolors()[0]) == to_hex(open_.get_edgecolors()[0]) == color
        solid, dotted = ax.patches[2 * number : 2 * number + 2]
        assert to_hex(solid.get_edgecolor()) == to_hex(dotted.get_edgecolor()) == color
        assert solid.width == covariance_ellipse(TRAINING[label == Y_TRAINING, :2]).width
    (legend,) = figure.legends
    assert [text.get_text() for text in legend.get_texts()[:3]] == ["cat", "face", "house"]


def test_some_classes_in_the_order_asked_for():
    figure = projections(two_panels()[:1], Y_TRAINING, Y_NEW, classes=["house", "cat"])
    (ax,) = figure.axes
    np.testing.assert_array_equal(ax.collections[0].get_offsets(), TRAINING[Y_TRAINING == "house", :2])
    assert len(ax.collections) == 4
    assert [text.get_text() for text in figure.legends[0].get_texts()[:2]] == ["house", "cat"]


def test_no_ellipse_of_two_samples():
    figure = projections([Projection("SVD", TRAINING[:2], NEW)])
    assert [patch.get_linestyle() for patch in figure.axes[0].patches] == [":"]


def test_64_classes_look_different():
    looks = {tuple(class_look(number).items()) for number in range(64)}
    assert len(looks) == 64


@pytest.mark.parametrize("label", ["cost in $\\frac$", "_hidden", "<script>alert(1)</script>", "a$b$c"])
def test_names_from_the_data_are_drawn_as_they_are(label):
    labels = [label] * 6 + ["other"] * 6
    figure = projections([Projection("SVD", TRAINING, TRAINING)], labels, labels)
    assert label in [text.get_text() for text in figure.legends[0].get_texts()]
    assert render(figure).startswith(b"<?xml")


def test_ellipse_is_where_the_mahalanobis_distance_is_n_std():
    points = RNG.standard_normal((50, 2)) @ [[2.0, 1.0], [0.0, 0.5]] + [5, -3]
    ellipse = covariance_ellipse(points, 2)
    boundary = ellipse.get_patch_transform().transform(ellipse.get_path().vertices[:-1])
    centered = boundary - points.mean(axis=0)
    distances = np.sqrt(np.einsum("ij,jk,ik->i", centered, np.linalg.inv(np.cov(points.T)), centered))
    # the path is of Bezier curves: every third vertex lies on the ellipse
    np.testing.assert_allclose(distances[::3], 2, rtol=1e-3)


@pytest.mark.parametrize("points", [np.ones((1, 2)), np.ones((4, 3)), np.ones(4)])
def test_ellipse_of_no_points_in_the_plane(points):
    with pytest.raises(ValueError, match=r"points: found shape .*, expected at least two"):
        covariance_ellipse(points)


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="y_training, y_test: found one of them"):
        projections(two_panels(), Y_TRAINING)
    with pytest.raises(ValueError, match="classes: found 'dog', expected some of 'cat', 'face', 'house'"):
        projections(two_panels(), Y_TRAINING, Y_NEW, classes=["dog"])


def test_pyplot_is_never_loaded():
    """So that no figure is registered anywhere, and none has to be closed."""
    code = (
        "import sys; from svdecode.report import *; from svdecode.report.style import render\n"
        "import numpy as np\n"
        "render(scree([1.0], [1.0]).figure, 'png')\n"
        "render(projections([Projection('SVD', np.eye(3), np.eye(3))]))\n"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "False"


@pytest.mark.parametrize("form", ["svg", "png"])
def test_the_same_figure_gives_the_same_bytes(form):
    first, second = (render(projections(two_panels(), Y_TRAINING, Y_NEW), form) for _ in range(2))
    assert first == second


def test_the_users_settings_neither_matter_nor_change():
    def draw():
        with page_style():
            return render(scree([2.0, 1.0], [1.0, 0.5]).figure)

    plain = draw()
    with matplotlib.rc_context({"font.size": 30, "lines.linewidth": 9}):
        before = dict(matplotlib.rcParams)
        assert draw() == plain
        assert dict(matplotlib.rcParams) == before


def test_an_svg_needs_no_font_and_no_network():
    content = render(scree([2.0, 1.0], [1.0, 0.5]).figure).decode()
    assert "<text" not in content
    assert 'href="http' not in content
    assert "<dc:date>" not in content


def test_render_leaves_the_figure_usable():
    figure = Figure()
    assert render(figure) == render(figure)
