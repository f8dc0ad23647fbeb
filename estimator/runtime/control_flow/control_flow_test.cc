// Loops and branches in programs: each result is compared with that of testing::EvalAll, which runs
// the graph op by op.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "estimator/array/compare.h"
#include "estimator/base/status.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/activations.h"
#include "estimator/ops/branches.h"
#include "estimator/ops/building/loop.h"
#include "estimator/ops/comparison.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/cross_replica.h"
#include "estimator/ops/gather.h"
#include "estimator/ops/math_binary.h"
#include "estimator/ops/math_unary.h"
#include "estimator/ops/matmul.h"
#include "estimator/ops/random.h"
#include "estimator/ops/reduction.h"
#include "estimator/ops/tensor_array.h"
#include "estimator/ops/testing/eval.h"
#include "estimator/ops/while_loop.h"
#include "estimator/runtime/cpu_backend.h"
#include "estimator/runtime/evaluate.h"
#include "estimator/runtime/initialize_variables.h"
#include "estimator/runtime/program.h"
#include "estimator/runtime/trace.h"
#include "gmock/gmock.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::Scrambled;
using ::testing::StartsWith;

class ControlFlowTest : public GraphTest {
 protected:
  // Placeholders, with values.
  Tensor Feed(const Array& value) {
    feeds_.push_back(graph_.AddOp("Placeholder", {},
                                  {{"dtype", value.dtype()}, {"shape", value.shape()}}, "feed"));
    values_.push_back(value);
    return feeds_.back();
  }
  Tensor Floats(const Shape& shape, double low = -1, double high = 1) {
    return Feed(Scrambled(shape, low, high, DType::kFloat32));
  }

  absl::StatusOr<std::vector<Array>> Run(const Tensors& fetches, const CompileOptions& options) {
    VariableStore store;
    EST_RETURN_IF_ERROR(InitializeVariables(graph_, store));
    const auto backend = MakeCpuBackend(store, options);
    return RunOnce(*backend, graph_, {.feeds = feeds_, .fetches = fetches, .updates = {}}, values_);
  }

  // Runs the program as it is compiled by default, without optional passes, and with checked
  // kernels.
  void ExpectRight(const Tensors& fetches) {
    EST_ASSERT_OK(graph_.status());
    std::map<Tensor, Array> fed;
    for (size_t i = 0; i < feeds_.size(); ++i) fed.emplace(feeds_[i], values_[i]);
    const auto expected = testing::EvalAll(fetches, fed);
    EST_ASSERT_OK(expected);
    for (const CompileOptions& options : std::vector<CompileOptions>{
             {}, {.disable_passes = OptionalPasses()}, {.check_kernels = true}}) {
      const auto found = Run(fetches, options);
      EST_ASSERT_OK(found);
      for (size_t i = 0; i < fetches.size(); ++i) {
        const Difference difference =
            Compare((*found)[i], (*expected)[i], {.relative = 1e-5, .absolute = 1e-5});
        EXPECT_TRUE(difference.equal) << fetches[i].name() << ": " << difference.report;
      }
    }
  }

  std::string Plan(const Tensors& fetches) {
    const auto program =
        Program::Compile(graph_, {.feeds = feeds_, .fetches = fetches, .updates = {}});
    return program.ok() ? (*program)->Plan() : program.status().ToString();
  }

  Tensors feeds_;
  std::vector<Array> values_;
};

Tensor Below(const Tensor& i, const Tensor& n) { return Less(i, n); }

// x^n by n trips.
Tensor Power(const Tensor& x, const Tensor& n) {
  return WhileLoop([&](const Tensors& v) { return Below(v[0], n); },
                   [&](const Tensors& v) {
                     return Tensors{Add(v[0], 1), Multiply(v[1], x)};
                   },
                   {Constant(0), OnesLike(x)})[1];
}

TEST_F(ControlFlowTest, ALoopRunsUntilItsConditionIsFalse) {
  const Tensor x = Floats({3, 5});
  ExpectRight({Power(x, Feed(Array::Scalar<int32_t>(4))), Power(x, Feed(Array::Scalar<int32_t>(3))),
               Power(x, Feed(Array::Scalar<int32_t>(0)))});
}

TEST_F(ControlFlowTest, TheNumberOfTripsMayDependOnTheCarriedValues) {
  // Collatz: 27 takes 111 steps.
  const Tensor n = Feed(Array::Scalar<int32_t>(27));
  const Tensors last =
      WhileLoop([](const Tensors& v) { return Greater(v[1], 1); },
                [](const Tensors& v) {
                  return Tensors{Add(v[0], 1),
                                 Cond(
                                     Equal(FloorMod(v[1], 2), 0), [&] { return FloorDiv(v[1], 2); },
                                     [&] { return Add(Multiply(v[1], 3), 1); })};
                },
                {Constant(0), n});
  ExpectRight(last);
  const auto trips = Run({last[0]}, {});
  EST_ASSERT_OK(trips);
  EXPECT_EQ((*trips)[0].scalar<int32_t>(), 111);
}

TEST_F(ControlFlowTest, CarriedValuesMayBeSwappedDoubledAndKept) {
  const Tensor a = Floats({4}), b = Floats({4});
  const Tensors last = WhileLoop(
      [](const Tensors& v) { return Less(v[0], 5); },
      [](const Tensors& v) {
        const Tensor sum = Add(v[1], v[2]);
        return Tensors{Add(v[0], 1), v[2], v[1], sum, sum, v[5], Constant({1.f, 2.f, 3.f, 4.f})};
      },
      {Constant(0), a, b, a, b, Exp(b), a});
  ExpectRight(last);
  // The same values from outside, twice, and not carried on.
  ExpectRight({Add(last[1], a), last[4]});
}

// h = tanh(h w + x) for each row of xs; all h, and the last one.
Tensors Recurrent(const Tensor& xs, const Tensor& w, const Tensor& h, int64_t capacity,
                  bool reverse) {
  return AddLoop({.name = "rnn",
                  .trips = Constant<int64_t>(xs.dim(0)),
                  .body =
                      [&](const Tensors& carried, const Tensors& elements) {
                        const Tensor next = Tanh(Add(MatMul(carried[0], w), elements[0]));
                        return Tensors{next, next, ReduceSum(next, {1}), elements[0]};
                      },
                  .carried = {h},
                  .scanned = {xs},
                  .capacity = capacity,
                  .reverse = reverse});
}

TEST_F(ControlFlowTest, RowsAreScannedAndStackedInBothDirections) {
  for (const int64_t units : {3, 16}) {  // rows of 24 bytes are not aligned, those of 128 are
    for (const bool reverse : {false, true}) {
      const Tensors results =
          Recurrent(Floats({5, 2, units}), Floats({units, units}), Floats({2, units}), 7, reverse);
      ASSERT_EQ(results.size(), 4u);
      ExpectRight(results);
    }
  }
}

TEST_F(ControlFlowTest, AListGrowsAndFeedsAnotherLoop) {
  const Tensor n = Feed(Array::Scalar<int32_t>(100)), x = Floats({2, 16}, 0.9, 1.1);
  const Tensor y = Power(x, n);
  ExpectRight({y, Gradients({ReduceSum(y)}, {x})[0]});
}

TEST_F(ControlFlowTest, GradientsOfLoopsAgree) {
  const Tensor xs = Floats({6, 2, 16}), w = Floats({16, 16}), h = Floats({2, 16});
  const Tensors results = Recurrent(xs, w, h, 6, false);
  const Tensor loss = Add(ReduceSum(Square(results[0])), ReduceSum(results[2]));
  Tensors fetches = Gradients({loss}, {xs, w, h});
  fetches.push_back(loss);
  ExpectRight(fetches);
}

TEST_F(ControlFlowTest, ABranchRunsIfItIsChosen) {
  const Tensor x = Floats({4});
  for (const bool chosen : {true, false}) {
    const Tensors results = Cond(
        Feed(Array::Scalar<bool>(chosen)),
        [&] {
          const Tensor y = Square(x);
          return Tensors{y, y, x, Add(y, 1)};
        },
        [&] {
          return Tensors{x, Exp(x), Negate(x), Constant({1.f, 2.f, 3.f, 4.f})};
        });
    ExpectRight(results);
  }
  // The other branch would fail.
  const Tensor index = Feed(Array::Scalar<int32_t>(9));
  ExpectRight({Cond(
      Less(index, 4), [&] { return Gather(x, index); }, [&] { return ReduceSum(x); })});
}

TEST_F(ControlFlowTest, AnIndexOutOfRangeChoosesTheLastBranch) {
  const Tensor x = Floats({4});
  for (const int index : {0, 1, 2, 3, -1}) {
    ExpectRight(SwitchCase(Feed(Array::Scalar<int32_t>(index)),
                           {[&] { return Tensors{Add(x, 1)}; }, [&] { return Tensors{x}; },
                            [&] { return Tensors{Exp(x)}; }}));
  }
}

TEST_F(ControlFlowTest, LoopsAndBranchesAreNested) {
  const Tensor x = Floats({3, 16}, 0.5, 1.2), n = Feed(Array::Scalar<int32_t>(5));
  const Tensors last =
      WhileLoop([&](const Tensors& v) { return Less(v[0], n); },
                [&](const Tensors& v) {
                  const Tensor y = Cond(
                      Less(v[0], 2), [&] { return Multiply(Power(v[1], v[0]), x); },
                      [&] { return Add(v[1], x); });
                  return Tensors{Add(v[0], 1), y};
                },
                {Constant(0), x}, {.maximum_iterations = 8});
  ExpectRight({last[1], Gradients({ReduceSum(last[1])}, {x})[0]});
}

// Writes i^2 + the row before into row i.
Tensor Squares(const Tensor& n, const Tensor& first) {
  return WhileLoop([&](const Tensors& v) { return Less(v[0], n); },
                   [&](const Tensors& v) {
                     const TensorArray rows(v[1]);
                     const Tensor before = rows.Read(Subtract(v[0], 1));
                     const Tensor square = Add(Cast(Square(v[0]), DType::kFloat32), before);
                     return Tensors{Add(v[0], 1), rows.Write(v[0], square)};
                   },
                   {Constant(1), first})[1];
}

TEST_F(ControlFlowTest, ATensorArrayIsWrittenInPlace) {
  const Tensor squares = Squares(Feed(Array::Scalar<int32_t>(6)), Exp(Floats({8, 2})));
  ExpectRight({squares});
  // The buffer of the feed is that of the result.
  const std::string plan = Plan({squares});
  EXPECT_THAT(plan, HasSubstr("feed1 = TensorScatterUpdate(feed1, ")) << plan;
}

TEST_F(ControlFlowTest, WhatDependsOnCapturesAloneIsComputedOnce) {
  const Tensor x = Floats({4, 16}), w = Floats({16, 16});
  const Tensors last = WhileLoop([](const Tensors& v) { return Less(v[0], 3); },
                                 [&](const Tensors& v) {
                                   return Tensors{Add(v[0], 1), MatMul(v[1], Tanh(w))};
                                 },
                                 {Constant(0), x});
  ExpectRight(last);
  const std::string plan = Plan(last);
  const size_t before = plan.find("before the first trip"), tanh = plan.find("while/Tanh"),
               body = plan.find("body, at each trip");
  ASSERT_NE(before, std::string::npos) << plan;
  EXPECT_LT(before, tanh);
  EXPECT_LT(tanh, body);
  EXPECT_THAT(plan, HasSubstr("condition, before each trip"));
}

TEST_F(ControlFlowTest, RandomNumbersDifferFromTripToTripAndAreThoseOfTheReference) {
  const auto drawn = [&](const Tensors& v) {
    return Tensors{Add(v[0], 1), TensorArray(v[1]).Write(v[0], RandomUniform({7}, {.seed = 3}))};
  };
  const Tensors last = WhileLoop([](const Tensors& v) { return Less(v[0], 3); }, drawn,
                                 {Constant(0), TensorArray({DType::kFloat32, {7}}, 3)});
  ExpectRight(last);
  const auto values = Run({last[1]}, {});
  EST_ASSERT_OK(values);
  const float* const row = (*values)[0].data<float>();
  EXPECT_NE(row[0], row[7]);
  EXPECT_NE(row[7], row[14]);
}

// The numbers of a step depend on the step only, not on how often the branch ran before. The
// gradient computes the branch again, with the same numbers.
TEST_F(ControlFlowTest, RandomNumbersInABranchAreThoseOfTheStep) {
  const Tensor predicate = Feed(Array::Scalar<bool>(true)), x = Floats({7});
  const Tensor y = Cond(
      predicate, [&] { return Multiply(x, RandomUniform({7}, {.seed = 3})); }, [&] { return x; });
  const Tensor gradient = Gradients({y}, {x})[0];
  const auto run = [&](const std::vector<bool>& predicates) {
    VariableStore store;
    const auto backend = MakeCpuBackend(store, {});
    const auto executable =
        backend->Compile(graph_, {.feeds = feeds_, .fetches = {y, gradient}, .updates = {}});
    EST_EXPECT_OK(executable);
    size_t next = 0;
    const auto infeed = [&]() -> absl::StatusOr<std::optional<StepFeeds>> {
      return StepFeeds{{Array::Scalar<bool>(predicates[next++]), values_[1]}};
    };
    std::vector<std::vector<float>> gradients;
    const auto outfeed = [&](int64_t, const StepFetches& fetches) {
      const Array &of_y = fetches[0][0], &of_gradient = fetches[0][1];
      for (int i = 0; i < 7; ++i)
        EXPECT_EQ(of_y.AsDouble(i), values_[1].data<float>()[i] * of_gradient.data<float>()[i]);
      gradients.emplace_back(of_gradient.data<float>(), of_gradient.data<float>() + 7);
      return absl::OkStatus();
    };
    EST_EXPECT_OK((*executable)->RunLoop(static_cast<int64_t>(predicates.size()), infeed, outfeed));
    return gradients;
  };
  const auto always = run({true, true, true}), sometimes = run({true, false, true});
  EXPECT_NE(always[0], always[1]);
  EXPECT_NE(always[1], always[2]);
  EXPECT_EQ(sometimes[0], always[0]);
  EXPECT_THAT(sometimes[1], ::testing::Each(1));
  EXPECT_EQ(sometimes[2], always[2]);
}

TEST_F(ControlFlowTest, EveryReplicaRunsItsLoop) {
  const Tensor x = Floats({2, 3}), n = Feed(Array::Scalar<int32_t>(3));
  const Tensor y = Power(x, n);
  const Variable total = GetVariable(
      "total", {2, 3},
      {.initializer = [](const Shape& shape, DType dtype) { return Zeros(shape, dtype); }});
  const Operation update = Assign(total, CrossReplicaSum(y));
  VariableStore store;
  EST_ASSERT_OK(InitializeVariables(graph_, store));
  const auto backend = MakeCpuBackend(store, {}, nullptr, 2);
  const auto executable =
      backend->Compile(graph_, {.feeds = feeds_, .fetches = {y}, .updates = {update}});
  EST_ASSERT_OK(executable);
  std::vector<Array> second = values_;
  second[0] = Array(DType::kFloat32, {2, 3});
  second[0].data<float>()[0] = 2;
  EST_ASSERT_OK((*executable)->RunLoop(1, SameFeeds({values_, second}), nullptr));
  const double first = values_[0].AsDouble();
  EXPECT_NEAR(store.Get("total")->AsDouble(), first * first * first + 8, 1e-5);
}

TEST_F(ControlFlowTest, ASumOverReplicasInABodyIsRefused) {
  const Tensor x = Floats({2});
  const Tensors last = WhileLoop([](const Tensors& v) { return Less(v[0], 3); },
                                 [&](const Tensors& v) {
                                   return Tensors{Add(v[0], 1), CrossReplicaSum(v[1])};
                                 },
                                 {Constant(0), x}, {.name = "steps"});
  EXPECT_THAT(Plan(last), HasSubstr("steps/CrossReplicaSum: a sum over replicas inside a loop"));
}

TEST_F(ControlFlowTest, AnErrorNamesTheLoopTheTripAndTheOp) {
  const Tensor x = Floats({4});
  const Tensors last = WhileLoop([](const Tensors& v) { return Less(v[0], 9); },
                                 [&](const Tensors& v) {
                                   return Tensors{Add(v[0], 1), Add(v[1], Gather(x, v[0]))};
                                 },
                                 {Constant(0), Constant(0.f)}, {.name = "decode"});
  const auto result = Run(last, {});
  EXPECT_THAT(result.status().ToString(), HasSubstr("decode: trip 4: decode/Gather"));
  EXPECT_THAT(result.status().ToString(), HasSubstr("= 4 is not in [0, 4)"));
}

// An imported graph has the whole names.
TEST_F(ControlFlowTest, AnErrorInABranchNamesTheOpOnce) {
  const Tensor x = Floats({4});
  const Tensor p = Feed(Array::Scalar(true)), i = Feed(Array::Scalar<int32_t>(7));
  const auto sum = [&] { return ReduceSum(x); };
  for (const std::string scope : {"", "whole/inner/"}) {
    const auto look_up = [&] { return Gather(x, i, {.name = scope + "Gather"}); };
    const std::string outer = scope.empty() ? "outer" : "whole";
    const std::string inner = scope.empty() ? "inner" : "whole/inner";
    const Tensor y = Cond(
        p, [&] { return Cond(p, look_up, sum, inner); }, sum, outer);
    const std::string wanted = "INVALID_ARGUMENT: " + outer + "/inner/Gather: indices";
    EXPECT_THAT(Run({y}, {}).status().ToString(), StartsWith(wanted));
  }
}

TEST_F(ControlFlowTest, TheTraceHasTheOpsOfABody) {
  const Tensor x = Floats({3, 5});
  const Tensor y = Power(x, Feed(Array::Scalar<int32_t>(4)));
  const auto trace = std::make_shared<Trace>();
  SetThreadTrace(trace);
  EST_EXPECT_OK(Run({y}, {.disable_passes = OptionalPasses()}));
  SetThreadTrace(nullptr);
  int products = 0;
  int64_t inside = 0, of_loop = -1;
  for (const TraceEvent& event : trace->events) {
    if (event.op == "Mul") ++products;
    if (absl::StartsWith(event.name, "while/")) inside += event.duration_us;
    if (event.op != "While") continue;
    of_loop = event.inside_us;
    EXPECT_LE(event.inside_us, event.duration_us);
  }
  EXPECT_EQ(of_loop, inside);
  EXPECT_EQ(products, 4);
}

}  // namespace
}  // namespace estimator
