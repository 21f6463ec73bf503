#!/usr/bin/env python3
"""Makes src/training/digits/digits.inc, the handwritten digits that the tool trains on, from the
scikit-learn package on PyPI.

    tools/digits.py [--wheel FILE]

Downloads the package with pip, unless a wheel of it is given. src/training/digits/README.md tells
where the images come from and what the lines of the file are.
"""
import argparse
import gzip
import pathlib
import subprocess
import sys
import tempfile
import zipfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
OUTPUT = ROOT / "src" / "training" / "digits" / "digits.inc"
MEMBER = "sklearn/datasets/data/digits.csv.gz"
IMAGE_COUNT, PIXEL_COUNT, MOST_INK, CLASS_COUNT = 1797, 64, 16, 10


def download(folder):
    """The path of scikit-learn's wheel, in `folder`."""
    subprocess.run([sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                    "--only-binary=:all:", "--dest", folder, "scikit-learn"], check=True)
    return next(pathlib.Path(folder).glob("scikit_learn-*.whl"))


def read_images(wheel):
    """(pixels, label) of each image, checked."""
    with zipfile.ZipFile(wheel) as archive:
        lines = gzip.decompress(archive.read(MEMBER)).decode().splitlines()
    if len(lines) != IMAGE_COUNT:
        raise SystemExit(f"{MEMBER} has {len(lines)} images, not {IMAGE_COUNT}")
    for number, line in enumerate(lines):
        *pixels, label = map(int, line.split(","))
        if len(pixels) != PIXEL_COUNT or not all(0 <= pixel <= MOST_INK for pixel in pixels):
            raise SystemExit(f"image {number} is not {PIXEL_COUNT} pixels from 0 to {MOST_INK}: {line}")
        if not 0 <= label < CLASS_COUNT:
            raise SystemExit(f"the label of image {number} is not a digit: {label}")
        yield pixels, label


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheel", type=pathlib.Path, help="scikit-learn, already downloaded")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        images = list(read_images(arguments.wheel or download(folder)))
    lines = ["".join(chr(ord("a") + pixel) for pixel in pixels) + str(label) for pixels, label in images]
    OUTPUT.write_text("".join(f'"{line}",\n' for line in lines))
    print(f"{OUTPUT.relative_to(ROOT)}: {len(lines)} images")


if __name__ == "__main__":
    main()
