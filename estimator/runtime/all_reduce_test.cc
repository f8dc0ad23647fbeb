#include "estimator/runtime/all_reduce.h"

#include <vector>

#include "estimator/base/testing/status_matchers.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace estimator {
namespace {

TEST(AllReduceSum, SumsInReplicaOrderIntoEveryOutputInPlace) {
  // In this order the small numbers survive; in another they would be lost to the large one.
  constexpr int64_t kCount = 20000;
  std::vector<std::vector<float>> values(3, std::vector<float>(kCount));
  for (int64_t i = 0; i < kCount; ++i) {
    values[0][i] = 1e8f;
    values[1][i] = -1e8f;
    values[2][i] = static_cast<float>(i);
  }
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (auto& replica : values) {
    inputs.push_back(replica.data());
    outputs.push_back(replica.data());
  }
  EST_ASSERT_OK(AllReduceSum({DType::kFloat32, {kCount}}, inputs, outputs));
  for (const auto& replica : values) {
    for (int64_t i = 0; i < kCount; ++i) ASSERT_EQ(replica[i], static_cast<float>(i)) << i;
  }
}

TEST(AllReduceSum, SumsBfloat16InFloat32) {
  std::vector<Bfloat16> ones(1, Bfloat16(1.0f)), big(1, Bfloat16(256.0f)), out(1);
  // 256 + 1 + 1 in bfloat16 steps would stay at 256.
  EST_ASSERT_OK(
      AllReduceSum({DType::kBfloat16, {1}}, {big.data(), ones.data(), ones.data()}, {out.data()}));
  EXPECT_EQ(static_cast<float>(out[0]), 258.0f);
}

TEST(AllReduceSum, RefusesWhatIsNoNumber) {
  bool flag = true;
  EXPECT_THAT(AllReduceSum({DType::kBool, {}}, {&flag}, {&flag}),
              StatusIs(absl::StatusCode::kUnimplemented));
}

}  // namespace
}  // namespace estimator
