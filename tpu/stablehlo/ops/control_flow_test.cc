// Loops and branches as StableHLO have the numbers of ops/testing/eval.h, on one replica and on two
// whose trips and branches differ.
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/ops.h"
#include "estimator/ops/testing/golden_runner.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tpu/stablehlo/lower_step.h"
#include "tpu/stablehlo/ops/testing/control_flow_cases.h"
#include "tpu/stablehlo/testing/interpreter.h"

namespace estimator::tpu::stablehlo {
namespace {

using testing::ControlFlowCase;
using ::testing::HasSubstr;
using ::testing::Not;

class ControlFlowNumbers : public ::testing::TestWithParam<ControlFlowCase> {};

TEST_P(ControlFlowNumbers, EqualTheEvaluator) {
  for (const int num_replicas : {1, 2}) {
    const auto module = testing::ModuleOf(GetParam(), num_replicas);
    EST_ASSERT_OK(module);
    const auto results = testing::Interpret(module->text, module->arguments);
    ASSERT_TRUE(results.ok()) << results.status() << "\n" << module->text;
    for (size_t r = 0; r < results->size(); ++r) {
      ASSERT_EQ((*results)[r].size(), module->results[r].size());
      for (size_t i = 0; i < module->results[r].size(); ++i) {
        const Array& expected = module->results[r][i];
        const Difference difference =
            Compare((*results)[r][i], expected,
                    estimator::testing::GoldenTolerance(GetParam().tolerance, expected));
        EXPECT_EQ(difference.report, "")
            << "result " << i << " of replica " << r << " of " << num_replicas << "\n"
            << module->text;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, ControlFlowNumbers,
                         ::testing::ValuesIn(testing::ControlFlowCases()),
                         [](const auto& info) { return info.param.name; });

class ControlFlowLowering : public GraphTest {
 protected:
  // The module's text, or the error.
  std::string Lower(const Tensors& fetches, const LowerOptions& options = {},
                    const Tensors& feeds = {}) {
    const auto module =
        LowerStep(graph_, {.feeds = feeds, .fetches = fetches, .updates = {}}, options);
    return module.ok() ? module->text : std::string(module.status().message());
  }

  // x * 3 for each trip of `body`.
  static Tensor Loop(const Tensor& x, const std::function<Tensor(const Tensor&)>& body,
                     const WhileLoopOptions& options = {}) {
    return WhileLoop([](const Tensors& v) { return Less(v[0], 3); },
                     [&body](const Tensors& v) {
                       return Tensors{v[0] + 1, body(v[1])};
                     },
                     {Constant(0), x}, options)[1];
  }
};

TEST_F(ControlFlowLowering, AGradientOfALoopWithoutABoundSaysWhatToGive) {
  const Tensor x = Placeholder(DType::kFloat32, {2}, "x");
  const Tensor unbounded = Loop(x, [](const Tensor& v) { return Sin(v); });
  EXPECT_THAT(Lower({unbounded}, {}, {x}), HasSubstr("stablehlo.while"));
  const Tensor gradient = Gradients({ReduceSum(unbounded)}, {x})[0];
  const std::string error = Lower({gradient}, {}, {x});
  EXPECT_THAT(error, HasSubstr("1 parts of the step cannot be lowered"));
  EXPECT_THAT(error, HasSubstr("while (While: "));
  EXPECT_THAT(error, HasSubstr("give WhileLoop maximum_iterations"));

  const Tensor bounded = Loop(x, [](const Tensor& v) { return Sin(v); }, {.maximum_iterations = 3});
  EXPECT_THAT(Lower({Gradients({ReduceSum(bounded)}, {x})[0]}, {}, {x}),
              HasSubstr("stablehlo.while"));
}

TEST_F(ControlFlowLowering, ProblemsInsideBodiesAreReported) {
  const Tensor x = Placeholder(DType::kFloat32, {2, 2}, "x");
  const Tensor loop = Loop(x, [](const Tensor& v) {
    return Cond(
        Greater(ReduceSum(v), 0.f),
        [&] {
          return Cast(Reshape(RandomUniform({2, 2}, {.dtype = DType::kFloat64}), {2, 2}),
                      DType::kFloat32);
        },
        [&] { return v; });
  });
  EXPECT_THAT(Lower({loop}, {}, {x}), HasSubstr("draws float64"));
  const Tensor text = Placeholder(DType::kString, {}, "text");
  const Tensors last = WhileLoop([](const Tensors& v) { return Less(v[0], 3); },
                                 [&](const Tensors& v) {
                                   return Tensors{v[0] + 1, Identity(v[1])};
                                 },
                                 {Constant(0), text});
  EXPECT_THAT(Lower({last[1]}, {}, {text}), HasSubstr("strings stay on the host"));
}

TEST_F(ControlFlowLowering, ASumOverReplicasInsideABodyIsRefused) {
  const Tensor x = Placeholder(DType::kFloat32, {2}, "x");
  const Tensor loop = Loop(x, [](const Tensor& v) { return CrossReplicaSum(v); });
  for (const int num_replicas : {1, 2}) {
    const std::string error = Lower({loop}, {.num_replicas = num_replicas}, {x});
    EXPECT_THAT(error, HasSubstr("while/CrossReplicaSum"));
    EXPECT_THAT(error, HasSubstr("return the value"));
  }
}

TEST_F(ControlFlowLowering, OpsOfABodyHaveTheNameOfTheirNode) {
  const Tensor x = Placeholder(DType::kFloat32, {2}, "x");
  const std::string text =
      Lower({Loop(x, [](const Tensor& v) { return Sin(v, "wave"); })}, {}, {x});
  EXPECT_THAT(text, HasSubstr("= loc(\"while/wave\")"));
  EXPECT_THAT(text, HasSubstr("= loc(\"while\")"));
}

// An update of a variable from a loop over equal values needs no sum over the replicas.
TEST_F(ControlFlowLowering, ALoopDiffersBetweenReplicasIfItsInputsOrItsRandomNumbersDo) {
  const Variable w = GetVariable("w", {2}, {.initializer = [](const Shape& shape, DType dtype) {
                                   return Constant(Array(dtype, shape));
                                 }});
  const Tensor x = Placeholder(DType::kFloat32, {2}, "x");
  const auto text = [&](const Tensor& from, const std::function<Tensor(const Tensor&)>& body) {
    const auto module =
        LowerStep(graph_, {.feeds = {x}, .fetches = {}, .updates = {Assign(w, Loop(from, body))}},
                  {.num_replicas = 2});
    return module.ok() ? module->text : std::string(module.status().message());
  };
  const auto sine = [](const Tensor& v) { return Sin(v); };
  const auto noise = [](const Tensor& v) { return v + RandomUniform({2}); };
  EXPECT_THAT(text(w, sine), Not(HasSubstr("all_reduce")));
  EXPECT_THAT(text(x, sine), HasSubstr("all_reduce"));
  EXPECT_THAT(text(w, noise), HasSubstr("all_reduce"));
}

}  // namespace
}  // namespace estimator::tpu::stablehlo
