#!/usr/bin/env python3
"""libtpu accepts the argument structs of tpu/pjrt, with which programs run on a TPU.

Usage: check_pjrt_plugin.py PJRT_TOOL
libtpu 0.0.51 is installed by tools/get_libtpu.sh: the first run needs the network and 800 MB of
disk. No TPU is used. tools/verify_interop.sh runs this.
"""

import os
import subprocess
import sys


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    subprocess.run([os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                 "../../tools/get_libtpu.sh")], check=True)
    cache = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    # Without these, libtpu asks Cloud TPU's metadata server, and takes a lock that other processes
    # may hold.
    settings = {"TPU_SKIP_MDS_QUERY": "1", "TPU_WORKER_HOSTNAMES": "localhost",
                "ALLOW_MULTIPLE_LIBTPU_LOAD": "1"}
    done = subprocess.run(
        [os.path.abspath(sys.argv[1]),
         os.path.join(cache, "estimator-libtpu/0.0.51/libtpu/libtpu.so")],
        capture_output=True, text=True, check=False, env={**os.environ, **settings})
    lines = done.stdout.splitlines()
    accepted = sum(line.endswith(": accepted") for line in lines)
    if done.returncode != 0 or accepted != len(lines) - 1 or accepted < 15:
        print(done.stdout + done.stderr[-2000:])
        print(f"check_pjrt_plugin: exit code {done.returncode}, {accepted} structs are accepted")
        return 1
    print(f"check_pjrt_plugin: libtpu accepts the structs of {accepted} functions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
