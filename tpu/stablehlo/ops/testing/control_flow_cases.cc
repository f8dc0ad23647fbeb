#include "tpu/stablehlo/ops/testing/control_flow_cases.h"

#include <cstdint>
#include <map>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/ops/ops.h"
#include "estimator/ops/testing/eval.h"
#include "tpu/stablehlo/lower_step.h"

namespace estimator::tpu::stablehlo::testing {
namespace {

using estimator::testing::Scrambled;

constexpr int64_t kStep = 5;  // the step that is run; random numbers depend on it

Array Floats(const Shape& shape, double low = -1, double high = 1) {
  return Scrambled(shape, low, high, DType::kFloat32);
}
Array Int(int32_t value) { return Array::Scalar(value); }
Array Bool(bool value) { return Array::Scalar(value); }

// y with the gradients of sum(y * y) by the inputs that have one.
Tensors WithGradients(const Tensor& y, const Tensors& inputs) {
  Tensors floats, results = {y};
  for (const Tensor& input : inputs)
    if (IsFloating(input.dtype())) floats.push_back(input);
  for (const Tensor& gradient : Gradients({ReduceSum(y * y)}, floats)) results.push_back(gradient);
  return results;
}

// x doubled until its sum is 100 or more. Returns it and the number of trips.
Tensors Doubled(const Tensor& x, const WhileLoopOptions& options = {}) {
  return WhileLoop([](const Tensors& v) { return Less(ReduceSum(v[0]), 100.f); },
                   [](const Tensors& v) {
                     return Tensors{v[0] * 2.0, v[1] + 1};
                   },
                   {x, Constant(0)}, options);
}

// tanh(x * w) applied n times.
Tensor Iterated(const Tensor& x, const Tensor& w, const Tensor& n,
                const WhileLoopOptions& options) {
  return WhileLoop([&n](const Tensors& v) { return Less(v[0], n); },
                   [&w](const Tensors& v) {
                     return Tensors{v[0] + 1, Tanh(v[1] * w)};
                   },
                   {Constant(0), x}, options)[1];
}

std::vector<ControlFlowCase> LoopCases() {
  return {
      {"While_data_dependent",
       [](const Tensors& in) { return Doubled(in[0]); },
       {Floats({3}, 1, 2)},
       "sum",
       {Floats({3}, 9, 12)}},
      {"While_maximum_iterations",
       [](const Tensors& in) { return Doubled(in[0], {.maximum_iterations = 2}); },
       {Floats({3}, 1, 2)},
       "sum",
       {Floats({3}, 20, 30)}},
      {"While_no_trip",
       [](const Tensors& in) {
         const Tensor n = Constant(3);
         return WithGradients(Iterated(in[0], in[1], n, {.maximum_iterations = 0}), in);
       },
       {Floats({3}), Floats({3})}},
      {"While_nested",
       [](const Tensors& in) {
         // For i < n: for j < i: x = x * w + j. The inner loop reads the values of the outer one.
         return WhileLoop([&in](const Tensors& v) { return Less(v[0], in[2]); },
                          [&in](const Tensors& v) {
                            const Tensors inner = WhileLoop(
                                [&v](const Tensors& u) { return Less(u[0], v[0]); },
                                [&in](const Tensors& u) {
                                  const Tensor x = u[1] * in[1] + Cast(u[0], DType::kFloat32);
                                  return Tensors{u[0] + 1, x};
                                },
                                {Constant(0), v[1]});
                            return Tensors{v[0] + 1, inner[1], v[2] + inner[0]};
                          },
                          {Constant(0), in[0], Constant(0)});
       },
       {Floats({2, 2}), Floats({2}), Int(4)},
       "sum",
       {Floats({2, 2}), Floats({2}), Int(1)}},
      {"While_types",
       [](const Tensors& in) {
         return WhileLoop([](const Tensors& v) { return v[0]; },
                          [](const Tensors& v) {
                            return Tensors{Less(v[1], Constant(int64_t{6})),
                                           v[1] + Constant(int64_t{2}), LogicalNot(v[2]),
                                           Cast(v[3] * 0.5, DType::kBfloat16)};
                          },
                          {in[0], Constant(int64_t{1}), in[1], in[2]});
       },
       {Bool(true), Array::Of<bool>({2}, {true, false}),
        Array::Of<float>({2}, {4.f, -8.f}).Cast(DType::kBfloat16)},
       "exact",
       {Bool(false), Array::Of<bool>({2}, {false, false}),
        Array::Of<float>({2}, {1.f, 2.f}).Cast(DType::kBfloat16)}},
      {"While_tensor_array",
       [](const Tensors& in) {
         return WhileLoop([](const Tensors& v) { return Less(v[0], 4); },
                          [&in](const Tensors& v) {
                            const Tensor row = TensorArray(in[0]).Read(3 - v[0]);
                            return Tensors{v[0] + 1, TensorArray(v[1]).Write(v[0], Square(row))};
                          },
                          {Constant(0), TensorArray({DType::kFloat32, {2}}, 5)});
       },
       {Floats({4, 2})}},
  };
}

std::vector<ControlFlowCase> RowCases() {
  const ScanFunction affine = [](const Tensors& acc, const Tensors& row) {
    return Tensors{acc[0] * 0.5 + row[0]};
  };
  return {
      {"While_map_fn",
       [](const Tensors& in) {
         return MapFn(
             [](const Tensors& row) {
               return Tensors{row[0] * row[1], ReduceMax(row[0])};
             },
             in);
       },
       {Floats({4, 3}), Floats({4, 3})}},
      {"While_scan",
       [affine](const Tensors& in) { return Scan(affine, {in[0]}, {in[1]}); },
       {Floats({4, 3}), Floats({3})}},
      {"While_scan_reverse",
       [affine](const Tensors& in) { return Scan(affine, {in[0]}, {in[1]}, {.reverse = true}); },
       {Floats({4, 3}), Floats({3})}},
      {"While_fold",
       [affine](const Tensors& in) {
         return Tensors{Foldl(affine, {in[0]}, {in[1]})[0], Foldr(affine, {in[0]}, {in[1]})[0]};
       },
       {Floats({4, 3}), Floats({3})}},
  };
}

std::vector<ControlFlowCase> GradientCases() {
  return {
      // Three trips of five: the rows of the others are zero, and the backward loop does not read
      // them.
      {"While_gradient",
       [](const Tensors& in) {
         return WithGradients(Iterated(in[0], in[1], in[2], {.maximum_iterations = 5}), in);
       },
       {Floats({3}), Floats({3}), Int(3)},
       "sum",
       {Floats({3}), Floats({3}), Int(9)}},
      {"While_gradient_nested",
       [](const Tensors& in) {
         const Tensors last =
             WhileLoop([](const Tensors& v) { return Less(v[0], 3); },
                       [&in](const Tensors& v) {
                         const Tensor n = v[0] + 1;
                         return Tensors{n, Iterated(v[1], in[1], n, {.maximum_iterations = 4})};
                       },
                       {Constant(0), in[0]}, {.maximum_iterations = 3});
         return WithGradients(last[1], in);
       },
       {Floats({3}), Floats({3}, 0.5, 1.5)}},
      {"While_gradient_scan",
       [](const Tensors& in) {
         const auto cell = [&in](const Tensor& h, const Tensor& x) {
           return Tanh(MatMul(h, in[2]) + x);
         };
         return WithGradients(Scan(cell, in[0], in[1]), in);
       },
       {Floats({4, 2, 3}), Floats({2, 3}), Floats({3, 3})}},
      {"While_gradient_scan_reverse",
       [](const Tensors& in) {
         const auto cell = [](const Tensor& h, const Tensor& x) { return Sin(h * x); };
         return WithGradients(Scan(cell, in[0], in[1], {.reverse = true}), in);
       },
       {Floats({4, 3}), Floats({3})}},
      {"While_gradient_embedding",
       [](const Tensors& in) {
         const auto row = [&in](const Tensor& id) { return Gather(in[0], id) * 2.0; };
         return WithGradients(MapFn(row, in[1]), in);
       },
       {Floats({5, 2}), Array::Of<int32_t>({4}, {3, 0, 3, 4})}},
      {"While_per_example_gradients",
       [](const Tensors& in) {
         const Tensor& w = in[1];
         return Tensors{MapFn(
             [&w](const Tensor& x) {
               const Tensor y = MatMul(ExpandDims(x, 0), w);
               return Gradients({ReduceSum(y * y)}, {w})[0];
             },
             in[0])};
       },
       {Floats({4, 3}), Floats({3, 2})}},
      // A dropout in a recurrent network: the backward loop reads the mask of the forward trip.
      {"While_gradient_random",
       [](const Tensors& in) {
         const auto cell = [](const Tensor& h, const Tensor& x) {
           const Tensor keep = Less(RandomUniform({3}, {.seed = 4}), 0.5f);
           return Sin(h + x) * Cast(keep, DType::kFloat32);
         };
         return WithGradients(Scan(cell, in[0], in[1]), in);
       },
       {Floats({4, 3}), Floats({3})}},
  };
}

Tensors Chosen(const Tensor& index, const Tensor& x, const Tensor& y) {
  return SwitchCase(index, {[&] {
                              return Tensors{x + y, Constant(10)};
                            },
                            [&] {
                              return Tensors{x, Constant(20)};
                            },
                            [&] {
                              return Tensors{Exp(x) * y, Constant(30)};
                            }});
}

Tensor Branch(const Tensor& predicate, const Tensor& x, const Tensor& y) {
  return Cond(
      predicate, [&] { return Sin(x) * y; }, [&] { return Square(x); });
}

std::vector<ControlFlowCase> BranchCases() {
  std::vector<ControlFlowCase> cases = {
      {"If_true",
       [](const Tensors& in) { return WithGradients(Branch(in[0], in[1], in[2]), in); },
       {Bool(true), Floats({3}), Floats({3}, 1, 2)},
       "function",
       {Bool(false), Floats({3}), Floats({3}, 1, 2)}},
      {"If_false",
       [](const Tensors& in) { return WithGradients(Branch(in[0], in[1], in[2]), in); },
       {Bool(false), Floats({3}), Floats({3}, 1, 2)},
       "function"},
      // One replica does not run the loop, which would not end for its values.
      {"If_loop",
       [](const Tensors& in) {
         return Cond(
             Greater(ReduceMin(in[0]), 0.f), [&] { return Doubled(in[0]); },
             [&] {
               return Tensors{in[0], Constant(-1)};
             });
       },
       {Floats({3}, 1, 2)},
       "sum",
       {Floats({3}, -2, -1)}},
      {"If_in_loop",
       [](const Tensors& in) {
         const auto next = [](const Tensor& acc, const Tensor& x) {
           return Cond(
               Greater(x, 0.f), [&] { return acc * x; }, [&] { return acc - x; });
         };
         return WithGradients(Scan(next, in[0], in[1]), in);
       },
       {Floats({6}), Floats({})}},
      {"If_random",
       [](const Tensors& in) {
         return Tensors{Cond(
             in[0], [] { return RandomUniform({5}, {.seed = 1}); },
             [] { return RandomUniform({5}, {.seed = 2}) + 1.0; })};
       },
       {Bool(true)},
       "rounded",
       {Bool(false)}},
  };
  for (const int32_t index : {-1, 0, 1, 2, 3}) {
    cases.push_back({absl::StrCat("Case_", index < 0 ? "negative" : absl::StrCat(index)),
                     [](const Tensors& in) {
                       Tensors results = Chosen(in[0], in[1], in[2]);
                       const Tensors gradients = WithGradients(results[0], in);
                       results.insert(results.end(), gradients.begin() + 1, gradients.end());
                       return results;
                     },
                     {Int(index), Floats({3}), Floats({3}, 1, 2)},
                     "function",
                     {Int(1), Floats({3}), Floats({3}, 1, 2)}});
  }
  return cases;
}

std::vector<ControlFlowCase> RandomCases() {
  return {
      {"While_random_nested",
       [](const Tensors& in) {
         return Tensors{MapFn(
             [](const Tensor& row) {
               return MapFn([](const Tensor& x) { return x + RandomUniform({3}, {.seed = 7}); },
                            row);
             },
             in[0])};
       },
       {Floats({2, 3})},
       "rounded"},
      {"While_random_reverse",
       [](const Tensors& in) {
         const auto next = [](const Tensor& acc, const Tensor& x) {
           return acc * x + RandomUniform({2}, {.seed = 7});
         };
         return Tensors{Scan(next, in[0], in[1], {.reverse = true})};
       },
       {Floats({3}), Floats({2})},
       "rounded"},
      {"While_random_kinds",
       [](const Tensors& in) {
         return MapFn(
             [](const Tensors& row) {
               return Tensors{RandomNormal({5}, {.seed = 1}), TruncatedNormal({5}, {.seed = 2}),
                              row[0]};
             },
             in);
       },
       {Floats({3})},
       "function"},
      {"While_random_integers",
       [](const Tensors& in) {
         return MapFn([](const Tensors& row) { return Tensors{RandomShuffle(row[0], 3)}; }, in);
       },
       {Floats({3, 6})},
       "exact"},
  };
}

}  // namespace

std::vector<ControlFlowCase> ControlFlowCases() {
  std::vector<ControlFlowCase> all;
  for (const auto& part : {LoopCases(), RowCases(), GradientCases(), BranchCases(), RandomCases()})
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

absl::StatusOr<ControlFlowModule> ModuleOf(const ControlFlowCase& the_case, int num_replicas) {
  Graph graph;
  const GraphScope scope(graph);
  Tensors feeds;
  for (const Array& input : the_case.inputs)
    feeds.push_back(Placeholder(input.dtype(), input.shape()));
  const Tensors fetches = the_case.build(feeds);
  EST_ASSIGN_OR_RETURN(const StepModule step,
                       LowerStep(graph, {.feeds = feeds, .fetches = fetches, .updates = {}},
                                 {.num_replicas = num_replicas}));
  ControlFlowModule module{.text = step.text, .arguments = {}, .results = {}};
  for (int replica = 0; replica < num_replicas; ++replica) {
    const bool other = replica == 1 && !the_case.of_replica_1.empty();
    const std::vector<Array>& inputs = other ? the_case.of_replica_1 : the_case.inputs;
    std::map<Tensor, Array> values;
    for (size_t i = 0; i < feeds.size(); ++i) values.emplace(feeds[i], inputs[i]);
    const StepContext context{.step = kStep, .replica = replica, .num_replicas = num_replicas};
    EST_ASSIGN_OR_RETURN(std::vector<Array> results,
                         estimator::testing::EvalAll(fetches, values, context));
    std::vector<Array> arguments;
    for (const StepArgument& argument : step.arguments) {
      switch (argument.kind) {
        case StepArgument::Kind::kVariable:
          return InvalidArgument("a case with variables");
        case StepArgument::Kind::kFeed:
          arguments.push_back(
              inputs[static_cast<size_t>(argument.index)].Reshaped(argument.spec.shape));
          break;
        case StepArgument::Kind::kNumSteps:
          arguments.push_back(Array::Scalar(int32_t{1}));
          break;
        case StepArgument::Kind::kFirstStep:
          arguments.push_back(Array::Scalar(kStep));
          break;
      }
    }
    for (Array& result : results) result = result.Reshaped(result.shape().Stacked(1));
    results.push_back(Array::Scalar(int32_t{1}));  // steps_done
    module.arguments.push_back(std::move(arguments));
    module.results.push_back(std::move(results));
  }
  return module;
}

}  // namespace estimator::tpu::stablehlo::testing
