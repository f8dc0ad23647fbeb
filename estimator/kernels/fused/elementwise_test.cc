#include "estimator/kernels/fused/elementwise.h"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "estimator/array/compare.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/testing/tiers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

// Documented in tile_ops.h: 4 units in the last place, 6e-8 each, and as much again from the
// reference.
constexpr Tolerance kFunction{.relative = 5e-7, .absolute = 1e-30};
// One rounding more or less where the compiler contracts a product and a sum.
constexpr Tolerance kArithmetic{.relative = 3e-7, .absolute = 1e-7};

// Documented in tile_ops.h for Pow: one unit in the last place, and as much from the reference.
constexpr Tolerance kOneUnit{.relative = 2.4e-7, .absolute = 1e-44};

constexpr int64_t kSize =
    2 * 8192 * 2 + 37;  // several tiles on two threads, and a rest of no full vector

TensorSpec F32(const Shape& shape) { return {DType::kFloat32, shape}; }

KernelSpec Fused(std::vector<std::string> ops, std::vector<int64_t> args,
                 std::vector<int64_t> outputs, std::vector<TensorSpec> specs) {
  return {.op = "_FusedElementwise",
          .name = "fused",
          .attrs = {{"ops", std::move(ops)},
                    {"args", std::move(args)},
                    {"outputs", std::move(outputs)}},
          .outputs = std::move(specs)};
}

// One op by the reference tier.
Array Reference(const std::string& op, const std::vector<Array>& inputs,
                DType dtype = DType::kFloat32) {
  Shape shape;
  for (const Array& input : inputs) {
    if (input.shape().rank() > 0) shape = input.shape();
  }
  const auto result =
      RunReferenceKernel({.op = op, .name = op, .outputs = {{dtype, shape}}}, inputs);
  EST_EXPECT_OK(result);
  return result.ok() ? (*result)[0] : Array(dtype, shape);
}

std::vector<Array> RunFused(const KernelSpec& spec, const std::vector<Array>& inputs) {
  const auto result = RunKernel(spec, inputs, KernelTier::kFused);
  EST_EXPECT_OK(result);
  return result.ok() ? *result : std::vector<Array>(spec.outputs.size());
}

void ExpectNear(const Array& actual, const Array& expected, Tolerance tolerance) {
  const Difference difference = Compare(actual, expected, tolerance);
  EXPECT_TRUE(difference.equal) << difference.report;
}

TEST(FusedElementwise, UnaryOpsMatchTheReference) {
  const Array any = RandomArray({kSize}, 1, -20, 20), positive = RandomArray({kSize}, 2, 1e-6f, 30);
  for (const char* op : {"Neg", "Abs", "Square", "Relu", "Relu6"}) {
    EXPECT_MATCHES_REFERENCE({.op = op, .outputs = {F32({kSize})}}, {any}, KernelTier::kFused, {});
  }
  for (const char* op : {"Exp", "Tanh", "Sigmoid", "Erf"}) {
    EXPECT_MATCHES_REFERENCE({.op = op, .outputs = {F32({kSize})}}, {any}, KernelTier::kFused,
                             kFunction);
  }
  for (const float range : {0.01f, 5.0f}) {
    for (const char* op : {"Tanh", "Erf"}) {
      EXPECT_MATCHES_REFERENCE({.op = op, .outputs = {F32({kSize})}},
                               {RandomArray({kSize}, 3, -range, range)}, KernelTier::kFused,
                               kFunction);
    }
  }
  for (const char* op : {"Sqrt", "Rsqrt", "Reciprocal"}) {
    EXPECT_MATCHES_REFERENCE({.op = op, .outputs = {F32({kSize})}}, {positive}, KernelTier::kFused,
                             kArithmetic);
  }
  // Near 1 the logarithm vanishes, and with it the meaning of a relative error.
  EXPECT_MATCHES_REFERENCE({.op = "Log", .outputs = {F32({kSize})}}, {positive}, KernelTier::kFused,
                           {.relative = 5e-7, .absolute = 3e-7});
}

// Near 1 the gradient 1 - y^2 depends on the last bit. The results are those of TF 2.15.1.
TEST(FusedElementwise, TanhHasTheBitsOfTensorFlow) {
  const std::vector<float> x = {0.3f, 0.9f, 1.7f, 2.6f, 3.3f, 4.1f, 5.0f,  5.8f,
                                6.6f, 7.3f, 7.8f, 8.0f, 9.0f, 30.f, -4.1f, -7.3f},
                           y = {0.291312605f, 0.716297865f, 0.935409009f,  0.989027441f,
                                0.997282922f, 0.999450803f, 0.999909163f,  0.999981523f,
                                0.999996305f, 0.999999166f, 0.999999583f,  1.0f,
                                1.0f,         1.0f,         -0.999450803f, -0.999999166f};
  const std::vector<Array> actual = RunFused({.op = "Tanh", .name = "tanh", .outputs = {F32({16})}},
                                             {Array::FromSpan<float>({16}, x)});
  EXPECT_THAT(actual[0].values<float>(), ::testing::ElementsAreArray(y));
}

TEST(FusedElementwise, BinaryOpsMatchTheReferenceWithScalarsOnEitherSide) {
  const Array a = RandomArray({3, kSize}, 1), b = RandomArray({3, kSize}, 2),
              scalar = Array::Scalar(0.37f);
  for (const char* op :
       {"AddV2", "Sub", "Mul", "RealDiv", "Maximum", "Minimum", "SquaredDifference"}) {
    for (const auto& inputs : {std::vector<Array>{a, b}, {a, scalar}, {scalar, a}}) {
      EXPECT_MATCHES_REFERENCE({.op = op, .outputs = {F32({3, kSize})}}, inputs, KernelTier::kFused,
                               kArithmetic);
    }
  }
  for (const char* op : {"ReluGrad", "Relu6Grad", "TanhGrad", "SigmoidGrad"}) {
    EXPECT_MATCHES_REFERENCE({.op = op, .outputs = {F32({3, kSize})}}, {a, b}, KernelTier::kFused,
                             kArithmetic);
  }
}

TEST(FusedElementwise, PowersAreExactToOneUnit) {
  const Array base = RandomArray({kSize}, 1, 1e-6f, 30), exponent = RandomArray({kSize}, 2, -9, 9);
  const auto expect = [](const Array& x, const Array& y) {
    EXPECT_MATCHES_REFERENCE({.op = "Pow", .outputs = {F32({kSize})}}, {x, y}, KernelTier::kFused,
                             kOneUnit);
  };
  expect(base, exponent);
  for (const float y : {3.0f, -2.5f, 0.1f, 40.0f}) expect(base, Array::Scalar(y));
  // Near 1, the exponent multiplies the error of the logarithm most.
  expect(RandomArray({kSize}, 3, 0.9999f, 1.0001f), RandomArray({kSize}, 4, -8e5f, 8e5f));
  Array signs = RandomArray({kSize}, 5, -30, 30), integers = RandomArray({kSize}, 6, -20, 20);
  for (float& y : integers.values<float>()) y = std::round(y);
  expect(signs, integers);
  expect(signs, exponent);  // NaN for negative bases
  Array small = base.Clone();
  for (float& x : small.values<float>()) x *= 1e-40f;
  expect(small, RandomArray({kSize}, 7, -1, 1));
}

TEST(FusedElementwise, PowersOfSpecialNumbersAreThoseOfTheReference) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<float> special = {kNan,  kInfinity, -kInfinity, 0.0f,        -0.0f,     1.0f,
                                      -1.0f, 0.5f,      -0.5f,      -2.5f,       3.0f,      -3.0f,
                                      2.0f,  1e30f,     -1e30f,     16777217.0f, 8388607.0f};
  const int64_t n = static_cast<int64_t>(special.size());
  Array x(DType::kFloat32, {n, n}), y(DType::kFloat32, {n, n});
  for (int64_t i = 0; i < n * n; ++i) {
    x.data<float>()[i] = special[static_cast<size_t>(i / n)];
    y.data<float>()[i] = special[static_cast<size_t>(i % n)];
  }
  const Array actual = RunFused({.op = "Pow", .name = "Pow", .outputs = {F32({n, n})}}, {x, y})[0];
  const Array expected = Reference("Pow", {x, y});
  ExpectNear(actual, expected, kOneUnit);
  for (int64_t i = 0; i < n * n; ++i) {
    const float a = actual.data<float>()[i], e = expected.data<float>()[i];
    if (!std::isnan(e)) {
      EXPECT_EQ(std::signbit(a), std::signbit(e))
          << x.data<float>()[i] << " to the power of " << y.data<float>()[i];
    }
  }
}

TEST(FusedElementwise, SelectTakesBoolInputsAndScalars) {
  const Array a = RandomArray({kSize}, 1), b = RandomArray({kSize}, 2);
  const Array condition = Reference("Greater", {a, b}, DType::kBool);
  EXPECT_MATCHES_REFERENCE({.op = "SelectV2", .outputs = {F32({kSize})}}, {condition, a, b},
                           KernelTier::kFused, {});
  EXPECT_MATCHES_REFERENCE({.op = "SelectV2", .outputs = {F32({kSize})}},
                           {condition, a, Array::Scalar(0.0f)}, KernelTier::kFused, {});
  EXPECT_MATCHES_REFERENCE({.op = "SelectV2", .outputs = {F32({kSize})}},
                           {Array::Scalar(true), a, b}, KernelTier::kFused, {});
}

TEST(FusedElementwise, FunctionsAreWholeAtTheEndsOfTheirRanges) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
  const Array ends =
      Array::Of<float>({8}, {-kInfinity, kInfinity, kNan, 0.0f, -0.0f, -200.0f, 200.0f, 88.5f});
  for (const char* op :
       {"Exp", "Log", "Tanh", "Sigmoid", "Erf", "Relu", "Relu6", "Sqrt", "Rsqrt"}) {
    SCOPED_TRACE(op);
    ExpectNear(RunFused({.op = op, .name = op, .outputs = {F32({8})}}, {ends})[0],
               Reference(op, {ends}), kFunction);
  }
  const Array others = Array::Of<float>({8}, {1, 2, 3, kNan, 5, 6, kNan, 8});
  for (const char* op : {"Maximum", "Minimum"}) {
    SCOPED_TRACE(op);
    ExpectNear(RunFused({.op = op, .name = op, .outputs = {F32({8})}}, {ends, others})[0],
               Reference(op, {ends, others}), {});
  }
}

TEST(FusedElementwise, AChainWithSeveralOutputsEqualsItsOpsOneByOne) {
  // t = tanh(a * b + s); m = t > a; y = select(m, t, a) - b. Outputs: y, t, m, a (an input as it
  // is), y again.
  const Shape shape{5, kSize};
  const Array a = RandomArray(shape, 1), b = RandomArray(shape, 2), s = Array::Scalar(0.25f);
  const KernelSpec spec =
      Fused({"Mul", "AddV2", "Tanh", "Greater", "SelectV2", "Sub"},
            {0, 1, -1, 3, 2, -1, 4, -1, -1, 5, 0, -1, 6, 5, 0, 7, 1, -1}, {8, 5, 6, 0, 8},
            {F32(shape), F32(shape), {DType::kBool, shape}, F32(shape), F32(shape)});
  const std::vector<Array> actual = RunFused(spec, {a, b, s});
  const Array t = Reference("Tanh", {Reference("AddV2", {Reference("Mul", {a, b}), s})});
  ExpectNear(actual[1], t, kFunction);
  // From here on by the chain's own t, which decides on which side of a it lies.
  const Array m = Reference("Greater", {actual[1], a}, DType::kBool);
  ExpectNear(actual[2], m, {});
  const Array y = Reference("Sub", {Reference("SelectV2", {m, actual[1], a}), b});
  ExpectNear(actual[0], y, {});
  ExpectNear(actual[3], a, {});
  ExpectNear(actual[4], y, {});
}

TEST(FusedElementwise, ALongChainReusesItsTiles) {
  std::vector<std::string> ops;
  std::vector<int64_t> args;
  for (int64_t j = 0; j < 100; ++j) {  // x := x + 1, a hundred times
    ops.push_back("AddV2");
    args.insert(args.end(), {j == 0 ? 0 : 1 + j, 1, -1});
  }
  const KernelSpec spec = CompleteSpec(Fused(ops, args, {101}, {F32({kSize})}),
                                       {RandomArray({kSize}, 1), Array::Scalar(1.0f)});
  const auto kernel = CreateKernel(spec, KernelTier::kFused);
  EST_ASSERT_OK(kernel);
  EXPECT_LT((*kernel)->scratch_bytes(), 4u * 20480u);
  const Array zero(DType::kFloat32, {kSize});
  Array hundred(DType::kFloat32, {kSize});
  for (float& x : hundred.values<float>()) x = 100.0f;
  ExpectNear(RunFused(Fused(ops, args, {101}, {F32({kSize})}), {zero, Array::Scalar(1.0f)})[0],
             hundred, {});
}

TEST(FusedElementwise, AnOutputIsAliasedOnlyToAnInputThatNoLaterOpReads) {
  // u = a + b (a is read again later), y = u * a: y may overwrite a, u may overwrite b.
  const Shape shape{kSize};
  const Array a = RandomArray(shape, 1), b = RandomArray(shape, 2);
  const KernelSpec spec = CompleteSpec(
      Fused({"AddV2", "Mul"}, {0, 1, -1, 2, 0, -1}, {2, 3}, {F32(shape), F32(shape)}), {a, b});
  const auto kernel = CreateKernel(spec, KernelTier::kFused);
  EST_ASSERT_OK(kernel);
  EXPECT_EQ((*kernel)->AliasInput(0), 1);
  EXPECT_EQ((*kernel)->AliasInput(1), 0);

  Array u = b.Clone(), y = a.Clone();
  Array scratch(DType::kUint8, Shape{static_cast<int64_t>((*kernel)->scratch_bytes())});
  const std::vector<const void*> in = {y.raw(), u.raw()};
  const std::vector<void*> out = {u.raw(), y.raw()};
  EST_ASSERT_OK(
      (*kernel)->Run({.inputs = in, .outputs = out, .scratch = scratch.raw(), .step = {}}));
  ExpectNear(u, Reference("AddV2", {a, b}), {});
  ExpectNear(y, Reference("Mul", {Reference("AddV2", {a, b}), a}), {});
}

TEST(FusedElementwise, UnknownOpsBroadcastingAndOtherDtypesAreRefused) {
  const Array x = RandomArray({4, 3}, 1);
  EXPECT_FALSE(CreateKernel(CompleteSpec(Fused({"Sin"}, {0, -1, -1}, {1}, {F32({4, 3})}), {x}),
                            KernelTier::kFused)
                   .ok());
  EXPECT_FALSE(CreateKernel(CompleteSpec(Fused({"AddV2"}, {0, 1, -1}, {2}, {F32({4, 3})}),
                                         {x, RandomArray({3}, 2)}),
                            KernelTier::kFused)
                   .ok());
  // An operand that is computed later, and a number where a truth value belongs.
  EXPECT_FALSE(CreateKernel(CompleteSpec(Fused({"Neg"}, {1, -1, -1}, {1}, {F32({4, 3})}), {x}),
                            KernelTier::kFused)
                   .ok());
  EXPECT_FALSE(CreateKernel(CompleteSpec(Fused({"SelectV2"}, {0, 0, 0}, {1}, {F32({4, 3})}), {x}),
                            KernelTier::kFused)
                   .ok());
}

// A single op on bf16 has no tiles: it is the f32 op, rounded once.
TEST(FusedElementwise, OneOpOnBfloat16IsTheFloat32OpRoundedOnce) {
  struct Case {
    std::string op;
    int operands = 2;
    // Where the compiler contracts a product and a sum, a result may be rounded the other way.
    Tolerance tolerance = {};
  };
  const Tolerance unit{.relative = 1.0 / 128};
  for (const int64_t size : {int64_t{1}, int64_t{15}, int64_t{16}, int64_t{33}, kSize}) {
    std::vector<Array> wide = {RandomArray({size}, 1, -3, 3), RandomArray({size}, 2, -3, 3)};
    const float special[] = {std::nanf(""),
                             0.0f,
                             -0.0f,
                             std::numeric_limits<float>::infinity(),
                             -std::numeric_limits<float>::infinity(),
                             1e-40f,
                             3.4e38f};
    for (int64_t i = 0; i < size; ++i) {
      if (i % 5 == 3) wide[0].data<float>()[i] = special[i % 7];
      if (i % 11 == 3) wide[1].data<float>()[i] = special[i / 2 % 7];
    }
    std::vector<Array> narrow;
    for (Array& array : wide) {
      narrow.push_back(array.Cast(DType::kBfloat16));
      array = narrow.back().Cast(DType::kFloat32);
    }
    for (const Case& c :
         {Case{"AddV2"}, Case{"Sub"}, Case{"Mul"}, Case{"Maximum"}, Case{"Minimum"},
          Case{"SquaredDifference"}, Case{"Neg", 1}, Case{"Abs", 1}, Case{"Square", 1},
          Case{"Relu", 1}, Case{"Relu6", 1}, Case{"ReluGrad"}, Case{"Relu6Grad"},
          Case{"TanhGrad", 2, unit}, Case{"SigmoidGrad", 2, unit}}) {
      const auto of = [&](const std::vector<Array>& all) {
        return std::vector<Array>(all.begin(), all.begin() + c.operands);
      };
      const KernelSpec spec{.op = c.op, .name = c.op, .outputs = {{DType::kBfloat16, {size}}}};
      const auto kernel = CreateKernel(CompleteSpec(spec, of(narrow)), KernelTier::kFused);
      EST_ASSERT_OK(kernel);
      EXPECT_EQ((*kernel)->scratch_bytes(), 0u) << c.op;
      EXPECT_EQ((*kernel)->AliasInput(0), 0) << c.op;
      const Array expected = Reference(c.op, of(wide)).Cast(DType::kBfloat16);
      const Difference difference = Compare(RunFused(spec, of(narrow))[0], expected, c.tolerance);
      EXPECT_TRUE(difference.equal) << c.op << ": " << difference.report;
    }
  }
}

// As images are: bytes, scaled, and perhaps rounded to bf16.
TEST(FusedElementwise, ChainsReadBytes) {
  Array bytes(DType::kUint8, {kSize});
  for (int64_t i = 0; i < kSize; ++i) bytes.data<uint8_t>()[i] = static_cast<uint8_t>(i * 37);
  const Array scale = Array::Scalar(1.0f / 255);
  const Array wide = bytes.Cast(DType::kFloat32), scaled = Reference("Mul", {wide, scale});
  const std::vector<Array> results =
      RunFused(Fused({"Cast", "Mul", "Cast"}, {0, -1, -1, 2, 1, -1, 3, -1, -1}, {3, 4},
                     {F32({kSize}), {DType::kBfloat16, {kSize}}}),
               {bytes, scale});
  EXPECT_TRUE(SameBits(results[0], scaled));
  EXPECT_TRUE(SameBits(results[1], scaled.Cast(DType::kBfloat16)));
}

TEST(FusedElementwise, OnlyACastReadsBytes) {
  const Array bytes(DType::kUint8, {kSize}), one_byte(DType::kUint8, {});
  const Array x = RandomArray({kSize}, 1);
  const auto is_refused = [](const KernelSpec& spec, const std::vector<Array>& inputs) {
    return !CreateKernel(CompleteSpec(spec, inputs), KernelTier::kFused).ok();
  };
  EXPECT_TRUE(is_refused(Fused({"Neg"}, {0, -1, -1}, {1}, {F32({kSize})}), {bytes}));
  EXPECT_TRUE(is_refused(Fused({"Neg"}, {1, -1, -1}, {0}, {F32({kSize})}), {bytes, x}));
  EXPECT_TRUE(is_refused(Fused({"Cast", "AddV2"}, {1, -1, -1, 0, 2, -1}, {3}, {F32({kSize})}),
                         {x, one_byte}));
}

}  // namespace
}  // namespace estimator
