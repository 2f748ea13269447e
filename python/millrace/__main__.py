"""Commands of the program millrace that read runs, which it hands over to: info DIR, compare A B, watch DIR."""

import argparse
import sys


def info(words):
    parser = argparse.ArgumentParser(prog="millrace info", description="What a run is, how far it has come, what it lost and how to go on.")
    parser.add_argument("directory", metavar="DIR")
    from . import Run
    from .summary import Summary

    for line in Summary(Run(parser.parse_args(words).directory)).lines():
        print(line)
    return 0


def compare(words):
    parser = argparse.ArgumentParser(prog="millrace compare", description="How two runs differ, in their ledgers (but for the "
                                     "wall clock) and their frames. Exit code 0: equal within the tolerance; 1: not.")
    parser.add_argument("first", metavar="A")
    parser.add_argument("second", metavar="B")
    parser.add_argument("--tolerance", default="0", metavar="X", help="largest difference, as a share of the largest value of a "
                        "field or of a group of columns; counts of iterations and residuals are then left out [0: bit for bit]")
    parser.add_argument("--frames", choices=["all", "last"], default="all", help="which frames [%(default)s]")
    parser.add_argument("--all", action="store_true", help="every field and column, also the equal ones")
    options = parser.parse_args(words)
    from . import open as open_run
    from .comparison import differences, tolerance_of

    tolerance = tolerance_of(options.tolerance)
    found = differences(open_run(options.first), open_run(options.second), tolerance, options.frames)
    beyond = [each for each in found if not each.largest <= tolerance]
    shown = found if options.all else beyond[:20] or found[:1]
    width = max((len(each.name) for each in shown), default=0)
    if any(not each.note for each in shown):
        print(f"{'':{width}} {'largest':>11} {'mean square':>11}")
    for each in shown:
        print(each.line(width))
    print(f"{len(beyond)} of {len(found)} differ by more than {tolerance:g}" if beyond else
          f"all {len(found)} agree within {tolerance:g}")
    return 1 if beyond else 0


def number_between(low, high):
    def read(text):
        value = int(text)
        if not low <= value <= high:
            raise ValueError
        return value

    read.__name__ = f"whole number from {low} to {high}"
    return read


def watch(words):
    parser = argparse.ArgumentParser(prog="millrace watch", description="Serves a page about a run, to this machine alone: progress, "
                                     "time left, plots of the ledger, the newest pictures (*.png) and log (*.log) of its directory.")
    parser.add_argument("directory", metavar="DIR")
    parser.add_argument("--port", type=number_between(0, 65535), default=8080, metavar="N", help="[%(default)s; 0: any that is free]")
    parser.add_argument("--every", type=number_between(1, 3600), default=5, metavar="S", help="seconds between two looks [%(default)s]")
    parser.add_argument("--log", metavar="FILE", help="what the run prints, if it goes to a file elsewhere")
    options = parser.parse_args(words)
    from .watch import serve

    serve(options.directory, options.port, options.every, options.log)
    return 0


COMMANDS = {"info": info, "compare": compare, "watch": watch}


def main():
    command, *words = sys.argv[1:] or ["help"]
    if command not in COMMANDS:
        print(f"millrace: error: python has no command {command}: " + ", ".join(COMMANDS), file=sys.stderr)
        return 2
    try:
        import h5py
        import numpy
    except ImportError as problem:
        print(f"millrace: error: {command} needs numpy and h5py, and {sys.executable} cannot: {problem}; install them "
              "(Debian: python3-numpy python3-h5py), or set MILLRACE_PYTHON to a Python that has them", file=sys.stderr)
        return 2
    del h5py, numpy
    from .errors import Error

    try:
        return COMMANDS[command](words)
    except Error as error:
        print(f"millrace: error: {error}", file=sys.stderr)
        return 2
    except BrokenPipeError:
        sys.stderr.close()
        return 1


if __name__ == "__main__":
    sys.exit(main())
