#include <string>
#include <vector>

#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

constexpr Tolerance kExact{};

Array Ints(const std::vector<int32_t>& values) {
  return Array::FromSpan<int32_t>({static_cast<int64_t>(values.size())}, values);
}
Array Int(int32_t value) { return Array::Scalar(value); }

TensorSpec F32(const Shape& shape) { return {DType::kFloat32, shape}; }

TEST(FusedMoves, ConcatMatchesTheReferenceAlongEveryAxis) {
  for (const int64_t rows : {3, 400}) {
    EXPECT_MATCHES_REFERENCE({.op = "ConcatV2", .outputs = {F32({rows + 7, 11, 6})}},
                             {RandomArray({rows, 11, 6}, 1), RandomArray({7, 11, 6}, 2), Int(0)},
                             KernelTier::kFused, kExact);
    EXPECT_MATCHES_REFERENCE({.op = "ConcatV2", .outputs = {F32({rows, 17, 6})}},
                             {RandomArray({rows, 11, 6}, 1), RandomArray({rows, 5, 6}, 2),
                              RandomArray({rows, 1, 6}, 3), Int(-2)},
                             KernelTier::kFused, kExact);
    EXPECT_MATCHES_REFERENCE({.op = "ConcatV2", .outputs = {F32({rows, 11, 7})}},
                             {RandomArray({rows, 11, 1}, 1), RandomArray({rows, 11, 0}, 2),
                              RandomArray({rows, 11, 6}, 3), Int(2)},
                             KernelTier::kFused, kExact);
  }
}

TEST(FusedMoves, OtherElementSizesMatchTheReference) {
  for (const DType dtype :
       {DType::kUint8, DType::kBool, DType::kBfloat16, DType::kInt32, DType::kInt64}) {
    const Array x = RandomArray({9, 13}, 1, 0, 100).Cast(dtype),
                y = RandomArray({9, 4}, 2, 0, 100).Cast(dtype);
    EXPECT_MATCHES_REFERENCE({.op = "ConcatV2", .outputs = {{dtype, {9, 17}}}}, {x, y, Int(1)},
                             KernelTier::kFused, kExact);
    EXPECT_MATCHES_REFERENCE({.op = "Tile", .outputs = {{dtype, {18, 39}}}}, {x, Ints({2, 3})},
                             KernelTier::kFused, kExact);
  }
}

TEST(FusedMoves, StringsAreLeftToTheReference) {
  const KernelSpec spec = CompleteSpec({.op = "ConcatV2", .outputs = {{DType::kString, {2}}}},
                                       {Array::Strings({"a"}), Array::Strings({"b"}), Int(0)});
  EXPECT_FALSE(TierAccepts(spec, KernelTier::kFused));
}

TEST(FusedMoves, PackAndUnpackMatchTheReferenceAlongEveryAxis) {
  for (const Shape& part : {Shape{5, 6}, Shape{300, 70}}) {
    const std::vector<Array> parts = {RandomArray(part, 1), RandomArray(part, 2),
                                      RandomArray(part, 3)};
    for (const int axis : {0, 1, 2, -1}) {
      const size_t at = static_cast<size_t>(axis < 0 ? axis + 3 : axis);
      std::vector<int64_t> dims = part.dims();
      dims.insert(dims.begin() + static_cast<int64_t>(at), 3);
      const Attrs attrs = {{"axis", int64_t{axis}}};
      EXPECT_MATCHES_REFERENCE({.op = "Pack", .attrs = attrs, .outputs = {F32(Shape(dims))}}, parts,
                               KernelTier::kFused, kExact);
      EXPECT_MATCHES_REFERENCE(
          {.op = "Unpack", .attrs = attrs, .outputs = {F32(part), F32(part), F32(part)}},
          {RandomArray(Shape(dims), 4)}, KernelTier::kFused, kExact);
    }
  }
}

TEST(FusedMoves, SplitsMatchTheReference) {
  const Array x = RandomArray({40, 6, 90}, 1);
  EXPECT_MATCHES_REFERENCE({.op = "Split", .outputs = {F32({40, 3, 90}), F32({40, 3, 90})}},
                           {Int(1), x}, KernelTier::kFused, kExact);
  EXPECT_MATCHES_REFERENCE(
      {.op = "SplitV", .outputs = {F32({40, 6, 1}), F32({40, 6, 80}), F32({40, 6, 9})}},
      {x, Ints({1, 80, 9}), Int(-1)}, KernelTier::kFused, kExact);
}

TEST(FusedMoves, TileMatchesTheReference) {
  struct Case {
    Shape x;
    std::vector<int32_t> multiples;
    Shape out;
  };
  for (const Case& c : {Case{{7}, {3}, {21}}, Case{{1}, {20000}, {20000}},
                        Case{{64, 1, 33}, {1, 9, 1}, {64, 9, 33}},
                        Case{{50, 40, 1}, {2, 1, 30}, {100, 40, 30}}, Case{{4, 2}, {0, 3}, {0, 6}}})
    EXPECT_MATCHES_REFERENCE({.op = "Tile", .outputs = {F32(c.out)}},
                             {RandomArray(c.x, 1), Ints(c.multiples)}, KernelTier::kFused, kExact)
        << c.x.ToString();
}

TEST(FusedMoves, PadsMatchTheReference) {
  struct Case {
    Shape x;
    std::vector<int32_t> paddings;
    Shape out;
  };
  for (const Case& c :
       {Case{{5}, {2, 3}, {10}}, Case{{30, 31, 32}, {1, 0, 0, 2, 3, 3}, {31, 33, 38}},
        Case{{200, 60, 1}, {0, 0, 1, 1, 1, 0}, {200, 62, 2}}, Case{{3, 0}, {0, 0, 1, 1}, {3, 2}}}) {
    const Array paddings = Ints(c.paddings).Reshaped({c.x.rank(), 2});
    const Array x = RandomArray(c.x, 1);
    EXPECT_MATCHES_REFERENCE({.op = "Pad", .outputs = {F32(c.out)}}, {x, paddings},
                             KernelTier::kFused, kExact)
        << c.x.ToString();
    EXPECT_MATCHES_REFERENCE({.op = "PadV2", .outputs = {F32(c.out)}},
                             {x, paddings, Array::Scalar(2.5f)}, KernelTier::kFused, kExact)
        << c.x.ToString();
  }
}

}  // namespace
}  // namespace estimator
