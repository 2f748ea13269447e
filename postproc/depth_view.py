"""Bodies in water or smoke as seen by a distant viewer. Needs numpy alone.

Bodies are drawn into a picture of depths, triangle by triangle. A ray then goes on through the box until it meets a body or
the far side, and on its way gathers the length l that it spends inside regions, or the smoke it passes:

    colour = (1 - exp(-l / reach)) region + exp(-l / reach) behind.
"""

import numpy
from body_view import planes
from region_view import Rays, Volume, inside_of_box, lit
from smoke_view import BACKGROUND_BOTTOM, BACKGROUND_TOP

SURFACE = 0.42  # how much of the light a surface of water reflects, at a flat angle
GLASS = 0.15  # what the sides of the box that water touches add of its colour
NIGHT = (BACKGROUND_TOP + BACKGROUND_BOTTOM) / 2


def corner_normals(vertices, cells):
    """(n, 3 corners, 3): smooth over round surfaces, those of the triangles along sharp edges."""
    corners = vertices[cells]
    area = numpy.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    flat = area / numpy.maximum(numpy.linalg.norm(area, axis=1, keepdims=True), 1e-300)
    mean = numpy.zeros(vertices.shape)
    for corner in range(3):
        numpy.add.at(mean, cells[:, corner], area)
    mean /= numpy.maximum(numpy.linalg.norm(mean, axis=1, keepdims=True), 1e-300)
    smooth = mean[cells]
    round_there = (smooth * flat[:, None]).sum(axis=2, keepdims=True) > 0.8
    return numpy.where(round_there, smooth, flat[:, None])


class Depths:
    """For each ray: how far along it the nearest body is, its triangle, and the normal there."""

    def __init__(self, rays, view, vertices, cells):
        rows, columns = rays.shape
        self.along = numpy.full((rows, columns), numpy.inf)
        self.triangle = numpy.full((rows, columns), -1)
        self.normal = numpy.zeros((rows, columns, 3))
        left, right, bottom, top = rays.extent
        seen = vertices @ view.T
        # pixel coordinates, with the rays through whole numbers, and the distance along the rays
        places = numpy.stack([(seen[:, 0] - left) / (right - left) * (columns - 1),
                              (top - seen[:, 2]) / (top - bottom) * (rows - 1), rays.near - seen[:, 1]], axis=1)
        normals = corner_normals(vertices, cells)
        for number, corners in enumerate(places[cells]):
            self.draw(number, corners, normals[number])

    def draw(self, number, corners, normals):
        rows, columns = self.along.shape
        low = numpy.maximum(numpy.ceil(corners[:, :2].min(axis=0)), 0).astype(int)
        high = numpy.minimum(numpy.floor(corners[:, :2].max(axis=0)), [columns - 1, rows - 1]).astype(int)
        (ax, ay), (bx, by), (cx, cy) = corners[:, :2]
        twice = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay)
        if (low > high).any() or abs(twice) < 1e-12:
            return
        x, y = numpy.arange(low[0], high[0] + 1)[None, :], numpy.arange(low[1], high[1] + 1)[:, None]
        second = ((x - ax) * (cy - ay) - (cx - ax) * (y - ay)) / twice
        third = ((bx - ax) * (y - ay) - (x - ax) * (by - ay)) / twice
        shares = numpy.stack([1 - second - third, second, third], axis=-1)
        along = shares @ corners[:, 2]
        part = slice(low[1], high[1] + 1), slice(low[0], high[0] + 1)
        nearer = (shares.min(axis=-1) >= -1e-9) & (along < self.along[part])
        self.along[part][nearer] = along[nearer]
        self.triangle[part][nearer] = number
        self.normal[part][nearer] = shares[nearer] @ normals


class Scene:
    """The rays of a picture of the box, and what they meet behind water or smoke: bodies, or the far sides of the box."""

    def __init__(self, volume, view, up, bodies, pixels, backdrop=None):
        """`bodies` is (vertices, cells, body) and the colours of triangles."""
        self.volume, self.view = volume, view
        self.rays = Rays(volume, view, pixels)
        if backdrop is None:
            self.behind = inside_of_box(self.rays, view, up)
        else:
            self.behind = numpy.broadcast_to(backdrop, (len(self.rays.enter), 3)).copy()
        self.end = self.rays.leave.copy()
        (vertices, cells, body), colour = bodies
        kept = ~planes(cells, body)
        if kept.any():
            self.add_bodies(vertices, cells[kept], body[kept], colour[kept])

    def add_bodies(self, vertices, cells, body, colour):
        depths = Depths(self.rays, self.view, vertices, cells)
        along, triangle = depths.along.ravel(), depths.triangle.ravel()
        hit = triangle >= 0
        normal = depths.normal.reshape(-1, 3)[hit]
        normal = normal / numpy.maximum(numpy.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
        normal[normal @ self.view[1] < 0] *= -1  # the inside of a shell
        self.behind[hit] = lit(colour[triangle[hit]], normal, self.view)
        self.end[hit] = numpy.minimum(self.end[hit], along[hit])

    def image(self, colour):
        return numpy.clip(colour, 0, 1).reshape(*self.rays.shape, 3)


def gather(scene):
    """Goes along all rays. Returns the length inside of each region, and where, in which, and whether at a side of the
    box the first is met (-1: none)."""
    volume, rays = scene.volume, scene.rays
    count = len(rays.enter)
    lengths = numpy.zeros((len(volume.fields), count))
    first, place, at_side = numpy.full(count, -1), numpy.zeros(count), numpy.zeros(count, bool)
    active = numpy.nonzero(rays.enter < numpy.minimum(rays.leave, scene.end))[0]
    along, last, was = rays.enter[active], None, None
    while len(active):
        values = volume.at(rays.start[active] + along[:, None] * rays.direction)
        nearest, least = values.argmin(axis=0), values.min(axis=0)
        new = (least <= 0) & (first[active] < 0)
        there = along if last is None else last + (along - last) * was / numpy.maximum(was - least, 1e-12)
        first[active[new]], place[active[new]] = nearest[new], there[new]
        at_side[active[new]] = last is None
        step = numpy.minimum(numpy.maximum(0.9 * abs(least), 0.25 * volume.spacing), scene.end[active] - along)
        within = least <= 0
        lengths[nearest[within], active[within]] += step[within]
        goes_on = along + step < scene.end[active] - 1e-9
        last, was = along[goes_on], least[goes_on]
        along, active = (along + step)[goes_on], active[goes_on]
    return lengths, first, place, at_side


def in_water(distances, colours, bodies, box, view, up, pixels=900):
    """The image of translucent regions with bodies in them, and its extent in the camera's axes."""
    volume = Volume(distances, *box)
    scene = Scene(volume, view, up, bodies, pixels)
    lengths, first, place, at_side = gather(scene)
    reach = 0.55 * numpy.median((volume.high - volume.low))
    through = numpy.exp(-lengths.sum(axis=0) / reach)[:, None]
    tint = (lengths.T @ numpy.array(colours)) / numpy.maximum(lengths.sum(axis=0), 1e-12)[:, None]
    colour = scene.behind * through + tint * (1 - through)
    glass = numpy.nonzero((first >= 0) & at_side)[0]
    colour[glass] = (1 - GLASS) * colour[glass] + GLASS * numpy.array(colours)[first[glass]]
    for region, own in enumerate(colours):
        met = numpy.nonzero((first == region) & ~at_side)[0]
        points = scene.rays.start[met] + place[met, None] * scene.rays.direction
        normal = volume.slopes(points, region)
        grazing = 1 - abs(normal @ view[1])
        share = (SURFACE * (0.35 + 0.65 * grazing))[:, None]
        colour[met] = (1 - share) * colour[met] + share * lit(0.5 + 0.5 * numpy.array(own)[None], normal, view)
    return scene.image(colour), scene.rays.extent


def in_smoke(density, bodies, box, view, up, pixels=700):
    """The same in smoke, white before the night."""
    volume = Volume([density], *box)
    scene = Scene(volume, view, up, bodies, pixels, NIGHT)
    rays, step = scene.rays, 0.7 * volume.spacing
    thick = numpy.percentile(density[density > 0.05 * density.max()], 80) if density.max() > 0 else 1.0
    strength = 6.0 / (thick * numpy.linalg.norm(volume.high - volume.low))
    optical = numpy.zeros(len(rays.enter))
    active = numpy.nonzero(rays.enter < numpy.minimum(rays.leave, scene.end))[0]
    along = rays.enter[active] + 0.5 * step
    while len(active):
        found = volume.at(rays.start[active] + along[:, None] * rays.direction)[0]
        optical[active] += strength * step * numpy.maximum(found, 0)
        goes_on = along + step < scene.end[active]
        along, active = along[goes_on] + step, active[goes_on]
    through = numpy.exp(-optical)[:, None]
    return scene.image(scene.behind * through + 0.93 * (1 - through)), rays.extent


def outlines(vertices, cells, axis, place):
    """The closed or open lines in which triangles meet the plane where x[axis] = place: a list of (n, 3)."""
    corners = vertices[cells]
    above = corners[:, :, axis] >= place
    cut = numpy.nonzero(above.any(axis=1) & ~above.all(axis=1))[0]
    pieces = {}
    for number in cut:
        ends = []
        for one in range(3):
            a, b = sorted((cells[number][one], cells[number][(one + 1) % 3]))
            if (vertices[a][axis] >= place) != (vertices[b][axis] >= place):
                ends.append((a, b))
        for here, there in (ends, ends[::-1]):
            pieces.setdefault(here, []).append(there)
    return [follow(pieces, vertices, axis, place) for _ in iter(lambda: bool(pieces), False)]


def follow(pieces, vertices, axis, place):
    """Takes one line out of `pieces`, which says which edges a triangle joins; an open one from its end."""
    start = next((edge for edge, others in pieces.items() if len(others) == 1), next(iter(pieces)))
    line, here = [start], start
    while here in pieces:
        there = pieces[here].pop()
        if not pieces[here]:
            del pieces[here]
        pieces[there].remove(here)
        if not pieces[there]:
            del pieces[there]
        line.append(there)
        here = there
    a, b = (vertices[[edge[end] for edge in line]] for end in (0, 1))
    share = (place - a[:, axis]) / (b[:, axis] - a[:, axis])
    return a + share[:, None] * (b - a)
