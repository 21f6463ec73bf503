"""Rows as a picture: bars of how near Fanin and each peer come to the limit, as SVG."""
from html import escape

from rows import peer_names

COLORS = ("#0b5fa5", "#9a9a9a", "#e69f00", "#cc79a7", "#d55e00", "#009e73", "#56b4e9", "#b8a900")
BAR, GAP, HEIGHT, TOP_RATIO = 13, 20, 150, 1.25  # a bar's width, between groups, of 0 to TOP_RATIO
LEFT, ABOVE, BELOW, WIDTH = 44, 40, 26, 1020  # around a panel's bars; of the picture


def text(x, y, words, size=12, anchor="start", more=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" {more}>'
            f'{escape(words)}</text>')


def level(ratio):
    """How far above a panel's base a ratio is."""
    return min(ratio, TOP_RATIO) / TOP_RATIO * HEIGHT


def bar(x, base, ratio, color, words):
    height = level(ratio)
    return (f'<rect x="{x:.1f}" y="{base - height:.1f}" width="{BAR - 1}" height="{height:.1f}" '
            f'fill="{color}"><title>{escape(words)}: {ratio:.2f}</title></rect>')


def value_above(x, base, ratio):
    words = f"{ratio:.2f}" if ratio < 100 else f"{ratio:.0f}" if ratio < 10000 else "> 9999"
    return text(x + BAR / 2, base - level(ratio) - 3, words, 10, "middle",
                'paint-order="stroke" stroke="white" stroke-width="3"')


def value_inside(x, base, ratio):
    """For a bar that ends at the panel's top, because it would be longer."""
    x, y = x + BAR - 4, base - level(ratio) + 4
    return text(x, y, f"{ratio:.2f}", 10, "end", f'fill="white" transform="rotate(-90 {x} {y})"')


def group(x, base, row, names):
    """The bars of one row: Fanin's with its number, then those of the peers that have a value."""
    parts = [bar(x, base, row.ratio_to_limit, COLORS[0], f"{row.name}, fanin")]
    for index, name in enumerate(names, 1):
        at = x + index * BAR
        if name not in row.peers:
            parts.append(text(at + BAR / 2, base - 3, "–", 10, "middle"))
            continue
        ratio = row.limit / row.peers[name].value
        color = COLORS[index % len(COLORS)]
        parts.append(bar(at, base, ratio, color, f"{row.name}, {name}"))
        if ratio > TOP_RATIO:
            parts.append(value_inside(at, base, ratio))
    return [*parts, value_above(x, base, row.ratio_to_limit)]


def group_width(names):
    return (len(names) + 1) * BAR + GAP


def label_of(row):
    return row.label or row.case


def are_slanted(rows, names):
    """Whether the labels would run into each other."""
    return len(rows) > 1 and max(7 * len(label_of(row)) for row in rows) > group_width(names)


def label_height(rows, names):
    if not are_slanted(rows, names):
        return BELOW
    return BELOW + max(4.6 * len(label_of(row)) for row in rows)


def label(middle, base, words, slanted):
    if not slanted:
        return text(middle, base + 15, words, 11, "middle")
    y = base + 12
    return text(middle + 4, y, words, 11, "end", f'transform="rotate(-45 {middle + 4:.1f} {y:.1f})"')


def panel_width(rows, names):
    return LEFT + len(rows) * group_width(names)


def panel(left, top, title, rows, names):
    base = top + ABOVE + HEIGHT
    right = left + panel_width(rows, names) - GAP / 2
    parts = [text(left + LEFT - GAP / 2, top + 14, title, 13, more='font-weight="bold"')]
    for ratio in (0, 0.25, 0.5, 0.75, 1):
        y = base - level(ratio)
        style = 'stroke="#333" stroke-dasharray="5 3"' if ratio == 1 else 'stroke="#ddd"'
        parts.append(f'<line x1="{left + LEFT - GAP / 2}" x2="{right}" y1="{y}" y2="{y}" {style}/>')
        parts.append(text(left + LEFT - GAP / 2 - 5, y + 4, f"{ratio:g}", 10, "end"))
    for index, row in enumerate(rows):
        x = left + LEFT + index * group_width(names)
        parts += group(x, base, row, names)
        middle = x + (len(names) + 1) * BAR / 2
        parts.append(label(middle, base, label_of(row), are_slanted(rows, names)))
    return parts


def cut_into_panels(rows, names):
    """(title, rows) of each panel; one that is too wide goes on in the next."""
    panels = {}
    for row in rows:
        panels.setdefault(row.panel, []).append(row)
    most = (WIDTH - LEFT) // group_width(names)
    for title, some in panels.items():
        for first in range(0, len(some), most):
            yield title if first == 0 else f"{title} (more)", some[first:first + most]


def legend(y, names):
    parts, x = [], 16.0
    for index, name in enumerate(["fanin", *names]):
        color = COLORS[index % len(COLORS)]
        parts.append(f'<rect x="{x}" y="{y - 10}" width="12" height="12" fill="{color}"/>')
        parts.append(text(x + 17, y, name))
        x += 36 + 7 * len(name)
    return parts


def draw(rows, title, footer):
    """The whole picture. Panels stand side by side as far as they fit; `footer` is some lines."""
    names = peer_names(rows)
    parts = [text(16, 26, title, 16, more='font-weight="bold"'),
             text(16, 46, "share of the limit (dashed), larger is better"), *legend(70, names)]
    left, top, below = 0, 84, 0
    for name, some in cut_into_panels(rows, names):
        width = max(panel_width(some, names), LEFT + 8 * len(name))
        if left and left + width > WIDTH:
            left, top, below = 0, top + ABOVE + HEIGHT + below, 0
        parts += panel(left, top, name, some, names)
        left, below = left + width, max(below, label_height(some, names))
    bottom = top + ABOVE + HEIGHT + below + 16
    parts += [text(16, bottom + 15 * i, line, 11) for i, line in enumerate(footer)]
    height = bottom + 15 * len(footer)
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" '
            f'viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" fill="#222">\n'
            f'<rect width="{WIDTH}" height="{height}" fill="white"/>\n' + "\n".join(parts)
            + "\n</svg>\n")
