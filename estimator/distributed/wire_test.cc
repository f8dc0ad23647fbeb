#include "estimator/distributed/wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "estimator/base/testing/status_matchers.h"

namespace estimator {
namespace {

TEST(Wire, FramesArriveInPieces) {
  const std::string bytes =
      EncodeFrame(FrameType::kCall, {"AllGather", "", std::string(1000, 'x')}) +
      EncodeFrame(FrameType::kHeartbeat);
  for (const size_t piece : {1, 7, 2000}) {
    FrameReader reader(2000);
    std::vector<Frame> frames;
    for (size_t i = 0; i < bytes.size(); i += piece) {
      reader.Append(bytes.substr(i, piece));
      for (;;) {
        EST_ASSERT_OK_AND_ASSIGN(const std::optional<Frame> frame, reader.Next());
        if (!frame.has_value()) break;
        frames.push_back(*frame);
      }
    }
    ASSERT_EQ(frames.size(), 2u);
    EXPECT_EQ(frames[0].type, FrameType::kCall);
    EXPECT_THAT(frames[0].fields, testing::ElementsAre("AllGather", "", std::string(1000, 'x')));
    EXPECT_EQ(frames[1].type, FrameType::kHeartbeat);
    EXPECT_THAT(frames[1].fields, testing::IsEmpty());
  }
}

TEST(Wire, WhatIsNoFrameIsRefused) {
  for (const std::string& bytes :
       {std::string("GET / HTTP/1.1\r\n"), std::string("\0\0\0\0\x63", 5),
        // A field that is longer than its frame, and one without its length.
        std::string("\x08\0\0\0\x01\xff\0\0\0abcd", 13), std::string("\x02\0\0\0\x01zz", 7)}) {
    FrameReader reader(4096);
    reader.Append(bytes);
    EXPECT_THAT(reader.Next(), StatusIs(absl::StatusCode::kDataLoss));
  }
  FrameReader reader(10);
  reader.Append(EncodeFrame(FrameType::kCall, {"longer than ten"}));
  EXPECT_THAT(reader.Next(), StatusIs(absl::StatusCode::kDataLoss));
}

}  // namespace
}  // namespace estimator
