"""What the programs beside this have in common: where they find the package millrace, and what they do without its
libraries."""

import importlib.util
import os
import sys

PACKAGES = {
    "numpy": "python3-numpy",
    "h5py": "python3-h5py",
    "matplotlib": "python3-matplotlib",
    "PIL": "python3-pil",
    "pvbatch": "paraview and python3-paraview",
    "Xvfb": "xvfb",
    "ffmpeg": "ffmpeg",
}
SYSTEM_PYTHON = "/usr/bin/python3"
# in the source tree as where it is installed
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.realpath(__file__))), "python"))


def missing(names):
    return [name for name in names if importlib.util.find_spec(name) is None]


def complaint(names):
    packages = " ".join(PACKAGES[name] for name in names)
    return (f"{sys.executable} has no {', '.join(names)}: install {packages} (Debian), or load the module of a python that "
            "has them")


def need_modules(*names):
    """Stops with the packages to install unless all modules are there."""
    absent = missing(names)
    if absent:
        sys.exit(complain(os.path.basename(sys.argv[0]), complaint(absent)))


def begin(*names):
    """At the start of a program: where the first python3 of the PATH lacks modules, the system's runs the program
    instead if that is another. The package millrace itself never does that."""
    is_system = os.path.exists(SYSTEM_PYTHON) and os.path.samefile(sys.executable, SYSTEM_PYTHON)
    if missing(names) and os.path.exists(SYSTEM_PYTHON) and not is_system:
        os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON] + sys.argv)
    need_modules(*names)


def run_program(main):
    """Runs main(), turning what a user can get wrong into one line and exit code 2."""
    from millrace import Error

    program = os.path.basename(sys.argv[0])
    try:
        main()
    except Error as error:
        sys.exit(complain(program, error))
    except BrokenPipeError:
        sys.exit(1)


def complain(program, error):
    print(f"{program}: error: {error}", file=sys.stderr)
    return 2
