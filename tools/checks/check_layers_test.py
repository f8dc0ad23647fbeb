#!/usr/bin/env python3
"""check_layers.py on small trees: what it reports of inner rooms, private folders and large
folders."""
import os
import subprocess
import sys
import tempfile

SCRIPT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "check_layers.py")

LAYERS = """
layer 0 base
layer 1 train
layer 2 app
rooms train hooks < input < model loop
private train
max_files 2 base/**
common system
"""


def check(files, layers=LAYERS):
    """The violations of a tree: {path: [what it includes]}."""
    with tempfile.TemporaryDirectory() as root:
        files = {"tools/checks/layers.txt": None, **files}
        for path, includes in files.items():
            os.makedirs(os.path.dirname(os.path.join(root, path)), exist_ok=True)
            with open(os.path.join(root, path), "w") as file:
                file.write(layers if includes is None
                           else "".join(f'#include "{i}"\n' for i in includes))
        run = subprocess.run([sys.executable, SCRIPT, root], text=True, capture_output=True)
        lines = run.stdout.splitlines()
        assert run.returncode == (1 if len(lines) > 1 else 0), run.stdout + run.stderr
        return lines[:-1]


def one(files, part, layers=LAYERS):
    found = check(files, layers)
    assert len(found) == 1 and part in found[0], found


HOOK, INPUT, MODEL, LOOP, TOP = (f"train/{name}"
                                 for name in ("hooks/h.h", "input/i.h", "model/m.h", "loop/l.h",
                                              "top.h"))


def main():
    leaves = {HOOK: [], INPUT: [], MODEL: [], LOOP: [], TOP: []}

    # A room sees itself and earlier rooms; the top sees every room.
    assert check({**leaves, INPUT: [HOOK], MODEL: [INPUT, HOOK], "train/model/n.h": [MODEL],
                  TOP: [HOOK, LOOP]}) == []
    one({**leaves, INPUT: [MODEL]}, "train/input must not see train/model")
    one({**leaves, MODEL: [LOOP]}, "train/model must not see train/loop")  # of one group
    one({**leaves, HOOK: [TOP]}, "train/hooks must not see the top files of train")
    one({**leaves, "train/cellar/c.h": [], TOP: [], LOOP: ["train/cellar/c.h"]},
        "does not list room cellar")
    # Files of a copied folder see each other by their names; others need the path.
    copied = LAYERS + "copied app\n"
    assert check({"app/a.cc": ["b.h"], "app/b.h": []}, copied) == []
    one({"app/a.cc": ["c.h"], "app/b.h": []}, "no such file", copied)
    one({"app/a.cc": ["b.h"], "app/b.h": []}, "no such file")
    # Inner folders belong to their room.
    assert check({**leaves, "train/model/deep/d.h": [MODEL], MODEL: ["train/model/deep/d.h"]}) == []
    one({**leaves, "train/input/deep/d.h": [MODEL]}, "train/input must not see train/model")

    # What only tests see has no order.
    for source in ("train/input/i_test.cc", "train/input/i_fuzz.cc", "train/input/i_benchmark.cc",
                   "train/testing/t.h"):
        assert check({**leaves, source: [MODEL, TOP]}) == [], source

    # An exception names two rooms.
    assert check({**leaves, INPUT: [MODEL]}, LAYERS + "allow train/input -> train/model\n") == []

    # Another folder includes only the top of a private one, and what it has for tests.
    assert check({**leaves, "app/a.cc": [TOP], "train/testing/t.h": [],
                  "app/a_test.cc": ["train/testing/t.h"]}) == []
    one({**leaves, "app/a.cc": [MODEL]}, "only train itself may include its rooms")
    one({**leaves, "app/a_test.cc": [MODEL]}, "only train itself may include its rooms")

    # Layers are checked as before.
    one({**leaves, "base/b.h": [TOP]}, "base (layer 0) must not see train (layer 1, above it)")

    # Few files side by side, tests aside.
    assert check({f"app/{name}": [] for name in ("a.h", "a.cc", "a_test.cc", "a_fuzz.cc",
                                                 "testing/a.h")}) == []
    one({f"app/{name}": [] for name in ("a.h", "a.cc", "b.h")},
        "app:1: 3 source files side by side (at most 2)")
    assert check({f"base/{folder}{name}": [] for folder in ("", "inner/")
                  for name in ("a.h", "b.h", "c.h")}) == []
    print("passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
