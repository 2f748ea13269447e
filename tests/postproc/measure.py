"""What the tests of postproc ask of runs and pictures: measure.py QUESTION ARGUMENT...; fails if the answer is no.

Without a question it answers one after the other, a line each with tabs between the words: "yes", or what it has seen."""

import argparse
import contextlib
import os
import runpy
import sys
import types

import numpy

sys.dont_write_bytecode = True
for folder in ("postproc", "python"):
    sys.path.insert(0, os.path.join(os.environ["MILLRACE_SOURCE"], folder))
import body_view
import depth_view
import millrace
import region_view
import smoke_view
from millrace import scenes
from PIL import Image


def pixels(path):
    return numpy.asarray(Image.open(path).convert("RGB")).astype(float)


def expect(condition, *seen):
    if not condition:
        sys.exit("seen: " + " ".join(map(str, seen)))


def has_size(path, width, height):
    with Image.open(path) as image:
        expect(image.size == (int(width), int(height)), image.size)


def is_drawn(path, share):
    """More than this share of the pixels differ from the upper left one."""
    image = pixels(path)
    differ = (abs(image - image[0, 0]).max(axis=2) > 8).mean()
    expect(differ > float(share), differ)



def has_frames(path, count):
    with Image.open(path) as image:
        expect(image.n_frames == int(count), image.n_frames)


def colours_fade(path, place):
    """From frame to frame of a film, what is at a place has less colour: the scale is the same in all."""
    seen = []
    with Image.open(path) as image:
        for number in range(image.n_frames):
            image.seek(number)
            picture = numpy.asarray(image.convert("RGB"), float)
            x, y = (float(part) for part in place.split(","))
            patch = picture[int((1 - y) * picture.shape[0]) + numpy.arange(-3, 4)[:, None], int(x * picture.shape[1]) + numpy.arange(-3, 4)]
            seen.append(float(numpy.ptp(patch.mean(axis=(0, 1)))))
    expect(all(after < before - 2 for before, after in zip(seen, seen[1:])), seen)


def pixels_at(path, *places):
    """Places are x,y as shares from the lower left."""
    image = pixels(path)
    shares = [[float(share) for share in place.split(",")] for place in places]
    return [image[int((1 - y) * (image.shape[0] - 1)), int(x * (image.shape[1] - 1))] for x, y in shares]


def is_redder(path, place, other):
    values = [pixel[0] - pixel[2] for pixel in pixels_at(path, place, other)]
    expect(values[0] > values[1] + 50, values)


def is_brighter(path, place, *others):
    values = [pixel.mean() for pixel in pixels_at(path, place, *others)]
    expect(values[0] > max(values[1:]) + 100, values)


def linear_field_is_sampled_exactly(directory):
    points = numpy.random.default_rng(2).random((50, 3)) * (1, 1, 1.5)
    seen = millrace.Run(directory).frame().sample("pressure", points)
    error = abs(seen - points @ (1, 2, 3)).max()
    outside = millrace.Run(directory).frame().sample("pressure", [[0.5, 0.5, 1.6], [-0.1, 0.5, 0.5]])
    expect(error < 1e-5 and numpy.isnan(outside).all(), error, outside)


def vortex_turns_and_decays(directory):
    run = millrace.Run(directory)
    first, last = run.frame(0).scalar("vorticity"), run.frame(time=100).scalar("vorticity")
    place = numpy.s_[0, 3, 10]
    expect(first[place] > 0 and abs(last[place] / first[place] - numpy.exp(-0.4)) < 1e-6, first[place], last[place])


def ledger_has_whole_rows(directory, rows):
    time = millrace.Run(directory).ledger.column("time")
    expect(len(time) == int(rows) and time[-1] == 2.0, len(time), time[-1])


def bodies_are_as_in_the_ledger(directory):
    """The middle of the topmost box, number 10 of the stack, and its colour's number."""
    run = millrace.Run(directory)
    frame = run.frame()
    mesh = frame.mesh("bodies")
    corners = mesh.vertices[numpy.unique(mesh.cells[mesh["body"] == 10])]
    middle = (corners.min(axis=0) + corners.max(axis=0)) / 2
    told = [run.ledger.column(f"position_box.9_{axis}")[-1] for axis in "xyz"]
    expect(abs(middle - told).max() < 1e-6 and abs(middle[2] - 1.9) < 0.01, middle, told)


def up_is_against_gravity(directory, axis):
    expect(millrace.Run(directory).frame().up() == int(axis), millrace.Run(directory).frame().up())


def smoke_rises(directory):
    """Mean height, and place across, of the smoke of inputs/flow/smoke-plume.yaml; gravity acts along y."""
    run = millrace.Run(directory)
    means = []
    for entry in run.entries[1:]:
        frame = millrace.Frame(entry)
        smoke = frame.scalar("smoke")
        means.append([(smoke.sum(axis=other) * frame.centres(axis)).sum() / smoke.sum()
                      for axis, other in ((0, (0, 1)), (1, (0, 2)), (2, (1, 2)))])
    across = [abs(mean[axis] - 0.5) for mean in means for axis in (0, 2)]
    expect(frame.up() == 1 and max(across) < 0.05 and 0 < means[0][1] < means[-1][1] < 1, means)


def ledger_has_unit(directory, column, unit):
    units = millrace.Run(directory).ledger.units()
    expect(units.get(column) == unit, units)


def smoke_is_seen_where_it_is():
    """A ball of smoke at the lower left: the brightest part of the picture, and light fades away from the sun."""
    depth, up, across = numpy.meshgrid(*[numpy.arange(n) + 0.5 for n in (16, 24, 16)], indexing="ij")
    ball = numpy.clip(4 - numpy.sqrt((depth - 8) ** 2 + (up - 18) ** 2 + (across - 5) ** 2), 0, 1)
    image = smoke_view.shaded(ball, numpy.zeros(ball.shape), 4).sum(axis=2)
    clear = smoke_view.shaded(0 * ball, numpy.zeros(ball.shape), 4).sum(axis=2)
    rows, columns = numpy.nonzero(image - clear > 0.3)
    expect(abs(rows.mean() / 4 - 18) < 1 and abs(columns.mean() / 4 - 5) < 1, rows.mean() / 4, columns.mean() / 4)
    middle, left, right, below = image[72, 20], image[72, 14], image[72, 26], image[78, 20]
    expect(left > right + 0.1 and middle > below + 0.1, middle, left, right, below)


def obstacle_in_front_hides_the_smoke():
    smoke, solid = numpy.zeros((2, 12, 10, 10))
    smoke[8:], solid[1:4, 3:7, 3:7] = 1, 1
    front, back = smoke_view.shaded(smoke, solid, 2), smoke_view.shaded(smoke[::-1], solid[::-1], 2)
    redness = [float(image[10, 10, 0] - image[10, 10, 2]) for image in (front, back)]
    expect(redness[0] > redness[1] + 0.05, redness)


def near_faces_are_seen():
    """Of a tetrahedron whose tip points to the viewer three faces are seen, whichever axis is up; of one turned round, one."""
    from matplotlib import figure

    for up in range(3):
        viewer = body_view.camera_axes(30, 20, up)
        for side, seen in ((1, 3), (-1, 1)):
            corners = numpy.array([[-1, 0, -1], [1, 0, -1], [0, 0, 1], [0, side, 0]]) @ viewer
            cells = numpy.array([[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]])
            if numpy.linalg.det(corners[:3] - corners[3]) < 0:  # the first face looks inwards
                cells = cells[:, ::-1]
            axes = figure.Figure().subplots()
            own = numpy.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])
            body_view.draw(axes, (corners, cells, numpy.zeros(4, int)), viewer, own, (corners.min(axis=0), corners.max(axis=0)))
            count = len(numpy.unique(axes.collections[0].get_facecolors() > 0, axis=0))  # a colour each
            expect(count == seen, up, side, count)


def what_is_behind_is_hidden():
    """A long plate goes away from the viewer, and a small one stands before its far end: though the middle of the long one is
    nearer. Seen along y, x to the right."""
    from matplotlib import figure

    plate = [[0, 0, 0], [10, 10, 0], [10, 10, 5], [0, 0, 5]]
    small = [[0.5, 3, 2], [1.5, 3, 2], [1, 3, 3]]
    cells = numpy.array([[0, 1, 2], [0, 2, 3], [4, 5, 6]])
    axes = figure.Figure().subplots()
    body_view.draw(axes, (numpy.array(plate + small, float), cells, numpy.array([0, 0, 1])), numpy.eye(3),
                   numpy.array([[1, 0, 0], [1, 0, 0], [0, 0, 1]]), (numpy.zeros(3), numpy.array([10, 10, 5])))
    drawn = axes.collections[0]
    there = [path.contains_point((1, 2.3), radius=1e-9) or path.contains_point((1, 2.3), radius=-1e-9) for path in drawn.get_paths()]
    last = drawn.get_facecolors()[numpy.nonzero(there)[0][-1]]
    expect(sum(there) >= 2 and last[2] > last[0], sum(there), last)
    corners, part = body_view.divided(numpy.array(plate, float)[cells[:2]], 0.5)
    edges = numpy.linalg.norm(corners - numpy.roll(corners, 1, axis=1), axis=2)
    area = numpy.linalg.norm(numpy.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1) / 2
    expect(edges.max() <= 0.5 and abs(area.sum() - 50 * 2**0.5) < 1e-9 and abs(area[part == 0].sum() - 25 * 2**0.5) < 1e-9, edges.max())


def titles_fit(directory):
    """A long one goes on below, within a narrow picture."""
    picture = program("picture")
    run = millrace.Run(directory)
    frame = run.frame()
    frame.title = "a long title about what there is to be seen here, and more of it"
    sys.argv = ["picture", directory, "--size", "300", "500"]
    figure = picture["draw"](frame, picture["arguments"]())
    figure.draw_without_rendering()
    box = figure._suptitle.get_window_extent()
    expect(box.x0 >= 0 and box.x1 <= figure.bbox.x1 and "\n" in figure._suptitle.get_text(), box, figure._suptitle.get_text())


def regions_are(directory, *wanted):
    """Each as name:kind, with :all if it takes what the others leave; in the order of their numbers in the field."""
    frame = millrace.Run(directory).frame()
    regions = frame.regions()
    seen = [f"{region.name}:{region.kind}" + (":all" if region.is_background else "") for region in regions]
    deepest = numpy.argmin([frame.scalar(region.distance) for region in regions], axis=0)
    expect(seen == list(wanted) and (1 + deepest == frame.scalar("region")).all(), seen)


def bubble_is_as_in_the_ledger(directory):
    """Its volume and height by cells and by the ledger, to a small part of a cell's height and a few cells' volume."""
    run = millrace.Run(directory)
    frame, ledger = run.frame(), run.ledger
    mine = numpy.clip(0.5 - frame.scalar("distance_bubble") / frame.spacing, 0, 1)
    volume = mine.sum() * frame.spacing**2
    height = (mine.sum(axis=(0, 2)) * frame.centres(1)).sum() / mine.sum()
    told, heights = ledger.column("volume_bubble")[-1], ledger.column("center_bubble_y")
    expect(abs(volume / told - 1) < 0.01 and abs(height - heights[-1]) < 0.05 * frame.spacing and heights[-1] > heights[0] + 1e-3,
           volume, told, height, heights[-1], heights[0])


def has_colour(path, *places):
    """Each as x,y=#rrggbb."""
    for place in places:
        where, _, colour = place.partition("=")
        pixel = pixels_at(path, where)[0]
        expect(abs(pixel - 255 * numpy.array(region_view.rgb(colour))).max() < 6, place, pixel)


def has_some(path, *wanted):
    """Each as x,y,x,y=#rrggbb: a pixel of about that colour between a lower left and an upper right place."""
    image = pixels(path)
    high, wide = image.shape[:2]
    for place in wanted:
        where, _, colour = place.partition("=")
        left, low, right, top = (float(part) for part in where.split(","))
        part = image[int((1 - top) * high):int((1 - low) * high), int(left * wide):int(right * wide)]
        nearest = abs(part - 255 * numpy.array(region_view.rgb(colour))).max(axis=2).min()
        expect(nearest < 24, place, nearest)


def lines_are_pale(path, share):
    """Of the pixels that are neither the ground nor grey, this share is bright enough to be seen before it."""
    image = pixels(path)
    seen = (abs(image - image[0, 0]).max(axis=2) > 40) & (numpy.ptp(image, axis=2) > 30)
    expect(seen.any() and (image[seen].max(axis=1) > 100).mean() > float(share), (image[seen].max(axis=1) > 100).mean())


def fills(path, colour, left, right, low, top):
    """From which part of a picture to which a colour, or what borders on it, reaches."""
    found = abs(pixels(path) - 255 * numpy.array(region_view.rgb(colour))).max(axis=2) < 24
    rows, columns = numpy.where(found.any(axis=1))[0], numpy.where(found.any(axis=0))[0]
    seen = columns[0] / found.shape[1], columns[-1] / found.shape[1], 1 - rows[-1] / found.shape[0], 1 - rows[0] / found.shape[0]
    expect(all(abs(a - float(b)) < 0.02 for a, b in zip(seen, (left, right, low, top))), seen)


def has_patches(path, *wanted):
    """Colours and the shares of the box that they cover; the box is all that is not the white of the upper left corner. Dark or
    bright, a colour keeps the order of its parts."""
    image = pixels(path)
    box = (abs(image - image[0, 0]).max(axis=2) > 8)[40:]
    vivid = (image.max(axis=2) - image.min(axis=2))[40:] > 25
    order = image[40:].argsort(axis=2)
    for colour, share in zip(wanted[::2], wanted[1::2]):
        mine = vivid & (order == numpy.argsort(region_view.rgb(colour))).all(axis=2)
        expect(abs(mine.sum() / box.sum() - float(share)) < 0.03 * float(share), colour, mine.sum() / box.sum())


def planes_of_regions_are_linear():
    """What is linear in space stays so between the cell centres and up to the sides."""
    centres = (numpy.arange(8) + 0.5) / 8
    values = 2 * centres[:, None] - 3 * centres[None, :5]
    fine = (numpy.arange(32) + 0.5) / 32
    error = abs(region_view.enlarged(values, 4) - (2 * fine[:, None] - 3 * fine[None, :20])).max()
    sides = region_view.to_sides(values)
    expect(error < 1e-12 and abs(sides[0, 0]) < 1e-12 and abs(sides[-1, -1] - (2 - 15 / 8)) < 1e-12, error, sides)


def cells_of_a_ball(centre, radius, cells=32):
    z, y, x = numpy.meshgrid(*3 * [(numpy.arange(cells) + 0.5) / cells], indexing="ij")
    return numpy.sqrt((x - centre[0]) ** 2 + (y - centre[1]) ** 2 + (z - centre[2]) ** 2) - radius


def ball_is_seen_as_a_disc():
    """Of its radius and in its place, from any side, lit from above; the distance is cut off as in a frame."""
    for azimuth, elevation, up in ((0, 0, 1), (30, 20, 1), (70, 50, 2), (200, -30, 0)):
        view = body_view.camera_axes(azimuth, elevation, up)
        distance = numpy.clip(cells_of_a_ball((0.4, 0.6, 0.5), 0.2), -0.15, 0.15)
        image, extent = region_view.picture([distance], [(1, 0, 0)], ((0, 0, 0), 1 / 32), view, up, pixels=300)
        rows, columns = numpy.nonzero(image[:, :, 0] > image[:, :, 1] + 0.2)
        size = (extent[1] - extent[0]) / image.shape[1]
        across, top = extent[0] + (columns.mean() + 0.5) * size, extent[3] - (rows.mean() + 0.5) * size
        wrong = numpy.array([across, top]) - (view @ (0.4, 0.6, 0.5))[[0, 2]]
        area = len(rows) * size**2 / (numpy.pi * 0.2**2)
        expect(abs(wrong).max() < 0.005 and abs(area - 1) < 0.02, azimuth, wrong, area)
        middle, offset = int(columns.mean()), int(0.15 / size)
        above, below = (image[int(rows.mean()) + sign * offset, middle, 0] for sign in (-1, 1))
        expect(above > below + 0.1, above, below)


def nearer_region_hides_the_other():
    """A ball before a plate is seen, one behind it not; the viewer is at large z."""
    z = (numpy.arange(32)[:, None, None] + 0.5) / 32
    plate = numpy.broadcast_to(abs(z - 0.5) - 0.1, (32, 32, 32))
    view, box, red = body_view.camera_axes(0, 0, 1), ((0, 0, 0), 1 / 32), []
    for place in (0.8, 0.2):
        ball = cells_of_a_ball((0.5, 0.5, place), 0.15)
        image, _ = region_view.picture([plate, ball], [(0, 0, 1), (1, 0, 0)], box, view, 1, pixels=100)
        red.append(float(image[50, 50, 0] - image[50, 50, 2]))
    expect(red[0] > 0.3 and red[1] < -0.3, red)


def octahedron(centre, radius):
    """Vertices and cells that look outwards."""
    axes = numpy.vstack([numpy.eye(3), -numpy.eye(3)])
    cells = [[x, y, z] if (x < 3) ^ (y < 3) ^ (z < 3) else [x, z, y] for x in (0, 3) for y in (1, 4) for z in (2, 5)]
    return numpy.asarray(centre) + radius * axes, numpy.array(cells)


def bodies_are_seen_through_water():
    """Half of the box is water. A red body above it keeps its colour; the deeper one is, the bluer."""
    view, distance = body_view.camera_axes(0, 0, 1), numpy.zeros((32, 32, 32))
    distance += ((numpy.arange(32) + 0.5) / 32 - 0.5)[None, :, None]
    red = []
    for place in ((0.5, 0.8, 0.5), (0.5, 0.2, 0.9), (0.5, 0.2, 0.1)):
        vertices, cells = octahedron(place, 0.08)
        bodies = (vertices, cells, numpy.zeros(8, int)), numpy.tile([1.0, 0.0, 0.0], (8, 1))
        image, extent = depth_view.in_water([distance], [(0, 0, 1)], bodies, ((0, 0, 0), 1 / 32), view, 1, pixels=200)
        row = int((extent[3] - place[1] - 0.02) / (extent[3] - extent[2]) * image.shape[0])
        red.append(image[row, image.shape[1] // 2, 0] - image[row, image.shape[1] // 2, 2])
    expect(red[0] > red[1] + 0.1 > red[2] + 0.2, red)


def bodies_hide_the_smoke_behind_them():
    view = body_view.camera_axes(0, 0, 1)
    density = numpy.zeros((32, 32, 32))
    density[8:16] = 1  # from z = 1/4 to 1/2; the viewer looks along -z
    for depth, hidden in ((0.8, True), (0.1, False)):
        vertices, cells = octahedron((0.5, 0.5, depth), 0.08)
        bodies = (vertices, cells, numpy.zeros(8, int)), numpy.tile([1.0, 0.0, 0.0], (8, 1))
        image, _ = depth_view.in_smoke(density, bodies, ((0, 0, 0), 1 / 32), view, 1, pixels=200)
        red, green = image[image.shape[0] // 2 - 3, image.shape[1] // 2, :2]
        expect((green < 0.25) == hidden, depth, red, green)


def cuts_are_lines():
    """A plane cuts an octahedron in a square, and one without its top in a square too, or not at all."""
    vertices, cells = octahedron((1, 2, 3), 1.0)
    for axis, place, length in ((0, 1.25, 5), (1, 1.5, 5), (2, 3.75, 5), (2, 4.25, 0)):
        lines = depth_view.outlines(vertices, cells, axis, place)
        expect(len(lines) == (1 if length else 0) and all(len(line) == length for line in lines), axis, lines)
    line = depth_view.outlines(vertices, cells, 0, 1.25)[0]
    expect(numpy.allclose(line[0], line[-1]) and numpy.allclose(abs(line - (1, 2, 3)).sum(axis=1), 1), line)
    open_line = depth_view.outlines(vertices, cells[1:], 0, 1.25)[0]
    expect(len(open_line) == 4 and not numpy.allclose(open_line[0], open_line[-1]), open_line)


def bodies_of_scene_are(directory, *wanted):
    """NAME:DENSITY for each."""
    found = [f"{entry.name}:{entry.density:g}" for entry in millrace.Run(directory).frame().bodies()]
    expect(found == list(wanted), found)


def numbers_of_scenes_are_bounded():
    for text, value in {"-9.81*cos(pi/3)": -4.905, "2^3": 8, "'1e3'": 1000, "-(1+2)/4": -0.75, "sqrt(4)": 2}.items():
        expect(abs(scenes.number_of(text) - value) < 1e-12, text, scenes.number_of(text))
    for text in ("9**9**9", "9^9^9^9", "1e999", "(-1)**0.5", "(" * 5000, "-" * 199, "9" * 199, "exit()", "().__class__",
                 "[1]*9", "lambda: 1", "sin", "1/0", ""):
        found = scenes.number_of(text)
        expect(found == 0 or text == "9" * 199, text, found)


def curve_is(path, formula, tolerance):
    """Every row of plot's data satisfies y = formula(x)."""
    rows = [line.rstrip("\n").split(",") for line in open(path, encoding="utf-8")][1:]
    x, y = (numpy.array([float(row[place]) for row in rows]) for place in (2, 3))
    error = abs(y - eval(formula, {"np": numpy, "x": x})).max()
    expect(len(rows) > 10 and error < float(tolerance), len(rows), error)


def has_points(path, label, count):
    rows = [line for line in open(path, encoding="utf-8") if line.split(",")[1] == label]
    expect(len(rows) == int(count), len(rows))


def program(name):
    return runpy.run_path(os.path.join(os.environ["MILLRACE_SOURCE"], "postproc", name), run_name=name)


def parts_that_count_are_shown():
    """Of wall-clock times at least 2 % of those of the steps, the largest first; what is not known counts nothing."""
    times = {"wall_small": [0.1, 0.1], "wall_step": [5, 5], "wall_some": [numpy.nan, 0.3], "wall_most": [1, 2]}
    ledger = types.SimpleNamespace(column=lambda name: numpy.array(times[name]))
    seen = program("plot")["parts_that_count"](ledger, list(times))
    expect(seen == ["wall_step", "wall_most", "wall_some", "wall_small"], seen)
    times["wall_small"] = [0.09, 0.1]
    seen = program("plot")["parts_that_count"](ledger, list(times))
    expect(seen == ["wall_step", "wall_most", "wall_some"], seen)


def legend_lies(count, where):
    """Of a panel with so many curves beside it, or in it."""
    plot = program("plot")
    names = argparse.Namespace(size=None, log=False, log_over=False, over=None, line=None, title=None)
    figure = plot["draw"]([plot["Curve"]("p", f"curve {n}", [0, 1], [n, 1]) for n in range(int(count))], names)
    figure.draw_without_rendering()
    axes = figure.axes[0]
    box, legend = axes.get_window_extent(), axes.get_legend().get_window_extent()
    expect((where == "beside") == (legend.x0 >= box.x1), box, legend)
    expect(legend.x1 <= figure.bbox.x1 and box.width > 0.4 * figure.bbox.width, figure.bbox, box, legend)


def ends_with(code, program, *words):
    """A program of postproc in this interpreter, which has loaded its libraries already."""
    sys.argv = [program, *words]
    found = 0
    try:
        with contextlib.redirect_stdout(sys.stderr):
            runpy.run_path(program, run_name="__main__")
    except SystemExit as end:
        found = end.code if isinstance(end.code, int) else int(end.code is not None)
    expect(found == int(code), found)


def answer(question):
    try:
        globals()[question[0]](*question[1:])
    except (Exception, SystemExit) as problem:
        return " ".join(repr(problem).split())
    return "yes"


if len(sys.argv) > 1:
    globals()[sys.argv[1]](*sys.argv[2:])
else:
    for line in sys.stdin:
        print(answer(line.rstrip("\n").split("\t")), flush=True)
