"""Regions as seen by a distant viewer: rays through the distances to their surfaces, lit. Needs numpy alone.

A ray from the viewer enters the box and goes on by the distance to the nearest surface, which is never beyond it, until a
distance changes its sign. A line between the last two places gives the point there, and the slopes of the distance its
normal. What begins at a side of the box shows that side.
"""

import numpy

from body_view import LIGHT
from millrace import Error

PALETTE = ["#2f7fc1", "#f0932b", "#3f9f5f", "#d64550", "#8e6bbf", "#c9a227", "#4db6ac", "#8d6e63"]
BACKGROUND, GAS, EMPTY = "#d9e4ee", "#eaf1f5", "#f8f9fa"
SOLID = (0.55, 0.57, 0.60)
FLOOR, WALL = (0.84, 0.85, 0.87), (0.93, 0.94, 0.95)


def colour_names(regions):
    """Of all regions, in order: strong ones in turn for what has a shape, pale ones for what lies around."""
    names, strong = [], 0
    for region in regions:
        pale = {"empty": EMPTY, "one-way": GAS}.get(region.kind, BACKGROUND if region.is_background else None)
        names.append(pale or PALETTE[strong % len(PALETTE)])
        strong += pale is None
    return names


def rgb(name):
    return tuple(int(name[place:place + 2], 16) / 255 for place in (1, 3, 5))


def shown(regions, wanted=None):
    """The regions whose surfaces are drawn in 3-D: those of a list such as `oil,water`, or the simulated ones, without the
    one that takes what the others leave."""
    known = [region.name for region in regions]
    names = wanted.split(",") if wanted else []
    for name in names:
        if name not in known:
            raise Error(f"--regions: no region is called {name}; the run has: {', '.join(known) or 'none'}")
    simulated = [region for region in regions if region.kind == "simulated"]
    things = [region for region in simulated if not region.is_background] or simulated
    return [region for region in regions if region.name in names] if names else things


def to_sides(values):
    """Values (.., ny, nx) at cell centres, continued linearly to the sides: two more along each of the last two axes."""
    for axis in (-1, -2):
        first, second, last, before = (values.take([place], axis=axis) for place in (0, min(1, values.shape[axis] - 1),
                                                                                    -1, max(-2, -values.shape[axis])))
        values = numpy.concatenate([1.5 * first - 0.5 * second, values, 1.5 * last - 0.5 * before], axis=axis)
    return values


def enlarged(values, factor):
    """A plane (ny, nx) of cell values at the centres of `factor` times as many cells, linear in between."""
    for axis in (0, 1):
        count = values.shape[axis]
        place = (numpy.arange(count * factor) + 0.5) / factor - 0.5
        lower = numpy.clip(numpy.floor(place).astype(int), 0, max(count - 2, 0))
        shape = [-1 if a == axis else 1 for a in (0, 1)]
        weight = (place - lower).reshape(shape)
        upper = numpy.minimum(lower + 1, count - 1)
        values = (1 - weight) * values.take(lower, axis=axis) + weight * values.take(upper, axis=axis)
    return values


def distance_of_cells(occupied, spacing):
    """A rough distance to cells that are given by 1 and 0, smoothed until their corners no longer show."""
    from smoke_view import blur

    return ((0.5 - blur(blur(occupied.astype("f4")))) * 2 * spacing).astype("f4")


class Volume:
    """Distances (z, y, x) on the cells of a box that begins at `low`; `at` is linear between the centres and beyond."""

    def __init__(self, distances, low, spacing):
        self.fields = [numpy.ascontiguousarray(field, "f4").ravel() for field in distances]
        self.cells = numpy.array(distances[0].shape[::-1])
        self.low, self.spacing = numpy.asarray(low, float), spacing
        self.high = self.low + spacing * self.cells
        self.stride = numpy.array([1, self.cells[0], self.cells[0] * self.cells[1]])

    def at(self, points, fields=None):
        """(n, 3) -> (number of fields, n)."""
        place = (points - self.low) / self.spacing - 0.5
        lower = numpy.clip(numpy.floor(place), 0, numpy.maximum(self.cells - 2, 0)).astype(int)
        weight = numpy.where(self.cells > 1, place - lower, 0).astype("f4")
        step = numpy.where(self.cells > 1, self.stride, 0)
        index = lower @ self.stride
        result = numpy.zeros((len(fields or self.fields), len(points)), "f4")
        for corner in range(8):
            share, there = numpy.ones(len(points), "f4"), index
            for axis in range(3):
                upper = corner >> axis & 1
                share = share * (weight[:, axis] if upper else 1 - weight[:, axis])
                there = there + upper * step[axis]
            for row, field in zip(result, fields or self.fields):
                row += share * field[there]
        return result

    def slopes(self, points, number):
        """Directions outwards at points of the surface of one field."""
        slopes = numpy.zeros((len(points), 3))
        for axis in range(3):
            offset = 0.75 * self.spacing * (numpy.arange(3) == axis)
            difference = [self.at(numpy.clip(points + sign * offset, self.low, self.high), [self.fields[number]])[0]
                          for sign in (1, -1)]
            slopes[:, axis] = difference[0] - difference[1]
        return slopes / numpy.maximum(numpy.linalg.norm(slopes, axis=1, keepdims=True), 1e-12)


class Rays:
    """Parallel rays through the pixels of a picture of the whole box, and the part of each that is in the box."""

    def __init__(self, volume, view, pixels):
        corners = numpy.array([[(volume.low, volume.high)[n >> a & 1][a] for a in range(3)] for n in range(8)]) @ view.T
        low, high = corners.min(axis=0), corners.max(axis=0)
        margin = 0.01 * max(high[0] - low[0], high[2] - low[2])
        self.extent = [low[0] - margin, high[0] + margin, low[2] - margin, high[2] + margin]
        size = max(self.extent[1] - self.extent[0], self.extent[3] - self.extent[2]) / pixels
        self.shape = (int((self.extent[3] - self.extent[2]) / size), int((self.extent[1] - self.extent[0]) / size))
        up, across = numpy.meshgrid(*[numpy.linspace(end, start, n) for start, end, n in
                                      ((*self.extent[2:], self.shape[0]), (self.extent[1], self.extent[0], self.shape[1]))],
                                    indexing="ij")
        self.direction, self.near = -view[1], high[1]
        self.start = across.ravel()[:, None] * view[0] + up.ravel()[:, None] * view[2] + high[1] * view[1]
        self.clip(volume)

    def clip(self, volume):
        speed = numpy.where(abs(self.direction) > 1e-9, self.direction, 1e-9)
        sides = [(side - self.start) / speed for side in (volume.low, volume.high)]
        near, far = numpy.minimum(*sides), numpy.maximum(*sides)
        self.enter, self.leave = near.max(axis=1), far.min(axis=1)
        self.entered_by, self.left_by = near.argmax(axis=1), far.argmin(axis=1)


def march(volume, rays):
    """Where rays meet a surface: their numbers, the distance along them, the field, and if that is at the box's side."""
    active = numpy.nonzero(rays.enter < rays.leave)[0]
    along, before = rays.enter[active], None
    found = []
    while len(active):
        values = volume.at(rays.start[active] + along[:, None] * rays.direction)
        nearest, least = values.argmin(axis=0), values.min(axis=0)
        hit = least <= 0
        if before is None:
            place, at_side = along, numpy.ones(len(active), bool)
        else:
            last, was = before
            share = was / numpy.maximum(was - least, 1e-12)
            place, at_side = last + (along - last) * share, numpy.zeros(len(active), bool)
        found.append((active[hit], place[hit], nearest[hit], at_side[hit]))
        step = numpy.maximum(0.9 * least, 0.2 * volume.spacing)
        goes_on = ~hit & (along < rays.leave[active])
        before = along[goes_on], least[goes_on]
        along = numpy.minimum(along + step, rays.leave[active])[goes_on]
        active = active[goes_on]
    return [numpy.concatenate(parts) for parts in zip(*found)]


def lit(colour, normal, view):
    """Bright towards the light and half as bright away from it, with a highlight."""
    light = LIGHT / numpy.linalg.norm(LIGHT)
    halfway = light + numpy.array([0, 1, 0])
    seen = normal @ view.T
    towards = (0.5 + 0.5 * numpy.clip(seen @ light, -1, 1))[:, None] ** 1.5
    shine = numpy.clip(seen @ (halfway / numpy.linalg.norm(halfway)), 0, 1)[:, None] ** 40
    return numpy.clip(colour * (0.45 + 0.6 * towards) + 0.15 * shine, 0, 1)


def inside_of_box(rays, view, up):
    """The picture without regions: the floor and the far walls of the box, on white."""
    image = numpy.ones((len(rays.enter), 3))
    through = rays.enter < rays.leave
    image[through] = WALL
    if view[1][up] > 0:
        image[through & (rays.left_by == up)] = FLOOR
    return image


def picture(distances, colours, box, view, up, pixels=900):
    """The image (rows, columns, 3) of surfaces with the given colours, and its extent in the camera's axes. `box` is the
    lower corner and the spacing."""
    volume = Volume(distances, *box)
    rays = Rays(volume, view, pixels)
    image = inside_of_box(rays, view, up)
    ray, along, number, at_side = march(volume, rays)
    points = rays.start[ray] + along[:, None] * rays.direction
    normal = numpy.zeros((len(ray), 3))
    for field in range(len(distances)):
        mine = (number == field) & ~at_side
        normal[mine] = volume.slopes(points[mine], field)
    side = rays.entered_by[ray[at_side]]
    normal[at_side, side] = -numpy.sign(rays.direction[side])
    image[ray] = lit(numpy.array(colours)[number], normal, view)
    return image.reshape(*rays.shape, 3), rays.extent
