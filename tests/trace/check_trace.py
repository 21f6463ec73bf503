"""Makes a trace file and checks it against the rules of the Chrome trace event format, with a reader
that is not ours: check_trace.py MAKE_TRACE"""
import collections
import json
import subprocess
import sys
import tempfile
from decimal import Decimal
from pathlib import Path

NUMBER = (int, Decimal)


def refuse_twice(pairs):
    assert len(dict(pairs)) == len(pairs), f"a key stands twice in {pairs}"
    return dict(pairs)


def check_keys(event):
    kinds = {"ph": str, "pid": int, "tid": int, "name": str, "args": dict}
    if event["ph"] == "X":
        kinds |= {"ts": NUMBER, "dur": NUMBER, "cat": str}
    assert event.keys() == kinds.keys(), f"keys of {event}"
    for key, kind in kinds.items():
        assert isinstance(event[key], kind), f"{key} of {event}"


def check_nesting(events):
    """Events of one thread follow each other or lie within each other."""
    ends = []
    for event in sorted(events, key=lambda e: (e["ts"], -e["dur"])):
        end = event["ts"] + event["dur"]
        while ends and ends[-1] <= event["ts"]:
            ends.pop()
        assert not ends or end <= ends[-1], f"{event} ends after what it lies in"
        ends.append(end)


def check_names(metadata, threads):
    """Every process and every thread that has events has a name and a place, once."""
    said = collections.Counter()
    for event in metadata:
        kind = event["name"]
        key = {"process_name": "name", "thread_name": "name", "process_sort_index": "sort_index",
               "thread_sort_index": "sort_index"}[kind]
        assert isinstance(event["args"][key], str if key == "name" else int), event
        said[kind, event["pid"], event["tid"] if kind.startswith("thread") else None] += 1
    assert set(said.values()) == {1}, said
    for pid, tid in threads:
        for place in (("process_name", pid, None), ("process_sort_index", pid, None),
                      ("thread_name", pid, tid), ("thread_sort_index", pid, tid)):
            assert said[place] == 1, f"no {place}"


def check(text):
    trace = json.loads(text, parse_float=Decimal, object_pairs_hook=refuse_twice)
    assert trace["displayTimeUnit"] == "ms"
    events = trace["traceEvents"]
    for event in events:
        assert event["ph"] in ("M", "X"), event
        check_keys(event)
    complete = [event for event in events if event["ph"] == "X"]
    assert min(event["ts"] for event in complete) == 0
    assert all(event["dur"] >= 0 for event in complete)
    threads = collections.defaultdict(list)
    for event in complete:
        threads[event["pid"], event["tid"]].append(event)
    tids = [tid for _, tid in threads]
    assert len(set(tids)) == len(tids) and not set(tids) & {pid for pid, _ in threads}, threads.keys()
    for of_thread in threads.values():
        check_nesting(of_thread)
    check_names([event for event in events if event["ph"] == "M"], threads)
    return complete


def check_content(events):
    """What make_trace.cc did: 3 workers, whose clocks are brought together, 3 steps of 4 packs."""
    assert {event["pid"] for event in events} == {0, 1, 2}
    counts = collections.Counter((e["pid"], e["cat"]) for e in events if e["cat"] != "update")
    assert counts == {(rank, cat): count for rank in range(3)
                      for cat, count in (("backward", 15), ("wait", 12), ("reduce", 12))}, counts
    assert max(event["ts"] for event in events) < 60e6, "an hour of clock error is left"
    assert all(e["args"]["bytes"] == 2**54 + 1 for e in events if e["cat"] == "reduce")
    assert any("ä\\ö\n" in event["name"] for event in events)


def main(make_trace):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "trace.json"
        subprocess.run([make_trace, path], check=True, timeout=60)
        text = path.read_text(encoding="utf-8")
    check_content(check(text))
    assert " later events dropped)" in text


if __name__ == "__main__":
    main(sys.argv[1])
