#include "estimator/runtime/testing/network.h"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

#include "estimator/array/compare.h"
#include "estimator/base/random.h"
#include "estimator/base/status.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/softmax.h"
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

Variable Weights(absl::string_view name, const Shape& shape, float scale) {
  const int seed = static_cast<int>(shape.num_elements());
  return GetVariable(name, shape, {.initializer = [=](const Shape& s, DType) {
                       return Constant(Numbers(s, seed, scale));
                     }});
}

Network::Network()
    : images(Placeholder(DType::kFloat32, {kBatch, 8, 8, 3})),
      labels(Placeholder(DType::kInt32, {kBatch})) {}

void Network::Minimize(const Tensor& logits, const std::vector<Variable>& variables) {
  loss = ReduceMean(SparseSoftmaxCrossEntropyWithLogits(labels, logits));
  const std::vector<Tensor> gradients = Gradients(loss, variables);
  std::vector<Operation> updates;
  for (size_t i = 0; i < variables.size(); ++i)
    updates.push_back(Assign(variables[i], variables[i] - gradients[i] * 0.05f));
  train = Group(updates);
}

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

void ExpectTrainsAsTheReference(const Network& network, float most) {
  EST_ASSERT_OK(network.graph.status());
  VariableStore fast_store, plain_store;
  const auto fast = Train(network, fast_store, {}, 20);
  const auto plain =
      Train(network, plain_store,
            {.fastest = KernelTier::kReference, .disable_passes = OptionalPasses()}, 20);
  EST_ASSERT_OK(fast);
  EST_ASSERT_OK(plain);
  EXPECT_LT(fast->back(), most * fast->front());
  for (size_t i = 0; i < fast->size(); ++i)
    EXPECT_NEAR((*fast)[i], (*plain)[i], 1e-4) << "step " << i;
  for (const std::string& name : fast_store.Names()) {
    const Difference difference = Compare(*fast_store.Get(name), *plain_store.Get(name),
                                          {.relative = 1e-3, .absolute = 1e-4});
    EXPECT_TRUE(difference.equal) << name << ": " << difference.report;
  }
}

void ExpectCheckedKernelsAgree(const Network& network, int steps) {
  VariableStore store;
  EST_EXPECT_OK(Train(network, store, {.check_kernels = true}, steps));
  const auto program = Program::Compile(network.graph, network.spec(), {.check_kernels = true});
  EST_ASSERT_OK(program);
  EXPECT_TRUE((*program)->info().unchecked_ops.empty());
}

}  // namespace estimator::testing
