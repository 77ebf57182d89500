"""The build backend: setuptools' own, with this folder on the path, where pyproject.toml's commands are found."""

import warnings

from setuptools.build_meta import (
    build_editable,
    build_sdist,
    build_wheel,
    get_requires_for_build_editable,
    get_requires_for_build_sdist,
    get_requires_for_build_wheel,
    prepare_metadata_for_build_editable,
    prepare_metadata_for_build_wheel,
)

# That a table of pyproject.toml is experimental, told by each of pip's calls.
warnings.filterwarnings("ignore", r".*tool\.setuptools\.ext-modules")

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
    "prepare_metadata_for_build_editable",
    "prepare_metadata_for_build_wheel",
]
