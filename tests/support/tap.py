"""tap.py FILE: calls the functions of a Python file that take no arguments, in their order, and prints a line of TAP for
each: one that raises has failed."""

import inspect
import runpy
import sys
import traceback

functions = [value for value in runpy.run_path(sys.argv[1]).values() if inspect.isfunction(value)]
for number, question in enumerate((f for f in functions if not inspect.signature(f).parameters), start=1):
    try:
        question()
        print(f"ok {number} - {question.__name__.replace('_', ' ')}")
    except Exception:
        print(f"not ok {number} - {question.__name__.replace('_', ' ')}")
        print("# " + traceback.format_exc().replace("\n", "\n# "))
