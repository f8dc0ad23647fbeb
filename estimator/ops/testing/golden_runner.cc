#include "estimator/ops/testing/golden_runner.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cfloat>
#include <cmath>
#include <map>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/kernels/testing/split_products.h"
#include "estimator/ops/testing/eval.h"

namespace estimator::testing {
namespace {

// The relative error of one rounding to the dtype.
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

// The tolerance of a class of cases.py, in roundings of the result's dtype. It applies to the
// element itself, and to the tensor's largest element, but at least to 1. The operands are about 1,
// so a rounding of an intermediate value is a rounding of 1, not of a small result. "Measured" is
// the error of the worst case of the class; the tolerance is twice that, for other vector widths
// and numbers of threads.
struct ToleranceClass {
  double wide = 0;    // float64, float32
  double narrow = 0;  // float16, bfloat16: computed in float32 and rounded once here
};

const std::map<std::string, ToleranceClass>& Classes() {
  static const auto* const classes = new std::map<std::string, ToleranceClass>{
      // Moves, comparisons, and single operations, which IEEE 754 rounds correctly.
      {"exact", {}},
      // Random numbers.
      {"bits", {}},
      // A few operations, which a compiler may contract to fused ones. Measured: 0 and 0.
      {"rounded", {.wide = 1, .narrow = 1}},
      // exp, log, tanh and similar functions: TensorFlow uses Eigen's polynomials, we use libm and
      // our own. TensorFlow rounds 16-bit gradients after each operation. Measured: 3.9 and 1.
      {"function", {.wide = 8, .narrow = 2}},
      // FTRL's difference of two powers, divided by the rate. Measured: 9.2.
      {"powers", {.wide = 18, .narrow = 2}},
      // Compositions of several such functions. Measured: 7.9.
      {"composed", {.wide = 16, .narrow = 2}},
      // Sums of up to a hundred terms in another order. Measured: 2.6 and 1.
      {"sum", {.wide = 6, .narrow = 2}},
      // Sums of up to thousands of terms in another order. Measured: 3.6.
      {"long_sum", {.wide = 8, .narrow = 2}},
      // Decompositions of well-conditioned matrices with up to 25 elements, and solutions by them.
      {"solution", {.wide = 32, .narrow = 1}},
      // Moments, a division and a root. The gradient subtracts nearly equal numbers.
      // Measured: 13.8 and 0.
      {"statistics", {.wide = 28, .narrow = 1}},
  };
  return *classes;
}

double LargestFinite(const Array& array) {
  double largest = 0;
  for (int64_t i = 0; i < array.num_elements(); ++i) {
    const double value = std::abs(array.AsDouble(i));
    if (std::isfinite(value)) largest = std::max(largest, value);
  }
  return largest;
}

// A tensor to fetch for a case, and its expected value.
struct Wanted {
  std::string what;
  Tensor tensor;
  Array value;
};

std::string DifferenceOf(const GoldenCase& golden, KernelTier tier, const Array& actual,
                         const Array& expected) {
  if (golden.tolerance == "bits" && !SameBits(actual, expected)) {
    const std::string report = Compare(actual, expected).report;
    return report.empty() ? "the bits differ" : report;
  }
  Tolerance tolerance = GoldenTolerance(golden.tolerance, expected);
  // Both factors and their gradients are results of products.
  if (golden.op == "MatMul" && tier == KernelTier::kNative)
    tolerance.absolute += ErrorOfSplitProducts(expected);
  return Compare(actual, expected, tolerance).report;
}

// TensorFlow has gradients of zeros where no gradient flows here (Sign). These are equal.
bool IsZero(const Array& array) {
  for (int64_t i = 0; i < array.num_elements(); ++i) {
    if (array.AsDouble(i) != 0) return false;
  }
  return true;
}

Tensor FedBy(const Array& value, std::map<Tensor, Array>* feeds) {
  const Tensor tensor = Graph::Current().AddOp(
      "Placeholder", {}, {{"dtype", value.dtype()}, {"shape", value.shape()}});
  (*feeds)[tensor] = value;
  return tensor;
}

// Builds the case and its gradients in the current graph. Returns what to fetch.
std::vector<Wanted> Build(const GoldenCase& golden, const GoldenBuilder& build,
                          std::map<Tensor, Array>* feeds) {
  Graph& graph = Graph::Current();
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < golden.inputs.size(); ++i) {
    const Array& value = golden.inputs[i];
    inputs.push_back(golden.constants.count(static_cast<int>(i)) > 0
                         ? graph.AddOp("Const", {}, {{"value", value}, {"dtype", value.dtype()}})
                         : FedBy(value, feeds));
  }
  const std::vector<Tensor> outputs = build(inputs);
  if (!graph.status().ok()) return {};
  std::vector<Wanted> wanted;
  for (const auto& [i, value] : golden.outputs) {
    wanted.push_back({absl::StrCat("output ", i), outputs[static_cast<size_t>(i)], value});
  }
  if (golden.differentiated.empty()) return wanted;
  std::vector<Tensor> ys, grad_ys, xs;
  for (const auto& [i, value] : golden.grad_ys) {
    ys.push_back(outputs[static_cast<size_t>(i)]);
    grad_ys.push_back(FedBy(value, feeds));
  }
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

}  // namespace

const std::vector<GoldenCase>& Goldens() {
  static const auto* const goldens = [] {
    auto read = ReadGoldens("testdata/ops");
    if (!read.ok()) ADD_FAILURE() << read.status();
    return new std::vector<GoldenCase>(read.ok() ? *std::move(read) : std::vector<GoldenCase>());
  }();
  return *goldens;
}

Tolerance GoldenTolerance(absl::string_view tolerance_class, const Array& expected) {
  if (expected.dtype() == DType::kString) return {};
  const auto found = Classes().find(std::string(tolerance_class));
  if (found == Classes().end()) {
    ADD_FAILURE() << "unknown tolerance class " << tolerance_class;
    return {};
  }
  const double roundings =
      DTypeSize(expected.dtype()) == 2 ? found->second.narrow : found->second.wide;
  const double unit = roundings * Epsilon(expected.dtype());
  // Cases of special values contain 1e30. It must not make the tolerance of other elements large.
  constexpr double kUsual = 1000;
  const double largest = LargestFinite(expected);
  if (tolerance_class == "rounded") return {.relative = unit};
  return {.relative = unit, .absolute = unit * (largest > kUsual ? 1 : std::max(1.0, largest))};
}

GoldenBuilder NodeOf(const GoldenCase& golden) {
  return [&golden](const std::vector<Tensor>& inputs) {
    Graph& graph = Graph::Current();
    Node* const node = graph.AddNode(golden.op, inputs, golden.attrs, "golden");
    std::vector<Tensor> outputs;
    for (int i = 0; node != nullptr && i < node->num_outputs(); ++i)
      outputs.emplace_back(&graph, node, i);
    EXPECT_TRUE(node == nullptr || node->num_outputs() == golden.num_outputs);
    return outputs;
  };
}

void ExpectEqualsTensorFlow(const GoldenCase& golden, const GoldenBuilder& build) {
  SCOPED_TRACE(absl::StrCat(golden.op, "/", golden.name, " {", golden.attrs.ToString(), "}"));
  Graph graph;
  const GraphScope scope(graph);
  std::map<Tensor, Array> feeds;
  const std::vector<Wanted> wanted = Build(golden, build, &feeds);
  ASSERT_TRUE(graph.status().ok()) << graph.status();
  std::vector<Tensor> fetches;
  for (const Wanted& w : wanted) fetches.push_back(w.tensor);
  for (const KernelTier tier : {KernelTier::kReference, KernelTier::kNative}) {
    const char* const kernels = tier == KernelTier::kReference ? "reference" : "fastest";
    const auto values = EvalAll(fetches, feeds, {}, tier);
    ASSERT_TRUE(values.ok()) << kernels << ": " << values.status();
    for (size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_EQ(DifferenceOf(golden, tier, (*values)[i], wanted[i].value), "")
          << wanted[i].what << ", " << kernels << " kernels";
    }
  }
}

}  // namespace estimator::testing
