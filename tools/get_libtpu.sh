#!/bin/bash
# Installs the TPU compiler libtpu.so, pinned to version 0.0.51, in the user's cache, where
# tpu_compile and --tpu_check find it. It needs Python 3 with pip, the network, and 800 MB of disk.
# Run it by hand, once.
#
# Usage: tools/get_libtpu.sh
set -eu
version=0.0.51
folder="${XDG_CACHE_HOME:-$HOME/.cache}/estimator-libtpu/$version"
if [[ -f "$folder/libtpu/libtpu.so" ]]; then
  echo "$folder/libtpu/libtpu.so is installed"
  exit 0
fi
mkdir -p "$folder"
work=$(mktemp -d "$folder/install.XXXXXX")
trap 'rm -rf "$work"' EXIT
# The library is the same in the wheels of all Python versions.
python3 -m pip download --quiet --no-deps --only-binary=:all: --python-version 3.11 \
  --dest "$work" "libtpu==$version"
python3 -m zipfile -e "$work"/libtpu-*.whl "$work/wheel"
mv "$work/wheel/libtpu" "$folder/libtpu"
echo "installed $folder/libtpu/libtpu.so"
