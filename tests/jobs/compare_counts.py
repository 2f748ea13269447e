"""compare_counts.py JOBS RANKS STEPS FIRST SECOND LEDGER: the steps between two runs on RANKS ranks, as PETSc has
logged them (-log_view :FILE), beside what jobs/scaling/counts.py says of them."""

import csv
import re
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1] + "/scaling")
import counts

CELLS, BODIES = (32, 32, 32), 24
WHOLE_STEP = 0.1  # what may change in a step before it has to be counted again
TWO_DIGITS = 0.06  # of PETSc's table of events


def read(path, ranks):
    """Messages and bytes of all ranks, reductions of a fluid rank; of events: calls, messages, reductions."""
    with open(path, encoding="utf-8") as log:
        text = log.read()
    number = r"([\d.e+-]+)"
    found = {"messages": float(re.search(rf"MPI Msg Count: .* {number}$", text, re.M)[1]),
             "bytes": float(re.search(rf"MPI Msg Len \(bytes\): .* {number}$", text, re.M)[1]),
             "reductions": float(re.search(rf"MPI Reductions: +{number}", text)[1])}
    for event in ("PCApply", "MatMult"):
        stages = [line.split() for line in re.findall(rf"^{event} .*", text, re.M)]
        calls, messages, reductions = (sum(float(fields[n]) for fields in stages) for n in (1, 7, 9))
        found[event] = (calls, messages, reductions * ranks / fluid_ranks(ranks))
    return found


def fluid_ranks(ranks):
    return max(ranks - 1, 1)


def average_work(steps, first, second, viscous):
    """Iterations of a step. A product in S1 and S2 reduces once, and each of the two solves begins with one."""
    products, _, reductions = second["MatMult"]
    cycles = (second["PCApply"][0] - first["PCApply"][0]) / steps
    coupled = (products - first["MatMult"][0]) / steps * reductions / products - 2
    return counts.Work(coupled, cycles - coupled, viscous)


def check(name, measured, predicted, tolerance):
    agrees = abs(measured - predicted) <= tolerance * predicted
    print(f"{name}: measured {measured:g}, predicted {predicted:g}" + ("" if agrees else " DO NOT AGREE"))
    return agrees


def main():
    ranks, steps = int(sys.argv[2]), int(sys.argv[3])
    first, second = (read(path, ranks) for path in sys.argv[4:6])
    with open(sys.argv[6], encoding="utf-8", newline="") as ledger:
        rows = list(csv.DictReader(ledger))
    viscous = float(rows[-1]["viscosity_iterations"])
    box = counts.Box(CELLS, fluid_ranks(ranks))
    total = counts.totals(CELLS, ranks, average_work(steps, first, second, viscous), BODIES)
    cycle = sum(one.count * one.level.messages() for one in counts.cycle_exchanges(box, 1))
    cycle += sum(one.count * one.level.messages(one.ghost) for one in counts.cycle_passages(box, 1))
    calls, messages, _ = second["PCApply"]
    products, product_messages, _ = second["MatMult"]
    good = [check("messages of a cycle", messages / calls, cycle, TWO_DIGITS),
            check("messages of a product", product_messages / products, box.fine.messages(), TWO_DIGITS)]
    good += [check(f"{name} of a step", (second[name] - first[name]) / steps, total[name], WHOLE_STEP)
             for name in ("messages", "bytes", "reductions")]
    sys.exit(0 if all(good) else 1)


main()
