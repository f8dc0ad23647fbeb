// Every op of the registry and its gradient against TensorFlow: the cases of testdata/ops, with the
// reference kernels alone and with the fastest ones.
#include <cfloat>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/array/compare.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/ops/testing/eval.h"
#include "estimator/ops/testing/golden_table.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::GoldenCase;

// Ops that TensorFlow alone cannot show, and why.
const std::map<std::string, std::string>& Exempt() {
  static const auto* const exempt = new std::map<std::string, std::string>{
      {"Assign", "an update of the step: runtime/program_test, testdata/interop/check_graph.py"},
      {"AssignAdd", "the same"},
      {"CrossReplicaSum", "TensorFlow's CPU has no kernel: ops/cross_replica_test, tpu"},
      {"NoOp", "has no value"},
      {"Placeholder", "a feed: every case here uses it"},
      {"ReplicaId", "TensorFlow's CPU has no kernel: ops/cross_replica_test, tpu"},
      {"VariableV2", "state: runtime/program_test, testdata/interop/check_graph.py"},
  };
  return *exempt;
}

// Gradients that TensorFlow has not, and where they are tested.
const std::map<std::string, std::string>& ExemptGradients() {
  static const auto* const exempt = new std::map<std::string, std::string>{
      {"SoftsignGrad", "activations_test: finite differences"},
  };
  return *exempt;
}

// One rounding of the dtype, relative.
double Epsilon(DType dtype) {
  switch (dtype) {
    case DType::kFloat64:
      return DBL_EPSILON;
    case DType::kFloat32:
      return FLT_EPSILON;
    case DType::kFloat16:
      return std::ldexp(1.0, -10);
    case DType::kBfloat16:
      return std::ldexp(1.0, -7);
    default:
      return 0;
  }
}

// The classes of cases.py, in roundings of the dtype. Sums and products of a case are of the
// order of 1 to 10, so an absolute part stands for what cancels in them.
Tolerance ToleranceOf(const std::string& name, DType dtype) {
  static const auto* const roundings = new std::map<std::string, Tolerance>{
      {"exact", {}},                                     // moves, comparisons, one rounding
      {"bits", {}},                                      // random numbers
      {"rounded", {.relative = 4, .absolute = 0}},       // a few operations
      {"function", {.relative = 16, .absolute = 8}},     // exp, log, ...: another libm
      {"sum", {.relative = 16, .absolute = 16}},         // another order of summation
      {"long_sum", {.relative = 256, .absolute = 256}},  // thousands of terms
      {"statistics", {.relative = 64, .absolute = 64}},  // sums, divisions and a root
  };
  const Tolerance& in_roundings = roundings->at(name);
  const double epsilon = Epsilon(dtype);
  return {.relative = in_roundings.relative * epsilon, .absolute = in_roundings.absolute * epsilon};
}

const std::vector<GoldenCase>& Goldens() {
  static const auto* const goldens = [] {
    auto read = testing::ReadGoldens("testdata/ops");
    if (!read.ok()) ADD_FAILURE() << read.status();
    return new std::vector<GoldenCase>(read.ok() ? *std::move(read) : std::vector<GoldenCase>());
  }();
  return *goldens;
}

std::vector<std::string> GoldenOps() {
  std::set<std::string> ops;
  for (const GoldenCase& golden : Goldens()) ops.insert(golden.op);
  return {ops.begin(), ops.end()};
}

// What is fetched for a case, and what it must be.
struct Wanted {
  std::string what;
  Tensor tensor;
  Array value;
};

std::string Difference(const GoldenCase& golden, const Array& actual, const Array& expected) {
  if (golden.tolerance == "bits" && !SameBits(actual, expected)) {
    const std::string report = Compare(actual, expected).report;
    return report.empty() ? "the bits differ" : report;
  }
  return Compare(actual, expected, ToleranceOf(golden.tolerance, expected.dtype())).report;
}

// TensorFlow gives zeros in places where no gradient flows here (Sign): the same thing.
bool IsZero(const Array& array) {
  for (int64_t i = 0; i < array.num_elements(); ++i) {
    if (array.AsDouble(i) != 0) return false;
  }
  return true;
}

// Builds the case's node and its gradients in `graph`, and says what to fetch.
std::vector<Wanted> Build(const GoldenCase& golden, Graph& graph, std::map<Tensor, Array>* feeds) {
  const auto placeholder = [&](const Array& value) {
    const Tensor tensor =
        graph.AddOp("Placeholder", {}, {{"dtype", value.dtype()}, {"shape", value.shape()}});
    (*feeds)[tensor] = value;
    return tensor;
  };
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < golden.inputs.size(); ++i) {
    const Array& value = golden.inputs[i];
    inputs.push_back(golden.constants.count(static_cast<int>(i)) > 0
                         ? graph.AddOp("Const", {}, {{"value", value}, {"dtype", value.dtype()}})
                         : placeholder(value));
  }
  Node* const node = graph.AddNode(golden.op, inputs, golden.attrs, "golden");
  if (node == nullptr) return {};
  EXPECT_EQ(node->num_outputs(), golden.num_outputs);
  std::vector<Wanted> wanted;
  for (const auto& [i, value] : golden.outputs) {
    wanted.push_back({absl::StrCat("output ", i), Tensor(&graph, node, i), value});
  }
  std::vector<Tensor> ys, grad_ys, xs;
  for (const auto& [i, value] : golden.grad_ys) {
    ys.emplace_back(&graph, node, i);
    grad_ys.push_back(placeholder(value));
  }
  if (golden.differentiated.empty()) return wanted;
  for (const int i : golden.differentiated) xs.push_back(inputs[static_cast<size_t>(i)]);
  const std::vector<Tensor> grads = Gradients(ys, xs, grad_ys);
  if (!graph.status().ok()) return {};
  size_t next = 0;
  for (const int i : golden.differentiated) {
    const Tensor& grad = grads[next++];
    const auto expected = golden.grads.find(i);
    const bool zero = expected == golden.grads.end() || IsZero(expected->second);
    EXPECT_TRUE(grad.valid() || zero) << "no gradient of operand " << i << ", TensorFlow has one";
    EXPECT_TRUE(!grad.valid() || expected != golden.grads.end())
        << "a gradient of operand " << i << ", TensorFlow has none";
    if (!grad.valid() || expected == golden.grads.end()) continue;
    wanted.push_back({absl::StrCat("gradient of operand ", i), grad, expected->second});
  }
  return wanted;
}

void ExpectEqualsTensorFlow(const GoldenCase& golden) {
  SCOPED_TRACE(absl::StrCat(golden.op, "/", golden.name, " {", golden.attrs.ToString(), "}"));
  Graph graph;
  const GraphScope scope(graph);
  std::map<Tensor, Array> feeds;
  const std::vector<Wanted> wanted = Build(golden, graph, &feeds);
  ASSERT_TRUE(graph.status().ok()) << graph.status();
  std::vector<Tensor> fetches;
  for (const Wanted& w : wanted) fetches.push_back(w.tensor);
  for (const KernelTier tier : {KernelTier::kReference, KernelTier::kOneDnn}) {
    const char* const kernels = tier == KernelTier::kReference ? "reference" : "fastest";
    const auto values = testing::EvalAll(fetches, feeds, {}, tier);
    ASSERT_TRUE(values.ok()) << kernels << ": " << values.status();
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(Difference(golden, (*values)[i], wanted[i].value), "")
          << wanted[i].what << ", " << kernels << " kernels";
    }
  }
}

class OpGoldens : public ::testing::TestWithParam<std::string> {};

TEST_P(OpGoldens, EqualTensorFlowsOnEveryKernelTier) {
  for (const GoldenCase& golden : Goldens()) {
    if (golden.op == GetParam()) ExpectEqualsTensorFlow(golden);
  }
}

INSTANTIATE_TEST_SUITE_P(Ops, OpGoldens, ::testing::ValuesIn(GoldenOps()),
                         [](const auto& info) { return info.param; });

TEST(OpGoldensTable, HasEveryOpOfTheRegistryOrSaysWhyNot) {
  const std::vector<std::string> ops = GoldenOps();
  const std::set<std::string> with_golden(ops.begin(), ops.end());
  for (const std::string& op : RegisteredOps()) {
    EXPECT_NE(with_golden.count(op), Exempt().count(op))
        << op
        << (Exempt().count(op) > 0 ? " has goldens: strike it from the exemptions"
                                   : " has no golden: add rows to testdata/ops/cases.py");
  }
  for (const auto& [op, reason] : Exempt()) {
    EXPECT_NE(FindOp(op), nullptr) << op << " is exempt, but not registered";
  }
}

TEST(OpGoldensTable, HasTheGradientOfEveryDifferentiableOp) {
  std::set<std::string> with_gradient;
  for (const GoldenCase& golden : Goldens()) {
    if (!golden.grads.empty()) with_gradient.insert(golden.op);
  }
  for (const std::string& op : RegisteredOps()) {
    if (FindOp(op)->gradient == nullptr || Exempt().count(op) > 0) continue;
    EXPECT_NE(with_gradient.count(op), ExemptGradients().count(op))
        << op
        << (with_gradient.count(op) > 0 ? " has goldens of its gradient: strike the exemption"
                                        : " has a gradient, and no golden of it");
  }
}

}  // namespace
}  // namespace estimator
