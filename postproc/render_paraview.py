"""The part of `render` that runs inside pvbatch: pvbatch render_paraview.py JOB, a JSON file that `render` wrote.

The job names one XDMF file per grid of the run (so that each reader gives one plain data set), what to show, and the
pictures to write: a list of times and files.
"""

import json
import math
import os
import sys

from paraview.simple import *  # the module's names are its interface

AXES = "xyz"
BACKGROUND = [0.09, 0.11, 0.16]
FOREGROUND = [0.88, 0.90, 0.94]
OBSTACLE = [0.80, 0.50, 0.35]
DEFORMABLE = [0.93, 0.56, 0.27]
ROPE = [0.76, 0.60, 0.42]
LIQUID = [0.36, 0.62, 0.86]
BODIES = [[0.31, 0.47, 0.65], [0.95, 0.56, 0.17], [0.35, 0.63, 0.31], [0.88, 0.34, 0.35], [0.46, 0.72, 0.70],
          [0.93, 0.79, 0.28], [0.69, 0.48, 0.63], [0.61, 0.46, 0.37]]
PALE = [0.45, 0.72, 0.98, 0.75, 0.95, 0.80, 1.00, 0.72, 0.25]  # for lines before the dark ground: low, middle, high
COLOURS = ["#4cc9f0", "#f4a261", "#90be6d", "#e76f51"]

# ParaView's own values at the nodes of the box's sides are those of the cells' centres, so that surfaces would bend there; these
# are linear up to the sides.
DISTANCES_AT_NODES = """
import numpy
size = inputs[0].GetDimensions()[::-1]
for name in inputs[0].CellData.keys():
    if name.startswith("distance_"):
        values = numpy.asarray(inputs[0].CellData[name]).reshape([n - 1 if n > 1 else 1 for n in size])
        for axis in range(3):
            count = values.shape[axis]
            if size[axis] > 1 and count > 1:
                first, second, before, last = (values.take([n], axis=axis) for n in (0, 1, count - 2, count - 1))
                values = numpy.concatenate([2 * first - second, values, 2 * last - before], axis=axis)
                values = (values.take(range(count + 1), axis=axis) + values.take(range(1, count + 2), axis=axis)) / 2
            elif size[axis] > 1:
                values = numpy.repeat(values, 2, axis=axis)
        output.PointData.append(values.ravel(), name)
"""


class Stage:
    """The view, the fluid in it and what the job asks for."""

    def __init__(self, job):
        self.job = job
        self.view = CreateView("RenderView")
        self.view.ViewSize = job["size"]
        self.view.UseColorPaletteForBackground = 0
        self.view.Background = BACKGROUND
        self.view.OrientationAxesLabelColor = FOREGROUND
        self.view.OrientationAxesVisibility = 0
        self.bars, self.legend = [], []
        self.fluid = self.open("fluid") if "fluid" in job["grids"] else None
        if self.fluid:
            self.points = CellDatatoPointData(Input=self.fluid, PassCellData=1)
            if job["regions"]:
                self.points = ProgrammableFilter(Input=self.points, CopyArrays=1, Script=DISTANCES_AT_NODES)
            self.points.UpdatePipeline(self.job["pictures"][-1]["time"])
            bounds = self.fluid.GetDataInformation().GetBounds()
            self.low, self.high = bounds[0::2], bounds[1::2]
        else:
            self.low, self.high = job["box"]
        Render(self.view)  # the first one moves the camera

    def open(self, grid):
        reader = Xdmf3ReaderT(FileName=[self.job["grids"][grid]])
        reader.UpdatePipeline(self.job["pictures"][-1]["time"])
        return reader

    def size(self):
        return math.dist(self.low, self.high)

    def show(self, source):
        display = Show(source, self.view)
        display.SetRepresentationType("Surface")
        return display


def is_plane(stage):
    return stage.fluid is not None and stage.high[2] == stage.low[2]


def field_range(stage, source, field):
    """Over all pictures, so that the colours of a film keep their meaning."""
    if stage.job["range"]:
        return stage.job["range"]
    low, high = math.inf, -math.inf
    for picture in stage.job["pictures"]:
        source.UpdatePipeline(picture["time"])
        array = source.PointData.GetArray(field["array"]) or source.CellData.GetArray(field["array"])
        if array:
            span = array.GetRange(field["component"])
            low, high = min(low, span[0]), max(high, span[1])
    if low < 0 < high and min(-low, high) > 0.05 * max(-low, high):
        high = max(-low, high)
        low = -high
    return [low, high] if low < high else [low - 0.5, low + 0.5]


RED, GREEN, BLUE = 610e-9, 549e-9, 468e-9  # m
SECOND_RADIATION_CONSTANT = 1.4388e-2  # m K
WHITE = 6500.0  # K: daylight
EXPOSURE = 1.6  # of the hottest: its red is overexposed


def planck(wavelength, temperature):
    """What a black body emits, over what it does where it is white."""
    emission = lambda kelvin: 1 / math.expm1(SECOND_RADIATION_CONSTANT / (wavelength * kelvin))
    return emission(temperature) / emission(WHITE)


def black_body(temperature, hottest):
    """Its colour; brightness goes with the fourth root, so that what is less hot is seen beside the hottest."""
    red = planck(RED, temperature)
    bright = EXPOSURE * (red / planck(RED, hottest)) ** 0.25
    return [min(1.0, bright * planck(colour, temperature) / red) for colour in (RED, GREEN, BLUE)]


def glow(table, opacity, high):
    """Fire of a temperature in kelvin: it shines by itself, and where it is cold it is not there."""
    steps = [high * n / 24 for n in range(2, 25)]
    table.RGBPoints = [value for kelvin in steps for value in (kelvin, *black_body(kelvin, high))]
    table.ColorSpace = "RGB"
    opacity.Points = [value for kelvin in [0.0, *steps] for value in (kelvin, 0.9 * min(1.0, max(0.0, 1.5 * kelvin / high - 0.3)) ** 2, 0.5, 0)]


def colour_by(stage, display, source, field, association="POINTS", pale=False):
    """Colours a display by a field, with a bar for its values; `pale`: colours that are all seen before the ground."""
    low, high = field_range(stage, source, field)
    if field["component"] >= 0:
        ColorBy(display, (association, field["array"], AXES[field["component"]].upper()))
    elif field["is_vector"]:
        ColorBy(display, (association, field["array"], "Magnitude"))
    else:
        ColorBy(display, (association, field["array"]))
    table = GetColorTransferFunction(field["array"])
    if stage.job["fire"]:
        glow(table, GetOpacityTransferFunction(field["array"]), high)
        stage.job["dark_lines"] = False
        add_bar(stage, table, field)
        return
    preset = stage.job["colormap"] or ("Cool to Warm (Extended)" if low == -high else "Viridis (matplotlib)")
    if not table.ApplyPreset(preset, True):
        sys.exit(f"ParaView has no colour map {preset}")
    if pale and not stage.job["colormap"] and low != -high:
        table.ColorSpace = "Lab"
        table.RGBPoints = [low, *PALE[:3], (low + high) / 2, *PALE[3:6], high, *PALE[6:]]
    stage.job["dark_lines"] = low == -high
    table.RescaleTransferFunction(low, high)
    GetOpacityTransferFunction(field["array"]).RescaleTransferFunction(low, high)
    add_bar(stage, table, field)


def rgb(name):
    """#rrggbb -> three numbers."""
    return [int(name[i:i + 2], 16) / 255 for i in (1, 3, 5)]


def paint(display, colour):
    """One colour, (r, g, b) or #rrggbb, instead of a field's."""
    if isinstance(colour, str):
        colour = rgb(colour)
    display.ColorArrayName = [None, ""]
    display.AmbientColor = display.DiffuseColor = colour


def add_bar(stage, table, field):
    if field["array"] in stage.bars or not stage.job["bar"]:
        return
    bar = GetScalarBar(table, stage.view)
    bar.Title, bar.ComponentTitle = field["label"], ""
    bar.TitleColor = bar.LabelColor = FOREGROUND
    bar.TitleFontSize, bar.LabelFontSize = 14, 12
    bar.AutomaticLabelFormat, bar.LabelFormat, bar.RangeLabelFormat = 0, "%-.3g", "%-.3g"
    bar.ScalarBarLength, bar.ScalarBarThickness = 0.35, 12
    bar.WindowLocation = "Any Location"
    width, height = stage.job["size"]
    if is_plane(stage):
        bar.Orientation = "Vertical"
        bar.Position = [1 - (stage.job["margins"][1] - 16) / width, 0.08 + 0.45 * len(stage.bars)]
    elif width > 2 * height:
        bar.Orientation, bar.Position = "Horizontal", [0.1 + 0.45 * len(stage.bars), 0.04]
    else:
        bar.Orientation, bar.Position = "Vertical", [0.86, 0.08 + 0.45 * len(stage.bars)]
    bar.Visibility = 1
    stage.bars.append(field["array"])


def add_slice(stage):
    """A plane of colours; in 2-D the fluid itself."""
    wanted = stage.job["slice"]
    if is_plane(stage):
        source = stage.points
    else:
        source = Slice(Input=stage.points)
        source.SliceType.Normal = [float(axis == wanted["axis"]) for axis in range(3)]
        middle = [(low + high) / 2 for low, high in zip(stage.low, stage.high)]
        if wanted["place"] is not None:
            middle[wanted["axis"]] = wanted["place"]
        source.SliceType.Origin = middle
    display = stage.show(source)
    display.Ambient, display.Diffuse = 1.0, 0.0
    if is_plane(stage) and stage.job["regions"] and not stage.job["field_given"]:
        Hide(source, stage.view)
        add_regions_of_plane(stage)
        stage.job["dark_lines"] = True
    else:
        colour_by(stage, display, source, stage.job["field"])
    add_interfaces(stage, source)


def inside(source, region):
    """The part of a source where the distance to the surface of a region is negative."""
    clip = Clip(Input=source, ClipType="Scalar", Scalars=["POINTS", region["array"]], Invert=1)
    clip.Value = 0.0  # given with the others, it is overwritten by the middle of the range
    return clip


def add_regions_of_plane(stage):
    """Each region in its colour, sharp, over the cells of its colour, which show where three regions meet."""
    display = stage.show(stage.fluid)
    ColorBy(display, ("CELLS", "region"))
    table = GetColorTransferFunction("region")
    table.InterpretValuesAsCategories = 1
    regions = stage.job["regions"]
    table.Annotations = [text for number, region in enumerate(regions, start=1) for text in (str(number), region["name"])]
    table.IndexedColors = [part for region in regions for part in rgb(region["colour"])]
    display.Ambient, display.Diffuse = 1.0, 0.0
    for region in regions:
        lifted = Transform(Input=inside(stage.points, region))
        lifted.Transform.Translate = [0, 0, stage.size() / 1000]
        display = stage.show(lifted)
        paint(display, region["colour"])
        display.Ambient, display.Diffuse = 1.0, 0.0
    add_bar(stage, table, {"array": "region", "label": ""})
    GetScalarBar(table, stage.view).TextPosition = "Ticks left/bottom, annotations right/top"


def add_interfaces(stage, plane):
    """The lines between regions on a plane of colours."""
    for region in stage.job["regions"]:
        lines = Contour(Input=plane, ContourBy=["POINTS", region["array"]], Isosurfaces=[0.0])
        lifted = Transform(Input=lines)
        lifted.Transform.Translate = [0, 0, stage.size() / 500 if is_plane(stage) else 0]
        display = stage.show(lifted)
        paint(display, [0.1, 0.1, 0.12] if stage.job["dark_lines"] else [1, 1, 1])
        display.LineWidth, display.Ambient, display.Diffuse = 2.0, 1.0, 0.0


def add_regions(stage):
    """In 3-D: their surfaces, closed by the parts of the box's sides that they touch."""
    box = ExtractSurface(Input=stage.points)
    for region in stage.job["regions"]:
        if not region["shown"]:
            continue
        contour = Contour(Input=stage.points, ContourBy=["POINTS", region["array"]], Isosurfaces=[0.0])
        contour.ComputeNormals = 1
        for source in (contour, inside(box, region)):
            display = stage.show(source)
            display.Specular, display.SpecularPower = 0.3 if source is contour else 0.0, 40
            if stage.job["bodies"]["any"]:
                display.Opacity = 0.5 if source is contour else 0.25
            if stage.job["field_given"]:
                colour_by(stage, display, stage.points, stage.job["field"])
            else:
                paint(display, region["colour"])


def add_iso_surfaces(stage):
    for number, wanted in enumerate(stage.job["iso"]):
        contour = Contour(Input=stage.points, ContourBy=["POINTS", wanted["field"]["array"]], Isosurfaces=[wanted["value"]])
        if wanted["field"]["is_vector"]:
            scalar = Calculator(Input=stage.points, ResultArrayName="iso_value", Function=wanted["formula"])
            contour = Contour(Input=scalar, ContourBy=["POINTS", "iso_value"], Isosurfaces=[wanted["value"]])
        contour.ComputeNormals = 1
        display = stage.show(contour)
        display.Opacity, display.Specular, display.SpecularPower = 0.75, 0.4, 30
        if stage.job["field_given"]:
            colour_by(stage, display, contour, stage.job["field"])
        else:
            paint(display, COLOURS[number % len(COLOURS)])
        stage.legend.append((f"{wanted['name']} = {wanted['value']:.4g}", FOREGROUND if stage.job["field_given"] else
                             rgb(COLOURS[number % len(COLOURS)])))


def add_volume(stage):
    """Smoke as white haze: opacity grows with the field."""
    field = stage.job["volume"]
    low, high = field_range(stage, stage.points, field)
    display = Show(stage.points, stage.view, "UniformGridRepresentation")
    display.SetRepresentationType("Volume")
    ColorBy(display, ("POINTS", field["array"]))
    display.ScalarOpacityUnitDistance = stage.size() / 60
    display.Shade = 1
    table, opacity = GetColorTransferFunction(field["array"]), GetOpacityTransferFunction(field["array"])
    if stage.job["fire"]:
        display.Shade = 0
        glow(table, opacity, high)
        return
    if stage.job["colormap"]:
        table.ApplyPreset(stage.job["colormap"], True)
        table.RescaleTransferFunction(low, high)
    else:
        table.RGBPoints = [low, 0.55, 0.62, 0.75, (low + high) / 2, 0.85, 0.88, 0.93, high, 1.0, 1.0, 1.0]
    span = high - low
    opacity.Points = [low, 0, 0.5, 0, low + 0.03 * span, 0, 0.5, 0, low + 0.3 * span, 0.25, 0.5, 0, high, 0.85, 0.5, 0]


def seed_gap(stage):
    sides = [high - low for low, high in zip(stage.low, stage.high) if high > low]
    return (math.prod(sides) / stage.job["streamlines"]) ** (1 / len(sides))


def seeds(stage):
    """About as many points as wanted, evenly in the box and half a gap away from its sides."""
    axes = [0, 1] if is_plane(stage) else [0, 1, 2]
    length, gap = [stage.high[axis] - stage.low[axis] for axis in range(3)], seed_gap(stage)
    count = [max(2, round(length[axis] / gap)) for axis in axes]
    inset = [length[axis] / (2 * n) for axis, n in zip(axes, count)]
    low, high = ([stage.low[a] + d for a, d in zip(axes, inset)], [stage.high[a] - d for a, d in zip(axes, inset)])
    if is_plane(stage):
        z = stage.low[2]
        return Plane(Origin=[*low, z], Point1=[high[0], low[1], z], Point2=[low[0], high[1], z],
                     XResolution=count[0] - 1, YResolution=count[1] - 1)
    bounds = [value for pair in zip(low, high) for value in pair]
    return ResampleToImage(Input=stage.points, UseInputBounds=0, SamplingBounds=bounds, SamplingDimensions=count)


def add_streamlines(stage):
    """As tubes, in 2-D short ones that do not run into each other; coloured by the speed unless they lie on a plane of
    colours."""
    tracer = StreamTracerWithCustomSource(Input=stage.points, SeedSource=seeds(stage), Vectors=["POINTS", "velocity"])
    tracer.MaximumStreamlineLength = 0.9 * seed_gap(stage) if is_plane(stage) else 2.0 * stage.size()
    short_side = min(high - low for low, high in zip(stage.low, stage.high) if high > low)
    radius = short_side / 400 if is_plane(stage) else stage.size() / 600
    display = stage.show(Tube(Input=tracer, Radius=radius))
    if stage.job["slice"]:
        paint(display, [0.1, 0.1, 0.12] if stage.job["dark_lines"] else [1, 1, 1])
    else:
        speed = {"array": "velocity", "component": -1, "is_vector": True, "label": "speed [m/s]"}
        colour_by(stage, display, stage.points, speed, pale=True)


def add_surfaces(stage):
    """Triangle surfaces of the run, and ropes as tubes; where it has none, the half-level of the obstacles' cells."""
    for grid in stage.job["surfaces"]:
        source = stage.open(grid)
        display = stage.show(Tube(Input=ExtractSurface(Input=source), Radius=stage.size() / 200) if grid == "ropes" else source)
        if grid == "bodies":
            colour_bodies(stage, display, source)
        elif grid == "surface":
            paint(display, LIQUID)
        elif grid == "ropes":
            paint(display, ROPE)
        elif grid in ("deformables", "skins", "sheets"):
            paint(display, DEFORMABLE)
        else:
            paint(display, OBSTACLE)
        display.Specular, display.SpecularPower = 0.3, 25
    if stage.job["solid"] and not stage.job["surfaces"]:
        display = stage.show(solid_cells(stage) if is_plane(stage) else solid_surface(stage))
        paint(display, OBSTACLE)
        display.Specular = 0.0 if is_plane(stage) else 0.3


def colour_bodies(stage, display, source):
    """By their speed if asked for, otherwise each in a colour of its own, taken in turn."""
    if stage.job["field"]["array"] == "speed" and not stage.fluid:
        colour_by(stage, display, source, stage.job["field"])
        return
    colours = stage.job["bodies"]["colours"] or BODIES
    ColorBy(display, ("CELLS", "body"))
    table = GetColorTransferFunction("body")
    table.InterpretValuesAsCategories = 1
    last = int(source.CellData.GetArray("body").GetRange()[1])
    table.Annotations = [text for body in range(last + 1) for text in (str(body), "")]
    table.IndexedColors = [part for body in range(last + 1) for part in colours[body % len(colours)]]
    display.SetScalarBarVisibility(stage.view, False)
    add_density_bar(stage)


def add_density_bar(stage):
    scale = stage.job["bodies"]["scale"]
    if not scale:
        return
    table = GetColorTransferFunction("density")
    table.RGBPoints = [number for point in scale for number in point]
    table.ColorSpace, table.UseLogScale = "RGB", 1
    add_bar(stage, table, {"array": "density", "label": "density [kg/m^3]"})


def solid_surface(stage):
    contour = Contour(Input=stage.points, ContourBy=["POINTS", "solid"], Isosurfaces=[0.5])
    return GenerateSurfaceNormals(Input=Smooth(Input=contour, NumberofIterations=30))


def solid_cells(stage):
    """Lifted a little, to lie before the plane of colours and the streamlines."""
    cells = Threshold(Input=stage.fluid, Scalars=["CELLS", "solid"], LowerThreshold=0.5, UpperThreshold=1.5)
    lifted = Transform(Input=cells)
    lifted.Transform.Translate = [0, 0, stage.size() / 100]
    return lifted


def add_particles(stage):
    for number, grid in enumerate(stage.job["particles"]):
        lifted = Transform(Input=stage.open(grid))
        lifted.Transform.Translate = [0, 0, stage.size() / 100 if is_plane(stage) else 0]
        display = stage.show(lifted)
        display.SetRepresentationType("Point Gaussian")
        display.GaussianRadius = stage.size() * stage.job["particle_size"]
        colour = COLOURS[(number + 1) % len(COLOURS)]
        paint(display, colour)
        stage.legend.append((grid, rgb(colour)))


def add_legend(stage):
    """What surfaces of values and points are, each in its colour: at the lower left, in 2-D beside the box."""
    line = 24 / stage.job["size"][1]
    left, top = 0.015, 0.015 + line * (len(stage.legend) - 1)
    if is_plane(stage):
        left, top = 1 - (stage.job["margins"][1] - 10) / stage.job["size"][0], 0.86
    for number, (words, colour) in enumerate(stage.legend):
        place = Show(Text(Text=words), stage.view)
        place.WindowLocation, place.Position = "Any Location", [left, top - line * number]
        place.Color, place.FontSize = colour, 14


def add_outline(stage):
    if stage.fluid:
        display = Show(Outline(Input=stage.fluid), stage.view)
        paint(display, [0.45, 0.48, 0.55])
        display.LineWidth = 1.0
    if stage.job["title"]:
        text = Text(Text=stage.job["title"])
        place = Show(text, stage.view)
        place.WindowLocation, place.Color, place.FontSize = "Upper Left Corner", FOREGROUND, 14
        time = AnnotateTimeFilter(Input=stage.fluid or stage.open(stage.job["surfaces"][0]), Format="t = {time:.4g} s")
        place = Show(time, stage.view)
        place.WindowLocation, place.Color, place.FontSize = "Upper Right Corner", FOREGROUND, 14


def frame_plane(stage, width, height, middle):
    """The box fills what the margins leave: the bar is beside it and the title above; without these it is in the middle."""
    view, (wide, high) = stage.view, stage.job["size"]
    if not stage.job["title"] and not stage.bars:
        view.CameraParallelScale = 0.56 * max(height, width * high / wide) / stage.job["camera"]["zoom"]
        return
    left, right, below, above = stage.job["margins"]
    pixel = max(width / max(wide - left - right, 0.3 * wide), height / max(high - below - above, 0.3 * high))
    aside = [pixel * (right - left) / 2, pixel * (above - below) / 2]
    view.CameraFocalPoint = [middle[0] + aside[0], middle[1] + aside[1], middle[2]]
    view.CameraPosition = [middle[0] + aside[0], middle[1] + aside[1], middle[2] + stage.size()]
    view.CameraParallelScale = pixel * high / 2 / stage.job["camera"]["zoom"]


def set_camera(stage):
    """From an azimuth and elevation about the axis that points up; parallel and from the front in 2-D."""
    camera, up = stage.job["camera"], stage.job["up"]
    middle = [(low + high) / 2 for low, high in zip(stage.low, stage.high)]
    view = stage.view
    view.CenterOfRotation = view.CameraFocalPoint = middle
    if is_plane(stage):
        view.CameraParallelProjection = 1
        view.CameraPosition = [middle[0], middle[1], middle[2] + stage.size()]
        view.CameraViewUp = [0, 1, 0]
        width, height = (stage.high[a] - stage.low[a] for a in (0, 1))
        frame_plane(stage, width, height, middle)
        return
    azimuth, elevation = math.radians(camera["azimuth"]), math.radians(camera["elevation"])
    right, front = {0: (1, 2), 1: (0, 2), 2: (0, 1)}[up]
    towards = {0: -1, 1: 1, 2: -1}[up]
    offset = [0.0, 0.0, 0.0]
    offset[up] = math.sin(elevation)
    offset[right] = math.cos(elevation) * math.sin(azimuth)
    offset[front] = towards * math.cos(elevation) * math.cos(azimuth)
    view.CameraViewAngle = 25
    distance = 0.5 * stage.size() / math.tan(math.radians(12.5)) * 1.02 / camera["zoom"]
    view.CameraPosition = [m + distance * o for m, o in zip(middle, offset)]
    view.CameraViewUp = [float(axis == up) for axis in range(3)]


def main():
    with open(sys.argv[1], encoding="utf-8") as stream:
        job = json.load(stream)
    stage = Stage(job)
    if job["slice"]:
        add_slice(stage)
    if job["regions"] and not is_plane(stage):
        add_regions(stage)
    add_iso_surfaces(stage)
    if job["volume"]:
        add_volume(stage)
    if job["streamlines"]:
        add_streamlines(stage)
    add_surfaces(stage)
    add_particles(stage)
    add_outline(stage)
    if job["bar"]:
        add_legend(stage)
    set_camera(stage)
    for picture in job["pictures"]:
        stage.view.ViewTime = picture["time"]
        GetAnimationScene().AnimationTime = picture["time"]
        Render(stage.view)
        SaveScreenshot(picture["file"], stage.view, ImageResolution=job["size"])
        print(picture["file"], flush=True)


if __name__ == "__main__":
    # Scripts of ProgrammableFilter run among the names of __main__ and put others in the place of max, min and sum there.
    sys.dont_write_bytecode = True
    sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
    import render_paraview

    render_paraview.main()
