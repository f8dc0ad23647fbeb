// A network of two convolution blocks, in which native kernels replace conv, bias, relu and pool.
#include <gtest/gtest.h>

#include <string>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/testing/reference_as_native.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/bias.h"
#include "estimator/ops/conv.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/pooling.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/runtime/testing/network.h"

namespace estimator {
namespace {

using testing::Train;
using testing::Weights;

bool Always(const KernelSpec&) { return true; }
[[maybe_unused]] const bool registered[] = {
    RegisterReferenceAsNative("_FusedConv2DMaxPool", Always),
    RegisterReferenceAsNative("_Conv2DMaxPoolBackpropFilter", Always),
    RegisterReferenceAsNative("_Conv2DMaxPoolBackpropInput", Always)};

constexpr const char* kBlockOps[] = {"_FusedConv2DMaxPool(", "_Conv2DMaxPoolBackpropFilter(",
                                     "_Conv2DMaxPoolBackpropInput("};

struct Network : testing::Network {
  Network() {
    const std::vector<Variable> variables = {
        Weights("conv1/kernel", {3, 3, 3, 8}, 0.3f),  Weights("conv1/bias", {8}, 0.1f),
        Weights("conv2/kernel", {3, 3, 8, 16}, 0.3f), Weights("conv2/bias", {16}, 0.1f),
        Weights("dense/kernel", {64, 10}, 0.2f),      Weights("dense/bias", {10}, 0.1f)};
    Tensor x = images;
    for (const size_t i : {size_t{0}, size_t{2}})
      x = MaxPool(Relu(BiasAdd(Conv2D(x, variables[i]), variables[i + 1])));
    logits = BiasAdd(MatMul(Reshape(x, {kBatch, 64}), variables[4]), variables[5]);
    Minimize(logits, variables);
  }

  Tensor logits;
};

TEST(ConvBlockNetwork, TrainsAsTheReferenceDoes) { ExpectTrainsAsTheReference(Network()); }

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

TEST(ConvBlockNetwork, CheckedKernelsAgree) { ExpectCheckedKernelsAgree(Network(), 3); }

}  // namespace
}  // namespace estimator
