#include <cstdint>
#include <vector>

#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

struct Case {
  Shape input;
  std::vector<int32_t> permutation;
};

TEST(Transpose, EveryKindOfPermutation) {
  const std::vector<Case> cases = {{{200, 133}, {1, 0}},           {{2, 3, 50, 70}, {0, 1, 3, 2}},
                                   {{4, 60, 5, 64}, {0, 2, 1, 3}}, {{3, 14, 15, 7}, {0, 3, 1, 2}},
                                   {{3, 7, 14, 15}, {0, 2, 3, 1}}, {{5, 6, 7}, {2, 1, 0}},
                                   {{5, 6, 7}, {0, 1, 2}},         {{1, 6, 1, 7}, {3, 2, 1, 0}},
                                   {{2, 3, 4, 5}, {3, 1, 0, 2}},   {{3, 0, 5}, {2, 1, 0}}};
  for (const Case& c : cases) {
    Shape output;
    for (const int32_t axis : c.permutation) output.push_back(c.input[axis]);
    SCOPED_TRACE(c.input.ToString() + " -> " + output.ToString());
    for (const DType dtype : {DType::kFloat32, DType::kBfloat16, DType::kUint8, DType::kInt64}) {
      const Array x = RandomArray(c.input, 1, 0, 100).Cast(dtype);
      EXPECT_MATCHES_SOURCES({.op = "Transpose", .outputs = {{dtype, output}}},
                             {x, Array::FromSpan<int32_t>(
                                     {static_cast<int64_t>(c.permutation.size())}, c.permutation)},
                             [&](size_t, const std::vector<int64_t>& index) {
                               std::vector<int64_t> from(index.size());
                               for (size_t a = 0; a < index.size(); ++a)
                                 from[static_cast<size_t>(c.permutation[a])] = index[a];
                               return Source{&x, from};
                             });
    }
  }
}

}  // namespace
}  // namespace estimator
