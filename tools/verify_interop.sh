#!/bin/bash
# Checks that TensorFlow 2.15.1 reads our files, and that we read its files. Run it by hand: it
# needs Python 3.9 to 3.11, and at the first run the network.
#
# Usage: tools/verify_interop.sh [-k NAME] ... [VENV]
#   -k NAME  only this check, for example check_graph.py. Repeat it for several checks
#   VENV     the virtual environment, created if it does not exist. Default:
#   ~/.cache/estimator-interop
set -u
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit 1
usage() { sed -n '5,7s/^# //p' "$0"; exit 2; }
only=()
while getopts "k:" option; do
  [[ $option == k ]] || usage
  only+=("$OPTARG")
done
shift $((OPTIND - 1))
(($# <= 1)) || usage
venv=${1:-$HOME/.cache/estimator-interop}

# Each line is a check: the script under testdata/interop, and the targets whose programs are its
# arguments.
checks=(
  "check_checkpoint.py //tools/interop:bundle_tool"
  "check_checkpoint_tool.py //tools/checkpoint:checkpoint"
  "check_large_checkpoint.py //tools/checkpoint:checkpoint \
    //estimator/training:checkpoint_benchmark"
  "check_keras_files.py //tools/checkpoint:checkpoint"
  "check_events.py //tools/interop:event_tool //models/mnist:mnist_tpu"
  "check_parsing.py //tools/interop:parse_tool"
  "check_mnist.py //models/mnist:mnist_tpu"
  "check_naic.py //models/naic:naic_main"
  "check_plant.py //models/plant:plant_main"
  "check_flowers.py //models/flowers:flowers_main"
  "check_meta_graph.py //models/mnist:mnist_tpu"
  "check_graph.py //tools/interop:graph_tool"
  "check_loops.py //tools/interop:loops_tool"
  "check_import.py //tools/saved_model:saved_model"
  "check_porting.py //docs:porting_example"
  "check_warm_start.py //tools/interop:warm_start_tool"
  "check_references.py //tools/replay:replay_reference"
  "check_train_and_evaluate.py //tools/interop:train_and_evaluate_tool"
  "check_tfrecord_tools.py //tools/tfrecord:tfrecord //tools/to_tfrecord:to_tfrecord \
    //tools/imagenet_to_tfrecord:imagenet_to_tfrecord"
  "check_networks.py //tools/interop:networks_tool"
  "check_images.py //tools/interop:image_tool"
  "check_overfit.py //models/imagenet:resnet_main"
  "check_stablehlo.py //tools/interop:stablehlo_tool"
  "check_stablehlo_ops.py //tools/interop:stablehlo_ops_tool"
  "check_additions.py //tools/interop:stablehlo_ops_tool"
  "check_pjrt_plugin.py //tools/interop:pjrt_tool"
  "check_tpu_compile.py //models/mnist:mnist_tpu //models/imagenet:resnet_main \
    //models/recurrent:recurrent_benchmark"
  "check_train_graph.py //tools/train_graph:train_graph"
  "check_session_graphs.py //tools/train_graph:train_graph"
  "check_loop_graphs.py //tools/train_graph:train_graph //tools/saved_model:saved_model"
  "check_report.py //tools/report:report //models/mnist:mnist"
  "check_remote.py //models/mnist:mnist_tpu //tools/to_tfrecord:to_tfrecord \
    //tools/tfrecord:tfrecord //tools/saved_model:saved_model"
  "check_export.py //tools/interop:export_tool //tools/saved_model:saved_model"
)

if ((${#only[@]})); then
  chosen=()
  for name in "${only[@]}"; do
    found=
    for check in "${checks[@]}"; do
      if [[ ${check%% *} == "$name" ]]; then chosen+=("$check"); found=yes; fi
    done
    [[ $found ]] ||
      { echo "there is no check $name. The checks are: ${checks[*]%% *}" >&2; exit 2; }
  done
  checks=("${chosen[@]}")
fi

if [[ ! -x "$venv/bin/python" ]]; then
  python3 -m venv "$venv" &&
    "$venv/bin/pip" install --quiet tensorflow-cpu==2.15.1 "opencv-python-headless<4.11" || exit 1
fi

failed=()
for check in "${checks[@]}"; do
  read -r -a words <<<"$check"
  echo "== ${words[0]}"
  if ! bazel build "${words[@]:1}"; then failed+=("${words[0]}"); continue; fi
  programs=()
  for target in "${words[@]:1}"; do
    target=${target#//}
    programs+=("bazel-bin/${target/://}")
  done
  begin=$SECONDS
  "$venv/bin/python" "testdata/interop/${words[0]}" "${programs[@]}" || failed+=("${words[0]}")
  echo "== ${words[0]} took $((SECONDS - begin)) s"
done
if ((${#failed[@]})); then
  echo "FAILED: ${failed[*]}"
  exit 1
fi
echo "all ${#checks[@]} interop checks passed"
