"""xdmf_paraview.py READER FILE DIMENSION RANKS: what one of ParaView's readers makes of frames_example."""
import sys

import numpy as np
import paraview.simple as pv
from paraview import servermanager
from vtkmodules.util.numpy_support import vtk_to_numpy
from vtkmodules.vtkFiltersCore import vtkCellCenters

reader_name, path, dimension, ranks = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])


def leaves(data):
    """Every data set with cells in a tree of blocks."""
    if data.IsA("vtkCompositeDataSet"):
        iterator = data.NewIterator()
        while not iterator.IsDoneWithTraversal():
            yield iterator.GetCurrentDataObject()
            iterator.GoToNextItem()
    else:
        yield data


def array(attributes, name):
    values = attributes.GetArray(name)
    assert values is not None, f"no array {name}"
    return vtk_to_numpy(values)


def check_grid(data, time):
    centres = vtkCellCenters()
    centres.SetInputData(data)
    centres.Update()
    x, y, z = vtk_to_numpy(centres.GetOutput().GetPoints().GetData()).astype(float).T
    assert data.GetNumberOfCells() == (30 if dimension == 2 else 120), data.GetNumberOfCells()
    assert np.allclose(data.GetBounds(), [1, 4, 2, 4.5, 3, 3.5 if dimension == 2 else 5]), data.GetBounds()
    if dimension == 2:
        z = 0 * z
    assert np.allclose(array(data.GetCellData(), "density"), x + 10 * y + 100 * z + 1000 * time, rtol=1e-5)
    velocity = array(data.GetCellData(), "velocity")
    assert np.allclose(velocity, np.stack([x, y, time + 0 * x], axis=-1), rtol=1e-5), "velocity"


def check_strip(data, time):
    assert data.GetNumberOfCells() == 2 * ranks and data.GetNumberOfPoints() == 4 * ranks
    assert np.allclose(array(data.GetCellData(), "area"), 0.5)
    assert np.allclose(data.GetBounds(), [0, ranks, 0, 1, time, time])
    assert np.allclose(array(data.GetPointData(), "height"), time)


def check_wedge(data):
    assert data.GetNumberOfCells() == ranks and data.GetCell(0).GetCellType() == 10  # a tetrahedron
    assert np.allclose(array(data.GetCellData(), "volume"), 1 / 6)


def check_particles(data, count):
    assert data.GetNumberOfCells() == count and data.GetNumberOfPoints() == count
    points = vtk_to_numpy(data.GetPoints().GetData())
    assert np.allclose(array(data.GetPointData(), "velocity")[:, 2], points[:, 0])


files = "FileNames" if reader_name == "XDMFReader" else "FileName"
reader = getattr(pv, reader_name)(**{files: [path]})
reader.UpdatePipelineInformation()
times = list(reader.TimestepValues)
assert np.allclose(times, [0, 0.25, 0.5]), times
for frame, time in enumerate(times):
    reader.UpdatePipeline(time)
    blocks = list(leaves(servermanager.Fetch(reader)))
    assert len(blocks) == (4 if frame else 3), [block.GetClassName() for block in blocks]
    for block in blocks:
        if block.GetCellData().HasArray("density"):
            check_grid(block, time)
        elif block.GetCellData().HasArray("area"):
            check_strip(block, time)
        elif block.GetCellData().HasArray("volume"):
            check_wedge(block)
        else:
            check_particles(block, 3 * frame)
print("as written")
