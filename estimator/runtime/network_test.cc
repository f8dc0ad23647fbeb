// A network with real ops and kernels: fused programs train as the reference kernels do.
#include "estimator/runtime/testing/network.h"

#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/bias.h"
#include "estimator/ops/conv.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/pooling.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/shape_ops.h"
#include "estimator/ops/softmax.h"

namespace estimator {
namespace {

using testing::Weights;

// conv 3x3x8, relu, pool, dense 10: the block of MNIST's network, with momentum by hand.
struct Network : testing::Network {
  Network() {
    const Variable kernel = Weights("conv/kernel", {3, 3, 3, 8}, 0.3f),
                   conv_bias = Weights("conv/bias", {8}, 0.1f);
    const Variable dense = Weights("dense/kernel", {128, 10}, 0.2f),
                   bias = Weights("dense/bias", {10}, 0.1f);
    const Tensor features = MaxPool(Relu(BiasAdd(Conv2D(images, kernel), conv_bias)));
    const Tensor logits = BiasAdd(MatMul(Reshape(features, {kBatch, 128}), dense), bias);
    loss = ReduceMean(SparseSoftmaxCrossEntropyWithLogits(labels, logits));
    const std::vector<Variable> variables = {kernel, conv_bias, dense, bias};
    const std::vector<Tensor> gradients = Gradients(loss, variables);
    std::vector<Operation> updates;
    for (size_t i = 0; i < variables.size(); ++i) {
      const Variable momentum =
          Weights(absl::StrCat(variables[i].name(), "/Momentum"), variables[i].shape(), 0);
      const Tensor next = momentum * 0.9f + gradients[i];
      updates.push_back(Assign(momentum, next));
      updates.push_back(Assign(variables[i], variables[i] - next * 0.05f));
    }
    train = Group(updates);
  }
};

TEST(Network, FusedProgramsTrainAsTheReferenceDoes) { ExpectTrainsAsTheReference(Network(), 0.5f); }

TEST(Network, CheckedKernelsAgree) { ExpectCheckedKernelsAgree(Network(), 3); }

TEST(Network, BlocksAreFusedAndVariablesUpdatedInPlace) {
  const Network network;
  // Without the kernels of our own, which compute a convolution and its pool in one op.
  const auto program =
      Program::Compile(network.graph, network.spec(),
                       {.conv_algorithm = ConvAlgorithm::kDirect, .single_replica = true});
  EST_ASSERT_OK(program);
  const std::string text = (*program)->Plan();
  for (const char* op :
       {"_FusedConv2D(", "_FusedMatMul(", "_MaxPoolWithArgmax(", "_MaxPoolGradWithArgmax("}) {
    EXPECT_NE(text.find(op), std::string::npos) << op << " is missing in\n" << text;
  }
  EXPECT_EQ(text.find(" = copy("), std::string::npos) << text;
  EXPECT_EQ(text.find(" ReluGrad("), std::string::npos) << text;
}

}  // namespace
}  // namespace estimator
