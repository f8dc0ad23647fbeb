#include "estimator/runtime/program.h"

#include <gmock/gmock.h>
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
using testing::CrossReplicaSum;
using ::testing::ElementsAre;
using testing::F32;
using ::testing::HasSubstr;
using testing::MakeVariable;
using testing::Mul;
using testing::Placeholder;
using testing::Sub;

class ProgramTest : public GraphTest {
 protected:
  // One step on the CPU backend with the variables of store_.
  absl::StatusOr<std::vector<Array>> Run(const ProgramSpec& spec, std::vector<Array> feeds = {}) {
    const absl::Status initialized = InitializeVariables(graph_, store_);
    if (!initialized.ok()) return initialized;
    const std::unique_ptr<Backend> backend = MakeCpuBackend(store_, options_);
    return RunOnce(*backend, graph_, spec, std::move(feeds));
  }
  absl::Status Error(const ProgramSpec& spec, std::vector<Array> feeds = {}) {
    return Run(spec, std::move(feeds)).status();
  }
  float Value(absl::string_view name) { return store_.Get(name)->AsDouble(0); }

  VariableStore store_;
  CompileOptions options_;
};

TEST_F(ProgramTest, ComputesFetchesFromFeeds) {
  const Tensor a = Placeholder({2, 2}), b = Placeholder({2, 2});
  const auto result =
      Run({.feeds = {a, b}, .fetches = {testing::MatMul(a, b), Add(a, b)}, .updates = {}},
          {F32({2, 2}, {1, 2, 3, 4}), F32({2, 2}, {5, 6, 7, 8})});
  EST_ASSERT_OK(result);
  EXPECT_THAT((*result)[0].values<float>(), ElementsAre(19, 22, 43, 50));
  EXPECT_THAT((*result)[1].values<float>(), ElementsAre(6, 8, 10, 12));
}

TEST_F(ProgramTest, ThePlanHasEachInstructionAndTheTotals) {
  const Tensor a = Placeholder({2, 3}), b = Placeholder({3, 4});
  const auto program =
      Program::Compile(graph_, {.feeds = {a, b}, .fetches = {testing::MatMul(a, b)}, .updates = {}},
                       {.fastest = KernelTier::kReference, .print_plan = true});
  EST_ASSERT_OK(program);
  const std::string plan = (*program)->Plan();
  EXPECT_THAT(plan, ::testing::StartsWith("plan of a program: 2 feeds, 1 fetches and 0 updates\n"));
  // 2 * 2 * 4 * 3 operations; (6 + 12 + 8) * 4 bytes.
  EXPECT_THAT(plan, ::testing::ContainsRegex("0  reference  - +0\\.[0-9] +0\\.000  MatMul  "));
  EXPECT_THAT(plan, HasSubstr("(f32 [2,3], f32 [3,4]) -> (f32 [2,4])"));
  EXPECT_THAT(plan,
              ::testing::ContainsRegex("total      1 instructions, .*, 0\\.00 MFLOP; arena "));
}

TEST_F(ProgramTest, UnknownPassesAreRefused) {
  options_.disable_passes = {"no_such_pass"};
  const Tensor a = Placeholder({2});
  EXPECT_THAT(Error({.feeds = {a}, .fetches = {Add(a, a)}, .updates = {}}, {F32({2}, {1, 2})}),
              ErrorHas("\"no_such_pass\""));
}

TEST_F(ProgramTest, FetchesOfFeedsConstantsVariablesAndViewsAreTheirValues) {
  const Tensor x = Placeholder({2, 2});
  const Tensor constant = testing::Const(F32({2}, {7, 8}));
  const Variable v = MakeVariable("v", F32({2}, {1, 2}));
  const auto result = Run({.feeds = {x},
                           .fetches = {x, testing::Reshape(x, {4}), constant, v,
                                       testing::Reshape(Add(x, x), {4}), Add(x, x)},
                           .updates = {Assign(v, constant)}},
                          {F32({2, 2}, {1, 2, 3, 4})});
  EST_ASSERT_OK(result);
  EXPECT_THAT((*result)[0].values<float>(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ((*result)[1].shape(), (Shape{4}));
  EXPECT_THAT((*result)[2].values<float>(), ElementsAre(7, 8));
  EXPECT_THAT((*result)[3].values<float>(), ElementsAre(1, 2));  // as the step found it
  EXPECT_THAT((*result)[4].values<float>(), ElementsAre(2, 4, 6, 8));
  EXPECT_EQ((*result)[5].shape(), (Shape{2, 2}));
  EXPECT_EQ(Value("v"), 7);
}

TEST_F(ProgramTest, AnyTensorCanBeFed) {
  const Tensor x = Placeholder({});
  const Tensor y = Add(x, x);
  const auto result =
      Run({.feeds = {y}, .fetches = {Mul(y, y)}, .updates = {}}, {Array::Scalar(3.0f)});
  EST_ASSERT_OK(result);
  EXPECT_EQ((*result)[0].scalar<float>(), 9);
}

TEST_F(ProgramTest, UpdatesReadTheValuesOfTheStepsBeginning) {
  const Variable a = MakeVariable("a", F32({}, {1})), b = MakeVariable("b", F32({}, {10}));
  // Swaps, while c adds up both old values.
  const Variable c = MakeVariable("c", F32({}, {100}));
  const auto result = Run({.feeds = {},
                           .fetches = {},
                           .updates = {Assign(a, b), Assign(b, a), AssignAdd(c, Add(a, b))}});
  EST_ASSERT_OK(result);
  EXPECT_EQ(Value("a"), 10);
  EXPECT_EQ(Value("b"), 1);
  EXPECT_EQ(Value("c"), 111);
}

TEST_F(ProgramTest, InPlaceUpdatesWaitForOtherReaders) {
  // a = a + b and b = b + a: whichever is written first, the other still needs its old value.
  const Variable a = MakeVariable("a", F32({2}, {1, 2})), b = MakeVariable("b", F32({2}, {10, 20}));
  const auto result =
      Run({.feeds = {}, .fetches = {}, .updates = {AssignAdd(a, b), AssignAdd(b, a)}});
  EST_ASSERT_OK(result);
  EXPECT_THAT(store_.Get("a")->values<float>(), ElementsAre(11, 22));
  EXPECT_THAT(store_.Get("b")->values<float>(), ElementsAre(11, 22));
}

TEST_F(ProgramTest, OptimizerUpdateIsWrittenInPlaceAndItsNewValueReadsOn) {
  const Variable w = MakeVariable("w", F32({2}, {1, 2})),
                 ema = MakeVariable("ema", F32({2}, {0, 0}));
  const Tensor grad = Placeholder({2});
  const Tensor updated =
      testing::ApplyGradientDescent(w, testing::Const(Array::Scalar(0.5f)), grad);
  const Operation train = Group({Assign(w, updated), Assign(ema, Add(ema, updated))});
  const ProgramSpec spec{.feeds = {grad}, .fetches = {w}, .updates = {train}};
  const auto result = Run(spec, {F32({2}, {2, 2})});
  EST_ASSERT_OK(result);
  EXPECT_THAT((*result)[0].values<float>(), ElementsAre(1, 2));
  EXPECT_THAT(store_.Get("w")->values<float>(), ElementsAre(0, 1));
  EXPECT_THAT(store_.Get("ema")->values<float>(), ElementsAre(0, 1));
  const std::string text = (*Program::Compile(graph_, spec))->Plan();
  EXPECT_THAT(text, HasSubstr("var0 = ApplyGradientDescent(var0"));
}

TEST_F(ProgramTest, AssignAddsOfOneVariableAddUp) {
  const Variable v = MakeVariable("v", F32({}, {1}));
  const Tensor x = Placeholder({});
  EST_ASSERT_OK(
      Run({.feeds = {x}, .fetches = {}, .updates = {AssignAdd(v, x), AssignAdd(v, Mul(x, x))}},
          {Array::Scalar(3.0f)}));
  EXPECT_EQ(Value("v"), 13);
}

TEST_F(ProgramTest, TwoAssignmentsOfOneVariableAreAnError) {
  const Variable v = MakeVariable("v", F32({}, {1}));
  const Tensor x = Placeholder({});
  EXPECT_THAT(Error({.feeds = {x}, .fetches = {}, .updates = {Assign(v, x), Assign(v, Add(x, x))}},
                    {Array::Scalar(3.0f)}),
              ErrorHas("variable 'v' is assigned twice in one step"));
}

// BERT's optimization.py assigns global_step beside an optimizer that does not count.
TEST_F(ProgramTest, AnAssignmentOfGlobalStepBesideAnOptimizerThatCountsNamesTheCure) {
  const Variable step = MakeVariable("global_step", F32({}, {1}));
  const Tensor one = testing::Const(Array::Scalar(1.0f));
  EXPECT_THAT(Error({.feeds = {},
                     .fetches = {},
                     .updates = {AssignAdd(step, one), Assign(step, Add(step, one))}},
                    {}),
              ErrorHas("Minimize and ApplyGradients add 1 to it: remove your own Assign, or pass "
                       "{.increment_global_step = false} to them"));
}

TEST_F(ProgramTest, AStepThatFailsChangesNoVariable) {
  const Variable v = MakeVariable("v", F32({2}, {1, 2}));
  const Tensor x = Placeholder({2});
  // The failing op stands last in the graph, and only a fetch needs it.
  const Operation update = AssignAdd(v, x);
  const Tensor checked = testing::FailAbove(x, 10);
  const ProgramSpec spec{.feeds = {x}, .fetches = {checked}, .updates = {update}};
  EXPECT_THAT(Error(spec, {F32({2}, {20, 30})}), ErrorIs("FailAbove: the mean is 25"));
  EXPECT_THAT(store_.Get("v")->values<float>(), ElementsAre(1, 2));
  EST_ASSERT_OK(Run(spec, {F32({2}, {1, 1})}));
  EXPECT_THAT(store_.Get("v")->values<float>(), ElementsAre(2, 3));
}

TEST_F(ProgramTest, AllOpsWithoutAKernelAreNamedAtOnce) {
  const Tensor x = Placeholder({});
  const Tensor y = graph_.AddOp("WithoutKernel", {x});
  const Tensor z = graph_.AddOp("AlsoWithoutKernel", {graph_.AddOp("WithoutKernel", {Add(y, y)})});
  const auto result = Run({.feeds = {x}, .fetches = {z}, .updates = {}}, {Array::Scalar(1.0f)});
  EXPECT_THAT(result,
              StatusIs(absl::StatusCode::kUnimplemented,
                       "ops without a kernel: AlsoWithoutKernel (AlsoWithoutKernel), WithoutKernel "
                       "(WithoutKernel and 1 more)"));
}

TEST_F(ProgramTest, PlaceholdersThatAreNotFedAreNamedAtOnce) {
  const Tensor x = Placeholder({2}, DType::kFloat32, "image"),
               y = Placeholder({2}, DType::kFloat32, "label");
  EXPECT_THAT(Error({.feeds = {}, .fetches = {Add(x, y)}, .updates = {}}),
              ErrorHas("not fed: image (f32 [2]), label (f32 [2])"));
}

TEST_F(ProgramTest, FeedsOfAnotherTypeAreRefused) {
  const Tensor x = Placeholder({2}, DType::kFloat32, "image");
  const ProgramSpec spec{.feeds = {x}, .fetches = {Add(x, x)}, .updates = {}};
  EXPECT_THAT(Error(spec, {F32({3}, {1, 2, 3})}),
              ErrorIs("image:0 is fed f32 [3], but it is f32 [2]"));
  EXPECT_THAT(Error(spec, {}), ErrorIs("the step takes 1 arrays of input, given 0"));
}

TEST_F(ProgramTest, VariablesWithoutAValueAreNamed) {
  const Variable v = MakeVariable("v", F32({2}, {1, 2}));
  const std::unique_ptr<Backend> backend = MakeCpuBackend(store_);
  const auto result =
      RunOnce(*backend, graph_, {.feeds = {}, .fetches = {Add(v, v)}, .updates = {}});
  EXPECT_THAT(result,
              StatusIs(absl::StatusCode::kFailedPrecondition, HasSubstr("no value yet: v;")));
}

TEST_F(ProgramTest, AVariableOfAnotherShapeInTheStoreIsAnError) {
  const Variable v = MakeVariable("v", F32({2}, {1, 2}));
  EST_ASSERT_OK(store_.Set("v", F32({3}, {1, 2, 3})));
  EXPECT_THAT(Error({.feeds = {}, .fetches = {Add(v, v)}, .updates = {}}),
              ErrorHas("variable 'v' is f32 [2] in this model, but the store has it as f32 [3]"));
}

TEST_F(ProgramTest, TheGraphsFirstErrorIsReturned) {
  graph_.Fail(absl::InvalidArgumentError("conv: wrong"));
  EXPECT_THAT(Error({}), ErrorHas("conv: wrong"));
}

TEST_F(ProgramTest, GlobalStepKeysTheStep) {
  const Variable step = GetOrCreateGlobalStep();
  const Tensor one = testing::Const(Array::Scalar<int64_t>(1));
  EST_ASSERT_OK(InitializeVariables(graph_, store_));
  EST_ASSERT_OK(store_.Set("global_step", Array::Scalar<int64_t>(41)));
  const std::unique_ptr<Backend> backend = MakeCpuBackend(store_);
  auto executable = backend->Compile(
      graph_,
      {.feeds = {}, .fetches = {testing::StepNumber(), step}, .updates = {AssignAdd(step, one)}});
  EST_ASSERT_OK(executable);
  std::vector<float> keys;
  std::vector<int64_t> steps;
  const auto ran = (*executable)->RunLoop(3, nullptr, [&](int64_t, const StepFetches& fetches) {
    keys.push_back(fetches[0][0].scalar<float>());
    steps.push_back(fetches[0][1].scalar<int64_t>());
    return absl::OkStatus();
  });
  EST_ASSERT_OK(ran);
  EXPECT_THAT(keys, ElementsAre(41, 42, 43));
  EXPECT_THAT(steps, ElementsAre(41, 42, 43));
  EXPECT_EQ(store_.Get("global_step")->scalar<int64_t>(), 44);
}

TEST_F(ProgramTest, WithoutAGlobalStepRunsAreCounted) {
  const std::unique_ptr<Backend> backend = MakeCpuBackend(store_);
  auto executable =
      backend->Compile(graph_, {.feeds = {}, .fetches = {testing::StepNumber()}, .updates = {}});
  EST_ASSERT_OK(executable);
  std::vector<float> keys;
  const Outfeed outfeed = [&](int64_t, const StepFetches& fetches) {
    keys.push_back(fetches[0][0].scalar<float>());
    return absl::OkStatus();
  };
  EST_ASSERT_OK((*executable)->RunLoop(2, nullptr, outfeed));
  EST_ASSERT_OK((*executable)->RunLoop(1, nullptr, outfeed));
  EXPECT_THAT(keys, ElementsAre(0, 1, 2));
}

TEST_F(ProgramTest, TheLoopEndsWithItsInput) {
  const Tensor x = Placeholder({});
  const std::unique_ptr<Backend> backend = MakeCpuBackend(store_);
  auto executable = backend->Compile(graph_, {.feeds = {x}, .fetches = {Add(x, x)}, .updates = {}});
  EST_ASSERT_OK(executable);
  int given = 0;
  const auto ran = (*executable)
                       ->RunLoop(
                           10,
                           [&given]() -> absl::StatusOr<std::optional<StepFeeds>> {
                             if (given == 2) return std::nullopt;
                             ++given;
                             return StepFeeds{{Array::Scalar(1.0f)}};
                           },
                           nullptr);
  EST_ASSERT_OK(ran);
  EXPECT_EQ(*ran, 2);
}

TEST_F(ProgramTest, OneReplicaTakesCollectivesAsTheyAre) {
  const Tensor x = Placeholder({2});
  const Tensor sum = CrossReplicaSum(Add(x, x));
  const ProgramSpec spec{.feeds = {x}, .fetches = {Mul(sum, x)}, .updates = {}};
  const auto result = Run(spec, {F32({2}, {1, 2})});
  EST_ASSERT_OK(result);
  EXPECT_THAT((*result)[0].values<float>(), ElementsAre(2, 8));
  EXPECT_EQ((*Program::Compile(graph_, spec, {.single_replica = true}))->num_segments(), 1);
  EXPECT_EQ((*Program::Compile(graph_, spec))->num_segments(), 2);
}

// What a backend with several replicas does, by hand.
absl::Status Reduce(const Program& program, int segment,
                    std::vector<std::unique_ptr<ProgramRun>>& runs) {
  for (const Collective& collective : program.collectives(segment)) {
    for (int64_t i = 0; i < collective.spec.shape.num_elements(); ++i) {
      float sum = 0;
      for (auto& run : runs) sum += static_cast<const float*>(run->buffer(collective.input))[i];
      for (auto& run : runs) static_cast<float*>(run->buffer(collective.output))[i] = sum;
    }
  }
  return absl::OkStatus();
}

TEST_F(ProgramTest, TwoReplicasReduceBetweenSegments) {
  const Variable w = MakeVariable("w", F32({2}, {1, 1}));
  const Tensor x = Placeholder({2});
  const Tensor grad = CrossReplicaSum(Mul(w, x));
  const Tensor norm = CrossReplicaSum(Mul(grad, grad));  // depends on the first: another segment
  const Operation update = Assign(w, Sub(w, grad));
  const ProgramSpec spec{.feeds = {x}, .fetches = {norm, Mul(x, x)}, .updates = {update}};
  EST_ASSERT_OK(InitializeVariables(graph_, store_));
  const auto program = Program::Compile(graph_, spec);
  EST_ASSERT_OK(program);
  ASSERT_EQ((*program)->num_segments(), 3);
  std::vector<std::unique_ptr<ProgramRun>> runs;
  for (int replica = 0; replica < 2; ++replica) {
    auto run = ProgramRun::Create(*program, store_, replica, 2);
    EST_ASSERT_OK(run);
    EST_ASSERT_OK((*run)->SetFeeds({replica == 0 ? F32({2}, {1, 2}) : F32({2}, {10, 20})}));
    runs.push_back(*std::move(run));
  }
  for (int segment = 0; segment < 3; ++segment) {
    for (auto& run : runs) EST_ASSERT_OK(run->RunSegment(segment, 0));
    EST_ASSERT_OK(Reduce(**program, segment, runs));
  }
  EXPECT_THAT(store_.Get("w")->values<float>(), ElementsAre(1, 1));
  EST_ASSERT_OK(runs[0]->ApplyUpdates());
  EXPECT_THAT(store_.Get("w")->values<float>(), ElementsAre(-10, -21));
  EXPECT_THAT(runs[1]->fetches()[0].values<float>(), ElementsAre(242, 968));
  EXPECT_THAT(runs[0]->fetches()[1].values<float>(), ElementsAre(1, 4));
  EXPECT_THAT(runs[1]->fetches()[1].values<float>(), ElementsAre(100, 400));
}

TEST_F(ProgramTest, GroupsAreHandedToTheBackendAndMustNameEveryReplica) {
  const Tensor x = Placeholder({2});
  const Tensor sum = CrossReplicaSum(x, {{0, 2}, {1, 3}});
  const auto program = Program::Compile(graph_, {.feeds = {x}, .fetches = {sum}, .updates = {}});
  EST_ASSERT_OK(program);
  EXPECT_THAT((*program)->collectives(0)[0].groups,
              ElementsAre(ElementsAre(0, 2), ElementsAre(1, 3)));
  EST_EXPECT_OK(ProgramRun::Create(*program, store_, 0, 4));
  EXPECT_THAT(ProgramRun::Create(*program, store_, 0, 8),
              ErrorHas("group_assignment [[0,2],[1,3]] must name each of the 8 replicas once"));
}

TEST_F(ProgramTest, ProgramsShareAnArena) {
  const Tensor small = Placeholder({2}), large = Placeholder({64, 64});
  const auto sum = [](const Tensor& x) { return Add(Mul(x, x), Mul(Add(x, x), x)); };
  const std::unique_ptr<Backend> backend = MakeCpuBackend(store_);
  auto first = backend->Compile(graph_, {.feeds = {small}, .fetches = {sum(small)}, .updates = {}});
  auto second =
      backend->Compile(graph_, {.feeds = {large}, .fetches = {sum(large)}, .updates = {}});
  EST_ASSERT_OK(first);
  EST_ASSERT_OK(second);
  const auto run = [](Executable& executable, const Array& x) {
    float value = 0;
    EST_EXPECT_OK(executable.RunLoop(
        1, [&x]() -> absl::StatusOr<std::optional<StepFeeds>> { return StepFeeds{{x}}; },
        [&value](int64_t, const StepFetches& fetches) {
          value = fetches[0][0].data<float>()[0];
          return absl::OkStatus();
        }));
    return value;
  };
  Array twos(DType::kFloat32, {64, 64});
  for (float& value : twos.values<float>()) value = 2;
  EXPECT_EQ(run(**first, F32({2}, {3, 3})), 27);
  EXPECT_EQ(run(**second, twos), 12);
  EXPECT_EQ(run(**first, F32({2}, {1, 1})), 3);
}

TEST_F(ProgramTest, StringsPassThrough) {
  const Tensor x = Placeholder({2}, DType::kString);
  const auto result = Run({.feeds = {x}, .fetches = {testing::Reshape(x, {2, 1})}, .updates = {}},
                          {Array::Of<std::string>({2}, {"a", "b"})});
  EST_ASSERT_OK(result);
  EXPECT_THAT((*result)[0].values<std::string>(), ElementsAre("a", "b"));
}

TEST_F(ProgramTest, CheckedStepsGiveTheSame) {
  options_.check_kernels = true;
  const Variable v = MakeVariable("v", F32({2}, {1, 2}));
  const Tensor x = Placeholder({2});
  const auto result =
      Run({.feeds = {x}, .fetches = {Mul(x, v)}, .updates = {AssignAdd(v, x)}}, {F32({2}, {3, 4})});
  EST_ASSERT_OK(result);
  EXPECT_THAT((*result)[0].values<float>(), ElementsAre(3, 8));
  EXPECT_THAT(store_.Get("v")->values<float>(), ElementsAre(4, 6));
}

// A fast kernel that is wrong.
EST_REGISTER_KERNEL("FailAbove", KernelTier::kFused,
                    [](const KernelSpec& spec) -> std::unique_ptr<Kernel> {
                      if (spec.inputs[0].shape.rank() != 3) return nullptr;
                      return MakeKernel([](const KernelArgs& args) {
                        *args.out<float>(0) = *args.in<float>(0) + 1;
                        return absl::OkStatus();
                      });
                    });

TEST_F(ProgramTest, AWrongKernelIsFoundByTheCheck) {
  const Tensor x = Placeholder({1, 1, 1});
  const ProgramSpec spec{.feeds = {x}, .fetches = {testing::FailAbove(x, 100)}, .updates = {}};
  EST_EXPECT_OK(Run(spec, {F32({1, 1, 1}, {5})}));
  options_.check_kernels = true;
  EXPECT_THAT(
      Error(spec, {F32({1, 1, 1}, {5})}),
      ErrorHas(
          "FailAbove: output 0 of FailAbove differs from the reference kernel: 1 of 1 elements"));
}

}  // namespace
}  // namespace estimator
