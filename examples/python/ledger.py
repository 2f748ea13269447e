"""Columns of ledgers, beside each other: ledger.py DIR... (cells between the lines # %% run one by one in an editor or as a
notebook)."""

# %% Runs, by their directories
import sys

import millrace

runs = [millrace.open(directory) for directory in sys.argv[1:]]
for run in runs:
    print(run)

# %% What the ledger of the first holds, with units
ledger = runs[0].ledger
units = ledger.units()
for name in ledger.names[:8]:
    print(f"{name:20} [{units.get(name, '')}]  {ledger[name][-1]:.6g} after step {ledger['step'][-1]:.0f}")

# %% How much the volume of a liquid has changed
for run in runs:
    for name in run.ledger:
        if name.startswith("volume_"):
            volume = run.ledger[name]
            print(f"{run.directory}: {name} changed by {volume[-1] / volume[0] - 1:+.2e}")

# %% A plot
import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

for run in runs:
    pyplot.plot(run.ledger["time"], run.ledger["kinetic_energy"], label=run.directory)
pyplot.xlabel("time [s]")
pyplot.ylabel("kinetic energy [J]")
pyplot.legend()
pyplot.savefig("kinetic-energy.png")
