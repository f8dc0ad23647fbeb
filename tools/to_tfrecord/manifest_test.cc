#include "tools/to_tfrecord/manifest.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

TEST(Manifest, EncodesAndDecodesEveryField) {
  Manifest manifest;
  manifest.settings = {{"seed", "5"}, {"empty", ""}};
  manifest.shards[3] = {.file = "train-00003-of-00004",
                        .records = 12,
                        .bytes = 4567,
                        .inputs = ~uint64_t{0},
                        .unused = {{"a\tb\n.jpg", "it is \"damaged\""}}};
  EST_ASSERT_OK_AND_ASSIGN(const Manifest decoded, DecodeManifest(EncodeManifest(manifest)));
  EXPECT_EQ(decoded.settings, manifest.settings);
  ASSERT_EQ(decoded.shards.count(3), 1u);
  const FinishedShard& shard = decoded.shards.at(3);
  EXPECT_EQ(shard.file, "train-00003-of-00004");
  EXPECT_EQ(shard.records, 12);
  EXPECT_EQ(shard.bytes, 4567);
  EXPECT_EQ(shard.inputs, ~uint64_t{0});
  ASSERT_EQ(shard.unused.size(), 1u);
  EXPECT_EQ(shard.unused[0].path, "a\tb\n.jpg");
  EXPECT_EQ(shard.unused[0].reason, "it is \"damaged\"");
}

TEST(Manifest, DamageIsNamedByItsLine) {
  EXPECT_THAT(DecodeManifest("").status(), ErrorHas("line 1"));
  EXPECT_THAT(DecodeManifest("manifest\t2\n").status(), ErrorHas("line 1"));
  for (const char* line : {"shard\t1\t2\t3\n", "shard\tx\t1\t1\t1\tf\n", "unused\t7\ta\tb\n",
                           "setting\ta\n", "other\t1\n", "setting\ta\t\\q\n"}) {
    EXPECT_THAT(DecodeManifest(absl::StrCat("manifest\t1\n", line)).status(),
                ErrorIs("line 2 is damaged"))
        << line;
  }
}

TEST(Manifest, EveryDifferentSettingIsNamedWithBothValues) {
  EST_EXPECT_OK(CheckSameSettings({{"a", "1"}}, {{"a", "1"}}));
  EXPECT_THAT(CheckSameSettings({{"a", "1"}, {"b", "2"}}, {{"a", "3"}, {"c", "4"}}),
              ErrorIs("a was 1 and is 3; b was 2 and is absent; c was absent and is 4"));
}

}  // namespace
}  // namespace estimator
