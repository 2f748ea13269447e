"""Bodies as seen by a distant viewer, drawn with matplotlib alone: triangles from back to front, lit."""

import numpy

LIGHT = numpy.array([0.35, 0.45, 0.82])  # right, towards the viewer, up
GROUND = (0.86, 0.87, 0.89)
FIXED = (0.62, 0.64, 0.67)
LIQUID = (0.36, 0.62, 0.86)
PALETTE = ["#4e79a7", "#f28e2b", "#59a14f", "#e15759", "#76b7b2", "#edc948", "#b07aa1", "#9c755f"]


def skin(cells):
    """The outer triangles of tetrahedra, seen from outside counter-clockwise, and the tetrahedron behind each."""
    sides = cells[:, [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]]].reshape(-1, 3)
    _, index, count = numpy.unique(numpy.sort(sides, axis=1), axis=0, return_index=True, return_counts=True)
    outer = numpy.sort(index[count == 1])
    return sides[outer], outer // 4


SOFT = ("deformables", "sheets")  # tetrahedra, triangles


def surfaces(frame):
    """Of each mesh of the frame with deformable solids: its triangles, and the elements that have their fields."""
    if "skins" in frame.entry.meshes():
        return [(frame.mesh("skins"), frame.mesh("skins").cells, slice(None))]
    parts = [frame.mesh(name) for name in SOFT if name in frame.entry.meshes()]
    return [(mesh, *(skin(mesh.cells) if mesh.cells.shape[1] == 4 else (mesh.cells, slice(None)))) for mesh in parts]


def deformables(frame, first):
    """(vertices, cells, body) of the surfaces, meshes numbered from `first` on, and a field of their triangles by name."""
    parts, before = [], 0
    for mesh, triangles, behind in surfaces(frame):
        speed = numpy.linalg.norm(mesh["velocity"], axis=1)[triangles].mean(axis=1)
        parts.append((mesh.vertices, before + triangles, first + mesh["mesh"].astype(int)[behind], mesh["stress"][behind],
                      mesh["det_F"][behind], speed))
        before += len(mesh.vertices)
    joined = [numpy.concatenate(part) for part in zip(*parts)]
    return tuple(joined[:3]), dict(zip(("stress", "det_F", "speed"), joined[3:]))


def camera_axes(azimuth, elevation, up):
    """Rows: to the right, towards the viewer, upwards in the picture. A left-handed triple."""
    azimuth, elevation = numpy.radians([azimuth, elevation])
    right, front = {0: (1, 2), 1: (0, 2), 2: (0, 1)}[up]
    towards = {0: -1, 1: 1, 2: -1}[up]
    viewer, across = numpy.zeros(3), numpy.zeros(3)
    viewer[up] = numpy.sin(elevation)
    viewer[right] = numpy.cos(elevation) * numpy.sin(azimuth)
    viewer[front] = towards * numpy.cos(elevation) * numpy.cos(azimuth)
    across[right], across[front] = numpy.cos(azimuth), -towards * numpy.sin(azimuth)
    top = numpy.cross(viewer, across)
    return numpy.array([across, viewer, top if top[up] >= 0 else -top])


def planes(cells, body):
    """True for triangles of bodies that have no more than two: planes, drawn as squares."""
    return numpy.bincount(body)[body] <= 2 if len(cells) else numpy.zeros(0, bool)


def bounds(vertices, cells, body):
    """Of all but the planes, or of everything if there is nothing else."""
    kept = cells[~planes(cells, body)]
    points = vertices[kept.ravel()] if len(kept) else vertices
    return points.min(axis=0), points.max(axis=0)


def closed(corners, body):
    """True for triangles of bodies without an edge: the areas of a closed surface add up to nothing."""
    areas = numpy.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    total = numpy.zeros((body.max() + 1, 3))
    numpy.add.at(total, body, areas)
    whole = numpy.bincount(body, numpy.linalg.norm(areas, axis=1))
    return (numpy.linalg.norm(total, axis=1) < 1e-3 * whole)[body]


def colours_of_bodies(body):
    from matplotlib import colors

    return numpy.array([colors.to_rgb(name) for name in PALETTE])[body % len(PALETTE)]


def densities(entries):
    """Of the bodies of a frame, kg/m^3; none unless the dynamic ones have several."""
    known = [entry.density for entry in entries if entry.kind == "dynamic"]
    if None in known or len(set(known)) < 2:
        return None
    return numpy.array([entry.density if entry.kind == "dynamic" else numpy.nan for entry in entries])


def density_scale(values):
    """From light to heavy: pale yellow to dark red, by ratios."""
    from matplotlib import cm, colors

    low, high = numpy.nanmin(values), numpy.nanmax(values)
    shades = colors.LinearSegmentedColormap.from_list("density", ["#fdf3c4", "#f6c45e", "#e8772e", "#b5302a", "#5c1a33"])
    return cm.ScalarMappable(colors.LogNorm(low, high), shades)


def colours_of_entries(entries, body):
    """Of triangles: by density where that differs, and grey what is not free; otherwise each body in its own colour. And the
    scale, or None."""
    values = densities(entries)
    if values is None:
        return colours_of_bodies(body), None
    scale = density_scale(values)
    colour = numpy.where(numpy.isnan(values)[:, None], FIXED, scale.to_rgba(numpy.nan_to_num(values, nan=1.0))[:, :3])
    return colour[body], scale


def shaded(corners, colour):
    """Colours of triangles whose corners are given in the camera's axes; both sides are lit."""
    normal = numpy.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = numpy.linalg.norm(normal, axis=1, keepdims=True)
    normal = normal / numpy.where(length > 0, length, 1)
    normal = numpy.where(normal[:, 1:2] < 0, -normal, normal)
    bright = 0.45 + 0.6 * numpy.clip(normal @ (LIGHT / numpy.linalg.norm(LIGHT)), 0, 1)
    return numpy.clip(colour * bright[:, None], 0, 1)


def divided(corners, longest, most=400000):
    """Triangles (n, 3, 3) and which of those given each is a part of: halved until no edge is longer, or there are too many.
    What is sorted by its middle must not be large beside what lies before or behind it."""
    part = numpy.arange(len(corners))
    while len(corners) < most:
        edges = numpy.linalg.norm(corners - numpy.roll(corners, -1, axis=1), axis=2)
        large = numpy.nonzero(edges.max(axis=1) > longest)[0]
        if not len(large):
            break
        first = edges[large].argmax(axis=1)[:, None] + numpy.arange(3)
        turned = numpy.take_along_axis(corners[large], (first % 3)[:, :, None], axis=1)  # the longest edge is the first
        middle = (turned[:, 0] + turned[:, 1]) / 2
        halves = [numpy.stack(half, axis=1) for half in ((turned[:, 0], middle, turned[:, 2]), (middle, turned[:, 1], turned[:, 2]))]
        rest = numpy.delete(numpy.arange(len(corners)), large)
        corners = numpy.concatenate([corners[rest], *halves])
        part = numpy.concatenate([part[rest], part[large], part[large]])
    return corners, part


def draw(axes, mesh, view, colour, corners_of_view):
    """Draws (vertices, cells, body) with `colour` (n, 3) of the triangles; planes lie behind all bodies. The view is that of the
    box between two corners."""
    from matplotlib.collections import PolyCollection

    vertices, cells, body = mesh
    ground = planes(cells, body)
    low, high = corners_of_view
    corners = (vertices @ view.T)[cells]
    # The camera's axes are left-handed, so the product points inwards.
    away = numpy.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 1] > 0
    shown = numpy.nonzero(~(away & closed(corners, body)))[0]
    corners, part = divided(corners[shown], max(numpy.linalg.norm(high - low), 1e-9) / 60)
    ground, colour = ground[shown][part], numpy.asarray(colour)[shown][part]
    order = numpy.lexsort((corners[:, :, 1].mean(axis=1), ~ground))
    face = shaded(corners, numpy.where(ground[:, None], GROUND, colour))
    collection = PolyCollection(corners[order][:, :, [0, 2]], facecolors=face[order], edgecolors=face[order],
                                linewidths=0.2, antialiaseds=False)
    axes.add_collection(collection)
    box = numpy.array([[x, y, z] for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])]) @ view.T
    margin = 0.06 * max(numpy.ptp(box[:, 0]), numpy.ptp(box[:, 2]), 1e-9)
    axes.set_xlim(box[:, 0].min() - margin, box[:, 0].max() + margin)
    axes.set_ylim(box[:, 2].min() - margin, box[:, 2].max() + margin)
    axes.set_aspect("equal")
    axes.set_axis_off()


def draw_thin(axes, frame, view):
    """Ropes as lines and clouds as dots, over what else is drawn; the picture grows to hold them."""
    from matplotlib.collections import LineCollection

    for name in {"ropes", "clouds"} & set(frame.entry.meshes()):
        mesh = frame.mesh(name)
        ends = (mesh.vertices @ view.T)[mesh.cells][:, :, [0, 2]]
        if name == "ropes":
            axes.add_collection(LineCollection(ends, colors="#5b4636", linewidths=1.5))
        else:
            axes.plot(ends[:, 0, 0], ends[:, 0, 1], ".", color="#5b4636", markersize=2)
        grow(axes, ends.min(axis=(0, 1)), ends.max(axis=(0, 1)))


def grow(axes, low, high):
    axes.set_xlim(min(axes.get_xlim()[0], low[0]), max(axes.get_xlim()[1], high[0]))
    axes.set_ylim(min(axes.get_ylim()[0], low[1]), max(axes.get_ylim()[1], high[1]))
