#include "estimator/kernels/slice_range.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

Attrs Masks(int64_t ellipsis, int64_t new_axis, int64_t shrink) {
  return {{"begin_mask", int64_t{0}},
          {"end_mask", int64_t{0}},
          {"ellipsis_mask", ellipsis},
          {"new_axis_mask", new_axis},
          {"shrink_axis_mask", shrink}};
}

TEST(SliceRange, CutsRangesToTheAxisAndCountsSteps) {
  const SliceRange back = *ResolveSlice(5, {9, -9, -2});
  EXPECT_EQ(back.begin, 4);
  EXPECT_EQ(back.size, 3);
  EXPECT_EQ(ResolveSlice(5, {3, 2, 1})->size, 0);
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(ResolveSlice(5, {0, 5, kMost})->size, 1);
  EXPECT_EQ(ResolveSlice(5, {4, -9, -kMost - 1})->size, 1);
  EXPECT_THAT(ResolveSlice(5, {0, 5, 0}), ErrorIs("a slice's stride must not be 0"));
}

TEST(SliceLayout, AnEllipsisTakesWhatIsLeftAndANewAxisTakesNothing) {
  // x[..., newaxis, 1] of [2,3,4].
  const SliceLayout layout =
      *LayOutSlice({2, 3, 4}, {0, 0, 1}, {0, 0, 2}, {1, 1, 1}, Masks(1, 2, 4));
  EXPECT_EQ(layout.shape, (Shape{2, 3, 1}));
  EXPECT_EQ(layout.sizes(), (Shape{2, 3, 1}));
  EXPECT_EQ(layout.axes[2].begin, 1);
}

TEST(SliceLayout, ErrorsNameTheAxis) {
  const auto error = [](const absl::StatusOr<SliceLayout>& layout) { return layout.status(); };
  EXPECT_THAT(error(LayOutSlice({2, 3}, {0, 3}, {1, 4}, {1, 1}, Masks(0, 0, 2))),
              ErrorHas("axis 1 of [2,3]: index 3 is out of range"));
  EXPECT_THAT(error(LayOutSlice({2}, {0, 0}, {1, 1}, {1, 1}, Masks(3, 0, 0))),
              ErrorHas("more than one ellipsis"));
  EXPECT_THAT(error(LayOutSlice({2}, {0, 0}, {1, 1}, {1, 1}, Masks(0, 0, 0))),
              ErrorHas("2 begins, 2 ends and 2 strides for the 1 axes of [2]"));
}

}  // namespace
}  // namespace estimator
