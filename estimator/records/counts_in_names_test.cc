#include "estimator/records/counts_in_names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::Eq;

TEST(CountsInNames, ReadsTheNumberBeforeTfrec) {
  EXPECT_THAT(CountsInNames({"d-7/flowers00-230.tfrec", "train-00000-of-00002-1024.tfrec"}),
              ElementsAre(Eq(230), Eq(1024)));
}

TEST(CountsInNames, OtherNumbersAreNotCounts) {
  EXPECT_THAT(CountsInNames({"train-00000-of-01024.tfrec", "train-00000-of-01024", "a-12.tfrecord",
                             "a-.tfrec", "a-1x.tfrec", "12.tfrec"}),
              ElementsAre(Eq(std::nullopt), Eq(std::nullopt), Eq(std::nullopt), Eq(std::nullopt),
                          Eq(std::nullopt), Eq(std::nullopt)));
}

TEST(CountsInNames, ConsecutiveNumbersCountTheFiles) {
  EXPECT_THAT(CountsInNames({"a-1.tfrec", "a-0.tfrec", "a-2.tfrec"}),
              ElementsAre(Eq(std::nullopt), Eq(std::nullopt), Eq(std::nullopt)));
  EXPECT_THAT(CountsInNames({"a-1.tfrec", "a-5.tfrec"}), ElementsAre(Eq(1), Eq(5)));
}

}  // namespace
}  // namespace estimator
