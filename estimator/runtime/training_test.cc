// Programs that learn: updates, feeds and variables over many steps.
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/evaluate.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/runtime/testing/testing_ops.h"

namespace estimator {
namespace {

using testing::Add;
using testing::F32;
using testing::MakeVariable;
using testing::Mul;
using testing::Sub;

// Fits y = 2 x + 1 to four points by gradient descent, the gradient written out by hand:
//   r = x w + b - y,  loss = sum(r^2) / 4,  dw = x^T r / 2,  db = sum(r) / 2.
struct LinearModel {
  Graph graph;
  GraphScope scope{graph};
  Variable w = MakeVariable("w", F32({1, 1}, {0}));
  Variable b = MakeVariable("b", F32({}, {0}));
  Tensor x = testing::Placeholder({4, 1});
  Tensor y = testing::Placeholder({4, 1});
  Tensor loss;
  Operation train;

  explicit LinearModel(float rate) {
    const Tensor residual = Sub(Add(testing::MatMul(x, w), b), y);
    loss = Mul(testing::Sum(Mul(residual, residual)), testing::Const(Array::Scalar(0.25f)));
    const Tensor step = testing::Const(Array::Scalar(rate / 2));
    const Tensor dw = testing::MatMul(x, residual, /*transpose_a=*/true);
    train = Group(
        {Assign(w, Sub(w, Mul(step, dw))), Assign(b, Sub(b, Mul(step, testing::Sum(residual))))});
  }
  ProgramSpec spec() const { return {.feeds = {x, y}, .fetches = {loss}, .updates = {train}}; }
  static StepFeeds Points() { return {{F32({4, 1}, {-1, 0, 1, 2}), F32({4, 1}, {-1, 1, 3, 5})}}; }
};

using TrainingTest = GraphTest;

TEST_F(TrainingTest, ALinearModelFindsItsLine) {
  LinearModel model(0.1f);
  VariableStore store;
  EST_ASSERT_OK(InitializeVariables(model.graph, store));
  const std::unique_ptr<Backend> backend = MakeCpuBackend(store);
  auto executable = backend->Compile(model.graph, model.spec());
  EST_ASSERT_OK(executable);
  float first = 0, last = 0;
  const auto ran = (*executable)
                       ->RunLoop(
                           300, [] { return LinearModel::Points(); },
                           [&](int64_t step, const StepFetches& fetches) {
                             (step == 0 ? first : last) = fetches[0][0].scalar<float>();
                             return absl::OkStatus();
                           });
  EST_ASSERT_OK(ran);
  EXPECT_EQ(*ran, 300);
  EXPECT_FLOAT_EQ(first, 9);  // (1 + 1 + 9 + 25) / 4
  EXPECT_NEAR(last, 0, 1e-6);
  EXPECT_NEAR(store.Get("w")->AsDouble(0), 2, 1e-3);
  EXPECT_NEAR(store.Get("b")->AsDouble(0), 1, 1e-3);
}

TEST_F(TrainingTest, TheFirstStepIsTheOneWorkedOutByHand) {
  LinearModel model(0.1f);
  VariableStore store;
  EST_ASSERT_OK(InitializeVariables(model.graph, store));
  const std::unique_ptr<Backend> backend = MakeCpuBackend(store);
  EST_ASSERT_OK(RunOnce(*backend, model.graph, model.spec(), LinearModel::Points()[0]));
  // r = -y: dw = -(1 + 0 + 3 + 10) / 2 = -7, db = -8 / 2 = -4.
  EXPECT_FLOAT_EQ(static_cast<float>(store.Get("w")->AsDouble(0)), 0.7f);
  EXPECT_FLOAT_EQ(static_cast<float>(store.Get("b")->AsDouble(0)), 0.4f);
}

TEST_F(TrainingTest, TheSameStepsGiveTheSameBits) {
  std::vector<double> results;
  for (int round = 0; round < 2; ++round) {
    LinearModel model(0.07f);
    VariableStore store;
    EST_ASSERT_OK(InitializeVariables(model.graph, store));
    const std::unique_ptr<Backend> backend = MakeCpuBackend(store);
    auto executable = backend->Compile(model.graph, model.spec());
    EST_ASSERT_OK(executable);
    EST_ASSERT_OK((*executable)
                      ->RunLoop(
                          50, [] { return LinearModel::Points(); }, nullptr));
    results.push_back(store.Get("w")->AsDouble(0));
  }
  EXPECT_EQ(results[0], results[1]);
}

TEST_F(TrainingTest, InitialValuesAreSetOnceAndLocalOnesEveryTime) {
  MakeVariable("w", F32({2}, {1, 2}));
  GetVariable(
      "total", {},
      {.initializer = [](const Shape&, DType) { return testing::Const(Array::Scalar(5.0f)); },
       .local = true});
  VariableStore store;
  EST_ASSERT_OK(store.Set("w", F32({2}, {7, 8})));
  EST_ASSERT_OK(store.Set("total", Array::Scalar(9.0f)));
  EST_ASSERT_OK(InitializeVariables(graph_, store));
  EXPECT_EQ(store.Get("w")->AsDouble(0), 7);
  EXPECT_EQ(store.Get("total")->AsDouble(0), 9);
  EST_ASSERT_OK(InitializeVariables(graph_, store, /*only_local=*/true));
  EXPECT_EQ(store.Get("w")->AsDouble(0), 7);
  EXPECT_EQ(store.Get("total")->AsDouble(0), 5);
}

TEST_F(TrainingTest, EvaluateUsesFreshVariables) {
  const Variable w = MakeVariable("w", F32({2}, {1, 2}));
  const Tensor x = testing::Placeholder({2});
  const auto result = Evaluate({Mul(w, x)}, {x}, {F32({2}, {3, 4})});
  EST_ASSERT_OK(result);
  EXPECT_EQ((*result)[0].values<float>()[1], 8);
}

}  // namespace
}  // namespace estimator
