#include "estimator/runtime/variable_store.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(VariableStore, StorageIsZeroAndStaysInPlace) {
  VariableStore store;
  const auto allocated = store.Allocate("w", {DType::kFloat32, {2}});
  EST_ASSERT_OK(allocated);
  EXPECT_THAT((*allocated)->values<float>(), ElementsAre(0, 0));
  EXPECT_FALSE(store.initialized("w"));
  const void* bytes = (*allocated)->raw();
  EST_ASSERT_OK(store.Set("w", Array::Of<float>({2}, {3, 4})));
  EXPECT_TRUE(store.initialized("w"));
  EXPECT_EQ(store.Peek("w")->raw(), bytes);
  EXPECT_THAT((*allocated)->values<float>(), ElementsAre(3, 4));
}

TEST(VariableStore, AnInitializedFlagFollowsItsEntryAndStaysInPlace) {
  VariableStore store;
  EST_ASSERT_OK(store.Allocate("w", {DType::kFloat32, {2}}));
  const bool* const initialized = store.InitializedFlag("w");
  EXPECT_FALSE(*initialized);
  EST_ASSERT_OK(store.Set("a", Array::Scalar(1.0f)));
  EST_ASSERT_OK(store.Set("z", Array::Scalar(1.0f)));
  EXPECT_FALSE(*initialized);
  store.MarkInitialized("w");
  EXPECT_TRUE(*initialized);
  store.MarkUninitialized("w");
  EXPECT_FALSE(*initialized);
}

TEST(VariableStore, GetCopiesAndSetCopies) {
  VariableStore store;
  Array value = Array::Of<float>({1}, {1});
  EST_ASSERT_OK(store.Set("w", value));
  value.data<float>()[0] = 2;
  Array copy = *store.Get("w");
  EXPECT_EQ(copy.data<float>()[0], 1);
  copy.data<float>()[0] = 3;
  EXPECT_EQ(store.Peek("w")->data<float>()[0], 1);
}

TEST(VariableStore, AnotherTypeOrShapeIsAnErrorThatNamesBoth) {
  VariableStore store;
  EST_ASSERT_OK(store.Set("w", Array::Of<float>({1}, {1})));
  const absl::Status status = store.Set("w", Array::Of<float>({2}, {1, 2}));
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("'w' is f32 [2] in this model, but the store has it as f32 [1]")));
}

TEST(VariableStore, AMissingNameGetsASuggestion) {
  VariableStore store;
  EST_ASSERT_OK(store.Set("dense/kernel", Array::Scalar(1.0f)));
  const auto value = store.Get("dense/kernal");
  EXPECT_THAT(value,
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("did you mean 'dense/kernel'?")));
}

TEST(VariableStore, EachWriteChangesTheVersion) {
  VariableStore store;
  EST_ASSERT_OK(store.Set("w", Array::Scalar(1.0f)));
  uint64_t* const counter = store.VersionCounter("w");
  uint64_t before = store.version("w");
  const auto changed = [&] {
    const bool is_new = store.version("w") != before;
    before = store.version("w");
    return is_new;
  };
  EXPECT_FALSE(changed());
  EST_ASSERT_OK(store.Set("w", Array::Scalar(1.0f)));
  EXPECT_TRUE(changed());
  store.MarkInitialized("w");
  EXPECT_TRUE(changed());
  store.MarkUninitialized("w");
  EXPECT_TRUE(changed());
  EST_ASSERT_OK(store.Set("other", Array::Scalar(1.0f)));
  EXPECT_FALSE(changed());
  EXPECT_EQ(*counter, before);
  ++*counter;
  EXPECT_TRUE(changed());
}

TEST(VariableStore, NamesAreSortedAndBytesAdded) {
  VariableStore store;
  EST_ASSERT_OK(store.Set("b", Array::Of<float>({2}, {1, 2})));
  EST_ASSERT_OK(store.Set("a", Array::Scalar<int64_t>(1)));
  EXPECT_THAT(store.Names(), ElementsAre("a", "b"));
  EXPECT_EQ(store.TotalBytes(), 16u);
}

}  // namespace
}  // namespace estimator
