"""What people read on the terminal."""
import sys

from rows import peer_names


def show_progress(text):
    """One line that is overwritten, on a terminal only."""
    if sys.stderr.isatty():
        print(f"\r\033[K{text}", end="", file=sys.stderr, flush=True)


def cell(ratio, ratios, target):
    """The ratio, its smallest and largest round, and a star where it misses its target."""
    star = "*" if target is not None and ratio < target else " "
    return f"{ratio:.2f}{star} [{min(ratios):.2f}, {max(ratios):.2f}]"


def print_table(head, lines):
    """The first column is flush left, the others right; each is as wide as it must be."""
    widths = [max(map(len, column)) for column in zip(head, *lines)]
    for line in [head, *lines]:
        cells = [text.rjust(width) for text, width in zip(line, widths)]
        print("  ".join([line[0].ljust(widths[0]), *cells[1:]]))


def print_limits(rows):
    print("Fanin beside the limit (docs/benchmarks.md says what that is):")
    print_table(["case", "fanin", "limit", "of limit [min, max]", "target"],
                [[row.name, f"{row.fanin:.2f} {row.unit}", f"{row.limit:.2f} {row.unit}",
                  cell(row.ratio_to_limit, row.ratios, row.target_limit),
                  "-" if row.target_limit is None else f"{row.target_limit:.2f}"] for row in rows])


def print_peers(rows):
    names = peer_names(rows)
    if not names:
        return
    print("\nHow many times faster Fanin is than each peer, [min, max]:")
    print_table(["case", *names],
                [[row.name, *(cell(peer.ratio, peer.ratios, peer.target) if peer else "-"
                              for peer in map(row.peers.get, names))] for row in rows])


def print_summary(rows):
    checks = [(row.name, *check) for row in rows for check in row.checks()]
    missed = [check for check in checks if check[2] < check[3]]
    print(f"\n{len(checks) - len(missed)} of {len(checks)} targets met, {len(missed)} missed (*)")
    for case, what, ratio, target in missed:
        wanted = f"{target:.2f} of the limit" if what == "limit" else f"{target:.2f} times {what}"
        print(f"  missed: {case}: {ratio:.2f}, the target is {wanted}")


def print_report(rows, versions, notes):
    show_progress("")
    print_limits(rows)
    print_peers(rows)
    print_summary(rows)
    for note in notes:
        print(f"note: {note}")
    print("versions: " + ", ".join(f"{name} {value}" for name, value in versions.items()))
