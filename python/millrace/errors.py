"""What a user can get wrong."""

import importlib


class Error(Exception):
    """A run, a frame, a field or a column that is not there or cannot be read; says which, and what there is instead."""


def optional(name):
    """A package that only some of what is asked for needs."""
    try:
        return importlib.import_module(name)
    except ImportError as problem:
        raise Error(f"{name} is missing: pip install {name}, or Debian's python3-{name}") from problem
