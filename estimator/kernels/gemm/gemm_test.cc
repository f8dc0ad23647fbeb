#include "estimator/kernels/gemm/gemm.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <new>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/testing/tiers.h"
#include "hwy/highway.h"

static std::atomic<int64_t> num_allocations{0};

// Not inlined: GCC would take the pair of them for a mismatch.
__attribute__((noinline)) void* operator new(size_t size) {
  ++num_allocations;
  if (void* p = std::malloc(size)) return p;
  throw std::bad_alloc();
}
// Asan has its own where there is none: what it gives must not meet our delete.
__attribute__((noinline)) void* operator new(size_t size, const std::nothrow_t&) noexcept {
  ++num_allocations;
  return std::malloc(size);
}
__attribute__((noinline)) void operator delete(void* p) noexcept { std::free(p); }
__attribute__((noinline)) void operator delete(void* p, size_t) noexcept { std::free(p); }

namespace estimator {
namespace {

using gemm::MakePlan;
using gemm::Multiply;
using gemm::Plan;
using gemm::Product;

// The same products summed in f32 in another order; at most 1000 terms below 1.
constexpr Tolerance kSummationOrder{.relative = 1e-5, .absolute = 2e-4};

// Sizes below, at and above a tile (14 or 6 rows), a panel (32 or 16 columns), the depth of a panel
// (256), and more panels than are copied at a time (16).
const Product kProducts[] = {
    {1, 1, 1},       {3, 15, 17},     {15, 3, 64},   {17, 17, 1},    {64, 64, 64},
    {1, 1000, 3},    {1000, 1, 17},   {14, 32, 256}, {15, 33, 257},  {28, 64, 512},
    {129, 1000, 15}, {17, 129, 1000}, {65, 1025, 3}, {1000, 31, 65},
};

constexpr fused::TileOp kActivations[] = {
    fused::TileOp::kRelu,      fused::TileOp::kRelu6,    fused::TileOp::kTanh,
    fused::TileOp::kSigmoid,   fused::TileOp::kElu,      fused::TileOp::kSelu,
    fused::TileOp::kLeakyRelu, fused::TileOp::kSoftplus, fused::TileOp::kSoftsign,
};

Shape ShapeOfA(const Product& p) { return p.transpose_a ? Shape{p.k, p.m} : Shape{p.m, p.k}; }
Shape ShapeOfB(const Product& p) { return p.transpose_b ? Shape{p.n, p.k} : Shape{p.k, p.n}; }

// The product as `threads` threads compute it, with the same bits from copied panels. c and the
// scratch memory begin with NaN.
Array Result(const Product& product, int threads, const Array& a, const Array& b,
             const float* bias) {
  const Plan plan = MakePlan(product, threads);
  EXPECT_LE(plan.row_parts * plan.column_parts, threads);
  Array c(DType::kFloat32, {product.m, product.n});
  Array scratch(DType::kFloat32, {static_cast<int64_t>(plan.scratch_floats())});
  for (Array* array : {&c, &scratch})
    std::fill_n(array->data<float>(), array->num_elements(), std::nanf(""));
  Array panels(DType::kFloat32, {static_cast<int64_t>(PanelsFloats(product))}), again = c.Clone();
  Multiply(plan, a.data<float>(), b.data<float>(), bias, c.data<float>(), scratch.data<float>());
  CopyAllPanels(product, b.data<float>(), panels.data<float>());
  MultiplyPanels(plan, a.data<float>(), panels.data<float>(), bias, again.data<float>(),
                 scratch.data<float>());
  EXPECT_TRUE(SameBits(c, again));
  return c;
}

// Each activation has the bits of its own op on the product without it.
void CheckActivations(const Product& product, const Array& a, const Array& b, const Array& bias) {
  const Array plain = Result(product, 2, a, b, bias.data<float>());
  for (const fused::TileOp op : kActivations) {
    Product activated = product;
    activated.activation = op;
    activated.alpha = 0.3f;
    Array expected = plain.Clone();
    float* const y = expected.data<float>();
    fused::RunTile(op, y, nullptr, nullptr, y, static_cast<size_t>(expected.num_elements()), 0.3f);
    for (const int threads : {1, 3}) {
      EXPECT_TRUE(SameBits(Result(activated, threads, a, b, bias.data<float>()), expected))
          << static_cast<int>(op) << " " << threads << " threads";
    }
  }
}

void CheckAll() {
  for (Product product : kProducts) {
    for (const bool transpose_a : {false, true}) {
      for (const bool transpose_b : {false, true}) {
        product.transpose_a = transpose_a;
        product.transpose_b = transpose_b;
        SCOPED_TRACE(absl::StrCat(product.m, " x ", product.n, " x ", product.k, " transposed ",
                                  transpose_a, transpose_b));
        const Array a = RandomArray(ShapeOfA(product), 1), b = RandomArray(ShapeOfB(product), 2);
        const Array bias = RandomArray({product.n}, 3);
        const auto expected = RunReferenceKernel(
            {.op = "MatMul",
             .name = "m",
             .attrs = {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}},
             .outputs = {{DType::kFloat32, {product.m, product.n}}}},
            {a, b});
        EST_ASSERT_OK(expected);
        Array y = (*expected)[0].Clone();
        const Array plain = Result(product, 1, a, b, nullptr);
        EXPECT_EQ(Compare(plain, y, kSummationOrder).report, "");
        for (const int threads : {1, 2, 3, 7})
          EXPECT_TRUE(SameBits(Result(product, threads, a, b, nullptr), plain)) << threads;

        for (int64_t i = 0; i < y.num_elements(); ++i)
          y.data<float>()[i] += bias.data<float>()[i % product.n];
        EXPECT_EQ(Compare(Result(product, 2, a, b, bias.data<float>()), y, kSummationOrder).report,
                  "");
        for (int64_t i = 0; i < y.num_elements(); ++i)
          y.data<float>()[i] = std::max(y.data<float>()[i], 0.0f);
        Product relu = product;
        relu.activation = fused::TileOp::kRelu;
        EXPECT_EQ(Compare(Result(relu, 2, a, b, bias.data<float>()), y, kSummationOrder).report,
                  "");
        CheckActivations(product, a, b, bias);
      }
    }
  }
}

TEST(Gemm, MatchesTheReferenceWithAnyNumberOfThreads) { CheckAll(); }

// The product chooses its vectors at run time; this CPU may have larger ones.
TEST(Gemm, MatchesTheReferenceWithAvx2) {
  hwy::SetSupportedTargetsForTest(HWY_AVX2);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  EXPECT_FALSE(gemm::HasWideVectors());
  CheckAll();
  hwy::SetSupportedTargetsForTest(0);
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
}

TEST(Gemm, AddsToWhatTheResultHas) {
  for (Product product : kProducts) {
    product.activation = fused::TileOp::kRelu;
    const Array a = RandomArray(ShapeOfA(product), 1), b = RandomArray(ShapeOfB(product), 2);
    const Array first = RandomArray({product.m, product.n}, 3);
    Product plain = product;
    plain.activation.reset();
    Array expected = Result(plain, 1, a, b, nullptr), c = first.Clone();
    for (int64_t i = 0; i < c.num_elements(); ++i) {
      float& y = expected.data<float>()[i];
      y = std::max(y + first.data<float>()[i], 0.0f);
    }
    product.accumulate = true;
    const Plan plan = MakePlan(product, 2);
    Array scratch(DType::kFloat32, {static_cast<int64_t>(plan.scratch_floats())});
    Multiply(plan, a.data<float>(), b.data<float>(), nullptr, c.data<float>(),
             scratch.data<float>());
    EXPECT_EQ(Compare(c, expected, kSummationOrder).report, "") << product.m << " " << product.n;
  }
}

TEST(Gemm, NanPassesThroughActivations) {
  for (const fused::TileOp op : kActivations) {
    const Product product{.m = 2, .n = 3, .k = 2, .activation = op};
    Array a = RandomArray({2, 2}, 2);
    a.data<float>()[1] = std::nanf("");
    const Array b = RandomArray({2, 3}, 1);
    const Array c = Result(product, 1, a, b, nullptr);
    for (int j = 0; j < 3; ++j) {
      EXPECT_TRUE(std::isnan(c.data<float>()[j])) << static_cast<int>(op) << " " << j;
      EXPECT_FALSE(std::isnan(c.data<float>()[3 + j])) << static_cast<int>(op) << " " << j;
    }
  }
}

TEST(Gemm, AllocatesNothing) {
  const Product product{
      .m = 100, .n = 100, .k = 300, .transpose_b = true, .activation = fused::TileOp::kTanh};
  const Plan plan = MakePlan(product, 2);
  const Array a = RandomArray(ShapeOfA(product), 1), b = RandomArray(ShapeOfB(product), 2);
  Array c(DType::kFloat32, {product.m, product.n});
  Array scratch(DType::kFloat32, {static_cast<int64_t>(plan.scratch_floats())});
  const auto run = [&] {
    Multiply(plan, a.data<float>(), b.data<float>(), nullptr, c.data<float>(),
             scratch.data<float>());
  };
  run();
  const int64_t before = num_allocations;
  for (int i = 0; i < 10; ++i) run();
  EXPECT_EQ(num_allocations - before, 0);
}

}  // namespace
}  // namespace estimator
