#include "estimator/kernels/bfloat16/matmul_kernel.h"

#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/cpu/cpu_isa.h"
#include "estimator/kernels/bfloat16/testing/results.h"
#include "estimator/kernels/bfloat16/tiles.h"

namespace estimator {
namespace {

struct Case {
  int64_t m, n, k;
  bool transpose_a = false, transpose_b = false;

  std::string ToString() const {
    return absl::StrCat(m, ", ", n, ", ", k, transpose_a ? " a^T" : "", transpose_b ? " b^T" : "");
  }
  Array a(DType dtype = DType::kFloat32) const {
    return RandomArray(transpose_a ? Shape{k, m} : Shape{m, k}, 1).Cast(dtype);
  }
  Array b(DType dtype = DType::kFloat32) const {
    return RandomArray(transpose_b ? Shape{n, k} : Shape{k, n}, 2).Cast(dtype);
  }
  //   dtype: of the result.
  KernelSpec spec(DType dtype = DType::kFloat32) const {
    return {.op = "MatMul",
            .name = "c",
            .attrs = {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}},
            .outputs = {{dtype, {m, n}}}};
  }
};

std::vector<Case> Cases() {
  std::vector<Case> cases;
  for (const bool transpose_a : {false, true}) {
    for (const bool transpose_b : {false, true}) {
      cases.push_back({16, 16, 16, transpose_a, transpose_b});
      cases.push_back(
          {70, 49, 301, transpose_a, transpose_b});  // lines and depths that are not full
      cases.push_back({33, 150, 700, transpose_a, transpose_b});  // several blocks of depths
      cases.push_back({1100, 31, 40, transpose_a, transpose_b});  // several blocks of rows
      cases.push_back({18, 1300, 330, transpose_a, transpose_b});
    }
  }
  return cases;
}

Array RunAny(const KernelSpec& spec, const std::vector<Array>& operands) {
  return bfloat16::RunWithDirtyScratch(FromMatMulSpec<bfloat16::MakeMatMul>, spec, operands);
}

class Bfloat16MatMul : public testing::Test {
 protected:
  void SetUp() override {
    if (!bfloat16::IsAvailable()) GTEST_SKIP() << "this CPU lacks AVX-512 for bf16";
  }
};

TEST_F(Bfloat16MatMul, ProductsHaveASmallError) {
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.ToString());
    EXPECT_LE(
        bfloat16::LargestError(FromMatMulSpec<bfloat16::MakeMatMul>, c.spec(), {c.a(), c.b()}),
        5e-5);
    const std::vector<Array> narrow = {c.a(DType::kBfloat16), c.b(DType::kBfloat16)};
    EXPECT_LE(bfloat16::LargestError(FromMatMulSpec<bfloat16::MakeMatMul>, c.spec(), narrow), 5e-6);
    EXPECT_TRUE(SameBits(RunAny(c.spec(), narrow).Cast(DType::kBfloat16),
                         RunAny(c.spec(DType::kBfloat16), narrow)));
  }
}

TEST_F(Bfloat16MatMul, EpiloguesAreAddedInOrder) {
  const Case c{.m = 70, .n = 49, .k = 301};
  for (const DType dtype : {DType::kFloat32, DType::kBfloat16}) {
    const std::vector<Array> factors = {c.a(dtype), c.b(dtype)};
    const Array bias = RandomArray({c.n}, 3).Cast(dtype), side = RandomArray({c.m, c.n}, 4);
    const Array wide_bias = bias.Cast(DType::kFloat32);
    const Array sums = RunAny(c.spec(), factors);
    for (const bool with_side : {false, true}) {
      for (const std::string activation : {"", "Relu", "Relu6"}) {
        KernelSpec spec = c.spec();
        spec.op = "_FusedMatMul";
        std::vector<std::string> ops = {"BiasAdd"};
        if (!activation.empty()) ops.push_back(activation);
        spec.attrs.Set("fused_ops", ops);
        std::vector<Array> operands = {factors[0], factors[1], bias};
        if (with_side) operands.push_back(side);
        Array expected(DType::kFloat32, sums.shape());
        for (int64_t i = 0; i < sums.num_elements(); ++i) {
          float value = sums.data<float>()[i] + wide_bias.data<float>()[i % c.n];
          if (with_side) value += side.data<float>()[i];
          if (!activation.empty()) value = std::max(value, 0.0F);
          if (activation == "Relu6") value = std::min(value, 6.0F);
          expected.data<float>()[i] = value;
        }
        EXPECT_EQ(Compare(RunAny(spec, operands), expected, {}).report, "");
      }
    }
  }
}

TEST_F(Bfloat16MatMul, TheNumberOfThreadsDoesNotChangeTheBits) {
  const int threads = omp_get_max_threads();
  for (const Case& c : Cases()) {
    SCOPED_TRACE(c.ToString());
    omp_set_num_threads(1);
    const Array expected = RunAny(c.spec(), {c.a(), c.b()});
    for (const int count : {2, 3, 7}) {
      omp_set_num_threads(count);
      EXPECT_TRUE(SameBits(RunAny(c.spec(), {c.a(), c.b()}), expected)) << count;
    }
    omp_set_num_threads(threads);
  }
}

TEST_F(Bfloat16MatMul, BlocksOfRowsHaveTheBitsOfAll) {
  const int threads = omp_get_max_threads();
  for (const Case& c : Cases()) {
    for (const DType dtype : {DType::kFloat32, DType::kBfloat16}) {
      SCOPED_TRACE(absl::StrCat(c.ToString(), " ", DTypeName(dtype)));
      const std::vector<Array> factors = {c.a(dtype), c.b(dtype)};
      const Array all = RunAny(c.spec(), factors);
      for (const int count : {1, 2, 7}) {
        omp_set_num_threads(count);
        const std::unique_ptr<Kernel> kernel =
            FromMatMulSpec<bfloat16::MakeMatMul>(CompleteSpec(c.spec(), factors));
        for (const int64_t size : {32, 384})
          EXPECT_EQ(DifferenceInRows(*kernel, factors, all, size), "") << count << " threads";
      }
      omp_set_num_threads(threads);
    }
  }
}

// What follows the numbers of a group of 32 that is not full counts as 0: a NaN stays in its row of
// a or column of b.
TEST_F(Bfloat16MatMul, NaNStaysInItsRowOrColumn) {
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  for (const Case& shape : Cases()) {
    const Case c{.m = 40,
                 .n = 50,
                 .k = 300,
                 .transpose_a = shape.transpose_a,
                 .transpose_b = shape.transpose_b};
    for (const DType dtype : {DType::kFloat32, DType::kBfloat16}) {
      for (const int64_t depth : {int64_t{0}, c.k - 1}) {
        SCOPED_TRACE(absl::StrCat(c.ToString(), " ", DTypeName(dtype), " ", depth));
        Array a = c.a(), b = c.b();
        a.data<float>()[c.transpose_a ? depth * c.m + 3 : 3 * c.k + depth] = kNan;
        b.data<float>()[c.transpose_b ? 7 * c.k + depth : depth * c.n + 7] = kNan;
        const Array of_a = RunAny(c.spec(), {a.Cast(dtype), c.b(dtype)});
        const Array of_b = RunAny(c.spec(), {c.a(dtype), b.Cast(dtype)});
        for (int64_t i = 0; i < of_a.num_elements(); ++i) {
          ASSERT_EQ(std::isnan(of_a.data<float>()[i]), i / c.n == 3) << i;
          ASSERT_EQ(std::isnan(of_b.data<float>()[i]), i % c.n == 7) << i;
        }
      }
    }
  }
}

TEST_F(Bfloat16MatMul, LargeAndInfiniteNumbersOfF32GiveWhatAPlainSumGives) {
  constexpr float kLarge = 0x1.ff8p127F;  // larger than the numbers of bf16
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const bool transpose : {false, true}) {
    const Case c{.m = 32, .n = 32, .k = 64, .transpose_a = transpose, .transpose_b = transpose};
    const auto product = [&](float left, float right) {
      const Shape shape_a = transpose ? Shape{c.k, c.m} : Shape{c.m, c.k};
      const Shape shape_b = transpose ? Shape{c.n, c.k} : Shape{c.k, c.n};
      Array a(DType::kFloat32, shape_a), b(DType::kFloat32, shape_b);
      std::fill_n(b.data<float>(), b.num_elements(), right);
      a.data<float>()[0] = left;  // of row 0
      const Array result = RunAny(c.spec(), {a, b});
      EXPECT_EQ(result.data<float>()[c.n], 0);  // of row 1
      return result.data<float>()[0];
    };
    EXPECT_EQ(product(kLarge, 1), kLarge);
    EXPECT_EQ(product(-kLarge, 0.5F), -kLarge / 2);
    EXPECT_EQ(product(kLarge, 0), 0);
    EXPECT_EQ(product(kLarge, 2), kInfinity);
    EXPECT_EQ(product(kInfinity, 0.3F), kInfinity);
    EXPECT_EQ(product(-kInfinity, 0.3F), -kInfinity);
    EXPECT_TRUE(std::isnan(product(kInfinity, 0)));
  }
}

TEST_F(Bfloat16MatMul, OtherSpecsAreRefused) {
  const auto refused = [](const KernelSpec& spec, const std::vector<Array>& operands) {
    const KernelSpec complete = CompleteSpec(spec, operands);
    return FromMatMulSpec<bfloat16::MakeMatMul>(complete) == nullptr;
  };
  const Case c{.m = 32, .n = 32, .k = 64};
  EXPECT_FALSE(refused(c.spec(), {c.a(), c.b()}));
  EXPECT_TRUE(refused(c.spec(), {c.a(), c.b(DType::kBfloat16)}));
  EXPECT_TRUE(refused(c.spec(DType::kBfloat16), {c.a(), c.b()}));
  EXPECT_TRUE(refused(c.spec(), {c.a(), c.a()}));  // the depths differ
  for (const ConvAlgorithm algorithm : {ConvAlgorithm::kDirect, ConvAlgorithm::kWinograd}) {
    KernelSpec spec = c.spec();
    spec.conv_algorithm = algorithm;
    EXPECT_TRUE(refused(spec, {c.a(), c.b()}));
  }
  const Case few{.m = 32, .n = 15, .k = 64};
  EXPECT_TRUE(refused(few.spec(), {few.a(), few.b()}));
  SetNewestCpuIsaForTest(CpuIsa::kAvx2);
  EXPECT_TRUE(refused(c.spec(), {c.a(), c.b()}));
  SetNewestCpuIsaForTest(std::nullopt);
}

}  // namespace
}  // namespace estimator
