// Fuzzes the importer of training graphs. The input bytes are a MetaGraphDef. Its inputs are
// placeholders with a batch of 2. The first byte of the tensorflow_version chooses the number of
// replicas.
#include <cstdint>

#include "estimator/array/element_limit.h"
#include "estimator/graphdef/import_train_graph.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr int64_t kBatch = 2;
constexpr int64_t kMaxElements = 1 << 16;
constexpr size_t kMaxInputs = 16;

// A placeholder for the input; an invalid handle if its shape is unknown or too large.
Tensor InputFor(const TrainGraphInput& input, Graph& graph) {
  if (!input.rank_known || input.dtype == DType::kInvalid) return {};
  std::vector<int64_t> dims = input.shape.dims();
  for (int64_t& size : dims)
    if (size == Shape::kUnknownDim) size = kBatch;
  if (!HasElementsAtMost(Shape(dims), kMaxElements)) return {};
  return graph.AddOp("Placeholder", {}, {{"dtype", input.dtype}, {"shape", Shape(dims)}}, "input");
}

void Import(absl::string_view bytes, TrainGraphRole role) {
  const absl::StatusOr<TrainGraph> source = TrainGraph::Parse(bytes, "fuzz", {.role = role});
  if (!source.ok() || source->info().inputs.size() > kMaxInputs) return;
  (void)ObstacleTable(source->info().obstacles);
  const std::string& version = source->info().tensorflow_version;
  for (const bool training : {true, false}) {
    if (training && role != TrainGraphRole::kTrain) continue;
    Graph graph;
    const GraphScope scope(graph);
    std::vector<Tensor> inputs;
    for (const TrainGraphInput& input : source->info().inputs)
      inputs.push_back(InputFor(input, graph));
    const absl::StatusOr<ImportedTrainGraph> imported =
        source->Import({.inputs = inputs,
                        .num_shards = !version.empty() && version[0] == '1' ? 2 : 1,
                        .training = training,
                        .with_loss = role != TrainGraphRole::kPredict,
                        .with_metrics = role == TrainGraphRole::kEval,
                        .fetches = source->info().outputs},
                       graph);
    // An import that succeeds leaves a graph without an error.
    if (imported.ok()) CHECK(graph.status().ok()) << graph.status();
  }
}

}  // namespace
}  // namespace estimator

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using estimator::TrainGraphRole;
  for (const TrainGraphRole role :
       {TrainGraphRole::kTrain, TrainGraphRole::kEval, TrainGraphRole::kPredict})
    estimator::Import(absl::string_view(reinterpret_cast<const char*>(data), size), role);
  return 0;
}
