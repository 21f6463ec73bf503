"""Rows as one page: curves where there are sizes, bars, and the numbers."""
from html import escape

from curves import draw_curves
from pack_curves import draw_pack_curves
from picture import COLORS, draw
from rows import peer_names

STYLE = """body { font-family: sans-serif; color: #222; max-width: 1040px; margin: 24px auto; }
table { border-collapse: collapse; font-size: 11px; }
td span { white-space: nowrap; }
td, th { padding: 2px 8px; text-align: right; border-bottom: 1px solid #ddd; }
td:first-child, th:first-child { text-align: left; }
.missed { color: #b00020; font-weight: bold; }
.key { display: inline-block; width: 12px; height: 12px; margin: 0 5px 0 14px; }"""


def duration(micros):
    for unit, name in ((1e6, "s"), (1e3, "ms")):
        if micros >= unit:
            return f"{micros / unit:.3g} {name}"
    return f"{micros:.3g} µs"


def amount(value, unit):
    return duration(value) if unit == "us" else f"{value:.3g} {unit}"


def cell(words, ratio, target):
    """A time or another amount, and how many times longer it is than Fanin's or what share of it."""
    missed = ' class="missed"' if target is not None and ratio < target else ""
    wanted = "" if target is None else f" / {target:.3g}"
    return f"<td>{words} <span{missed}>({ratio:.2f}{wanted})</span></td>"


def two_digits(value):
    return f"{value:.2f}" if value >= 0.01 else f"{value:.1g}"


# Columns that a page has if one of its rows has this figure: its name, and how it is written.
FIGURES = {"p99": ("p99_us", duration), "algorithm, GB/s": ("algbw_GBps", two_digits),
           "bus, GB/s": ("busbw_GBps", two_digits), "compute": ("compute_us", duration),
           "communication": ("communicate_us", duration)}


def figures_of(rows):
    return {head: figure for head, figure in FIGURES.items()
            if any(figure[0] in row.more for row in rows)}


def line(row, names, figures):
    cells = [f"<td>{escape(row.name)}</td>", f"<td>{amount(row.fanin, row.unit)}</td>"]
    cells += [f"<td>{words(row.more[name])}</td>" if name in row.more else "<td>–</td>"
              for name, words in figures.values()]
    cells.append(cell(amount(row.limit, row.unit), row.ratio_to_limit, row.target_limit))
    for peer in map(row.peers.get, names):
        cells.append(cell(amount(peer.value, row.unit), peer.ratio, peer.target) if peer
                     else "<td>–</td>")
    return f"<tr>{''.join(cells)}</tr>"


def table(rows, names):
    figures = figures_of(rows)
    head = "".join(f"<th>{escape(name)}</th>" for name in ["case", "fanin", *figures, "limit", *names])
    return (f"<table><tr>{head}</tr>\n" + "\n".join(line(row, names, figures) for row in rows)
            + "</table>")


def legend(names):
    colors = zip(["fanin", "limit", *names],
                 [COLORS[0], "#333", *(COLORS[(i + 1) % len(COLORS)] for i in range(len(names)))])
    return "".join(f'<span class="key" style="background:{color}"></span>{escape(name)}'
                   for name, color in colors)


def make_page(rows, title, footer, notes):
    names, charts = peer_names(rows), draw_curves(rows)
    curves = f"<p>{legend(names)}</p>\n{''.join(charts)}" if charts else ""
    remarks = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return f"""<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>{escape(title)}</title>
<style>{STYLE}</style></head><body>
<h1>{escape(title)}</h1>
{curves}
{''.join(draw_pack_curves(rows))}
{draw(rows, "Beside the limit", footer)}
<h2>Numbers</h2>
<p>Medians. In brackets: the share of the limit, and how many times faster Fanin is than a peer, each
with its target where there is one; what is missed is red.</p>
{table(rows, names)}
<ul>{remarks}</ul>
</body></html>
"""
