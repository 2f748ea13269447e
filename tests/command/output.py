"""What the tables of output.sh must hold: a function for each question, called by tap.py."""

import h5py
import numpy

import millrace


def table(directory, name):
    return millrace.open(directory).outputs[name]


def near(seen, wanted, tolerance, *words):
    error = numpy.max(abs(numpy.asarray(seen, float) - wanted))
    assert error <= tolerance, (error, seen, wanted, *words)


def water_at_rest_has_the_pressure_of_its_depth():
    for ranks in (1, 2, 4):
        deep = table(f"tank-{ranks}", "deep")
        for name, y in {"a": 0.111, "corner": 0.2, "up.0": 0.1, "up.1": 0.2, "up.2": 0.3, "block": 0.1875}.items():
            near(deep[f"pressure_{name}"], 9810 * (0.45 - y), 1e-6, name)
            near(deep[f"velocity_{name}_x"], 0, 1e-9, name)
        near(deep["pressure_wet"], 9810 * 0.225, 9810 * 0.02, "the mean of what is wet")
        assert (deep["cells_block"] == 8 * 2).all() and (deep["cells_wet"] == 16 * 7).all(), deep["cells_wet"]


def scalars_are_linear_between_centres():
    deep = table("tank-1", "deep")
    near(deep["dye_a"][0], 0.23 + 2 * 0.111, 1e-12)
    near(deep["dye_corner"][0], (1 - 1 / 32) + 2 * 0.2, 1e-12, "constant beyond the outermost centre")
    near(deep["dye_block"][0], 0.5 + 2 * 0.1875, 1e-12)


def the_height_of_water_at_rest_is_its_depth():
    for ranks in (1, 2, 4):
        surface = table(f"tank-{ranks}", "surface")
        near(surface["height_left"], 0.45, 1e-12)
        near(surface["height_right"], 0.45, 1e-12)


def rows_come_at_the_interval_of_a_group():
    near(table("tank-1", "deep")["time"], numpy.arange(5) * 0.1, 1e-12)
    near(table("tank-1", "surface")["time"], numpy.arange(9) * 0.05, 1e-12)


def probes_at_a_centre_are_the_frames_values():
    for ranks in (1, 2, 4):
        run = millrace.open(f"wake-{ranks}")
        probe, frame = run.outputs["forces"], run.frame()
        for name in ("velocity_x", "velocity_y", "pressure"):
            parts = name.split("_")
            column = f"{parts[0]}_centre" + (f"_{parts[1]}" if parts[1:] else "")
            near(probe[column][-1], frame[name][8, 24], 1e-6 * (1 + abs(probe[column][-1])), column)


def tables_do_not_depend_on_the_ranks():
    for scene, names in {"tank": ("deep", "surface"), "wake": ("forces",), "shear": ("sections",)}.items():
        for name in names:
            one = table(f"{scene}-1", name)
            for ranks in (2, 4):
                other = table(f"{scene}-{ranks}", name)
                for column in one:
                    scale = 1 + abs(one[column]).max()
                    near(other[column], one[column], 1e-9 * scale, scene, column)
    one, two = table("ball-1", "lift"), table("ball-2", "lift")
    for column in one:
        near(two[column], one[column], 1e-6 * (1 + abs(one[column]).max()), column)


def coefficients_are_forces_over_the_reference():
    run = millrace.open("wake-1")
    forces, ledger = run.outputs["forces"], run.ledger
    scale = 0.5 * 2 * 1.5**2 * 0.3
    for name, axis in (("drag", "x"), ("lift", "y")):
        force = ledger[f"pressure_force_ball_{axis}"] + ledger[f"viscous_force_ball_{axis}"]
        near(forces[f"{name}_coefficient_ball"], force / scale, 1e-13 * abs(force / scale).max() + 1e-15)
    assert forces["drag_coefficient_ball"][-1] > 0.5
    run = millrace.open("ball-1")
    lift, ledger = run.outputs["lift"], run.ledger
    force = ledger["pressure_force_ball_y"] + ledger["viscous_force_ball_y"]
    near(lift["drag_coefficient_ball"], -force / (0.5 * 1000 * 4 * 0.2), 1e-12 * abs(force).max(), "down is drag")
    for column in ("position_ball_y", "velocity_ball_y", "pressure_force_ball_y"):
        near(lift[column], ledger[column], 0, column)


def planes_hold_the_flow_through_them():
    for ranks in (1, 2, 4):
        sections = table(f"shear-{ranks}", "sections")
        near(sections["flow_out"], 1, 1e-9)
        near(sections["flow_back"], -1, 1e-9)
        y = 0.3 + 0.1 * (numpy.arange(16) + 0.5) / 16
        profile = numpy.interp(y, (numpy.arange(8) + 0.5) / 8, 1 + 0.5 * numpy.sin(2 * numpy.pi * (numpy.arange(8) + 0.5) / 8))
        # 0.25 of along x across is the area's part along y; the shear leaves through what is tilted
        near(sections["flow_up"][0], 0.25 * 0.25 - 0.05 * profile.mean(), 1e-9)
        for n in range(8):
            near(sections[f"velocity_out.{n}.1_x"][0], 1 + 0.5 * numpy.sin(2 * numpy.pi * (n + 0.5) / 8), 1e-9)
            near(sections[f"velocity_back.0.{n}_x"][0], 1 + 0.5 * numpy.sin(2 * numpy.pi * (n + 0.5) / 8), 1e-9)
            near(sections[f"velocity_out.{n}.0_y"], 0.25, 1e-9)


def turn(axis, angle):
    c, s, (x, y, z) = numpy.cos(angle), numpy.sin(angle), axis
    cross = numpy.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return numpy.eye(3) + s * cross + (1 - c) * cross @ cross


def euler_angles_are_the_rotation():
    chosen = table("bodies-1", "chosen")
    near(chosen["euler_flyer_z"], 4 * chosen["time"], 1e-9)
    spin = numpy.array([3, -2, 1.5])
    axis = spin / numpy.linalg.norm(spin)
    for row, time in enumerate(chosen["time"]):
        roll, pitch, yaw = (chosen[f"euler_tumbler_{d}"][row] for d in "xyz")
        found = turn((0, 0, 1), yaw) @ turn((0, 1, 0), pitch) @ turn((1, 0, 0), roll)
        near(found, turn(axis, numpy.linalg.norm(spin) * time), 1e-9)


def regions_start_with_velocities_of_their_own():
    for ranks in (1, 2):
        means = table(f"streams-{ranks}", "means")
        near(means["velocity_lower_x"][0], 1, 1e-9)
        near(means["velocity_middle_x"][0], 9, 1e-9, "that of the fluid")
        near(means["velocity_upper_x"][0], -0.5 - 0.375, 1e-9, "the mean of a formula")
        near(means["velocity_upper_y"][0], 0, 1e-9)


def bodies_fly_and_turn():
    chosen = table("bodies-1", "chosen")
    time = chosen["time"]
    near(chosen["position_flyer_x"], time, 1e-12)
    near(chosen["position_flyer_z"], 5 + 3 * time, 1e-12)
    near(chosen["rotation_flyer_z"], 4 * time, 1e-9)
    near(chosen["rotation_flyer_x"], 0, 1e-12)
    near(chosen["spin_flyer_z"], 4, 1e-12)
    near(chosen["position_dot.7_x"], 7, 1e-12)
    near(chosen["velocity_dot.7_y"], 1, 1e-12)


def joints_turn_and_slide():
    chosen = table("bodies-1", "chosen")
    time = chosen["time"]
    near(chosen["angle_hinge"], 2 * time, 1e-6)
    near(chosen["rate_hinge"], 2, 1e-6)
    near(chosen["distance_rail"], 0.5 * time, 1e-9)
    near(chosen["rate_rail"], 0.5, 1e-9)


def joints_bear_what_hangs_on_them():
    chosen = table("loads-1", "chosen")
    time, later = chosen["time"], slice(1, None)
    assert numpy.isnan(chosen["joint_force_hook_z"][0]), "there is no step before the first"
    for name, weight in {"bracket": 30, "hook": 70, "link": 50, "stop": 70}.items():
        near(chosen[f"joint_force_{name}_z"][later], weight, 1e-9 * weight, name)
        near(chosen[f"joint_force_{name}_x"][later], 0, 1e-9 * weight, name)
    for axis, torque in zip("xyz", numpy.cross((1.5, 0.25, 0.1), (0, 0, 30))):
        near(chosen[f"joint_torque_bracket_{axis}"][later], torque, 1e-9 * 45, axis)
        near(chosen[f"joint_torque_hook_{axis}"][later], 0, 0)
    near(chosen["drive_stop"][later], 70, 1e-9 * 70, "the stop pushes up")
    near(chosen["drive_pivot"][later], 0, 0, "nothing drives it")

    # the pendulum: what its momentum changes by, and what is known of its tension: m (l w^2 + g cos)
    step, mass, gravity, length = 0.005, 4, 10, 0.5
    for axis, pull in (("x", 0), ("z", -gravity)):
        change = mass * numpy.diff(chosen[f"velocity_bob_{axis}"]) / step
        near(chosen[f"joint_force_pivot_{axis}"][later], change - mass * pull, 1e-8, axis)
    middle = [numpy.convolve(chosen[column], (0.5, 0.5), "valid") for column in ("angle_pivot", "rate_pivot")]
    tension = mass * (length * middle[1] ** 2 + gravity * numpy.sin(middle[0]))
    found = -chosen["joint_force_pivot_x"][later] * numpy.cos(middle[0]) + chosen["joint_force_pivot_z"][later] * numpy.sin(middle[0])
    near(found, tension, 2e-3 * tension.max(), "along the arm")

    # the shaft: moment of inertia times acceleration of the target
    inertia = 6 * (1**2 + 2**2) / 12
    wanted = -0.5 * inertia * (2 * numpy.pi) ** 2 * numpy.sin(2 * numpy.pi * (time[later] - step / 2))
    near(chosen["drive_shaft"][later], wanted, 1e-3 * abs(wanted).max(), "the drive")
    near(chosen["joint_torque_shaft_z"][later], chosen["drive_shaft"][later], 1e-9, "is all of the torque about the axis")


def joints_bear_what_a_fluid_leaves():
    for ranks in (1, 2):
        loads = table(f"arms-{ranks}", "loads")
        volume = numpy.pi * 0.01
        for name, joint, density in (("still", "arm", 500), ("loose", "pivot", 3000)):
            mass = density * volume
            for axis, pull in (("x", 0), ("y", -9.81)):
                change = mass * numpy.diff(loads[f"velocity_{name}_{axis}"]) / numpy.diff(loads["time"])
                forces = loads[f"pressure_force_{name}_{axis}"] + loads[f"viscous_force_{name}_{axis}"]
                near(loads[f"joint_force_{joint}_{axis}"][1:] + forces[1:] + mass * pull, change, 1e-5 * mass * 9.81, name, axis)
    calm = table("calm", "loads")
    for rows, tolerance in ((slice(1), 1e-8), (slice(1, None), 1e-3)):
        near(calm["joint_force_arm_y"][rows], 9.81 * volume * (500 - 1000), tolerance * 9.81 * volume * 500, "Archimedes")
        near(calm["joint_force_pivot_y"][rows], 0, tolerance * 9.81 * volume * 500, "what has the density of water needs no arm")


def the_copy_in_hdf5_is_the_table():
    deep = table("tank-1", "deep")
    with h5py.File("tank-1/output/deep.h5") as file:
        assert file["names"][()].decode().split(",") == deep.names and deep.units()["pressure_a"] == "Pa"
        for name in deep:
            assert numpy.array_equal(file["columns"][name][()], deep[name]), name


# The surface rises by 1 m/s from y = 0.5 m.
def surfaces_are_those_of_the_time():
    for ranks in (1, 2):
        run = millrace.open(f"rising-{ranks}")
        surface = run.outputs["surface"]
        near(surface["height_middle"], 0.5 + surface["time"], 1e-6, "a gauge")
        near(surface["cells_all"], 8 * numpy.round(16 * (0.5 + surface["time"])), 0, "cells of the region")
        for number in (0, 1, 2, 4):
            frame = run.frame(number)
            column = frame["distance_pushing"][:, 3]
            last = numpy.flatnonzero(column < 0)[-1]
            height = (last + 0.5 + column[last] / (column[last] - column[last + 1])) / 16
            near(height, 0.5 + frame.time, 1e-6, "a frame")
            assert (frame["region"][:, 3] == numpy.where(column < 0, 1, 2)).all()
        near(run.ledger["highest_pushing_y"], 0.5 + run.ledger["time"], 1e-6, "the ledger")
        near(run.ledger["center_pushing_y"], 0.25 + run.ledger["time"] / 2, 1e-3, "parts of cells count at their middle")
        near(run.ledger["volume_pushing"], 0.5 * (0.5 + run.ledger["time"]), 1e-6)
