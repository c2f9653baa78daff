"""SVDMDecoder on surfaces: the same classifier, maps that are surfaces, and what is refused."""

import numpy as np
import pytest
from imaging.small import image, mask_image, volumes
from nilearn.maskers import SurfaceMasker
from nilearn.surface import InMemoryMesh, PolyMesh, SurfaceImage
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from svdecode import SVDMClassifier, SVDMDecoder

N = 24
TWO = np.tile(["face", "house"], 12)


def sphere(n_samples, seed=0):
    """Two tetrahedra as hemispheres, with data."""
    points = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], dtype=float)
    faces = np.array([[0, 1, 2], [0, 1, 3], [0, 2, 3], [1, 2, 3]])
    mesh = PolyMesh(left=InMemoryMesh(points, faces), right=InMemoryMesh(points + 5, faces))
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n_samples, 8))
    X[::2, :3] += 2
    return X, mesh


def surface(X, mesh):
    return SurfaceImage(mesh, {"left": X[:, :4].T.copy(), "right": X[:, 4:].T.copy()})


@pytest.mark.parametrize("kind", ["one", "list", "single images"])
@pytest.mark.parametrize("mask", ["none", "image", "masker"])
def test_surfaces(kind, mask):
    X, mesh = sphere(N)
    kept = np.arange(8) != 5
    inside = SurfaceImage(mesh, {"left": kept[:4].astype(np.uint8), "right": kept[4:].astype(np.uint8)})
    imgs = {
        "one": surface(X, mesh),
        "list": [surface(X[:10], mesh), surface(X[10:], mesh)],
        "single images": [surface(row[None], mesh) for row in X],
    }[kind]
    given = {"none": None, "image": inside, "masker": SurfaceMasker(mask_img=inside)}[mask]
    decoder = SVDMDecoder(2, mask=given).fit(imgs, TWO)
    z = X if mask == "none" else X[:, kept]
    by_hand = make_pipeline(StandardScaler(), SVDMClassifier(2)).fit(z, TWO)
    np.testing.assert_allclose(decoder.decision_function(imgs), by_hand.decision_function(z), rtol=1e-6)
    picture = decoder.coef_img_["house"]
    assert isinstance(picture, SurfaceImage)
    values = np.concatenate([np.ravel(picture.data.parts[part]) for part in ("left", "right")])
    np.testing.assert_allclose(values if mask == "none" else values[kept], by_hand[1].coef_[0], rtol=1e-6)
    parts = decoder.components_img_.data.parts
    assert parts["left"].shape == (4, 2)
    assert isinstance(decoder.pattern_img_["face"], SurfaceImage)


def whole(mesh):
    return SurfaceImage(mesh, {"left": np.ones(4), "right": np.ones(4)})


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_surfaces_with_nan_are_refused(value):
    X, mesh = sphere(N)
    decoder = SVDMDecoder(2, mask=whole(mesh)).fit(surface(X, mesh), TWO)
    X[13, 2] = value
    bad = [surface(X[:10], mesh), surface(X[10:], mesh)]
    for call in (lambda: SVDMDecoder(2).fit(bad, TWO), lambda: decoder.predict(bad)):
        with pytest.raises(ValueError, match="imgs: found NaN or infinity in image 13, expected numbers"):
            call()


def test_other_surfaces_that_are_refused():
    X, mesh = sphere(N)
    zero = X * (np.arange(N) != 4)[:, None]
    with pytest.raises(ValueError, match="imgs: found only 0 in image 4, expected numbers"):
        SVDMDecoder(2).fit(surface(zero, mesh), TWO)
    nothing = SurfaceImage(mesh, {"left": np.zeros(4), "right": np.zeros(4)})
    with pytest.raises(ValueError, match="mask: found 0 at every vertex, expected at least one inside"):
        SVDMDecoder(2, mask=nothing).fit(surface(X, mesh), TWO)
    points = np.vstack([mesh.parts["left"].coordinates, [[9.0, 9, 9]]])
    larger = PolyMesh(left=InMemoryMesh(points, mesh.parts["left"].faces), right=mesh.parts["right"])
    other = SurfaceImage(larger, {"left": np.ones((5, 2)), "right": np.ones((4, 2))})
    with pytest.raises(ValueError, match=r"imgs: found surfaces of .*5.* vertices, expected .*4"):
        SVDMDecoder(2, mask=whole(mesh)).fit(surface(X, mesh), TWO).predict(other)


def test_volumes_and_surfaces_do_not_mix():
    X, mesh = sphere(N)
    for imgs in (surface(X, mesh), [image(volumes(N)), surface(X, mesh)]):
        with pytest.raises(ValueError, match="must be of compatible types") as caught:
            SVDMDecoder(2, mask=mask_image()).fit(imgs, TWO)
        assert isinstance(caught.value, TypeError)  # as nilearn has it
