// Computes the outputs of a network of models/images whose variables start at a file of weights,
// for testdata/interop/check_networks.py:
//
//   networks_tool NETWORK WEIGHTS IMAGES OUT
//     NETWORK  a name of models/images/networks.h
//     WEIGHTS  what the option `weights` takes
//     IMAGES   a bundle with `images`, f32 [N, H, W, 3], and `classes`, i32 []
//     OUT      a bundle with `outputs`, f32 [N, classes], is written here
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "estimator/checkpoint/load.h"
#include "estimator/estimator.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/evaluate.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/training/compiled_model.h"
#include "models/images/networks.h"

namespace estimator {
namespace {

absl::Status Run(const std::string& name, const std::string& weights, const std::string& images,
                 const std::string& out) {
  EST_ASSIGN_OR_RETURN(const images::NetworkEntry network, images::FindNetwork(name));
  EST_ASSIGN_OR_RETURN(const Array pixels, LoadVariable(images, "images"));
  EST_ASSIGN_OR_RETURN(const Array classes, LoadVariable(images, "classes"));
  Graph graph;
  const GraphScope scope(graph);
  const Tensor feed = Placeholder(DType::kFloat32, pixels.shape());
  images::NetworkOptions options;
  options.classes = classes.scalar<int32_t>();
  options.weights = weights;
  const Tensor outputs = network.build(feed, options);
  EST_RETURN_IF_ERROR(graph.status());
  VariableStore store;
  EST_RETURN_IF_ERROR(LoadCheckpointInitializers(graph, {}, store).status());
  EST_RETURN_IF_ERROR(InitializeVariables(graph, store));
  const std::unique_ptr<Backend> backend = MakeCpuBackend(store);
  EST_ASSIGN_OR_RETURN(
      const std::vector<Array> values,
      RunOnce(*backend, graph, {.feeds = {feed}, .fetches = {outputs}, .updates = {}}, {pixels}));
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<BundleWriter> writer, BundleWriter::Open(out));
  EST_RETURN_IF_ERROR(writer->Add("outputs", values[0]));
  return writer->Finish();
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  if (argc != 5) {
    std::cerr << "usage: networks_tool NETWORK WEIGHTS IMAGES OUT\n";
    return 2;
  }
  const absl::Status status = estimator::Run(argv[1], argv[2], argv[3], argv[4]);
  if (!status.ok()) std::cerr << status.ToString() << "\n";
  return status.ok() ? 0 : 1;
}
