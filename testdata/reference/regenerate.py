#!/usr/bin/env python3
"""Runs the generate.py of all cases, or of the named ones, each in its own process.

Usage: regenerate.py [CASE...]     (needs tensorflow-cpu 2.15.1)
"""

import os
import subprocess
import sys

here = os.path.dirname(os.path.abspath(__file__))
cases = sys.argv[1:] or sorted(name for name in os.listdir(here)
                               if os.path.exists(os.path.join(here, name, "generate.py")))
# "mnist" comes before "mnist_...", which read what it writes.
for case in cases:
    subprocess.run([sys.executable, os.path.join(here, case, "generate.py")], check=True)
