"""What the package millrace says of the runs in the present directory, one of each kind: a function for each question,
called by tap.py."""

import sys
import types

import h5py
import numpy

import millrace
from millrace import comparison

KINDS = {"flow": 2, "space": 3, "liquids": 2, "bodies": 0, "coupled": 3, "shells": 3, "splash": 3, "deformables": 0,
         "ropes": 0, "soaked": 3, "gas": 2, "obstacles": 2}


def every_run_opens_and_says_what_it_is():
    for kind, dimension in KINDS.items():
        run = millrace.open(kind)
        assert len(run) == 3, (kind, run.times)
        assert run.times[0] == 0 and run[-1].time == run.times[-1] > run.times[1] > 0, run.times
        assert run.frame().dimension == dimension and run.title and "run:" in run.scene, kind
        assert run.frame(time=1e9).number == 2 and run.frame(number=1).number == 1
        for thing in (run, run[0], run.entries[0], run.ledger, *run.checkpoints, *run[0].regions(), *run[0].bodies()):
            assert repr(thing).startswith("<millrace.") and " at 0x" not in repr(thing), repr(thing)


def every_field_is_the_array_of_the_file():
    for kind, dimension in KINDS.items():
        frame = millrace.open(kind)[-1]
        with h5py.File(frame.entry.path) as file:
            assert frame.fields() == sorted(file["grid/fields"]) if dimension else not frame.fields()
            for name in frame.fields():
                assert numpy.array_equal(frame[name], file["grid/fields"][name][()], equal_nan=True), (kind, name)
                assert frame[name].shape[:dimension] == tuple(frame.cells[dimension - 1::-1]), (kind, name)
            if dimension and "velocity" in frame:
                squares = (file["grid/fields/velocity"][()].astype(float) ** 2).sum(axis=-1)
                assert numpy.allclose(frame["speed"] ** 2, squares) and frame["velocity_x"].shape == squares.shape


def every_mesh_has_its_fields():
    wanted = {"liquids": {"markers_bubble"}, "bodies": {"bodies"}, "coupled": {"bodies"}, "shells": {"bodies"},
              "splash": {"liquid"}, "deformables": {"bodies", "deformables"}, "ropes": {"clouds", "deformables", "ropes"}, "soaked": {"bodies", "deformables"}}
    for kind in KINDS:
        frame = millrace.open(kind)[-1]
        assert wanted.get(kind, set()) <= set(frame.meshes()), (kind, frame.meshes())
        for name in frame.meshes():
            mesh = frame.mesh(name)
            for field, place in mesh.fields().items():
                count = len(mesh.vertices) if place == "vertex_fields" else len(mesh.cells)
                assert len(mesh[field]) == count, (kind, name, field)
    soft = millrace.open("deformables")[0].mesh("deformables")
    edges = soft.vertices[soft.cells[:, 1:]] - soft.vertices[soft.cells[:, :1]]
    assert abs(abs(numpy.linalg.det(edges)).sum() / 6 - 0.01) < 1e-9, "the bar is 1 m by 0.1 m by 0.1 m"


def ropes_are_segments():
    ropes = millrace.open("ropes")[0].mesh("ropes")
    assert ropes.cells.shape == (10, 2), ropes.cells.shape
    ends = ropes.vertices[ropes.cells]
    assert abs(numpy.linalg.norm(ends[:, 1] - ends[:, 0], axis=1).sum() - 1.04**0.5) < 1e-12


def ledgers_are_those_of_the_files():
    for kind in KINDS:
        ledger = millrace.open(kind).ledger
        with h5py.File(f"{kind}/ledger.h5") as file:
            assert len(ledger) == file["rows"][()] == 3 and list(ledger) == file["names"][()].decode().split(",")
            for name in ledger:
                assert numpy.array_equal(ledger[name], file["columns"][name][()], equal_nan=True), (kind, name)
        assert ledger.units()["time"] == "s" and "time" in ledger and "nothing" not in ledger


def checkpoints_tell_step_and_time():
    for kind in KINDS:
        run = millrace.open(kind)
        last = run.checkpoints[-1]
        assert (last.step, last.time, last.ledger_rows, last.frames, last.is_whole) == (2, run.ledger["time"][-1], 3, 3, True), kind


def samples_of_the_frame_are_at_its_points():
    frame = millrace.open("space")[-1]
    centre = [[frame.centres(0)[2], frame.centres(1)[3], frame.centres(2)[4]]]
    assert frame.sample("pressure", centre)[0] == frame["pressure"][4, 3, 2]


def mistakes_are_told_with_what_there_is():
    run = millrace.open("flow")
    mistakes = [(lambda: millrace.open("nowhere"), "nowhere"), (lambda: millrace.open("."), "run.xmf"),
                (lambda: run.frame(7), "0 to 2"), (lambda: run[0]["presure"], "did you mean pressure"),
                (lambda: run.ledger["kinetic"], "did you mean kinetic_energy"), (lambda: run[0].mesh("bodies"), "bodies"),
                (lambda: millrace.open("bodies")[0]["pressure"], "no fluid"),
                (lambda: millrace.open("bodies")[0].mesh("bodies")["sped"], "did you mean speed"),
                (lambda: millrace.Checkpoint("flow/frames/frame-000000.h5"), "checkpoint")]
    for act, word in mistakes:
        try:
            act()
        except millrace.Error as error:
            assert word in str(error), str(error)
        else:
            raise AssertionError(f"not refused: {word}")


def differences_are_shares_of_the_largest_value():
    array = numpy.array([1.0, -4.0, 2.0])
    found = comparison.difference("x", array, array + [0, 0.04, 0])
    assert abs(found.largest - 0.01) < 1e-15 and abs(found.mean - 0.01 / 3**0.5) < 1e-15, found
    first = {"momentum_x": numpy.array([100.0]), "momentum_y": numpy.array([1e-9])}
    second = {"momentum_x": numpy.array([100.0]), "momentum_y": numpy.array([2e-9])}
    assert max(each.largest for each in comparison.ledger_differences(first, second, 0)) < 2e-11, "one scale for all axes"
    nan = numpy.array([1.0, numpy.nan])
    assert comparison.difference("x", nan, nan).largest == 0 and comparison.difference("x", nan, array[:2]).largest == numpy.inf


def every_run_equals_itself_and_is_summed_up():
    for kind in KINDS:
        run = millrace.open(kind)
        assert all(each.largest == 0 for each in millrace.differences(run, millrace.open(kind))), kind
        summary = millrace.Summary(run)
        assert summary.step == 2 and not summary.is_done and 0 < summary.share < 1 and not summary.worker, kind
        lines = "\n".join(summary.lines())
        assert "step 2, 3 frames" in lines and f"millrace run -o {kind} --restart latest" in lines, lines


def columns_can_be_added_up():
    ledger = millrace.open("coupled").ledger
    force = ledger.expression("pressure_force_cork_y + 2*viscous_force_cork_y - sqrt(mass)^2")
    assert numpy.array_equal(force, ledger["pressure_force_cork_y"] + 2 * ledger["viscous_force_cork_y"]
                             - numpy.sqrt(ledger["mass"]) ** 2)
    assert len(ledger.expression("3")) == len(ledger)
    for text, told in {"mass + masss": "has no column masss: did you mean mass?", "mass.1": "has no column mass.1",
                       "__import__('os')": "no arithmetic", "mass +": "no arithmetic", "9**9**9": "no arithmetic",
                       "[mass]": "no arithmetic", "mass.real": "has no column"}.items():
        try:
            ledger.expression(text)
        except millrace.Error as error:
            assert told in str(error), error
        else:
            raise AssertionError(text)


class Dataset:
    """Where xarray is not installed: what is asked of its Dataset, held to its rules."""

    def __init__(self, variables, places, attrs):
        self.variables, self.places, self.attrs = variables, places, attrs
        sizes = {name: len(place[1]) for name, place in places.items() if isinstance(place, tuple)}
        sizes.update({name: len(place) for name, place in places.items() if isinstance(place, list)})
        for name, (dims, array, _) in variables.items():
            assert array.shape == tuple(sizes[dim] for dim in dims), (name, dims, array.shape)


def what_is_not_installed_is_named():
    run = millrace.open("coupled")
    for name, ask in {"xarray": run[0].to_xarray, "pandas": run.ledger.to_pandas}.items():
        real = sys.modules.pop(name, None)
        sys.modules[name] = None  # import fails
        try:
            ask()
        except millrace.Error as error:
            assert f"{name} is missing: pip install {name}" in str(error), error
        else:
            raise AssertionError(name)
        del sys.modules[name]
        if real:
            sys.modules[name] = real


def have(name, **stand_in):
    try:
        return __import__(name)
    except ImportError:
        sys.modules[name] = types.SimpleNamespace(**stand_in)
        return None


def frames_become_datasets():
    real = have("xarray", Dataset=Dataset, concat=lambda parts, dim: (parts, dim))
    for kind, dimension in KINDS.items():
        run = millrace.open(kind)
        data = run[-1].to_xarray()
        names = list(data.data_vars) if real else list(data.variables)
        assert sorted(names) == run[-1].fields() and data.attrs["step"] == 2, kind
        whole = run.to_xarray(*run[0].fields()[:1])
        assert (whole.sizes["time"] if real else len(whole[0])) == len(run)


def ledgers_become_data_frames():
    real = have("pandas", DataFrame=lambda columns: types.SimpleNamespace(columns=columns, attrs={}))
    table = millrace.open("coupled").ledger.to_pandas()
    assert list(table.columns) == millrace.open("coupled").ledger.names and table.attrs["units"]["mass"] == "kg"
    assert not real or len(table) == 3
