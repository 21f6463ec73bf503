"""Opens the page of `fanin compare --html` in headless Chromium, checks what it draws, and saves a
screenshot under build/pages/."""
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from drawn import ROOT, check, check_lengths, look_at, require_browser, shoot


def check_page(fanin, folder):
    page = Path(folder) / "page.html"
    answer = json.loads(subprocess.run(
        [fanin, "compare", "--terms", "16", "--shape", "200000", "--dtype", "bfloat16", "--html", page,
         "--json"], capture_output=True, text=True, check=True).stdout)
    drawn = look_at(page)

    ways = len(answer["ways"])
    check(ways == 7, f"7 ways of bfloat16 wanted, got {ways}")
    for heading in ("Time", "Most memory in hand", "Elements by error, against the exact sum"):
        check(heading in drawn.headings, f"the heading {heading!r} is missing: {drawn.headings}")
    check(answer["recommendation"]["reason"] in drawn.result, "the recommendation is missing")
    check(len(drawn.cells) == 8 * (ways + 1), f"the table has {len(drawn.cells)} cells")
    check_lengths(drawn.bars[:ways], [way["seconds"] for way in answer["ways"]])
    check(any("exact: " in bar["title"] for bar in drawn.bars), "no share of exact elements is drawn")

    shot = shoot(page, "compare.png")
    print(f"compare page: {len(drawn.bars)} bars, {len(drawn.cells)} cells as they should be; "
          f"screenshot in {shot.relative_to(ROOT)}")


def main():
    require_browser()
    with tempfile.TemporaryDirectory() as folder:
        check_page(sys.argv[1], folder)


if __name__ == "__main__":
    main()
