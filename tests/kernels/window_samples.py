"""Windows that the tests of convolutions and pools share."""

from __future__ import annotations

from directml_py.kernels.windows import Window

# One to three dimensions; strides beyond the window, dilations, windows that see padding alone.
WINDOWS = [
    Window.of((3,)),
    Window.of((2,), (3,), (2,), (1,), (2,)),
    Window.of((1,), (3,), (), (2,), (2,)),
    Window.of((3, 2), (2, 1), (1, 3), (1, 0), (0, 2)),
    Window.of((2, 3), (1, 2), (2, 1), (2, 1), (1, 3)),
    Window.of((2, 1, 3), (1, 2, 1), (1, 1, 2), (1, 0, 1), (0, 1, 1)),
]
SIZES = (7, 6, 5)


def sizes_for(window):
    return SIZES[: len(window.size)]
