#include "estimator/records/tfrecord.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "estimator/base/file.h"
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
  for (const std::string& record : Records()) ASSERT_TRUE(writer->Write(record).ok());
  ASSERT_TRUE(writer->Close().ok());
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
      ASSERT_TRUE(reader->Seek(positions[i]).ok());
      EXPECT_EQ(reader->Next().value(), Records()[i]);
    }
    ASSERT_TRUE(reader->Seek(positions[1]).ok());
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
  ASSERT_TRUE(writer->Write("hello").ok());
  ASSERT_TRUE(writer->Close().ok());
  EXPECT_EQ(ReadFile(dir.File("r")).value(), expected);
}

TEST(TFRecord, EveryDamagedByteIsFound) {
  const TempDir dir;
  const auto writer = TFRecordWriter::Open(dir.File("r")).value();
  ASSERT_TRUE(writer->Write("one").ok());
  ASSERT_TRUE(writer->Write("two").ok());
  ASSERT_TRUE(writer->Close().ok());
  const std::string whole = ReadFile(dir.File("r")).value();
  const auto read_all = [&](const std::string& bytes) {
    EXPECT_TRUE(WriteFileAtomically(dir.File("d"), bytes).ok());
    const auto reader = TFRecordReader::Open(dir.File("d")).value();
    while (true) {
      const auto record = reader->Next();
      if (!record.ok() || !record->has_value()) return record.status();
    }
  };
  ASSERT_TRUE(read_all(whole).ok());
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    EXPECT_EQ(read_all(damaged).code(), absl::StatusCode::kDataLoss) << "byte " << i;
    if (i == 0 || i == whole.size() / 2) continue;  // whole records: a shorter file, but a good one
    const absl::Status cut = read_all(whole.substr(0, i));
    EXPECT_TRUE(absl::StrContains(cut.message(), "truncated")) << i << cut;
  }
  std::string damaged = whole;
  damaged[19 + 12] = 'T';
  EXPECT_EQ(
      read_all(damaged).message(),
      dir.File("d") + ": record 1 at byte 19: the crc32c of its 3 bytes does not match: damaged");
}

TEST(TFRecord, APositionOutsideOfTheFileIsRefused) {
  const TempDir dir;
  for (const Compression compression : {Compression::kNone, Compression::kGzip}) {
    WriteRecords(dir.File("r"), compression);
    const auto reader = TFRecordReader::Open(dir.File("r"), {.compression = compression}).value();
    for (const int64_t offset : {int64_t{-1}, int64_t{1} << 40}) {
      EXPECT_EQ(reader->Seek({.offset = offset, .index = 1}).code(), absl::StatusCode::kOutOfRange)
          << offset;
    }
  }
}

TEST(TFRecord, AGzipFileReadAsPlainIsExplained) {
  const TempDir dir;
  WriteRecords(dir.File("r"), Compression::kGzip);
  const absl::Status status = TFRecordReader::Open(dir.File("r")).value()->Next().status();
  EXPECT_TRUE(absl::StrContains(status.message(), "this is a GZIP file")) << status;
}

}  // namespace
}  // namespace estimator
