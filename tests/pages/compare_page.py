"""Opens the page of `fanin compare --html` in headless Chromium, checks what it draws, and saves a
screenshot under build/pages/."""
import html.parser
import json
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SHOTS = ROOT / "build" / "pages"


class Drawn(html.parser.HTMLParser):
    """The bars, table cells and headings of the page as the browser has it."""

    def __init__(self):
        super().__init__()
        self.stack, self.bars, self.cells, self.headings, self.result = [], [], [], [], ""

    def handle_starttag(self, tag, attributes):
        if tag == "meta":
            return
        self.stack.append(tag)
        attributes = dict(attributes)
        if tag == "rect":
            self.bars.append({"width": float(attributes["width"]), "title": ""})
        if tag == "p" and attributes.get("class") == "result":
            self.stack[-1] = "result"

    def handle_endtag(self, tag):
        if self.stack:
            self.stack.pop()

    def handle_data(self, data):
        where = self.stack[-1] if self.stack else ""
        if where == "title" and "rect" in self.stack:
            self.bars[-1]["title"] += data
        elif where in ("td", "th"):
            self.cells.append(data)
        elif where in ("h1", "h2"):
            self.headings.append(data)
        elif where == "result":
            self.result += data


def browse(page, *options):
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--host-rules=MAP * ~NOTFOUND",
               "--window-size=1000,1150", *options, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def check(condition, sentence):
    if not condition:
        sys.exit(f"compare page: {sentence}")


def check_page(fanin, folder):
    page = Path(folder) / "page.html"
    answer = json.loads(subprocess.run(
        [fanin, "compare", "--terms", "16", "--shape", "200000", "--dtype", "bfloat16", "--html", page,
         "--json"], capture_output=True, text=True, check=True).stdout)
    drawn = Drawn()
    drawn.feed(browse(page, "--dump-dom"))

    ways = len(answer["ways"])
    check(ways == 7, f"7 ways of bfloat16 wanted, got {ways}")
    for heading in ("Time", "Most memory in hand", "Elements by error, against the exact sum"):
        check(heading in drawn.headings, f"the heading {heading!r} is missing: {drawn.headings}")
    check(answer["recommendation"]["reason"] in drawn.result, "the recommendation is missing")
    check(len(drawn.cells) == 8 * (ways + 1), f"the table has {len(drawn.cells)} cells")

    # The first bars are times: as long as the numbers say.
    times = drawn.bars[:ways]
    longest = max(range(ways), key=lambda i: answer["ways"][i]["seconds"])
    for bar, way in zip(times, answer["ways"]):
        share = way["seconds"] / answer["ways"][longest]["seconds"]
        check(abs(bar["width"] / times[longest]["width"] - share) < 0.01,
              f"the bar {bar['title']!r} is {bar['width']} wide, but its share is {share:.3f}")
    check(any("exact: " in bar["title"] for bar in drawn.bars), "no share of exact elements is drawn")

    SHOTS.mkdir(parents=True, exist_ok=True)
    shot = SHOTS / "compare.png"
    browse(page, f"--screenshot={shot}")
    check(shot.stat().st_size > 10_000, "the screenshot is empty")
    print(f"compare page: {len(drawn.bars)} bars, {len(drawn.cells)} cells as they should be; "
          f"screenshot in {shot.relative_to(ROOT)}")


def main():
    check(shutil.which("chromium"), "Chromium is not installed; tools/packages.sh clients does it")
    with tempfile.TemporaryDirectory() as folder:
        check_page(sys.argv[1], folder)


if __name__ == "__main__":
    main()
