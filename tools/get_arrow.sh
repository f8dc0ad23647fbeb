#!/bin/bash
# Installs Apache Arrow, pinned to version 21.0.0, in the user's cache, where programs find it when
# they meet a path as gs://..., s3://... or abfs://... (docs/remote.md). It takes the library from
# the Python package pyarrow and compiles a shim beside it. It needs Python 3 with pip, g++, the
# network, and 200 MB of disk. Run it by hand, once.
#
# Usage: tools/get_arrow.sh
set -eu
version=21.0.0
folder="${XDG_CACHE_HOME:-$HOME/.cache}/estimator-arrow/$version"
if [[ -f "$folder/libestimator_arrow.so" ]]; then
  echo "$folder/libestimator_arrow.so is installed"
  exit 0
fi
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
mkdir -p "$folder"
work=$(mktemp -d "$folder/install.XXXXXX")
trap 'rm -rf "$work"' EXIT
# The libraries are the same in the wheels of all Python versions.
python3 -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.11 \
  --platform manylinux_2_28_x86_64 --dest "$work" "pyarrow==$version"
python3 -m zipfile -e "$work"/pyarrow-*.whl "$work/wheel"
library=$(cd "$work/wheel/pyarrow" && ls libarrow.so.*)
# The other libraries and the Python modules are not used.
mkdir "$work/arrow"
mv "$work/wheel/pyarrow/$library" "$work/wheel/pyarrow/include" "$work/arrow"
g++ -std=c++20 -O2 -fPIC -shared -fvisibility=hidden -Wall -Wno-deprecated-declarations \
  -I "$root" -isystem "$work/arrow/include" "$root/estimator/remote/shim/arrow_shim.cc" \
  -o "$work/libestimator_arrow.so" "$work/arrow/$library" -Wl,-rpath,'$ORIGIN/arrow'
rm -rf "$folder/arrow"
mv "$work/arrow" "$folder/arrow"
# Last: it is what programs and this script look for.
mv "$work/libestimator_arrow.so" "$folder/libestimator_arrow.so"
echo "installed $folder/libestimator_arrow.so"
