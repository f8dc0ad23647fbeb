// Computes the outputs of a network of models/images whose variables start at a file of weights,
// for testdata/interop/check_networks.py:
//
//   networks_tool NETWORK WEIGHTS IMAGES OUT
//     NETWORK  a name of models/images/networks.h
//     WEIGHTS  what the option `weights` takes
//     IMAGES   a bundle with `images`, f32 [N, H, W, 3], and `classes`, i32 []
//     OUT      a bundle with `outputs`, f32 [N, classes], is written here
#include <memory>
#include <string>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/checkpoint/load.h"
#include "estimator/estimator.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/evaluate.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/training/compiled_model.h"
#include "models/images/networks.h"
#include "tools/interop/tool_main.h"

namespace estimator {
namespace {

absl::Status Run(const std::vector<std::string>& arguments) {
  EST_ASSIGN_OR_RETURN(const images::NetworkEntry network, images::FindNetwork(arguments[0]));
  EST_ASSIGN_OR_RETURN(const Array pixels, LoadVariable(arguments[2], "images"));
  EST_ASSIGN_OR_RETURN(const Array classes, LoadVariable(arguments[2], "classes"));
  Graph graph;
  const GraphScope scope(graph);
  const Tensor feed = Placeholder(DType::kFloat32, pixels.shape());
  images::NetworkOptions options;
  options.classes = classes.scalar<int32_t>();
  options.weights = arguments[1];
  const Tensor outputs = network.build(feed, options);
  EST_RETURN_IF_ERROR(graph.status());
  VariableStore store;
  EST_RETURN_IF_ERROR(LoadCheckpointInitializers(graph, {}, store).status());
  EST_RETURN_IF_ERROR(InitializeVariables(graph, store));
  const std::unique_ptr<Backend> backend = MakeCpuBackend(store);
  EST_ASSIGN_OR_RETURN(
      const std::vector<Array> values,
      RunOnce(*backend, graph, {.feeds = {feed}, .fetches = {outputs}, .updates = {}}, {pixels}));
  return SaveVariables(arguments[3], {{"outputs", values[0]}});
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  return estimator::ToolMain(argc, argv, "networks_tool NETWORK WEIGHTS IMAGES OUT",
                             estimator::Run);
}
