#include "estimator/ops/edit_distance.h"

#include <string>
#include <vector>

#include "estimator/graph/graph.h"
#include "estimator/ops/constant.h"
#include "estimator/ops/testing/eval.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Tensor Letters(const std::string& text) {
  const std::vector<int32_t> ids(text.begin(), text.end());
  return Constant(Array::FromSpan<int32_t>({1, static_cast<int64_t>(text.size())}, ids));
}

TEST(EditDistance, CountsInsertionsDeletionsAndReplacements) {
  Graph graph;
  const GraphScope scope(graph);
  const auto distance = [](const std::string& a, const std::string& b) {
    return testing::Doubles(EditDistance(Letters(a), Constant({static_cast<int>(a.size())}),
                                         Letters(b), Constant({static_cast<int>(b.size())}),
                                         {.normalize = false}));
  };
  EXPECT_THAT(distance("kitten", "sitting"), ElementsAre(3));
  EXPECT_THAT(distance("flaw", "lawn"), ElementsAre(2));
}

TEST(EditDistance, RefusesWhatIsNoBatchOfSequences) {
  EXPECT_THAT(testing::ErrorOf([] {
                EditDistance(Zeros({2, 3}), Constant({1, 2}), Zeros({2, 3}), Constant({1, 2}));
              }),
              HasSubstr("takes integers [B,T] and their lengths [B], not f32 [2,3]"));
  EXPECT_THAT(testing::ErrorOf([] {
                EditDistance(Letters("abc"), Constant({1, 2}), Letters("abc"), Constant({3}));
              }),
              HasSubstr("their lengths [B]"));
}

}  // namespace
}  // namespace estimator
