"""clang-tidy over all sources. Most of its time goes into the headers that every source includes, so
sources of one folder are looked at together, as one. Good results are kept in build/tidy/ by
content, so that only what changed is looked at again."""
import concurrent.futures
import hashlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
KEPT = ROOT / "build" / "tidy"
MOST_TOGETHER = 16
TIDY = ["clang-tidy", "--quiet", r"--header-filter=(include/fanin|src|layers|bench|examples)/.*\.(h|cc)$"]
NOISE = re.compile(r"^\d+ warnings? (generated|treated)|^Suppressed|^Use -header-filter")


def list_sources():
    """(source, flags) of everything but tests."""
    sources = {}
    for entry in json.loads((ROOT / "build/dev/compile_commands.json").read_text()):
        source = os.path.relpath(entry["file"], ROOT)
        if source.endswith("_test.cc") or source.startswith(("tests/", "..")):
            continue
        words = entry["command"].replace(" -isystem ", " -isystem").split()
        flags = [word.replace('\\"', '"') for word in words
                 if word.startswith(("-I", "-isystem", "-D", "-std", "-f", "-m"))]
        sources.setdefault(source, flags)
    return sorted(sources.items())


def stands_alone(source):
    """Sources with a main() of their own, and those that Highway includes again and again."""
    text = (ROOT / source).read_text()
    return "foreach_target.h" in text or re.search(r"^int main\(", text, re.MULTILINE)


def make_groups(sources):
    """Lists of sources of one folder that have the same flags."""
    groups = {}
    for source, flags in sources:
        apart = source if stands_alone(source) else ""
        groups.setdefault((str(Path(source).parent), tuple(flags), apart), []).append(source)
    for (_, flags, _), members in groups.items():
        for begin in range(0, len(members), MOST_TOGETHER):
            yield members[begin:begin + MOST_TOGETHER], list(flags)


def digest(*parts):
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]


def what_all_depend_on():
    headers = sorted(path for folder in ("include", "src", "bench") for path in (ROOT / folder).rglob("*.h"))
    version = subprocess.run(["clang-tidy", "--version"], capture_output=True, text=True, check=True)
    return digest(version.stdout, (ROOT / ".clang-tidy").read_text(), Path(__file__).read_text(),
                  *(path.read_text() for path in headers))


def tidy(path, flags, *options):
    done = subprocess.run([*TIDY, *options, str(path), "--", *flags], cwd=ROOT, capture_output=True,
                          text=True, check=False)
    lines = [line for line in (done.stdout + done.stderr).splitlines() if not NOISE.match(line)]
    return "" if done.returncode == 0 else "\n".join(lines)


def look_at(members, flags, key):
    """What was found in the sources of a group, or nothing."""
    if len(members) > 1:
        whole = KEPT / f"{key}.cc"
        whole.write_text("".join(f'#include "{ROOT / source}"\n' for source in members))
        found = tidy(whole, flags, "--checks=-bugprone-suspicious-include")
        whole.unlink()
        if not found:
            (KEPT / key).touch()
            return ""
    # Names may clash in a group that do not clash alone: each source by itself decides.
    found = "\n".join(filter(None, (tidy(source, flags) for source in members)))
    if not found:
        (KEPT / key).touch()
    return found


def main():
    KEPT.mkdir(parents=True, exist_ok=True)
    common = what_all_depend_on()
    todo = []
    for members, flags in make_groups(list_sources()):
        key = digest(common, *flags, *members, *((ROOT / source).read_text() for source in members))
        if not (KEPT / key).exists():
            todo.append((members, flags, key))
    print(f"clang-tidy: {sum(len(members) for members, _, _ in todo)} sources to look at", flush=True)
    todo.sort(key=lambda group: -len(group[0]))
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as threads:
        found = list(filter(None, threads.map(lambda group: look_at(*group), todo)))
    if found:
        sys.exit("\n".join(found) + "\nclang-tidy found something")


if __name__ == "__main__":
    main()
