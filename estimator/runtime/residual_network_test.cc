// A residual network of real ops: blocks of batch norm and relu or relu6 are fused, activations lie
// in blocks of channels where the CPU has AVX-512, and the steps agree with the reference kernels.
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_join.h"
#include "estimator/base/cpu/cpu_isa.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/batch_norm.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/conv.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/reduction.h"
#include "estimator/runtime/testing/network.h"

namespace estimator {
namespace {

using testing::Numbers;
using testing::Train;

// Stem, two residual blocks, mean over the pixels as logits; gradient descent by hand.
struct Network : testing::Network {
  using Activation = Tensor (*)(const Tensor&);

  std::vector<Variable> variables;
  const float gamma;  // the mean scale of normalized values

  Variable Weights(const std::string& name, const Shape& shape, float scale, float shift = 0) {
    const int seed = static_cast<int>(variables.size()) + 1;
    variables.push_back(GetVariable(name, shape, {.initializer = [=](const Shape& s, DType) {
                                      Array array = Numbers(s, seed, scale);
                                      for (float& value : array.values<float>()) value += shift;
                                      return Constant(array);
                                    }}));
    return variables.back();
  }
  Tensor ConvNorm(const std::string& name, const Tensor& x, int64_t filters) {
    const Variable kernel = Weights(name + "/kernel", {3, 3, x.shape()[3], filters}, 0.2f);
    const Variable scale = Weights(name + "/gamma", {filters}, 0.2f, gamma),
                   offset = Weights(name + "/beta", {filters}, 0.2f);
    return FusedBatchNorm(Conv2D(x, kernel), scale, offset).y;
  }
  explicit Network(Activation activation = Relu, float gamma = 1) : gamma(gamma) {
    Tensor x = activation(ConvNorm("stem", images, 16));
    for (const std::string block : {"a", "b"}) {
      const Tensor y = activation(ConvNorm(block + "1", x, 16));
      x = activation(ConvNorm(block + "2", y, 16) + x);
    }
    Minimize(ReduceMean(x, {1, 2}), variables);
  }
};

TEST(ResidualNetwork, TrainsAsTheReferenceDoesAlsoWithoutAnyPass) {
  const Network network;
  EST_ASSERT_OK(network.graph.status());
  VariableStore plain_store;
  const auto plain =
      Train(network, plain_store,
            {.fastest = KernelTier::kReference, .disable_passes = OptionalPasses()}, 8);
  EST_ASSERT_OK(plain);
  EXPECT_LT(plain->back(), plain->front());
  std::vector<std::vector<std::string>> disabled = {{}};
  for (const std::string& pass : OptionalPasses()) disabled.push_back({pass});
  for (const std::vector<std::string>& passes : disabled) {
    SCOPED_TRACE("without: " + absl::StrJoin(passes, ", "));
    VariableStore store;
    const auto fast = Train(network, store, {.disable_passes = passes}, 8);
    EST_ASSERT_OK(fast);
    for (size_t i = 0; i < fast->size(); ++i)
      EXPECT_NEAR((*fast)[i], (*plain)[i], 1e-4) << "step " << i;
  }
}

// With a gamma of 4, many results of relu6 are 6.
TEST(ResidualNetwork, CheckedKernelsAgree) {
  for (const bool relu6 : {false, true}) {
    SCOPED_TRACE(relu6 ? "Relu6" : "Relu");
    ExpectCheckedKernelsAgree(Network(relu6 ? Relu6 : Relu, relu6 ? 4.0f : 1.0f), 2);
  }
}

TEST(ResidualNetwork, Relu6IsPartOfItsNormalization) {
  const Network network(Relu6);
  const auto program = Program::Compile(network.graph, network.spec(), {.single_replica = true});
  EST_ASSERT_OK(program);
  const std::string text = (*program)->Plan();
  for (const char* op : {"_FusedBatchNormEx(", "_FusedBatchNormGradEx("})
    EXPECT_NE(text.find(op), std::string::npos) << op << " is missing in\n" << text;
  for (const char* op : {" Relu6Grad(", " Relu6(", " FusedBatchNormV3(", " FusedBatchNormGradV3("})
    EXPECT_EQ(text.find(op), std::string::npos) << op << " is in\n" << text;
}

TEST(ResidualNetwork, BlocksAreFusedAndReorderedAtTheEdgesOnly) {
  const Network network;
  // With kDirect, since the convolutions of kernels/bfloat16 know only NHWC.
  const auto program =
      Program::Compile(network.graph, network.spec(),
                       {.conv_algorithm = ConvAlgorithm::kDirect, .single_replica = true});
  EST_ASSERT_OK(program);
  const std::string text = (*program)->Plan();
  for (const char* op : {"_FusedBatchNormEx(", "_FusedBatchNormGradEx("})
    EXPECT_NE(text.find(op), std::string::npos) << op << " is missing in\n" << text;
  for (const char* op : {" ReluGrad(", " Relu(", " FusedBatchNormV3(", " FusedBatchNormGradV3("})
    EXPECT_EQ(text.find(op), std::string::npos) << op << " is in\n" << text;
  int reorders = 0;
  for (size_t at = 0; (at = text.find(" _Reorder(", at)) != std::string::npos; ++at) ++reorders;
  // The images to NCHW, the last block's result to its mean, and that mean's gradient back.
  EXPECT_EQ(reorders, MayUse(CpuIsa::kAvx512) ? 3 : 0) << text;
}

}  // namespace
}  // namespace estimator
