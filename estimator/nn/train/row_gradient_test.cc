// Tables of which a step looks up some rows: TensorFlow's IndexedSlices.
#include "estimator/nn/train/row_gradient.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/indexed_slices.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/nn/replica_scope.h"
#include "estimator/nn/testing/step.h"
#include "estimator/nn/train/adadelta.h"
#include "estimator/nn/train/adagrad.h"
#include "estimator/nn/train/adam.h"
#include "estimator/nn/train/clip.h"
#include "estimator/nn/train/ftrl.h"
#include "estimator/nn/train/gradient_descent.h"
#include "estimator/nn/train/momentum.h"
#include "estimator/nn/train/proximal_adagrad.h"
#include "estimator/nn/train/rms_prop.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/shape_ops.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::Doubles;
using testing::ExpectNear;

class RowGradientTest : public GraphTest {
 protected:
  static Variable Make(absl::string_view name, const Array& value) {
    return GetVariable(name, value.shape(),
                       {.initializer = [value](const Shape&, DType) { return Constant(value); }});
  }
  Variable Table() { return Make("table", Array::Of<float>({4, 2}, {1, -2, 3, -4, 5, -6, 7, -8})); }
  // Row 2 twice and row 0: gradients [4, 8] and [3, -3].
  static Tensor Loss(const Variable& table) {
    return ReduceSum(Gather(table, Constant({2, 0, 2})) *
                     Constant({3, 2}, {1.f, 2.f, 3.f, -3.f, 3.f, 6.f}));
  }
  static Tensor GradientOf(const Tensor& loss, const Variable& variable) {
    return Gradients(loss, {variable})[0];
  }

  testing::Stepper stepper_{graph_};
};

TEST_F(RowGradientTest, TheGradientOfGatherRemembersItsSlices) {
  const Variable table = Table();
  const Tensor gradient = GradientOf(Loss(table), table);
  ExpectNear(stepper_.Eval(gradient), {3, -3, 0, 0, 4, 8, 0, 0});
  const auto slices = SlicesOf(gradient);
  ASSERT_TRUE(slices.has_value());
  ExpectNear(stepper_.Eval(slices->indices), {2, 0, 2});
  ExpectNear(stepper_.Eval(slices->values), {1, 2, 3, -3, 3, 6});
  EXPECT_FALSE(SlicesOf(gradient * 2.0f).has_value()) << "dense in TensorFlow as well";
}

TEST_F(RowGradientTest, SlicesOfSeveralGathersAreJoined) {
  const Variable table = Table();
  const Tensor more = ReduceSum(Gather(table, Constant<int64_t>(3)));
  const auto slices = SlicesOf(GradientOf(Loss(table) + more, table));
  ASSERT_TRUE(slices.has_value());
  EXPECT_EQ(stepper_.Eval(slices->indices).num_elements(), 4);
  ExpectNear(stepper_.Eval(AddUp(*slices, 4)), {3, -3, 0, 0, 4, 8, 1, 1});
}

// That is what the runtime adds up by rows (runtime/passes/row_updates.h), and no sum of such sums.
TEST_F(RowGradientTest, RowsAreThoseOfTheSumOfAllSlices) {
  const Variable table = Table();
  const Tensor one = GradientOf(Loss(table), table);
  const train::RowGradient of_one(one, *SlicesOf(one));
  EXPECT_EQ(of_one.rows().node()->input(0), one) << "which is that already";
  const Tensor more = ReduceSum(Gather(table, Constant<int64_t>({3, 2})));
  const Tensor several = GradientOf(Loss(table) + more, table);
  const IndexedSlices slices = *SlicesOf(several);
  const Tensor rows = train::RowGradient(several, slices).rows();
  EXPECT_EQ(rows.node()->input(0).node()->op(), "UnsortedSegmentSum");
  ExpectNear(stepper_.Eval(rows), Doubles(stepper_.Eval(Gather(several, slices.indices))));
}

// TF 2.15: _GatherNdGrad gives IndexedSlices for indices [n, 1], and for no other shape.
TEST_F(RowGradientTest, RowsThatGatherNdLooksUpAreSlicesAndItsElementsAreNot) {
  const Variable table = Table();
  const Tensor rows = GatherNd(table, Constant({3, 1}, {2, 0, 2}));
  const Tensor gradient = GradientOf(ReduceSum(rows * rows), table);
  const auto slices = SlicesOf(gradient);
  ASSERT_TRUE(slices.has_value());
  ExpectNear(stepper_.Eval(slices->indices), {2, 0, 2});
  ExpectNear(stepper_.Eval(slices->values), {10, -12, 2, -4, 10, -12});
  ExpectNear(stepper_.Eval(gradient), {2, -4, 0, 0, 20, -24, 0, 0});
  const Tensor elements = GatherNd(table, Constant({1, 2}, {2, 0}));
  EXPECT_FALSE(SlicesOf(GradientOf(ReduceSum(elements), table)).has_value());
  const Tensor batches = GatherNd(table, Constant({1, 1, 1}, {2}));
  EXPECT_FALSE(SlicesOf(GradientOf(ReduceSum(batches), table)).has_value());
}

TEST_F(RowGradientTest, TheGradientOfATableThatIsAlsoUsedWholeIsDense) {
  const Variable table = Table();
  const Tensor whole = ReduceSum(MatMul(table, Constant({2, 1}, {1.f, 1.f})));
  const Tensor gradient = GradientOf(Loss(table) + whole, table);
  EXPECT_FALSE(SlicesOf(gradient).has_value());
  ExpectNear(stepper_.Eval(gradient), {4, -2, 1, 1, 5, 9, 1, 1});
}

TEST_F(RowGradientTest, ALookupInACopyOfAnotherDtypeKeepsItsSlices) {
  const Variable table = Table();
  const Tensor rows = Gather(Cast(table, DType::kFloat64), Constant({2, 0, 2}));
  const auto slices = SlicesOf(GradientOf(Cast(ReduceSum(rows), DType::kFloat32), table));
  ASSERT_TRUE(slices.has_value());
  EXPECT_EQ(slices->values.dtype(), DType::kFloat32);
}

// The squares of the slices are 1+4, 9+9 and 9+36: not those of the rows, 18 and 80.
TEST_F(RowGradientTest, NormsAndClippingTakeSlicesBeforeTheyAreAdded) {
  const Variable table = Table();
  const Tensor gradient = GradientOf(Loss(table), table);
  const double norm = std::sqrt(68.0);
  const auto scaled = [&](double by) {
    return std::vector<double>{3 * by, -3 * by, 0, 0, 4 * by, 8 * by, 0, 0};
  };
  const ClippedByGlobalNorm clipped = ClipByGlobalNorm({gradient}, 2);
  ExpectNear(stepper_.Eval(clipped.global_norm), {norm}, 1e-5);
  ExpectNear(stepper_.Eval(clipped.tensors[0]), scaled(2 / norm), 1e-5);
  EXPECT_TRUE(SlicesOf(clipped.tensors[0]).has_value());
  ExpectNear(stepper_.Eval(ClipByNorm(gradient, 1)), scaled(1 / norm), 1e-5);
  ExpectNear(stepper_.Eval(ClipByValue(gradient, -2, 2)), {2, -2, 0, 0, 3, 4, 0, 0});
}

using MakeOptimizer = std::function<std::unique_ptr<train::Optimizer>()>;
template <typename T>
MakeOptimizer As(const T& optimizer) {
  return [optimizer] { return std::make_unique<T>(optimizer); };
}

// A dense variable of the looked-up rows alone, under the same rule, says what they must become.
TEST_F(RowGradientTest, OptimizersMoveLookedUpRowsAsDenseOnesAndNoOthers) {
  using namespace train;  // NOLINT
  const FtrlOptions ftrl = {
      .l1_regularization_strength = 0.1, .l2_regularization_strength = 0.2, .beta = 0.5};
  FtrlOptions shrinking = ftrl;
  shrinking.learning_rate_power = -0.7;
  shrinking.l2_shrinkage_regularization_strength = 0.3;
  const MakeOptimizer optimizers[] = {
      As(Momentum(0.1, 0.9)),
      As(Momentum(0.1, 0.9, {.use_nesterov = true})),
      As(RMSProp(0.1, {.decay = 0.8, .momentum = 0.5})),
      As(RMSProp(0.1, {.decay = 0.8, .momentum = 0.5, .epsilon = 1e-3, .centered = true})),
      As(Adadelta(0.5, {.epsilon = 1e-3})),
      As(LazyAdam(0.1, {.epsilon = 1e-3})),
      As(Ftrl(0.1, ftrl)),
      As(Ftrl(0.1, shrinking)),
      As(ProximalAdagrad(0.1,
                         {.l1_regularization_strength = 0.1, .l2_regularization_strength = 0.2})),
  };
  for (const MakeOptimizer& make : optimizers) {
    Graph graph;
    const GraphScope scope(graph);
    testing::Stepper stepper(graph);
    const Variable table = Table();
    const Variable rows = Make("rows", Array::Of<float>({2, 2}, {1, -2, 5, -6}));
    const Tensor loss = ReduceSum(rows * Constant({2, 2}, {3.f, -3.f, 4.f, 8.f})) + Loss(table);
    const auto optimizer = make();
    SCOPED_TRACE(optimizer->name());
    const Operation step = optimizer->Minimize(loss);
    EST_ASSERT_OK(graph.status());
    const std::vector<std::string> names = testing::VariableNames(graph);
    std::map<std::string, std::vector<double>> before;
    for (const std::string& name : names) before[name] = Doubles(stepper.Value(name));
    stepper.Run(step, {}, 3);
    for (const std::string& name : names) {
      if (name.rfind("table", 0) != 0) continue;
      SCOPED_TRACE(name);
      const std::vector<double> expected =
          Doubles(stepper.Value("rows" + name.substr(std::string("table").size())));
      const std::vector<double>& old = before[name];
      double largest = 1;
      for (const double x : expected) largest = std::max(largest, std::abs(x));
      ExpectNear(
          stepper.Value(name),
          {expected[0], expected[1], old[2], old[3], expected[2], expected[3], old[6], old[7]},
          2e-6 * largest);
    }
    EXPECT_NE(Doubles(stepper.Value("table"))[0], 1) << "it learns";
  }
}

// Their rules leave a row without a gradient alone anyway: by rows they only write less.
TEST_F(RowGradientTest, GradientDescentAndAdagradGiveTheBitsOfDenseGradients) {
  const MakeOptimizer optimizers[] = {As(train::GradientDescent(0.3)), As(train::Adagrad(0.3))};
  for (const MakeOptimizer& make : optimizers) {
    Graph graph;
    const GraphScope scope(graph);
    testing::Stepper stepper(graph);
    const Variable by_rows = Table(), whole = Make("whole", stepper.Value(by_rows.name()));
    const Tensor dense = Identity(GradientOf(Loss(whole), whole));
    ASSERT_FALSE(SlicesOf(dense).has_value());
    const auto optimizer = make();
    SCOPED_TRACE(optimizer->name());
    const Operation step =
        optimizer->ApplyGradients({{GradientOf(Loss(by_rows), by_rows), by_rows}, {dense, whole}});
    EST_ASSERT_OK(graph.status());
    int num_scatters = 0;
    for (const auto& node : graph.nodes()) num_scatters += node->op() == "TensorScatterUpdate";
    EXPECT_GE(num_scatters, 1);
    stepper.Run(step, {}, 3);
    for (const std::string& name : testing::VariableNames(graph)) {
      if (name.rfind("table", 0) != 0) continue;
      EXPECT_EQ(Doubles(stepper.Value(name)), Doubles(stepper.Value("whole" + name.substr(5))))
          << name;
    }
    EXPECT_NE(Doubles(stepper.Value("table"))[0], 1) << "it learns";
  }
}

TEST_F(RowGradientTest, LazyAdamHasTheVariablesOfAdamAndIsAdamOnReplicas) {
  const ReplicaScope replicas({.dense_gradients = true});
  std::vector<std::vector<std::string>> names;
  std::vector<std::vector<double>> values;
  for (const MakeOptimizer& make : {As(train::Adam(0.1)), As(train::LazyAdam(0.1))}) {
    Graph graph;
    const GraphScope scope(graph);
    testing::Stepper stepper(graph);
    const Operation step = make()->Minimize(Loss(Table()));
    stepper.Run(step, {}, 2);
    names.push_back(testing::VariableNames(graph));
    values.push_back(Doubles(stepper.Value("table")));
  }
  EXPECT_EQ(names[0], names[1]);
  EXPECT_EQ(values[0], values[1]);
}

TEST_F(RowGradientTest, AdamMovesEveryRowAsInTensorFlow) {
  const Variable table = Table();
  const Tensor rows = Placeholder(DType::kInt32, {1});
  const Operation step = train::Adam(0.1).Minimize(ReduceSum(Gather(table, rows)));
  stepper_.Run(step, {{rows, Array::Of<int32_t>({1}, {1})}});
  const double before = Doubles(stepper_.Value("table"))[2];
  stepper_.Run(step, {{rows, Array::Of<int32_t>({1}, {3})}});
  EXPECT_LT(Doubles(stepper_.Value("table"))[2], before) << "row 1 moves on";
}

// A TPU's gradients are dense: CrossShardOptimizer sums them.
TEST_F(RowGradientTest, OnReplicasEveryRowMovesBeItOneReplica) {
  const ReplicaScope replicas({.dense_gradients = true});
  const Variable table = Table();
  const Tensor rows = Placeholder(DType::kInt32, {1});
  const Operation step = train::Momentum(0.1, 0.9).Minimize(ReduceSum(Gather(table, rows)));
  stepper_.Run(step, {{rows, Array::Of<int32_t>({1}, {1})}});
  const double before = Doubles(stepper_.Value("table"))[2];
  stepper_.Run(step, {{rows, Array::Of<int32_t>({1}, {3})}});
  EXPECT_LT(Doubles(stepper_.Value("table"))[2], before);
}

}  // namespace
}  // namespace estimator
