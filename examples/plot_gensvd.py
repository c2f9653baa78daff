"""
Training coordinates that are as wide as those of new samples
=============================================================

Simulated scans: 6 directions carry signal, the noise has the same variance in each of 2000 voxels.
"""

import numpy as np

from svdecode import GenSVD

rng = np.random.default_rng(0)
signal = rng.standard_normal((6, 2000))
X, X_new = (rng.standard_normal((n, 6)) @ signal + 3 * rng.standard_normal((n, 2000)) for n in (40, 400))

model = GenSVD(n_components=20).fit(X)
model.scree_plot(X_new)
