#include "estimator/runtime/testing/network.h"

#include <memory>
#include <optional>

#include "estimator/base/random.h"
#include "estimator/base/status.h"
#include "estimator/ops/constant.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/initialize_variables.h"

namespace estimator::testing {

Array Numbers(const Shape& shape, int seed, float scale) {
  Array array(DType::kFloat32, shape);
  Philox philox(static_cast<uint64_t>(seed));
  for (float& value : array.values<float>())
    value = scale * (2 * UniformFloat(philox.Next4()[0]) - 1);
  return array;
}

Network::Network()
    : images(Placeholder(DType::kFloat32, {kBatch, 8, 8, 3})),
      labels(Placeholder(DType::kInt32, {kBatch})) {}

absl::StatusOr<std::vector<float>> Train(const Network& network, VariableStore& store,
                                         const CompileOptions& options, int steps) {
  EST_RETURN_IF_ERROR(InitializeVariables(network.graph, store));
  const std::unique_ptr<Backend> backend = MakeCpuBackend(store, options);
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<Executable> executable,
                       backend->Compile(network.graph, network.spec()));
  const StepFeeds batch = {
      {Numbers(network.images.shape(), 1, 1), Array::Of<int32_t>({Network::kBatch}, {1, 3, 5, 7})}};
  std::vector<float> losses;
  const auto ran = executable->RunLoop(
      steps, [&batch]() -> absl::StatusOr<std::optional<StepFeeds>> { return batch; },
      [&losses](int64_t, const StepFetches& fetches) {
        losses.push_back(fetches[0][0].scalar<float>());
        return absl::OkStatus();
      });
  EST_RETURN_IF_ERROR(ran.status());
  return losses;
}

}  // namespace estimator::testing
