"""A page as headless Chromium has it: what is drawn, and what it looks like."""
import html.parser
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
SHOTS = ROOT / "build" / "pages"
DARK = "--blink-settings=preferredColorScheme=0"


class Drawn(html.parser.HTMLParser):
    """The bars, curves, table cells, headings and words of the page."""

    def __init__(self):
        super().__init__()
        self.stack, self.bars, self.curves, self.words = [], [], [], []
        self.cells, self.headings, self.result = [], [], ""

    def handle_starttag(self, tag, attributes):
        if tag == "meta":
            return
        self.stack.append(tag)
        attributes = dict(attributes)
        if tag == "rect":
            self.bars.append({"width": float(attributes["width"]), "title": ""})
        if tag == "path":
            points = attributes["d"].replace("M", "").split("L")
            self.curves.append({"points": [tuple(map(float, point.split())) for point in points],
                                "title": "", "under": self.headings[-1]})
        if tag == "p" and attributes.get("class") == "result":
            self.stack[-1] = "result"

    def handle_endtag(self, tag):
        if self.stack:
            self.stack.pop()

    def handle_data(self, data):
        where = self.stack[-1] if self.stack else ""
        if where == "title" and "rect" in self.stack:
            self.bars[-1]["title"] += data
        elif where == "title" and "path" in self.stack:
            self.curves[-1]["title"] += data
        elif where == "text":
            self.words.append(data)
        elif where in ("td", "th"):
            self.cells.append(data)
        elif where in ("h1", "h2"):
            self.headings.append(data)
        elif where == "result":
            self.result += data


def browse(page, *options, size="1000,1150"):
    command = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--host-rules=MAP * ~NOTFOUND",
               f"--window-size={size}", *options, page.as_uri()]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def look_at(page):
    drawn = Drawn()
    drawn.feed(browse(page, "--dump-dom"))
    return drawn


def shoot(page, name, *options, size="1000,1150"):
    """Saves a screenshot, and gives its path."""
    SHOTS.mkdir(parents=True, exist_ok=True)
    shot = SHOTS / name
    browse(page, f"--screenshot={shot}", *options, size=size)
    check(shot.stat().st_size > 10_000, f"the screenshot {name} is empty")
    return shot


def check(condition, sentence):
    if not condition:
        sys.exit(f"{Path(sys.argv[0]).stem}: {sentence}")


def check_lengths(bars, values):
    """Bars are as long as the numbers say."""
    longest = max(range(len(values)), key=lambda i: values[i])
    for bar, value in zip(bars, values, strict=True):
        share = value / values[longest]
        check(abs(bar["width"] / bars[longest]["width"] - share) < 0.01,
              f"the bar {bar['title']!r} is {bar['width']} wide, but its share is {share:.3f}")


def require_browser():
    check(shutil.which("chromium"), "Chromium is not installed; tools/packages.sh clients does it")
