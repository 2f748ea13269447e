"""A lit picture of smoke and obstacles, by marching layers from the viewer to the back. Needs numpy alone.

Along each line of sight (orthographic), with density d, extinction k, sunlight S and transmittance T,

    colour = sum of T (1 - exp(-k d h)) (ambient + S sun),    T = exp(-k sum of d h over the layers in front),

where S is the same exponential along the way to the sun. Obstacles are opaque layers with a shaded surface. Volumes are
[depth from the viewer, height from the top, width].
"""

import numpy

SUN_COLOUR = numpy.array([1.0, 0.95, 0.86], "f4")
SKY_COLOUR = numpy.array([0.30, 0.38, 0.52], "f4")
SMOKE_COLOUR = numpy.array([0.97, 0.97, 1.0], "f4")
SOLID_COLOUR = numpy.array([0.86, 0.45, 0.27], "f4")
BACKGROUND_TOP = numpy.array([0.035, 0.05, 0.09], "f4")
BACKGROUND_BOTTOM = numpy.array([0.13, 0.17, 0.25], "f4")
SUN_SLOPE = (0.35, 0.55)  # cells to the viewer and to the left, per cell up
OPAQUE = 50.0  # optical depth of an obstacle's cell


def stretch(count, factor):
    """The matrix that takes values at `count` cell centres to `factor` times as many, by cubic B-splines: smooth, and
    never beyond the values themselves."""
    place = (numpy.arange(count * factor) + 0.5) / factor - 0.5
    first = numpy.floor(place).astype(int)
    t = place - first
    weights = [(1 - t) ** 3, 3 * t**3 - 6 * t**2 + 4, -3 * t**3 + 3 * t**2 + 3 * t + 1, t**3]
    matrix = numpy.zeros((count * factor, count), "f4")
    for offset, weight in enumerate(weights, start=-1):
        numpy.add.at(matrix, (numpy.arange(len(t)), numpy.clip(first + offset, 0, count - 1)), weight / 6)
    return matrix


def blur(volume):
    """One pass of (1 2 1)/4 along each axis."""
    for axis in range(3):
        padded = numpy.pad(volume, [(1, 1) if a == axis else (0, 0) for a in range(3)], mode="edge")
        size = volume.shape[axis]
        left, middle, right = (padded.take(range(s, s + size), axis=axis) for s in range(3))
        volume = (left + 2 * middle + right) / 4
    return volume


def shift(plane, along_depth, along_width):
    """Moves a plane's values by fractions of a cell away from the viewer and to the right; nothing comes in."""
    for axis, by in ((0, along_depth), (1, along_width)):
        padded = numpy.pad(plane, [(1, 0) if a == axis else (0, 0) for a in range(2)])
        moved = padded.take(range(plane.shape[axis]), axis=axis)
        plane = (1 - by) * plane + by * moved
    return plane


def sunlight(optical):
    """What reaches each cell of a sun above, on the viewer's side and to the left."""
    light = numpy.empty_like(optical)
    above = numpy.zeros(optical[:, 0, :].shape, "f4")
    length = numpy.sqrt(1 + SUN_SLOPE[0] ** 2 + SUN_SLOPE[1] ** 2)
    for level in range(optical.shape[1]):
        above = shift(above, *SUN_SLOPE)
        light[:, level] = numpy.exp(-(above + 0.5 * length * optical[:, level]))
        above = above + length * optical[:, level]
    return light


def surface_shade(occupied):
    """Lambert's cosine with the sun, from the gradient of the obstacle, smoothed until its cells no longer show."""
    for _ in range(4):
        occupied = blur(occupied)
    slopes = [numpy.gradient(occupied, axis=axis) if occupied.shape[axis] > 1 else 0 * occupied for axis in range(3)]
    length = numpy.sqrt(sum(slope**2 for slope in slopes)) + 1e-9
    to_sun = numpy.array([-SUN_SLOPE[0], -1.0, -SUN_SLOPE[1]])
    to_sun /= numpy.linalg.norm(to_sun)
    # occupied grows inwards: the outward normal is minus its gradient
    cosine = -sum(slope * component for slope, component in zip(slopes, to_sun)) / length
    return numpy.clip(cosine, 0, 1)


def extinction(density, contrast):
    """So that the thick columns, not the single thickest, hide what is behind them."""
    columns = density.sum(axis=0)
    thick = columns[columns > 0.02 * columns.max()] if columns.max() > 0 else columns.ravel()
    reference = numpy.percentile(thick, 90) if thick.size else 0
    return contrast / reference if reference > 0 else 0.0


def background(rows, width):
    share = numpy.linspace(0, 1, rows)[:, None, None]
    return numpy.broadcast_to((1 - share) * BACKGROUND_TOP + share * BACKGROUND_BOTTOM, (rows, width, 3))


def shaded(density, solid, factor, contrast=2.5):
    """The picture, (rows, columns, 3) in 0..1, with `factor` pixels per cell."""
    density = numpy.clip(density.astype("f4"), 0, None)
    strength = extinction(density, contrast)
    occupied = blur(solid.astype("f4"))
    light = sunlight(strength * 0.7 * density + OPAQUE * (solid > 0))
    # the surface of an obstacle lies in its own shadow: take the light from just outside
    open_light = numpy.where(solid > 0, 0, light)
    outside = blur((solid <= 0).astype("f4"))
    surface_light = numpy.where(outside > 0, blur(open_light) / numpy.maximum(outside, 1e-6), 0)
    shade = surface_shade(occupied) * blur(surface_light)

    tall, wide = stretch(density.shape[1], factor), stretch(density.shape[2], factor)
    enlarge = lambda plane: tall @ plane @ wide.T
    colour = numpy.zeros((tall.shape[0], wide.shape[0], 3), "f4")
    through = numpy.ones(colour.shape[:2] + (1,), "f4")
    for layer in range(density.shape[0]):
        hidden = numpy.clip((enlarge(occupied[layer]) - 0.4) / 0.2, 0, 1)[..., None]
        body = SOLID_COLOUR * (0.45 * SKY_COLOUR + SUN_COLOUR * enlarge(shade[layer])[..., None])
        smoke = 1 - numpy.exp(-strength * enlarge(density[layer]))[..., None]
        glow = SMOKE_COLOUR * (SKY_COLOUR + 0.85 * SUN_COLOUR * enlarge(light[layer])[..., None])
        colour += through * (hidden * body + (1 - hidden) * smoke * glow)
        through *= (1 - hidden) * (1 - smoke)
    return numpy.clip(colour + through * background(*colour.shape[:2]), 0, 1) ** (1 / 1.2)
