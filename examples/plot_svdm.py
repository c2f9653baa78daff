"""
Components that describe the data and tell the classes apart
============================================================

Which of eight categories of pictures was on the screen, read off 530 voxels of one slice (Haxby et al. 2001)?
A Support Vector Decomposition Machine learns a few components and the classifiers that read them together.
How many components, and how strong the penalties, is chosen on inner runs: whole runs are left out.
"""

import matplotlib.pyplot as plt
import numpy as np

from svdecode import SVDMClassifierCV
from svdecode.datasets import load_haxby2001_slice

data = load_haxby2001_slice()
train, test = data.select(data.runs <= 8), data.select(data.runs > 8)

# %%
# The grid is one batch on one Gram matrix: 8 folds times 15 combinations are 120 fits. The papers' stopping
# rule ends a fit early.
search = SVDMClassifierCV(
    n_components=(2, 4, 8, 12, 20),
    shrinkages=(0.1, 0.3, 1.0),
    formulation="balanced",
    stopping="decrease",
    tol=1e-3,
)
search.fit(train.X, train.y, groups=train.runs)
print(search.best_params_, f"accuracy on inner runs {search.best_score_:.2f}")
print(f"on four new runs {search.score(test.X, test.y):.2f}, by chance {1 / 8:.2f}")

# %%
# Each line is one strength of the penalties.
results = search.cv_results_
sizes, shrinkages = (np.asarray(results[f"param_{name}"]) for name in ("n_components", "shrinkage"))
ax = plt.subplots(layout="constrained")[1]
for shrinkage in np.unique(shrinkages):
    on = shrinkages == shrinkage
    ax.plot(sizes[on], results["mean_test_score"][on], "o-", label=f"shrinkage {shrinkage:g}")
ax.axhline(1 / 8, color="tab:gray", linestyle=":", label="chance")
ax.set(xlabel="components", ylabel="accuracy on left-out runs", xticks=np.unique(sizes))
ax.legend()

# %%
# The discriminants taken back to the voxels: where evidence for a face and for a house comes from.
model = search.best_estimator_
figure, axes = plt.subplots(1, 2, figsize=(9, 2.6), layout="constrained")
limit = np.abs(model.coef_).max()
for ax, category in zip(axes, ("face", "house"), strict=True):
    weights = data.image(model.coef_[list(model.classes_).index(category)]).get_fdata().squeeze()
    shown = ax.imshow(
        np.where(weights == 0, np.nan, weights).T, cmap="RdBu_r", vmin=-limit, vmax=limit, origin="lower"
    )
    ax.set(title=category, xticks=[], yticks=[])
figure.colorbar(shown, ax=axes, label="weight")
