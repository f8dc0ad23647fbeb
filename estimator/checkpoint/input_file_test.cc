#include "estimator/checkpoint/input_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;

TEST(InputFile, WithoutAGraphTheFileIsTheState) {
  for (const std::string state : {"", "EITR", "a state of more than twenty bytes"}) {
    EXPECT_EQ(EncodeInputFile({.state = state}), state);
    const InputFile decoded = DecodeInputFile(state);
    EXPECT_EQ(decoded.state, state);
    EXPECT_FALSE(decoded.meta_graph.has_value());
  }
}

TEST(InputFile, TheChecksumOfTheGraphComesBack) {
  for (const std::string state : {"", "the state"}) {
    const std::string bytes =
        EncodeInputFile({.state = state, .meta_graph = FileChecksum::Of("the graph")});
    EXPECT_EQ(bytes.size(), state.size() + 20);
    const InputFile decoded = DecodeInputFile(bytes);
    EXPECT_EQ(decoded.state, state);
    ASSERT_TRUE(decoded.meta_graph.has_value());
    EST_EXPECT_OK(CheckMetaGraphBytes("the graph", *decoded.meta_graph));
    EXPECT_THAT(CheckMetaGraphBytes("the grapf", *decoded.meta_graph),
                StatusIs(absl::StatusCode::kDataLoss, HasSubstr("the crc32c of its 9 bytes is")));
    EXPECT_THAT(
        CheckMetaGraphBytes("the graph.", *decoded.meta_graph),
        StatusIs(absl::StatusCode::kDataLoss, HasSubstr("it has 10 bytes, but was saved with 9")));
  }
}

TEST(InputFile, ADamagedChecksumStaysInTheStateWhoseOwnChecksumThenFails) {
  const std::string whole =
      EncodeInputFile({.state = "the state", .meta_graph = FileChecksum::Of("the graph")});
  for (size_t i = 9; i < whole.size(); ++i) {
    std::string bytes = whole;
    bytes[i] = static_cast<char>(bytes[i] ^ 0x10);
    const InputFile decoded = DecodeInputFile(bytes);
    EXPECT_EQ(decoded.state, bytes) << i;
    EXPECT_FALSE(decoded.meta_graph.has_value()) << i;
  }
}

TEST(InputFile, ThePositionInTheEpochsComesBack) {
  for (const bool with_graph : {false, true}) {
    InputFile file{.state = "the state", .epochs = "epoch 3"};
    if (with_graph) file.meta_graph = FileChecksum::Of("the graph");
    const std::string bytes = EncodeInputFile(file);
    const InputFile decoded = DecodeInputFile(bytes);
    EXPECT_EQ(decoded.state, "the state");
    EXPECT_EQ(decoded.epochs, "epoch 3");
    EXPECT_EQ(decoded.meta_graph.has_value(), with_graph);
    // A damaged byte is left to the checksum of the state.
    std::string damaged = bytes;
    damaged[10] ^= 1;
    EXPECT_EQ(DecodeInputFile(damaged).epochs, "");
    EXPECT_NE(DecodeInputFile(damaged).state, "the state");
  }
}

TEST(InputFile, AMissingFileIsNotFound) {
  const TempDir dir;
  EXPECT_THAT(ReadInputFile(dir.File("model.ckpt-1")), StatusIs(absl::StatusCode::kNotFound));
}

}  // namespace
}  // namespace estimator
