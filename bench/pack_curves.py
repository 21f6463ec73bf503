"""Steps with packs of several sizes as curves, in SVG: time over bytes of a pack, which is logarithmic."""
from html import escape

from curves import ABOVE, BELOW, HEIGHT, LEFT, RIGHT, WIDTH, Scale, size_words
from picture import COLORS, text


class FromZero:
    """From values to places, with a round step between marks."""

    def __init__(self, most, begin, end):
        step = next(each for power in range(-3, 9) for digit in (1, 2, 5)
                    if (each := digit * 10.0 ** power) * 5 >= most)
        self.marks = [step * i for i in range(int(most / step) + 2)]
        self.begin, self.end = begin, end

    def __call__(self, value):
        return self.begin + value / self.marks[-1] * (self.end - self.begin)


def points_of(row):
    """(bytes of a pack, ms) of each fixed size; everything in one pack is 4 times the largest."""
    steps = {int(packs): micros / 1e3
             for packs, micros in row.more["step_us_by_bytes_per_pack"].items()}
    everything = 4 * max(steps)
    return sorted((packs or everything, millis) for packs, millis in steps.items()), everything


def mark(x, y, color, words, radius=3):
    return (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{radius}" fill="{color}">'
            f'<title>{escape(words)}</title></circle>')


def chart(row):
    points, everything = points_of(row)
    automatic = [(packs, row.fanin / 1e3) for packs in row.more["bytes_per_pack"]]
    across = Scale([size for size, _ in points + automatic], LEFT, WIDTH - RIGHT)
    up = FromZero(max(millis for _, millis in points + automatic), HEIGHT - BELOW, ABOVE)
    title = f"{row.label}, {row.placement}: step over bytes of a pack, ms"
    parts = [text(16, 16, title, 13, more='font-weight="bold"')]
    for value in up.marks:
        y = up(value)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(text(LEFT - 6, y + 4, f"{value:g}", 10, "end"))
    places = " ".join(f"{across(size):.1f},{up(millis):.1f}" for size, millis in points)
    parts.append(f'<polyline fill="none" stroke="{COLORS[0]}" stroke-width="2.5" points="{places}"/>')
    for size, millis in points:
        name = "all" if size == everything else size_words(size)
        parts.append(text(across(size), HEIGHT - BELOW + 16, name, 10, "middle"))
        parts.append(mark(across(size), up(millis), COLORS[0], f"{name}: {millis:.1f} ms"))
    for size, millis in automatic:
        parts.append(mark(across(size), up(millis), COLORS[2],
                          f"automatic, {size_words(size)}: {millis:.1f} ms", 6))
    size, millis = automatic[0]
    parts.append(text(across(size), up(millis) - 12, "automatic", 11, "middle"))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" fill="#222">'
            + "\n".join(parts) + "</svg>\n")


def draw_pack_curves(rows):
    """A chart for each row that has several sizes of packs."""
    return [chart(row) for row in rows if "step_us_by_bytes_per_pack" in row.more]
