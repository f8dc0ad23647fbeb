// What EventFileWriter writes, the reader reads; and histograms and images are TensorFlow's.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <png.h>

#include <cmath>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/array/array.h"
#include "estimator/base/fault_injection.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/proto/event.pb.h"
#include "estimator/records/tfrecord.h"
#include "estimator/summary/event_file_writer.h"
#include "estimator/summary/event_reader.h"
#include "estimator/summary/histogram.h"
#include "estimator/summary/image.h"
#include "estimator/summary/summary_bytes.h"

namespace estimator {
namespace {

TEST(Histogram, CountsEveryValueOnce) {
  const Histogram histogram = MakeHistogram(Array::Of<float>({6}, {-2, 0, 0, 1, 1, 5}));
  EXPECT_EQ(histogram.min, -2);
  EXPECT_EQ(histogram.max, 5);
  EXPECT_EQ(histogram.num, 6);
  EXPECT_EQ(histogram.sum, 5);
  EXPECT_EQ(histogram.sum_squares, 31);
  double total = 0;
  for (size_t i = 0; i < histogram.limits.size(); ++i) {
    total += histogram.buckets[i];
    if (i > 0) {
      EXPECT_LT(histogram.limits[i - 1], histogram.limits[i]);
    }
  }
  EXPECT_EQ(total, 6);
}

TEST(Histogram, LeavesOutWhatIsNotFinite) {
  const Histogram histogram = MakeHistogram(Array::Of<float>({3}, {NAN, INFINITY, 1}));
  EXPECT_EQ(histogram.num, 1);
  EXPECT_EQ(MakeHistogram(Array(DType::kInt64, {0})).buckets, std::vector<double>{0});
}

std::vector<uint8_t> Decode(const std::string& bytes, int channels) {
  png_image png;
  std::memset(&png, 0, sizeof(png));
  png.version = PNG_IMAGE_VERSION;
  EXPECT_NE(png_image_begin_read_from_memory(&png, bytes.data(), bytes.size()), 0);
  png.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  std::vector<uint8_t> pixels(PNG_IMAGE_SIZE(png));
  EXPECT_NE(png_image_finish_read(&png, nullptr, pixels.data(), 0, nullptr), 0);
  return pixels;
}

TEST(Image, BytesRoundTripThroughPng) {
  const Array image = Array::Of<uint8_t>({1, 2, 3}, {1, 2, 3, 250, 251, 252});
  EXPECT_EQ(Decode(EncodePng(image).value(), 3), (std::vector<uint8_t>{1, 2, 3, 250, 251, 252}));
}

TEST(Image, FloatsAreScaledAsInTensorFlow) {
  EXPECT_EQ(Decode(EncodePng(Array::Of<float>({1, 3, 1}, {0, 1, 2})).value(), 1),
            (std::vector<uint8_t>{0, 127, 255}));
  EXPECT_EQ(Decode(EncodePng(Array::Of<float>({1, 3, 1}, {-1, 0, 0.5})).value(), 1),
            (std::vector<uint8_t>{1, 128, 191}));
  EXPECT_EQ(Decode(EncodePng(Array::Of<float>({1, 2, 3}, {1, 1, 1, NAN, 1, 1})).value(), 3),
            (std::vector<uint8_t>{255, 255, 255, 255, 0, 0}));
}

TEST(Image, OtherShapesAndDTypesAreRefused) {
  EXPECT_THAT(EncodePng(Array(DType::kFloat32, {4, 4})),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(EncodePng(Array(DType::kInt32, {4, 4, 3})),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(EncodePng(Array(DType::kUint8, {4, 4, 2})),
              StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(EventFile, EveryKindOfValueComesBack) {
  const TempDir dir;
  const auto writer = EventFileWriter::Open(dir.File("logs"), ".suffix").value();
  EST_ASSERT_OK(writer->AddSessionLog(SessionStatus::kStart, 0));
  EST_ASSERT_OK(writer->AddGraph(""));
  EST_ASSERT_OK(writer->AddScalar("loss", 0.5f, 1));
  EST_ASSERT_OK(writer->AddHistogram("w", Array::Of<float>({2}, {1, 2}), 2));
  EST_ASSERT_OK(writer->AddImage("digit", Array(DType::kUint8, {4, 4, 1}), 3));
  EST_ASSERT_OK(writer->AddText("note", "**hi**", 4));
  EXPECT_THAT(writer->AddHistogram("s", Array::String("x"), 5),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(writer->AddSummary("\xff\xff", 5), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(writer->AddSummary(absl::string_view("x", size_t{1} << 32), 5),
              StatusIs(absl::StatusCode::kInvalidArgument))
      << "its size is more than protobuf can count";
  EST_ASSERT_OK(writer->AddSummary(*ImageSummary("m", Array(DType::kFloat32, {5, 2, 2, 3})), 6));
  EST_ASSERT_OK(writer->Flush());
  EXPECT_EQ(Basename(writer->path()).find("events.out.tfevents."), 0u);
  EXPECT_EQ(writer->path().substr(writer->path().size() - 7), ".suffix");
  const auto records = ReadEventFile(writer->path()).value();
  ASSERT_EQ(records.size(), 7u);
  using Kind = SummaryRecord::Kind;
  EXPECT_EQ(records[0].tag, "loss");
  EXPECT_EQ(records[0].scalar, 0.5);
  EXPECT_EQ(records[0].step, 1);
  EXPECT_GT(records[0].wall_time, 1e9);
  EXPECT_EQ(records[1].kind, Kind::kHistogram);
  EXPECT_EQ(records[2].kind, Kind::kImage);
  EXPECT_EQ(records[3].kind, Kind::kTensor);
  EXPECT_EQ(records[4].tag, "m/image/0");
  EXPECT_EQ(records[6].tag, "m/image/2");
  const auto reader = TFRecordReader::Open(writer->path()).value();
  EXPECT_NE(reader->Next().value()->find("brain.Event:2"), std::string::npos);
}

// A fixed bug: TensorFlow could not parse the event, and so nothing behind it.
TEST(EventFile, APathThatIsNotUtf8IsEscaped) {
  const TempDir dir;
  const auto writer = EventFileWriter::Open(dir.path()).value();
  EST_ASSERT_OK(writer->AddSessionLog(SessionStatus::kCheckpoint, 1, "m\xe4rz/model.ckpt-1"));
  EST_ASSERT_OK(writer->AddSessionLog(SessionStatus::kCheckpoint, 2, "m\xc3\xa4rz/model.ckpt-2"));
  EST_ASSERT_OK(writer->Flush());
  const auto reader = TFRecordReader::Open(writer->path()).value();
  EST_ASSERT_OK(reader->Next());  // the version
  EXPECT_NE(reader->Next().value()->find("m\\344rz/model.ckpt-1"), std::string::npos);
  EXPECT_NE(reader->Next().value()->find("m\xc3\xa4rz/model.ckpt-2"), std::string::npos);
}

TEST(EventFile, I7CorruptedFileRestSkippedMissingDirectoryNoData) {
  const TempDir dir;
  std::string path;
  {
    const auto writer = EventFileWriter::Open(dir.path()).value();
    for (int step = 1; step <= 3; ++step) EST_ASSERT_OK(writer->AddScalar("loss", 2, step));
    path = writer->path();
  }
  EXPECT_EQ(ReadScalars(dir.path())->size(), 3u);
  std::string bytes = ReadFile(path).value();
  bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] ^ 1);
  EST_ASSERT_OK(WriteFileAtomically(path, bytes));
  EXPECT_EQ(ReadScalars(dir.path())->size(), 2u);
  EST_ASSERT_OK(WriteFileAtomically(path, bytes.substr(0, bytes.size() - 3)));
  EXPECT_EQ(ReadScalars(dir.path())->at(2).at("loss"), 2);
  EXPECT_EQ(ReadScalars(dir.path())->size(), 2u);
  EXPECT_TRUE(ReadScalars(dir.File("none"))->empty());
}

// "step/value" of each scalar, in order.
std::vector<std::string> Scalars(const std::string& directory) {
  std::vector<std::string> texts;
  const auto records = ReadEventDirectory(directory);
  EST_EXPECT_OK(records);
  for (const SummaryRecord& record : *records) {
    texts.push_back(absl::StrCat(record.step, "/", record.scalar));
  }
  return texts;
}

TEST(EventFile, ASessionDiscardsTheLaterStepsOfEarlierOnes) {
  const TempDir dir;
  {
    const auto writer = EventFileWriter::Open(dir.path(), ".first").value();
    for (const int step : {10, 20, 30, 40}) EST_ASSERT_OK(writer->AddScalar("loss", 1, step));
    writer->StartSession(20);  // a second session of one process
    EST_ASSERT_OK(writer->AddScalar("loss", 2, 30));
    EST_ASSERT_OK(writer->AddScalar("other", 2, 50));
  }
  EXPECT_EQ(Scalars(dir.path()), (std::vector<std::string>{"10/1", "20/1", "30/2", "50/2"}));
  {
    const auto writer = EventFileWriter::Open(dir.path(), ".second").value();
    writer->StartSession(30);
    EXPECT_EQ(Scalars(dir.path()).size(), 4u) << "nothing was written yet";
    EST_ASSERT_OK(writer->AddScalar("loss", 3, 31));
    EST_ASSERT_OK(writer->AddScalar("loss", 3, 40));
  }
  EXPECT_EQ(Scalars(dir.path()),
            (std::vector<std::string>{"10/1", "20/1", "30/2", "31/3", "40/3"}));
  {
    const auto writer = EventFileWriter::Open(dir.path(), ".third").value();
    writer->StartSession(0);  // the checkpoints were removed
    EST_ASSERT_OK(writer->AddScalar("loss", 4, 1));
  }
  EXPECT_EQ(Scalars(dir.path()), std::vector<std::string>{"1/4"});
}

// The bytes of each event's session log: "status step path".
std::vector<std::string> SessionLogs(const std::string& path) {
  std::vector<std::string> logs;
  const auto reader = TFRecordReader::Open(path).value();
  for (auto record = reader->Next(); record.ok() && record->has_value(); record = reader->Next()) {
    proto::Event event;
    EXPECT_TRUE(event.ParseFromString(**record));
    const proto::SessionLog& log = event.session_log();
    logs.push_back(event.has_session_log()
                       ? absl::StrCat(log.status(), " ", event.step(), " ", log.checkpoint_path())
                       : absl::StrCat("step ", event.step()));
  }
  return logs;
}

TEST(EventFile, SessionsAndCheckpointsOfADirectoryWaitForItsWriter) {
  const TempDir dir;
  StartEventSession(dir.path(), 7);
  EST_ASSERT_OK(AddCheckpointEvent(dir.path(), 6, "six"));
  EST_ASSERT_OK(AddCheckpointEvent(dir.path(), 7, "seven"));
  EXPECT_TRUE(ListDirectory(dir.path())->empty()) << "no file is created for them alone";
  const auto writer = EventFileWriter::ForDirectory(dir.path()).value();
  EST_ASSERT_OK(writer->AddScalar("loss", 1, 8));
  EST_ASSERT_OK(AddCheckpointEvent(dir.path(), 9, "nine"));
  StartEventSession(dir.path(), 9);
  StartEventSession(dir.path(), 9);
  EST_ASSERT_OK(writer->AddScalar("loss", 1, 10));
  EST_ASSERT_OK(CloseAllEventFileWriters());
  EXPECT_EQ(SessionLogs(writer->path()),
            (std::vector<std::string>{"step 0", "1 8 ", "3 7 seven", "step 8", "3 9 nine", "1 10 ",
                                      "step 10"}));
}

// Fixed bug: after a full disk no later call of Train in the process could write.
TEST(EventFile, ASessionAfterAnErrorHasAnotherWriter) {
  const TempDir dir;
  {
    const ScopedFaultInjector faults([](FileOperation operation, absl::string_view) -> Fault {
      if (operation != FileOperation::kWrite) return {};
      return {.status = absl::ResourceExhaustedError("full")};
    });
    EXPECT_FALSE(EventFileWriter::ForDirectory(dir.path()).ok());
  }
  const auto writer = EventFileWriter::ForDirectory(dir.path()).value();
  {
    const ScopedFaultInjector faults([](FileOperation operation, absl::string_view) -> Fault {
      if (operation != FileOperation::kWrite) return {};
      return {.status = absl::ResourceExhaustedError("full")};
    });
    EST_ASSERT_OK(writer->AddScalar("loss", 1, 1));
    EXPECT_FALSE(writer->Flush().ok());
  }
  StartEventSession(dir.path(), 0);
  const auto other = EventFileWriter::ForDirectory(dir.path()).value();
  EST_EXPECT_OK(other->AddScalar("loss", 1, 1));
  EST_EXPECT_OK(CloseAllEventFileWriters());
}

TEST(EventFile, ThreadsWriteToOneFile) {
  const TempDir dir;
  constexpr int kThreads = 4, kEvents = 50;
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&dir, t] {
      const std::string tag = "thread_" + std::to_string(t);
      for (int step = 0; step < kEvents; ++step) {
        const auto writer = EventFileWriter::ForDirectory(dir.path());
        EST_EXPECT_OK(writer);
        EST_EXPECT_OK((*writer)->AddScalar(tag, 1, step));
        if (step % 10 == 0) {
          EST_EXPECT_OK((*writer)->Flush());
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  const std::string path = EventFileWriter::ForDirectory(dir.path()).value()->path();
  EST_ASSERT_OK(CloseAllEventFileWriters());
  EXPECT_EQ(ReadEventFile(path)->size(), size_t{kThreads} * kEvents);
}

TEST(EventFile, OneWriterADirectoryUntilAllAreClosed) {
  const TempDir dir;
  const auto first = EventFileWriter::ForDirectory(dir.path()).value();
  EXPECT_EQ(EventFileWriter::ForDirectory(dir.path()).value(), first);
  EST_ASSERT_OK(CloseAllEventFileWriters());
  EXPECT_NE(EventFileWriter::ForDirectory(dir.path()).value()->path(), first->path());
  EST_ASSERT_OK(CloseAllEventFileWriters());
}

}  // namespace
}  // namespace estimator
