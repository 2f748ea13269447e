"""What a user can get wrong."""


class Error(Exception):
    """A run, a frame, a field or a column that is not there or cannot be read; says which, and what there is instead."""
