"""Films of pictures: GIF by PIL alone, other kinds by ffmpeg."""

import os
import shutil
import subprocess

import programs
from millrace import Error

BY_FFMPEG = (".mp4", ".webm", ".avi", ".mkv")


def need_programs(names):
    missing = [name for name in names if shutil.which(name) is None]
    if missing:
        raise Error("; ".join(f"{name} is missing: install {programs.PACKAGES[name]} (Debian), or load its module" for name in missing))


def is_film(output):
    """Whether the name is that of a film; what it needs must be there."""
    extension = os.path.splitext(output)[1].lower()
    if extension in BY_FFMPEG:
        need_programs(["ffmpeg"])
    elif extension == ".gif":
        programs.need_modules("PIL")
    return extension == ".gif" or extension in BY_FFMPEG


def make(pictures, output, rate):
    """Of pictures 000000.png, 000001.png, ... of one directory, all of one size."""
    if not rate > 0:
        raise Error(f"--rate wants frames per second, not {rate:g}")
    if os.path.splitext(output)[1].lower() == ".gif":
        from PIL import Image

        images = [Image.open(picture).convert("RGB").convert("P", palette=Image.Palette.ADAPTIVE) for picture in pictures]
        images[0].save(output, save_all=True, append_images=images[1:], duration=1000 / rate, loop=0)
        return
    pattern = os.path.join(os.path.dirname(pictures[0]), "%06d.png")
    subprocess.run(["ffmpeg", "-y", "-loglevel", "error", "-framerate", str(rate), "-i", pattern, "-vf",
                    "pad=ceil(iw/2)*2:ceil(ih/2)*2", "-pix_fmt", "yuv420p", output], check=True)
