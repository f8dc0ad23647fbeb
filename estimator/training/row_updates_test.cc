// Steps that look up rows of a table, under every optimizer that updates by rows: their memory does
// not grow with the table, however the rows are looked up and their gradients clipped.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/graph.h"
#include "estimator/nn/initializers.h"
#include "estimator/nn/train/adadelta.h"
#include "estimator/nn/train/adagrad.h"
#include "estimator/nn/train/clip.h"
#include "estimator/nn/train/ftrl.h"
#include "estimator/nn/train/gradient_descent.h"
#include "estimator/nn/train/momentum.h"
#include "estimator/nn/train/proximal_adagrad.h"
#include "estimator/nn/train/rms_prop.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/reduction.h"
#include "estimator/runtime/program.h"

namespace estimator {
namespace {

using Pairs = std::vector<train::GradientAndVariable>;

constexpr int64_t kRows = 20000, kColumns = 16, kBatch = 8;
constexpr int64_t kTableBytes = kRows * kColumns * int64_t{sizeof(float)};

Tensor Ids() { return Placeholder(DType::kInt32, {kBatch}); }
Tensor SquaresOf(const Tensor& rows) { return ReduceSum(rows * rows); }

// How a loss looks rows up, and what is done to their gradient.
struct Use {
  std::string name;
  std::function<Tensor(const Variable& table)> loss;
  std::function<void(Pairs&)> clip = [](Pairs&) {};
};

std::vector<Use> Uses() {
  const auto once = [](const Variable& table) { return SquaresOf(Gather(table, Ids())); };
  const auto twice = [](const Variable& table) {
    return SquaresOf(Gather(table, Ids())) +
           SquaresOf(Gather(table, Placeholder(DType::kInt64, {2, kBatch})));
  };
  return {
      {"once", once},
      {"twice", twice},
      {"clipped by the global norm", twice,
       [](Pairs& pairs) { pairs = train::ClipByGlobalNorm(pairs, 1); }},
      {"clipped by norm", twice,
       [](Pairs& pairs) { pairs[0].gradient = ClipByNorm(pairs[0].gradient, 1); }},
      {"clipped by value", twice,
       [](Pairs& pairs) { pairs[0].gradient = ClipByValue(pairs[0].gradient, -1, 1); }},
  };
}

template <typename Optimizer>
void ExpectNoMemoryOfATable(Optimizer optimizer) {
  for (const Use& use : Uses()) {
    Optimizer own = optimizer;
    SCOPED_TRACE(own.name() + ", looked up " + use.name);
    Graph graph;
    const GraphScope scope(graph);
    const Variable table =
        GetVariable("table", {kRows, kColumns}, {.initializer = initializers::Zeros()});
    const Tensor loss = use.loss(table);
    Pairs pairs = own.ComputeGradients(loss);
    use.clip(pairs);
    const Operation update = own.ApplyGradients(pairs);
    std::vector<Tensor> feeds;
    for (const auto& node : graph.nodes()) {
      if (node->op() == "Placeholder") feeds.push_back(Tensor(&graph, node.get(), 0));
    }
    const auto program = Program::Compile(
        graph, {.feeds = feeds, .fetches = {loss}, .updates = {update}}, {.single_replica = true});
    EST_ASSERT_OK(program);
    EXPECT_LT((*program)->info().planned_peak_bytes, kTableBytes / 10) << (*program)->Plan();
  }
}

TEST(RowUpdates, HaveNoBufferOfTheTablesSize) {
  ExpectNoMemoryOfATable(train::GradientDescent(0.1));
  ExpectNoMemoryOfATable(train::Momentum(0.1, 0.9));
  ExpectNoMemoryOfATable(train::Momentum(0.1, 0.9, {.use_nesterov = true}));
  ExpectNoMemoryOfATable(train::Adagrad(0.1));
  ExpectNoMemoryOfATable(train::Adadelta(0.1));
  ExpectNoMemoryOfATable(train::RMSProp(0.1));
  ExpectNoMemoryOfATable(train::RMSProp(0.1, {.momentum = 0.5, .centered = true}));
  ExpectNoMemoryOfATable(train::Ftrl(0.1, {.l2_shrinkage_regularization_strength = 0.1}));
  ExpectNoMemoryOfATable(train::ProximalAdagrad(0.1, {.l1_regularization_strength = 0.1}));
}

}  // namespace
}  // namespace estimator
