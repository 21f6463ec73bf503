"""Rows of several sizes as curves, in SVG: time and bus bandwidth over bytes, both logarithmic."""
import math
from html import escape

from picture import COLORS, text
from rows import peer_names

WIDTH, HEIGHT = 500, 300
LEFT, RIGHT, ABOVE, BELOW = 64, 30, 30, 38
LEAST_POINTS = 3  # fewer are no curve


def size_words(size):
    for unit, name in ((1 << 20, "MiB"), (1 << 10, "KiB")):
        if size >= unit:
            return f"{size / unit:g} {name}"
    return f"{size:g} B"


class Scale:
    """From values to places, by their logarithms."""

    def __init__(self, values, begin, end):
        self.least, self.most = math.log10(min(values)), math.log10(max(values))
        self.begin, self.end = begin, end

    def __call__(self, value):
        share = (math.log10(value) - self.least) / max(self.most - self.least, 1e-9)
        return self.begin + share * (self.end - self.begin)


def round_numbers(values):
    """Powers of ten from below the least value to above the largest."""
    return [10.0 ** power for power in range(math.floor(math.log10(min(values))),
                                             math.ceil(math.log10(max(values))) + 1)]


def curves_of(rows, of_limit, of_peer):
    """{name: [(bytes, value)]} of Fanin, the limit and the peers of these rows."""
    curves = {"fanin": [], "limit": []}
    for row in sorted(rows, key=lambda each: each.more["bytes"]):
        size = row.more["bytes"]
        curves["fanin"].append((size, of_peer(row.fanin, row)))
        curves["limit"].append((size, of_limit(row)))
        for name, peer in row.peers.items():
            curves.setdefault(name, []).append((size, of_peer(peer.value, row)))
    return curves


def style_of(name, names):
    if name == "limit":
        return 'stroke="#333" stroke-dasharray="5 3"', "#333"
    color = COLORS[0] if name == "fanin" else COLORS[(names.index(name) + 1) % len(COLORS)]
    width = 2.5 if name == "fanin" else 1.5
    return f'stroke="{color}" stroke-width="{width}"', color


def curve(points, across, up, name, names, unit):
    stroke, color = style_of(name, names)
    places = [(across(size), up(value)) for size, value in points]
    parts = ['<polyline fill="none" {} points="{}"/>'.format(
        stroke, " ".join(f"{x:.1f},{y:.1f}" for x, y in places))]
    for (x, y), (size, value) in zip(places, points):
        words = escape(f"{name}, {size_words(size)}: {value:.3g} {unit}")
        parts.append(f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{color}">'
                     f'<title>{words}</title></circle>')
    return parts


def chart(title, curves, names, unit):
    """One chart, an SVG element of its own."""
    sizes = [size for points in curves.values() for size, _ in points]
    marks = round_numbers([value for points in curves.values() for _, value in points])
    across = Scale(sizes, LEFT, WIDTH - RIGHT)
    up = Scale(marks, HEIGHT - BELOW, ABOVE)
    parts = [text(16, 16, f"{title}, {unit}", 13, more='font-weight="bold"')]
    for mark in marks:
        y = up(mark)
        parts.append(f'<line x1="{LEFT}" x2="{WIDTH - RIGHT}" y1="{y:.1f}" y2="{y:.1f}" stroke="#ddd"/>')
        parts.append(text(LEFT - 6, y + 4, f"{mark:g}", 10, "end"))
    for size in sorted(set(sizes)):
        parts.append(text(across(size), HEIGHT - BELOW + 16, size_words(size), 10, "middle"))
    for name, points in curves.items():
        parts += curve(points, across, up, name, names, unit)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
            f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" fill="#222">'
            + "\n".join(parts) + "</svg>\n")


def draw_curves(rows):
    """Two charts for each panel that has rows of enough sizes; nothing for other benchmarks."""
    names, panels, charts = peer_names(rows), {}, []
    for row in rows:
        if "bytes" in row.more:
            panels.setdefault(row.panel, []).append(row)
    for title, some in panels.items():
        if len(some) < LEAST_POINTS:
            continue
        times = curves_of(some, lambda row: row.limit, lambda micros, _: micros)
        charts.append(chart(f"{title}: time of one call", times, names, "µs"))
        # Fanin's own figures say how many bytes the bus carries in its time.
        speeds = curves_of(some, lambda row: bus_speed(row.limit, row), bus_speed)
        charts.append(chart(f"{title}: bus bandwidth", speeds, names, "GB/s"))
    return charts


def bus_speed(micros, row):
    return row.more["busbw_GBps"] * row.more["p50_us"] / micros
