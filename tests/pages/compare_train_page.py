"""Opens the page of `fanin compare --train --html` in headless Chromium, checks what it draws, and
saves screenshots under build/pages/, on light and on dark ground."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from drawn import DARK, ROOT, check, check_lengths, look_at, require_browser, shoot

EPOCHS = 3


def check_curves(curves, ways, value):
    """A curve for each way, whose points stand as high as the numbers say."""
    check([curve["title"] for curve in curves] == [way["way"] for way in ways],
          f"curves of {[curve['title'] for curve in curves]}")
    drawn = [y for curve in curves for _, y in curve["points"]]
    values = [value(epoch) for way in ways for epoch in way["epochs"]]
    check(len(drawn) == len(values), f"{len(drawn)} points are drawn of {len(values)}")
    low, high = values.index(min(values)), values.index(max(values))
    for y, each in zip(drawn, values):
        share = (each - values[low]) / (values[high] - values[low])
        check(abs(drawn[low] - share * (drawn[low] - drawn[high]) - y) < 0.2,
              f"{each} is drawn at {y}")


def check_page(fanin, folder):
    page = Path(folder) / "page.html"
    answer = json.loads(subprocess.run(
        [fanin, "compare", "--train", "--width", "64", "--epochs", str(EPOCHS), "--html", page,
         "--json"], capture_output=True, text=True, check=True).stdout)
    drawn = look_at(page)

    ways = answer["ways"]
    check(len(ways) == 10, f"10 ways wanted, got {len(ways)}")
    for heading in ("Time of a step", "Where the time of a step goes", "Most memory in buffers"):
        check(heading in drawn.headings, f"the heading {heading!r} is missing: {drawn.headings}")
    check(answer["recommendation"]["reason"] in drawn.result, "the recommendation is missing")
    check(len(drawn.cells) == (8 + 5) * (len(ways) + 1), f"the tables have {len(drawn.cells)} cells")
    check_lengths(drawn.bars[:len(ways)], [way["step_ms"] for way in ways])
    for heading, value in (("Loss", lambda epoch: epoch["loss"]),
                           ("Digits told right", lambda epoch: epoch["test_accuracy"])):
        check_curves([curve for curve in drawn.curves if curve["under"] == heading], ways, value)
    for way in ways:  # two bar charts, one of shares, two legends
        check(drawn.words.count(way["way"]) == 5, f"{way['way']} stands {drawn.words.count(way['way'])} "
              "times in the pictures")

    light = shoot(page, "compare_train.png", size="1000,3400")
    dark = shoot(page, "compare_train_dark.png", DARK, size="1000,3400")
    check(light.read_bytes() != dark.read_bytes(), "the page is the same on dark ground")
    print(f"compare --train page: {len(drawn.bars)} bars, {len(drawn.curves)} curves, "
          f"{len(drawn.cells)} cells as they should be; screenshots in {light.relative_to(ROOT)} and "
          f"{dark.relative_to(ROOT)}")


def main():
    require_browser()
    with tempfile.TemporaryDirectory() as folder:
        check_page(sys.argv[1], folder)


if __name__ == "__main__":
    main()
