#include "estimator/ops/slicing.h"

#include <vector>

#include "estimator/graph/testing/graph_fixture.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testing/eval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using testing::CheckGradients;
using testing::Doubles;
using ::testing::ElementsAre;
using testing::ErrorOf;
using ::testing::HasSubstr;
using testing::Scrambled;
using Inputs = std::vector<Tensor>;

using SliceTest = GraphTest;
using StridedSliceTest = GraphTest;
using PadTest = GraphTest;
using MirrorPadTest = GraphTest;

TEST_F(SliceTest, TakesABlock) {
  const Tensor x = Constant({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(Doubles(Slice(x, {0, 1}, {2, 2})), ElementsAre(2, 3, 5, 6));
  EXPECT_THAT(Doubles(Slice(x, {1, 0}, {-1, 2})), ElementsAre(4, 5));
  EXPECT_THAT(ErrorOf([] { Slice(Zeros({3}), {2}, {2}); }), HasSubstr("elements 2 to 4"));
  EXPECT_THAT(ErrorOf([] {
                Slice(Zeros({3}), {2, 0}, {1, 1});
              }),
              HasSubstr("2 entries for the 1 axes"));
}

TEST_F(StridedSliceTest, FollowsPython) {
  const Tensor x = Range(6);
  EXPECT_THAT(Doubles(StridedSlice(x, {Slicing::Span(1, 5, 2)})), ElementsAre(1, 3));
  EXPECT_THAT(Doubles(StridedSlice(x, {Slicing::Span(std::nullopt, -4)})), ElementsAre(0, 1));
  EXPECT_THAT(Doubles(StridedSlice(x, {Slicing::Span(std::nullopt, std::nullopt, -2)})),
              ElementsAre(5, 3, 1));
  EXPECT_THAT(Doubles(StridedSlice(x, {Slicing::Span(4, 100)})), ElementsAre(4, 5));
  EXPECT_EQ(StridedSlice(x, {Slicing::Span(4, 2)}).shape(), Shape{0});
  const Tensor last = StridedSlice(x, {Slicing::At(-1)});
  EXPECT_EQ(last.shape(), Shape{});
  EXPECT_THAT(Doubles(last), ElementsAre(5));
}

TEST_F(StridedSliceTest, MixesIndicesAndRanges) {
  const Tensor x = Constant({2, 3}, {1, 2, 3, 4, 5, 6});
  EXPECT_THAT(Doubles(StridedSlice(x, {Slicing::At(1)})), ElementsAre(4, 5, 6));
  EXPECT_THAT(Doubles(StridedSlice(x, {Slicing::All(), Slicing::At(1)})), ElementsAre(2, 5));
  EXPECT_THAT(ErrorOf([] { StridedSlice(Zeros({3}), {Slicing::At(3)}); }),
              HasSubstr("index 3 is out of range"));
  EXPECT_THAT(ErrorOf([] { StridedSlice(Zeros({3}), {Slicing::Span(0, 1, 0)}); }),
              HasSubstr("stride"));
  EXPECT_THAT(ErrorOf([] { StridedSlice(Zeros({3}), {{}, {}}); }), HasSubstr("1 axes"));
}

TEST_F(PadTest, SurroundsWithAValue) {
  const Tensor x = Constant({1, 2}, {1, 2});
  EXPECT_THAT(Doubles(Pad(x, {{1, 0}, {0, 1}})), ElementsAre(0, 0, 0, 1, 2, 0));
  EXPECT_THAT(Doubles(Pad(x, {{0, 0}, {1, 1}}, {.constant_values = -7})),
              ElementsAre(-7, 1, 2, -7));
  EXPECT_THAT(ErrorOf([] { Pad(Zeros({2}), {{-1, 0}}); }), HasSubstr("{-1, 0}"));
  EXPECT_THAT(ErrorOf([] { Pad(Zeros({2}), {{1, 0}, {1, 0}}); }), HasSubstr("2 entries"));
}

TEST_F(MirrorPadTest, ReflectsWithAndWithoutTheEdge) {
  const Tensor x = Constant({1, 2, 3});
  EXPECT_THAT(Doubles(MirrorPad(x, {{2, 2}}, MirrorMode::kReflect)),
              ElementsAre(3, 2, 1, 2, 3, 2, 1));
  EXPECT_THAT(Doubles(MirrorPad(x, {{2, 3}}, MirrorMode::kSymmetric)),
              ElementsAre(2, 1, 1, 2, 3, 3, 2, 1));
  EXPECT_THAT(ErrorOf([] {
                MirrorPad(Zeros({3}), {{3, 0}}, MirrorMode::kReflect);
              }),
              HasSubstr("only 2 elements"));
}

TEST_F(StridedSliceTest, TakesTheRestAndAddsAxes) {
  const Tensor x = Constant({2, 1, 3}, {1, 2, 3, 4, 5, 6});
  const Tensor last = StridedSlice(x, {Slicing::Rest(), Slicing::At(2)});
  EXPECT_EQ(last.shape(), (Shape{2, 1}));
  EXPECT_THAT(Doubles(last), ElementsAre(3, 6));
  EXPECT_EQ(StridedSlice(x, {Slicing::NewAxis(), Slicing::At(1), Slicing::Rest()}).shape(),
            (Shape{1, 1, 3}));
  EXPECT_THAT(ErrorOf([] {
                StridedSlice(Zeros({3}), {Slicing::Rest(), Slicing::Rest()});
              }),
              HasSubstr("more than one ellipsis"));
  EXPECT_THAT(ErrorOf([] {
                StridedSlice(Zeros({3}), {Slicing::All(), Slicing::Rest(), Slicing::All()});
              }),
              HasSubstr("for the 1 axes of [3]"));
}

TEST(Slicing, GradientsMatchFiniteDifferences) {
  const Array x = Scrambled({3, 4}, -1, 1);
  const std::vector<testing::TensorFn> builds = {
      [](const Inputs& in) {
        return Slice(in[0], {1, 0}, {2, 3});
      },
      [](const Inputs& in) {
        return StridedSlice(in[0], {Slicing::At(1), Slicing::Span(3, std::nullopt, -2)});
      },
      [](const Inputs& in) { return StridedSlice(in[0], {Slicing::Span(0, 3, 2)}); },
      [](const Inputs& in) {
        return StridedSlice(in[0], {Slicing::Rest(), Slicing::NewAxis(), Slicing::At(-1)});
      },
      [](const Inputs& in) {
        return Pad(in[0], {{1, 2}, {0, 1}});
      },
      [](const Inputs& in) {
        return Pad(in[0], {{1, 2}, {0, 1}}, {.constant_values = 3});
      },
      [](const Inputs& in) {
        return MirrorPad(in[0], {{1, 2}, {3, 0}}, MirrorMode::kReflect);
      },
      [](const Inputs& in) {
        return MirrorPad(in[0], {{1, 3}, {4, 0}}, MirrorMode::kSymmetric);
      }};
  for (const auto& build : builds) EXPECT_EQ(CheckGradients(build, {x}).ToString(), "OK");
}

}  // namespace
}  // namespace estimator
