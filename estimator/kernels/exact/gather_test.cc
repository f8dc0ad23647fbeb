#include <cstdint>
#include <vector>

#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using Index = std::vector<int64_t>;

// i32 numbers in [0, high) that look random.
Array Ids(const Shape& shape, float high) {
  return RandomArray(shape, 7, 0, high).Cast(DType::kInt32);
}

TEST(Gather, RowsOfATable) {
  for (const int64_t width : {1, 17, 256}) {
    const Array table = RandomArray({500, width}, 1), ids = Ids({40, 30}, 500);
    EXPECT_MATCHES_SOURCES({.op = "GatherV2", .outputs = {{DType::kFloat32, {40, 30, width}}}},
                           {table, ids, Array::Scalar<int32_t>(0)},
                           [&](size_t, const Index& index) {
                             const int32_t row = ids.data<int32_t>()[index[0] * 30 + index[1]];
                             return Source{&table, {row, index[2]}};
                           });
  }
}

// Fixed bug: a division by 0, which ended programs that were compiled with -O1.
TEST(Gather, NoRowsOfATable) {
  EXPECT_MATCHES_SOURCES(
      {.op = "GatherV2", .outputs = {{DType::kFloat32, {0, 4}}}},
      {RandomArray({5, 4}, 1), Array(DType::kInt32, {0}), Array::Scalar<int32_t>(0)},
      [&](size_t, const Index&) { return Source{}; });
}

TEST(Gather, AlongAnotherAxisAndByBatches) {
  const Array x = RandomArray({5, 7, 3, 4}, 1), ids = Ids({5, 6}, 3);
  EXPECT_MATCHES_SOURCES({.op = "GatherV2",
                          .attrs = {{"batch_dims", int64_t{1}}},
                          .outputs = {{DType::kFloat32, {5, 7, 6, 4}}}},
                         {x, ids, Array::Scalar<int32_t>(2)}, [&](size_t, Index index) {
                           index[2] = ids.data<int32_t>()[index[0] * 6 + index[2]];
                           return Source{&x, index};
                         });
}

}  // namespace
}  // namespace estimator
