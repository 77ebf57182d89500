"""Gradients, an optimizer, and the statistics of training.

Of LOCAL_RESPONSE_NORMALIZATION_GRAD the catalog's tables say all sizes.
"""

from __future__ import annotations

from . import normalization as normalization  # operators of this family, too
from . import optimizer as optimizer
from . import sampling as sampling
from .window import pooling_gradients as pooling_gradients  # operators of this family, too
from .window import roi_gradients as roi_gradients
