#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

// Each step takes exponentials and a logarithm of 4 units in the last place, and the gradient is
// the difference of two probabilities.
constexpr Tolerance kPaths{.relative = 2e-6, .absolute = 2e-6};

struct CtcCase {
  int64_t steps, batch, classes, labels;
  float scale = 4;  // of the logits
};

std::vector<Array> OperandsOf(const CtcCase& c) {
  Array indices(DType::kInt64, {c.batch * c.labels, 2});
  Array values(DType::kInt32, {c.batch * c.labels}), lengths(DType::kInt32, {c.batch});
  for (int64_t b = 0; b < c.batch; ++b) {
    for (int64_t i = 0; i < c.labels; ++i) {
      const int64_t row = b * c.labels + i;
      indices.data<int64_t>()[2 * row] = b;
      indices.data<int64_t>()[2 * row + 1] = i;
      // Example b has b labels less, and every third label is repeated.
      const bool padding = i >= c.labels - b;
      values.data<int32_t>()[row] =
          static_cast<int32_t>(padding ? c.classes - 1 : i * 2 / 3 * 5 % (c.classes - 1));
    }
    lengths.data<int32_t>()[b] = static_cast<int32_t>(std::max<int64_t>(0, c.steps - 2 * b));
  }
  return {RandomArray({c.steps, c.batch, c.classes}, 1, -c.scale, c.scale), indices, values,
          lengths};
}

KernelSpec SpecOf(const CtcCase& c, bool merge = true, bool collapse = false) {
  return {
      .op = "CTCLoss",
      .attrs = {{"preprocess_collapse_repeated", collapse},
                {"ctc_merge_repeated", merge},
                {"ignore_longer_outputs_than_inputs", true}},
      .outputs = {{DType::kFloat32, {c.batch}}, {DType::kFloat32, {c.steps, c.batch, c.classes}}}};
}

TEST(FusedCtcLoss, MatchesTheReferenceInLossAndGradient) {
  for (const CtcCase& c : {CtcCase{20, 3, 6, 5}, CtcCase{1, 1, 2, 1}, CtcCase{9, 12, 40, 8},
                           CtcCase{7, 2, 3, 0}, CtcCase{130, 5, 29, 40}}) {
    for (const bool merge : {true, false})
      for (const bool collapse : {true, false})
        EXPECT_MATCHES_REFERENCE(SpecOf(c, merge, collapse), OperandsOf(c), KernelTier::kFused,
                                 kPaths);
  }
}

// A thousand steps in which each label has a probability of about e^-40: their product is far
// below the smallest float.
TEST(FusedCtcLoss, UnlikelyPathsDoNotUnderflow) {
  const CtcCase c{1000, 2, 10, 60, 20};
  EXPECT_MATCHES_REFERENCE(SpecOf(c), OperandsOf(c), KernelTier::kFused, kPaths);
}

TEST(FusedCtcLoss, LogitsThatAreNotFiniteGiveTheReferencesLoss) {
  const CtcCase c{4, 3, 4, 2};
  std::vector<Array> operands = OperandsOf(c);
  operands[0].data<float>()[0] = -INFINITY;
  operands[0].data<float>()[c.classes] = NAN;
  const auto fused = RunKernel(CompleteSpec(SpecOf(c), operands), operands, KernelTier::kFused);
  const auto reference = RunReferenceKernel(CompleteSpec(SpecOf(c), operands), operands);
  ASSERT_TRUE(fused.ok() && reference.ok());
  EXPECT_TRUE(Compare((*fused)[0], (*reference)[0], kPaths).equal);
}

TEST(FusedCtcLoss, AMistakeIsTheReferencesError) {
  const CtcCase c{4, 3, 5, 2};
  std::vector<Array> operands = OperandsOf(c);
  operands[2].data<int32_t>()[2] = 5;
  const KernelSpec spec = CompleteSpec(SpecOf(c), operands);
  const auto fused = RunKernel(spec, operands, KernelTier::kFused);
  EXPECT_THAT(fused, StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_EQ(fused.status(), RunReferenceKernel(spec, operands).status());
  EXPECT_EQ(std::string(fused.status().message()),
            "CTCLoss: example 1 has label 5, but there are 5 classes: labels must be in [0, 4), "
            "because the "
            "last class is the blank");
}

// Each message of kernels/ctc_labels.cc that a dense CtcLoss cannot cause.
TEST(CtcLabels, RefusesIndicesThatAreNotSorted) {
  const CtcCase c{4, 2, 5, 2};
  const auto error = [&c](std::vector<int64_t> indices, std::vector<int32_t> values) {
    std::vector<Array> operands = OperandsOf(c);
    operands[1] = Array::FromSpan<int64_t>({4, 2}, indices);
    operands[2] = Array::FromSpan<int32_t>({4}, values);
    return std::string(
        RunReferenceKernel(CompleteSpec(SpecOf(c), operands), operands).status().message());
  };
  EXPECT_EQ(error({0, 0, 0, 1, 1, 0, 1, 7}, {1, 2, 3, 4}), "");
  EXPECT_EQ(error({0, 1, 0, 0, 1, 0, 1, 1}, {1, 2, 3, 4}),
            "CTCLoss: example 0 has the label of position 0 after that of position 1: sort "
            "labels_indices");
  EXPECT_EQ(error({0, 0, 1, 0, 0, 1, 1, 1}, {1, 2, 3, 4}),
            "CTCLoss: row 2 of labels_indices is of example 0, but the batch has 2 examples, and "
            "rows are "
            "sorted by example");
  EXPECT_EQ(error({0, 0, 0, 1, 1, 0, 2, 0}, {1, 2, 3, 4}),
            "CTCLoss: row 3 of labels_indices is of example 2, but the batch has 2 examples, and "
            "rows are "
            "sorted by example");
  EXPECT_EQ(
      error({0, 0, 0, 1, 1, 0, 1, 1}, {1, 2, 4, 3}),
      "CTCLoss: example 1 has label 3 after padding; the class of the blank, 4, ends the labels");
}

}  // namespace
}  // namespace estimator
