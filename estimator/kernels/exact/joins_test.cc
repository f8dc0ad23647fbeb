#include <string>
#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using Index = std::vector<int64_t>;

Array Ints(const std::vector<int32_t>& values) {
  return Array::FromSpan<int32_t>({static_cast<int64_t>(values.size())}, values);
}
Array Int(int32_t value) { return Array::Scalar(value); }

// The place of an index of a joined tensor: which part it belongs to, and its index there.
std::pair<size_t, Index> PartOf(Index index, size_t axis, const std::vector<int64_t>& sizes) {
  size_t part = 0;
  for (; index[axis] >= sizes[part]; ++part) index[axis] -= sizes[part];
  return {part, index};
}

void ExpectConcat(const std::vector<Array>& parts, int32_t axis) {
  const size_t at = static_cast<size_t>(axis < 0 ? axis + parts[0].shape().rank() : axis);
  std::vector<int64_t> dims = parts[0].shape().dims(), sizes;
  dims[at] = 0;
  for (const Array& part : parts) {
    sizes.push_back(part.shape().dims()[at]);
    dims[at] += sizes.back();
  }
  std::vector<Array> inputs = parts;
  inputs.push_back(Int(axis));
  EXPECT_MATCHES_SOURCES({.op = "ConcatV2", .outputs = {{parts[0].dtype(), Shape(dims)}}}, inputs,
                         [&](size_t, const Index& index) {
                           const auto [part, in_part] = PartOf(index, at, sizes);
                           return Source{&parts[part], in_part};
                         });
}

TEST(Joins, ConcatAlongEveryAxis) {
  for (const int64_t rows : {3, 400}) {
    ExpectConcat({RandomArray({rows, 11, 6}, 1), RandomArray({7, 11, 6}, 2)}, 0);
    ExpectConcat(
        {RandomArray({rows, 11, 6}, 1), RandomArray({rows, 5, 6}, 2), RandomArray({rows, 1, 6}, 3)},
        -2);
    ExpectConcat({RandomArray({rows, 11, 1}, 1), RandomArray({rows, 11, 0}, 2),
                  RandomArray({rows, 11, 6}, 3)},
                 2);
  }
}

TEST(Joins, EveryElementSize) {
  for (const DType dtype :
       {DType::kUint8, DType::kBool, DType::kBfloat16, DType::kInt32, DType::kInt64}) {
    ExpectConcat(
        {RandomArray({9, 13}, 1, 0, 100).Cast(dtype), RandomArray({9, 4}, 2, 0, 100).Cast(dtype)},
        1);
  }
}

TEST(Joins, Strings) {
  const std::vector<Array> inputs = {Array::Strings({"a"}), Array::Strings({"b"}), Int(0)};
  const auto joined =
      RunKernel({.op = "ConcatV2", .outputs = {{DType::kString, {2}}}}, inputs, KernelTier::kFused);
  EST_ASSERT_OK(joined);
  EXPECT_EQ((*joined)[0].data<std::string>()[0], "a");
  EXPECT_EQ((*joined)[0].data<std::string>()[1], "b");
}

TEST(Joins, PackAndUnpackAlongEveryAxis) {
  for (const Shape& part : {Shape{5, 6}, Shape{300, 70}}) {
    const std::vector<Array> parts = {RandomArray(part, 1), RandomArray(part, 2),
                                      RandomArray(part, 3)};
    for (const int axis : {0, 1, 2, -1}) {
      const int64_t at = axis < 0 ? axis + 3 : axis;
      std::vector<int64_t> dims = part.dims();
      dims.insert(dims.begin() + at, 3);
      const Attrs attrs = {{"axis", int64_t{axis}}};
      const TensorSpec whole{DType::kFloat32, Shape(dims)}, one{DType::kFloat32, part};
      EXPECT_MATCHES_SOURCES({.op = "Pack", .attrs = attrs, .outputs = {whole}}, parts,
                             [&](size_t, Index index) {
                               const auto k = static_cast<size_t>(index[static_cast<size_t>(at)]);
                               index.erase(index.begin() + at);
                               return Source{&parts[k], index};
                             });
      const Array packed = RandomArray(Shape(dims), 4);
      EXPECT_MATCHES_SOURCES({.op = "Unpack", .attrs = attrs, .outputs = {one, one, one}}, {packed},
                             [&](size_t k, Index index) {
                               index.insert(index.begin() + at, static_cast<int64_t>(k));
                               return Source{&packed, index};
                             });
    }
  }
}

TEST(Joins, SplitsAlongAnAxis) {
  const Array x = RandomArray({40, 6, 90}, 1);
  const TensorSpec half{DType::kFloat32, {40, 3, 90}};
  EXPECT_MATCHES_SOURCES({.op = "Split", .outputs = {half, half}}, {Int(1), x},
                         [&](size_t k, Index index) {
                           index[1] += 3 * static_cast<int64_t>(k);
                           return Source{&x, index};
                         });
  const std::vector<int32_t> sizes = {1, 80, 9}, begins = {0, 1, 81};
  std::vector<TensorSpec> outputs;
  for (const int32_t size : sizes) outputs.push_back({DType::kFloat32, {40, 6, size}});
  EXPECT_MATCHES_SOURCES({.op = "SplitV", .outputs = outputs}, {x, Ints(sizes), Int(-1)},
                         [&](size_t k, Index index) {
                           index[2] += begins[k];
                           return Source{&x, index};
                         });
}

}  // namespace
}  // namespace estimator
