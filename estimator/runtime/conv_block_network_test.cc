// A network of two convolution blocks, in which native kernels replace conv, bias, relu and pool.
#include <gtest/gtest.h>

#include <string>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/kernels/testing/reference_as_native.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/bias.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/conv.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/pooling.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/softmax.h"
#include "estimator/runtime/testing/network.h"

namespace estimator {
namespace {

using testing::Numbers;
using testing::Train;

bool Always(const KernelSpec&) { return true; }
[[maybe_unused]] const bool registered[] = {
    RegisterReferenceAsNative("_FusedConv2DMaxPool", Always),
    RegisterReferenceAsNative("_Conv2DMaxPoolBackpropFilter", Always),
    RegisterReferenceAsNative("_Conv2DMaxPoolBackpropInput", Always)};

constexpr const char* kBlockOps[] = {"_FusedConv2DMaxPool(", "_Conv2DMaxPoolBackpropFilter(",
                                     "_Conv2DMaxPoolBackpropInput("};

struct Network : testing::Network {
  static Variable Weights(absl::string_view name, const Shape& shape, float scale) {
    const int seed = static_cast<int>(shape.num_elements());
    return GetVariable(name, shape, {.initializer = [=](const Shape& s, DType) {
                         return Constant(Numbers(s, seed, scale));
                       }});
  }

  Network() {
    const std::vector<Variable> variables = {
        Weights("conv1/kernel", {3, 3, 3, 8}, 0.3f),  Weights("conv1/bias", {8}, 0.1f),
        Weights("conv2/kernel", {3, 3, 8, 16}, 0.3f), Weights("conv2/bias", {16}, 0.1f),
        Weights("dense/kernel", {64, 10}, 0.2f),      Weights("dense/bias", {10}, 0.1f)};
    Tensor x = images;
    for (const size_t i : {size_t{0}, size_t{2}})
      x = MaxPool(Relu(BiasAdd(Conv2D(x, variables[i]), variables[i + 1])));
    logits = BiasAdd(MatMul(Reshape(x, {kBatch, 64}), variables[4]), variables[5]);
    loss = ReduceMean(SparseSoftmaxCrossEntropyWithLogits(labels, logits));
    const std::vector<Tensor> gradients = Gradients(loss, variables);
    std::vector<Operation> updates;
    for (size_t i = 0; i < variables.size(); ++i)
      updates.push_back(Assign(variables[i], variables[i] - gradients[i] * 0.05f));
    train = Group(updates);
  }

  Tensor logits;
};

TEST(ConvBlockNetwork, TrainsAsTheReferenceDoes) {
  const Network network;
  EST_ASSERT_OK(network.graph.status());
  VariableStore fast_store, plain_store;
  const auto fast = Train(network, fast_store, {}, 20);
  const auto plain =
      Train(network, plain_store,
            {.fastest = KernelTier::kReference, .disable_passes = OptionalPasses()}, 20);
  EST_ASSERT_OK(fast);
  EST_ASSERT_OK(plain);
  EXPECT_LT(fast->back(), fast->front());
  for (size_t i = 0; i < fast->size(); ++i)
    EXPECT_NEAR((*fast)[i], (*plain)[i], 1e-4) << "step " << i;
  for (const std::string& name : fast_store.Names()) {
    const Difference difference = Compare(*fast_store.Get(name), *plain_store.Get(name),
                                          {.relative = 1e-3, .absolute = 1e-4});
    EXPECT_TRUE(difference.equal) << name << ": " << difference.report;
  }
}

TEST(ConvBlockNetwork, TrainsTheSameWithoutAnyPass) {
  const Network network;
  VariableStore all_store;
  const auto all = Train(network, all_store, {}, 5);
  EST_ASSERT_OK(all);
  for (const std::string& pass : OptionalPasses()) {
    VariableStore store;
    const auto others = Train(network, store, {.disable_passes = {pass}}, 5);
    EST_ASSERT_OK(others);
    for (size_t i = 0; i < all->size(); ++i)
      EXPECT_NEAR((*others)[i], (*all)[i], 1e-4) << "without " << pass << ", step " << i;
  }
}

TEST(ConvBlockNetwork, WritesNoFullSizeActivation) {
  const Network network;
  const auto program = Program::Compile(network.graph, network.spec(), {.single_replica = true});
  EST_ASSERT_OK(program);
  const std::string text = (*program)->Plan();
  for (const char* op : kBlockOps)
    EXPECT_NE(text.find(op), std::string::npos) << op << " is missing in\n" << text;
  for (const char* part : {"_FusedConv2D(", "_MaxPoolWithArgmax(", "_MaxPoolGradWithArgmax(",
                           "= Conv2DBackprop", "f32 [4,8,8,8]", "f32 [4,4,4,16]"}) {
    EXPECT_EQ(text.find(part), std::string::npos) << part << " is in\n" << text;
  }
}

TEST(ConvBlockNetwork, AreNotMadeIfThePassIsDisabledAndAlsoMadeForPrediction) {
  const Network network;
  const auto plain =
      Program::Compile(network.graph, network.spec(), {.disable_passes = {"fuse_conv_block"}});
  EST_ASSERT_OK(plain);
  for (const char* op : kBlockOps) EXPECT_EQ((*plain)->Plan().find(op), std::string::npos) << op;
  EXPECT_NE((*plain)->Plan().find("_MaxPoolWithArgmax("), std::string::npos);
  const auto predict = Program::Compile(
      network.graph, {.feeds = {network.images}, .fetches = {network.logits}, .updates = {}});
  EST_ASSERT_OK(predict);
  EXPECT_NE((*predict)->Plan().find("_FusedConv2DMaxPool("), std::string::npos);
}

TEST(ConvBlockNetwork, CheckedKernelsAgree) {
  const Network network;
  VariableStore store;
  EST_EXPECT_OK(Train(network, store, {.check_kernels = true}, 3));
  const auto program = Program::Compile(network.graph, network.spec(), {.check_kernels = true});
  EST_ASSERT_OK(program);
  EXPECT_TRUE((*program)->info().unchecked_ops.empty());
}

}  // namespace
}  // namespace estimator
