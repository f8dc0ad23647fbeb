#!/bin/bash
# Measures our benchmarks beside TensorFlow and PyTorch, and prints the table of
# docs/performance.md. Run it by hand, on a machine that does nothing else. The first run needs the
# network.
#
# Usage: tools/compare_peers.sh --data_dir=DIR [--rows=ROW,...] [--rounds=3] [--seconds=20]
#            [--write_page] ...
#   --data_dir=DIR       MNIST's four files, plain or as .gz
#   --images=DIR         JPEG files for the rows of JPEG
#   --rows=ROW,...       some rows of the table; --help lists them
#   --write_page         also replaces the figures of docs/performance.md; needs 3 rounds or more
#   --no_build           the programs are built already
# The other flags are those of tools/peers/compare.py. The environments are made under
# ~/.cache/estimator-peers and used again. TensorFlow's is that of tools/verify_interop.sh, if it
# exists.
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
cache=$HOME/.cache/estimator-peers
build=1
arguments=()
for argument in "$@"; do
  case $argument in
    --no_build) build=0 ;;
    --help) exec python3 tools/peers/compare.py --help ;;
    *) arguments+=("$argument") ;;
  esac
done
compare() {
  python3 tools/peers/compare.py --cache="$cache" "${arguments[@]+"${arguments[@]}"}" "$@"
}

tf=$HOME/.cache/estimator-interop
[[ -x "$tf/bin/python" ]] || tf=$cache/tensorflow
torch=$cache/torch
pythons=(--tf_python="$tf/bin/python" --torch_python="$torch/bin/python")
for argument in "${arguments[@]+"${arguments[@]}"}"; do
  case $argument in --from_results* | --list_*) compare "${pythons[@]}"; exit ;; esac
done

# install FOLDER PACKAGE...: an environment with the packages, unless it is whole already.
install() {
  local folder=$1
  shift
  [[ -e "$folder/.complete" ]] && return
  python3 -m venv "$folder" && "$folder/bin/pip" install --quiet "$@" && touch "$folder/.complete"
}

peers=$(compare --list_peers) || exit 1
if [[ $peers == *tf_* ]] && [[ "$tf" == "$cache/tensorflow" ]]; then
  install "$tf" tensorflow-cpu==2.15.1 ||
    { echo "error: TensorFlow 2.15.1 needs Python 3.9 to 3.11" >&2; exit 1; }
fi
if [[ $peers == *torch_* ]] && ! "$torch/bin/python" -c "import torchvision" 2>/dev/null; then
  install "$torch" torch torchvision ||
    { echo "error: PyTorch could not be installed" >&2; exit 1; }
fi
if ((build)); then
  mapfile -t targets < <(compare --list_targets)
  ./bazelw build "${targets[@]}" || exit 1
fi
compare "${pythons[@]}"
