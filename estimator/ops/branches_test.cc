#include "estimator/ops/branches.h"

#include <map>
#include <string>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/graph/variable.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/testing/eval.h"
#include "estimator/ops/while_loop.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::CheckGradients;
using testing::Doubles;
using ::testing::ElementsAre;
using testing::ErrorOf;
using ::testing::HasSubstr;
using ::testing::Pair;
using testing::Scrambled;

// A schedule as MobileNet's: the first boundary that is not passed counts.
Tensor Stage(float step) {
  const Tensor x = Constant(step);
  return Case(
      {{Less(x, 3), [] { return Constant(0.1f); }}, {Less(x, 7), [] { return Constant(0.2f); }}},
      [] { return Constant(0.3f); });
}

using CaseTest = GraphTest;

TEST_F(CaseTest, TakesTheFirstThatHoldsElseTheDefault) {
  EXPECT_THAT(Doubles(Stage(2)), ElementsAre(0.1f));
  EXPECT_THAT(Doubles(Stage(5)), ElementsAre(0.2f));
  EXPECT_THAT(Doubles(Stage(9)), ElementsAre(0.3f));
  EXPECT_THAT(Doubles(Case({}, [] { return Constant(4.0f); })), ElementsAre(4));
}

Tensor Zero(const Shape& shape, DType dtype) { return Zeros(shape, dtype); }

// As TF 2.15 names them: the functions are called from the first to the last, the default last.
TEST_F(CaseTest, CallsTheFunctionsInOrderSoThatVariablesGetTensorFlowsNames) {
  std::map<std::string, std::string> names;
  const auto branch = [&names](const std::string& which) {
    return [&names, which]() -> Tensor {
      const VariableScope dense(VariableScope::UniqueDefaultName("dense"));
      const Variable bias = GetVariable("bias", {}, {.initializer = Zero});
      names[which] = bias.name();
      return bias;
    };
  };
  Case({{Constant(true), branch("A")}, {Constant(false), branch("B")}}, branch("C"));
  EXPECT_EQ(graph_.status().ToString(), "OK");
  EXPECT_THAT(names, ElementsAre(Pair("A", "dense/bias"), Pair("B", "dense_1/bias"),
                                 Pair("C", "dense_2/bias")));
}

TEST_F(CaseTest, RefusesFunctionsOfDifferentTypes) {
  EXPECT_THAT(ErrorOf([] {
                Case({{Constant(true), [] { return Constant(1); }}}, [] { return Constant(1.0f); });
              }),
              HasSubstr("the branches return different types: 'true_fn' (i32 []), 'false_fn' "
                        "(f32 [])"));
}

using CondTest = GraphTest;

TEST_F(CondTest, RunsTheBranchThatThePredicateNames) {
  for (const bool predicate : {true, false}) {
    const Tensor chosen = Cond(
        Constant(predicate), [] { return Constant(1.0f); }, [] { return Constant(3.0f); });
    EXPECT_THAT(Doubles(chosen), ElementsAre(predicate ? 1 : 3));
  }
}

// Integer division by zero is an error of the step.
TEST_F(CondTest, DoesNotRunTheOtherBranch) {
  const Tensor zero = Constant(0), seven = Constant(7);
  const Tensor safe = Cond(
      Equal(zero, 0), [&] { return seven; }, [&] { return FloorDiv(seven, zero); });
  EXPECT_THAT(Doubles(safe), ElementsAre(7));
}

TEST_F(CondTest, RefusesAPredicateThatIsNoScalar) {
  EXPECT_THAT(ErrorOf([] {
                Cond(
                    Constant({true, false}), [] { return Constant(1); },
                    [] { return Constant(2); });
              }),
              HasSubstr("the predicate must be bool [], not bool [2]"));
}

TEST_F(CondTest, OnlyTheBranchThatRunsHasAGradient) {
  for (const double at : {0.5, 3.0}) {
    const auto fn = [&](const Tensors& in) {
      return Cond(
          Less(Constant(at), 1.0), [&] { return Multiply(in[0], Sin(in[1])); },
          [&] { return Exp(in[0]); });
    };
    EXPECT_THAT(CheckGradients(fn, {Scrambled({3}, -1, 1), Scrambled({3}, -1, 1)}), IsOk());
  }
}

TEST_F(CondTest, BranchesWorkInsideOfBranchesAndLoops) {
  const auto fn = [](const Tensors& in) {
    return WhileLoop([](const Tensors& v) { return Less(v[0], 4); },
                     [&](const Tensors& v) {
                       const Tensor next = Cond(
                           Less(v[0], 2), [&] { return Multiply(v[1], in[0]); },
                           [&] {
                             return Cond(
                                 Equal(v[0], 2), [&] { return Sin(v[1]); },
                                 [&] { return Add(v[1], in[0]); });
                           });
                       return Tensors{Add(v[0], 1), next};
                     },
                     {Constant(0), in[1]})[1];
  };
  EXPECT_THAT(CheckGradients(fn, {Scrambled({2}, 0.5, 1.5), Scrambled({2}, 0.6, 1.2)}), IsOk());
}

// The update of a branch is made outside, with the old value where the other branch runs.
TEST_F(CondTest, UpdatesOfTheBranchThatRunsTakeEffect) {
  const Variable a = GetVariable("a", {}, {.initializer = Zero});
  const Variable b = GetVariable("b", {}, {.initializer = Zero});
  for (const bool predicate : {true, false}) {
    const Operation update = Cond(
        Constant(predicate), [&] { return Assign(a, Constant(5.0f)); },
        [&] {
          return Group({AssignAdd(b, Constant(2.0f)), AssignAdd(b, Constant(3.0f))});
        });
    ASSERT_EQ(graph_.status().ToString(), "OK");
    std::map<std::string, double> values;
    for (const Node* assign : CollectAssigns({update}))
      values[assign->input(0).node()->name()] = Doubles(assign->input(1))[0];
    EXPECT_THAT(values, ElementsAre(Pair("a", predicate ? 5 : 0), Pair("b", predicate ? 0 : 5)));
  }
}

TEST_F(CondTest, UpdateOpsOfABranchBecomeThoseOfTheGraph) {
  const Variable mean = GetVariable("mean", {}, {.initializer = Zero});
  const Tensor y = Cond(
      Constant(true),
      [&] {
        Graph& body = Graph::Current();
        body.update_ops().push_back(Assign(mean, Constant(7.0f)));
        return Constant(1.0f);
      },
      [&] { return Constant(2.0f); });
  EXPECT_THAT(Doubles(y), ElementsAre(1));
  ASSERT_EQ(graph_.update_ops().size(), 1u);
  EXPECT_THAT(Doubles(graph_.update_ops()[0].node()->input(1)), ElementsAre(7));
}

TEST_F(CondTest, SaysWhichOneAddsALossAndWhereItBelongs) {
  EXPECT_THAT(ErrorOf([] {
                Cond(
                    Constant(true), [] { return Constant(1.0f); },
                    [] {
                      const Tensor loss = Constant(2.0f);
                      Graph::Current().losses().push_back(loss);
                      return loss;
                    },
                    "warm_up");
              }),
              HasSubstr("warm_up: in 'false_fn': it adds a loss to the graph; return it, and add "
                        "it outside"));
}

TEST(SwitchCase, AnIndexOutOfRangeRunsTheLastBranch) {
  Graph graph;
  const GraphScope scope(graph);
  const auto branch = [](float value) { return [value] { return Tensors{Constant(value)}; }; };
  for (const int index : {-1, 0, 1, 2, 3}) {
    const Tensors chosen = SwitchCase(Constant(index), {branch(10), branch(11), branch(12)});
    EXPECT_THAT(Doubles(chosen[0]), ElementsAre(index == 0 ? 10 : index == 1 ? 11 : 12));
  }
}

}  // namespace
}  // namespace estimator
