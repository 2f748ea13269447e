"""Fields of a frame as arrays: frame.py DIR... (cells between the lines # %% run one by one in an editor or as a notebook)."""

# %% The last frame of the first run
import sys

import millrace

run = millrace.open(sys.argv[1])
frame = run.frame()
print(frame, "with", ", ".join(frame.fields()))

# %% Arrays: (ny, nx) in 2-D, (nz, ny, nx) in 3-D, vectors with a last dimension of 3
pressure, speed = frame["pressure"], frame["speed"]
print("pressure from", pressure.min(), "to", pressure.max(), "Pa, fastest", speed.max(), "m/s")

# %% The largest speed of every frame, and where it is
import numpy

for each in run:
    place = numpy.unravel_index(each["speed"].argmax(), each["speed"].shape)[::-1]
    centre = [each.centres(axis)[n] for axis, n in enumerate(place)]
    print(f"t = {each.time:.4g} s: {each['speed'].max():.4g} m/s at", numpy.round(centre, 4))

# %% Values between the cell centres, along a line through the middle of the box
low, high = (numpy.array([frame.bounds(axis)[side] for axis in range(3)]) for side in (0, 1))
share = numpy.linspace(0, 1, 11)[:, None]
start, end = (low + high) / 2 * [1, 0, 1] + low * [0, 1, 0], (low + high) / 2 * [1, 0, 1] + high * [0, 1, 0]
print(frame.sample("pressure", start + share * (end - start)))

# %% A picture
import matplotlib

matplotlib.use("Agg")
from matplotlib import pyplot

plane = speed if frame.dimension == 2 else speed[speed.shape[0] // 2]
pyplot.imshow(plane, origin="lower", extent=[*frame.bounds(0), *frame.bounds(1)])
pyplot.colorbar(label=millrace.label_of("speed"))
pyplot.savefig("speed.png")
