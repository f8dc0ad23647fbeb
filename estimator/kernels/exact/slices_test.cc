#include <algorithm>
#include <cstdint>
#include <vector>

#include "estimator/kernels/testing/tiers.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using Index = std::vector<int64_t>;

Array Ints(const std::vector<int32_t>& values) {
  return Array::FromSpan<int32_t>({static_cast<int64_t>(values.size())}, values);
}

TEST(Slices, TileRepeatsEveryAxis) {
  struct Case {
    Shape x;
    std::vector<int32_t> multiples;
    Shape out;
  };
  for (const Case& c :
       {Case{{7}, {3}, {21}}, Case{{1}, {20000}, {20000}},
        Case{{64, 1, 33}, {1, 9, 1}, {64, 9, 33}}, Case{{50, 40, 1}, {2, 1, 30}, {100, 40, 30}},
        Case{{4, 2}, {0, 3}, {0, 6}}}) {
    for (const DType dtype : {DType::kFloat32, DType::kUint8, DType::kBfloat16, DType::kInt64}) {
      const Array x = RandomArray(c.x, 1, 0, 100).Cast(dtype);
      EXPECT_MATCHES_SOURCES({.op = "Tile", .outputs = {{dtype, c.out}}}, {x, Ints(c.multiples)},
                             [&](size_t, Index index) {
                               for (size_t a = 0; a < index.size(); ++a) index[a] %= c.x.dims()[a];
                               return Source{&x, index};
                             })
          << c.x.ToString();
    }
  }
}

TEST(Slices, PadsHaveZerosOrTheValue) {
  struct Case {
    Shape x;
    std::vector<int32_t> paddings;
    Shape out;
  };
  for (const Case& c :
       {Case{{5}, {2, 3}, {10}}, Case{{30, 31, 32}, {1, 0, 0, 2, 3, 3}, {31, 33, 38}},
        Case{{200, 60, 1}, {0, 0, 1, 1, 1, 0}, {200, 62, 2}}, Case{{3, 0}, {0, 0, 1, 1}, {3, 2}}}) {
    const Array paddings = Ints(c.paddings).Reshaped({c.x.rank(), 2});
    const Array x = RandomArray(c.x, 1), value = Array::Scalar(2.5f);
    const auto source_with = [&](const Array* padding) {
      return [&, padding](size_t, Index index) {
        for (size_t a = 0; a < index.size(); ++a) {
          index[a] -= c.paddings[2 * a];
          if (index[a] < 0 || index[a] >= c.x.dims()[a]) return Source{padding};
        }
        return Source{&x, index};
      };
    };
    EXPECT_MATCHES_SOURCES({.op = "Pad", .outputs = {{DType::kFloat32, c.out}}}, {x, paddings},
                           source_with(nullptr))
        << c.x.ToString();
    EXPECT_MATCHES_SOURCES({.op = "PadV2", .outputs = {{DType::kFloat32, c.out}}},
                           {x, paddings, value}, source_with(&value))
        << c.x.ToString();
  }
}

TEST(Slices, BroadcastToRepeatsAxesOfSizeOne) {
  struct Case {
    Shape from, to;
  };
  for (const Case& c : {Case{{37, 1}, {37, 129}}, Case{{129}, {37, 129}}, Case{{}, {300, 129}},
                        Case{{5, 1, 7, 1}, {5, 6, 7, 9}}, Case{{6, 1, 9}, {5, 6, 7, 9}},
                        Case{{300, 129}, {300, 129}}, Case{{3}, {0, 3}}}) {
    const Array x = RandomArray(c.from, 1);
    Array shape(DType::kInt64, Shape{c.to.rank()});
    std::copy(c.to.dims().begin(), c.to.dims().end(), shape.data<int64_t>());
    EXPECT_MATCHES_SOURCES({.op = "BroadcastTo", .outputs = {{DType::kFloat32, c.to}}}, {x, shape},
                           [&](size_t, Index index) {
                             index.erase(index.begin(), index.end() - c.from.rank());
                             for (size_t a = 0; a < index.size(); ++a)
                               index[a] = std::min(index[a], c.from.dims()[a] - 1);
                             return Source{&x, index};
                           })
        << c.from.ToString();
  }
}

}  // namespace
}  // namespace estimator
