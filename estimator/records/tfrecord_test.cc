#include "estimator/records/tfrecord.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"

namespace estimator {
namespace {

const std::vector<std::string>& Records() {
  static const auto* const records =
      new std::vector<std::string>{"first", "", std::string(300000, 'x'), "last"};
  return *records;
}

void WriteRecords(const std::string& path, Compression compression) {
  const auto writer = TFRecordWriter::Open(path, {.compression = compression}).value();
  for (const std::string& record : Records()) EST_ASSERT_OK(writer->Write(record));
  EST_ASSERT_OK(writer->Close());
}

TEST(TFRecord, ReadsWhatItWrites) {
  const TempDir dir;
  for (const Compression kind : {Compression::kNone, Compression::kGzip, Compression::kZlib}) {
    WriteRecords(dir.File("r"), kind);
    const auto reader = TFRecordReader::Open(dir.File("r"), {.compression = kind}).value();
    std::vector<TFRecordPosition> positions;
    for (const std::string& record : Records()) {
      positions.push_back(reader->position());
      EXPECT_EQ(reader->Next().value(), record);
    }
    EXPECT_EQ(reader->Next().value(), std::nullopt);
    for (const size_t i : {2u, 0u, 3u}) {
      EST_ASSERT_OK(reader->Seek(positions[i]));
      EXPECT_EQ(reader->Next().value(), Records()[i]);
    }
    EST_ASSERT_OK(reader->Seek(positions[1]));
    EXPECT_TRUE(reader->Skip().value());
    EXPECT_TRUE(reader->Skip().value());
    EXPECT_EQ(reader->Next().value(), "last");
    EXPECT_FALSE(reader->Skip().value());
  }
}

TEST(TFRecord, BytesAreTensorFlows) {
  // tf.io.TFRecordWriter(path).write(b"hello"), TF 2.15.
  const std::string expected(
      "\x05\x00\x00\x00\x00\x00\x00\x00\xea\xb2\x04\x3e"
      "hello"
      "\xbb\x1f\x1c\x19",
      21);
  const TempDir dir;
  const auto writer = TFRecordWriter::Open(dir.File("r")).value();
  EST_ASSERT_OK(writer->Write("hello"));
  EST_ASSERT_OK(writer->Close());
  EXPECT_EQ(ReadFile(dir.File("r")).value(), expected);
}

TEST(TFRecord, EveryDamagedByteIsFound) {
  const TempDir dir;
  const auto writer = TFRecordWriter::Open(dir.File("r")).value();
  EST_ASSERT_OK(writer->Write("one"));
  EST_ASSERT_OK(writer->Write("two"));
  EST_ASSERT_OK(writer->Close());
  const std::string whole = ReadFile(dir.File("r")).value();
  const auto read_all = [&](const std::string& bytes) {
    EST_EXPECT_OK(WriteFileAtomically(dir.File("d"), bytes));
    const auto reader = TFRecordReader::Open(dir.File("d")).value();
    while (true) {
      const auto record = reader->Next();
      if (!record.ok() || !record->has_value()) return record.status();
    }
  };
  EST_ASSERT_OK(read_all(whole));
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    EXPECT_THAT(read_all(damaged), StatusIs(absl::StatusCode::kDataLoss)) << "byte " << i;
    if (i == 0 || i == whole.size() / 2) continue;  // whole records: a shorter file, but a good one
    const absl::Status cut = read_all(whole.substr(0, i));
    EXPECT_THAT(cut, ErrorHas("truncated")) << i;
  }
  std::string damaged = whole;
  damaged[19 + 12] = 'T';
  EXPECT_THAT(
      read_all(damaged),
      ErrorIs(
          dir.File("d") +
          ": record 1 at byte 19: the crc32c of its 3 bytes does not match: the file is damaged"));
}

TEST(TFRecord, APositionOutsideOfTheFileIsRefused) {
  const TempDir dir;
  for (const Compression compression : {Compression::kNone, Compression::kGzip}) {
    WriteRecords(dir.File("r"), compression);
    const auto reader = TFRecordReader::Open(dir.File("r"), {.compression = compression}).value();
    for (const int64_t offset : {int64_t{-1}, int64_t{1} << 40}) {
      EXPECT_THAT(reader->Seek({.offset = offset, .index = 1}),
                  StatusIs(absl::StatusCode::kOutOfRange))
          << offset;
    }
  }
}

TEST(TFRecord, AGzipFileReadAsPlainIsExplained) {
  const TempDir dir;
  WriteRecords(dir.File("r"), Compression::kGzip);
  const absl::Status status = TFRecordReader::Open(dir.File("r")).value()->Next().status();
  EXPECT_THAT(status, ErrorHas("this is a GZIP file"));
}

}  // namespace
}  // namespace estimator
