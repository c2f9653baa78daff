"""
Coordinates that are as wide as those of new scans
==================================================

With fewer scans than voxels, the scans that an SVD was made from look too wide in its basis: each of
them helped to span it. What is learned on such coordinates meets narrower ones later. Generalizable SVD
re-estimates the singular values, each run seen as the other runs see it.

The data come with the package: one subject, 8 categories of pictures, 530 voxels of one slice (Haxby
et al. 2001). Four runs are for training, the other eight stand for all that is still to come.
"""

import matplotlib.pyplot as plt

from svdecode import GenSVD
from svdecode.datasets import load_haxby2001_slice

data = load_haxby2001_slice()
train, test = data.select(data.runs <= 4), data.select(data.runs > 4)
print(train)

# %%
# Scans of one run depend on each other, so runs are left out together.
model = GenSVD(n_components=10)
corrected = model.fit_transform(train.X, groups=train.runs)

# %%
# The standard deviation of each component: what plain SVD says of the training scans, what GenSVD makes of
# it, and what new scans have.
model.scree_plot(test.X, ax=plt.subplots()[1])

# %%
# The first and the third component. `fit_transform` returned the corrected coordinates of the training
# scans; `transform` treats what it gets as new scans, and so gives the plain ones here.
new = model.transform(test.X)
figure, axes = plt.subplots(1, 2, figsize=(9, 4.5), sharex=True, sharey=True, layout="constrained")
for ax, title, Z in zip(axes, ("SVD", "GenSVD"), (model.transform(train.X), corrected), strict=True):
    ax.scatter(new[:, 0], new[:, 2], facecolors="none", edgecolors="tab:gray", label="new scans")
    ax.scatter(Z[:, 0], Z[:, 2], color="tab:blue", label="training scans")
    ax.set(title=title, xlabel="component 1", ylabel="component 3")
axes[0].legend()
