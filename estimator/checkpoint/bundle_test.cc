// What BundleWriter writes, BundleReader reads; and no damage to the files goes unnoticed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <map>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "estimator/array/array.h"
#include "estimator/array/compare.h"
#include "estimator/base/fault_injection.h"
#include "estimator/base/file.h"
#include "estimator/base/status.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle/bundle_entry.h"
#include "estimator/checkpoint/bundle/bundle_format.h"
#include "estimator/checkpoint/bundle/bundle_index.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "estimator/proto/tensor_shape.pb.h"

namespace estimator {
namespace {

using ::testing::HasSubstr;
using Values = std::map<std::string, Array>;

Values AllDTypes() {
  Values values;
  for (const DType dtype :
       {DType::kFloat32, DType::kFloat64, DType::kInt32, DType::kUint8, DType::kInt16, DType::kInt8,
        DType::kInt64, DType::kBool, DType::kBfloat16, DType::kFloat16}) {
    values[absl::StrCat("layer/", DTypeName(dtype))] =
        Array::Of<float>({2, 3}, {0, 1, 2, 3, 100, 1}).Cast(dtype);
  }
  values["text"] = Array::Of<std::string>({2, 1}, {"", "hello"});
  values["scalar"] = Array::Scalar<int64_t>(-1);
  values["empty"] = Array(DType::kFloat32, {0, 4});
  values["large"] = Array(DType::kFloat32, {3, 100000});
  values["large"].data<float>()[299999] = 7;
  return values;
}

absl::Status Write(const std::string& prefix, const Values& values) {
  EST_ASSIGN_OR_RETURN(const auto writer, BundleWriter::Open(prefix));
  for (const auto& [name, value] : values) EST_RETURN_IF_ERROR(writer->Add(name, value));
  return writer->Finish();
}

absl::StatusOr<Values> ReadAll(const std::string& prefix) {
  EST_ASSIGN_OR_RETURN(const auto reader, BundleReader::Open(prefix));
  Values values;
  for (const std::string& name : reader->names()) {
    EST_ASSIGN_OR_RETURN(values[name], reader->Read(name));
  }
  return values;
}

bool Same(const Values& a, const Values& b) {
  if (a.size() != b.size()) return false;
  for (const auto& [name, value] : a) {
    if (b.count(name) == 0 || !SameBits(value, b.at(name))) return false;
  }
  return true;
}

// Without the syncs of WriteFileAtomically, and under a new inode: open readers keep the old bytes.
absl::Status Replace(const std::string& path, const std::string& contents) {
  EST_RETURN_IF_ERROR(RemoveFile(path));
  EST_ASSIGN_OR_RETURN(const auto file, WritableFile::Open(path));
  EST_RETURN_IF_ERROR(file->Append(contents));
  return file->Close();
}

TEST(Bundle, RoundTripsEveryDTypeScalarsAndEmptyTensors) {
  const TempDir dir;
  EST_ASSERT_OK(Write(dir.File("m"), AllDTypes()));
  const auto read = ReadAll(dir.File("m"));
  EST_ASSERT_OK(read);
  EXPECT_TRUE(Same(*read, AllDTypes()));
  EXPECT_EQ(ListDirectory(dir.path())->size(), 2u);
}

TEST(Bundle, ThreadsReadFromOneReader) {
  const TempDir dir;
  EST_ASSERT_OK(Write(dir.File("m"), AllDTypes()));
  const auto reader = BundleReader::Open(dir.File("m")).value();
  std::vector<Values> read(4);
  std::vector<std::thread> threads;
  for (Values& values : read) {
    threads.emplace_back([&reader, &values] {
      for (const std::string& name : reader->names()) values[name] = reader->Read(name).value();
      EST_EXPECT_OK(reader->VerifyContents());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const Values& values : read) EXPECT_TRUE(Same(values, AllDTypes()));
}

TEST(Bundle, RoundTripsManyVariablesOverSeveralTableBlocks) {
  const TempDir dir;
  Values values;
  for (int i = 0; i < 2000; ++i)
    values[absl::StrCat("block/layer_", i, "/kernel")] = Array::Scalar<int32_t>(i);
  EST_ASSERT_OK(Write(dir.File("m"), values));
  EXPECT_TRUE(Same(ReadAll(dir.File("m")).value(), values));
}

TEST(Bundle, PutsPartitionedVariablesTogether) {
  const TempDir dir;
  const auto writer = BundleWriter::Open(dir.File("m")).value();
  EST_ASSERT_OK(writer->AddSlice("v", {3, 4}, {{0, 2}, {}},
                                 Array::Of<float>({2, 4}, {0, 1, 2, 3, 4, 5, 6, 7})));
  EST_ASSERT_OK(
      writer->AddSlice("v", {3, 4}, {{2, 1}, {0, 3}}, Array::Of<float>({1, 3}, {8, 9, 10})));
  EST_ASSERT_OK(writer->AddSlice("v", {3, 4}, {{2, 1}, {3, 1}}, Array::Of<float>({1, 1}, {11})));
  EST_ASSERT_OK(writer->AddSlice("t", {2}, {{0, 1}}, Array::Of<std::string>({1}, {"a"})));
  EST_ASSERT_OK(writer->AddSlice("t", {2}, {{1, 1}}, Array::Of<std::string>({1}, {"b"})));
  EST_ASSERT_OK(writer->Finish());
  const Values read = ReadAll(dir.File("m")).value();
  ASSERT_EQ(read.size(), 2u);
  EXPECT_TRUE(
      SameBits(read.at("v"), Array::Of<float>({3, 4}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11})));
  EXPECT_TRUE(SameBits(read.at("t"), Array::Of<std::string>({2}, {"a", "b"})));
}

TEST(Bundle, ADamagedSliceIsAnError) {
  const TempDir dir;
  const auto writer = BundleWriter::Open(dir.File("m")).value();
  for (const int64_t start : {0, 2})
    EST_ASSERT_OK(writer->AddSlice("v", {4}, {{start, 2}}, Array(DType::kFloat32, {2})));
  EST_ASSERT_OK(writer->Finish());
  const std::string data = dir.File("m.data-00000-of-00001");
  std::string bytes = *ReadFile(data);
  bytes[9] ^= 1;
  EST_ASSERT_OK(WriteFileAtomically(data, bytes));
  EXPECT_THAT(BundleReader::Open(dir.File("m")).value()->Read("v"),
              StatusIs(absl::StatusCode::kDataLoss));
}

TEST(Bundle, SlicesThatOverlapOrLeaveAGapAreDataLoss) {
  const TempDir dir;
  for (const int64_t start : {0, 1, 2}) {
    const auto writer = BundleWriter::Open(dir.File("m")).value();
    EST_ASSERT_OK(writer->AddSlice("v", {4}, {{0, 2}}, Array(DType::kFloat32, {2})));
    const absl::Status second =
        writer->AddSlice("v", {4}, {{start, 2}}, Array(DType::kFloat32, {2}));
    EXPECT_EQ(second.ok(), start != 0);  // the same slice twice
    if (!second.ok()) continue;
    EST_ASSERT_OK(writer->Finish());
    EXPECT_EQ(BundleReader::Open(dir.File("m")).status().code(),
              start == 2 ? absl::StatusCode::kOk : absl::StatusCode::kDataLoss);
  }
  const auto writer = BundleWriter::Open(dir.File("g")).value();
  EST_ASSERT_OK(writer->AddSlice("v", {4}, {{0, 2}}, Array(DType::kFloat32, {2})));
  EST_ASSERT_OK(writer->Finish());
  const absl::Status status = BundleReader::Open(dir.File("g")).status();
  EXPECT_THAT(status, ErrorHas("v: its 1 slices hold 2 of 4 elements"));
}

TEST(Bundle, WrongNamesAndSlicesAreRefused) {
  const TempDir dir;
  const auto writer = BundleWriter::Open(dir.File("m")).value();
  const Array value = Array::Scalar<float>(1);
  EST_ASSERT_OK(writer->Add("a", value));
  EXPECT_THAT(writer->Add("a", value), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(writer->Add("", value), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(writer->Add(absl::string_view("\0a", 2), value),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(writer->Add("b", Array()), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(writer->AddSlice("c", {4}, {{3, 2}}, Array(DType::kFloat32, {2})),
              StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(BundleWriter::Open(dir.path() + "/"), StatusIs(absl::StatusCode::kInvalidArgument));
}

TEST(Bundle, NothingIsLeftBehindWithoutFinish) {
  const TempDir dir;
  { EST_ASSERT_OK(BundleWriter::Open(dir.File("m")).value()->Add("a", Array::Scalar<float>(1))); }
  EXPECT_TRUE(ListDirectory(dir.path())->empty());
}

TEST(Bundle, ReplacingAtEveryInstantLeavesTheOldOrTheNewCheckpoint) {
  const Values old_values = {{"a", Array::Of<float>({2}, {1, 2})}};
  const Values new_values = {{"a", Array::Of<float>({2}, {3, 4})},
                             {"b", Array::Scalar<bool>(true)}};
  bool done = false;
  int num_old = 0;
  for (int n = 0; !done; ++n) {
    ASSERT_LT(n, 100);
    const TempDir dir;
    EST_ASSERT_OK(Write(dir.File("m"), old_values));
    {
      const ScopedFaultInjector faults(CrashAfter(n));
      done = Write(dir.File("m"), new_values).ok();
    }
    const auto read = ReadAll(dir.File("m"));
    EST_ASSERT_OK(read) << n;
    EXPECT_TRUE(Same(*read, new_values) || (!done && Same(*read, old_values))) << n;
    num_old += Same(*read, old_values);
    // The next run replaces what the killed one left, once more.
    EST_ASSERT_OK(RemoveTemporaryFiles(dir.path(), "m"));
    EST_ASSERT_OK(Write(dir.File("m"), old_values));
    EXPECT_TRUE(Same(ReadAll(dir.File("m")).value(), old_values)) << n;
    EXPECT_EQ(ListDirectory(dir.path())->size(), 2u) << n;
  }
  EXPECT_GT(num_old, 3);
}

// Fixed bug: the files of a living writer were removed too, and its checkpoint failed.
TEST(Bundle, TemporaryFilesOfALivingProcessAreKept) {
  const TempDir dir;
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  while (child == 0) pause();
  const std::string of_child = absl::StrCat(".m-5.tmp-", child, "-0.data-00000-of-00001");
  for (const std::string& name :
       {of_child, absl::StrCat(".m-5.tmp-", getpid(), "-7.index"), std::string(".m-5.tmp-x")}) {
    EST_ASSERT_OK(WriteFileAtomically(dir.File(name), "x"));
  }
  EST_ASSERT_OK(RemoveTemporaryFiles(dir.path(), "m"));
  EXPECT_EQ(*ListDirectory(dir.path()), std::vector<std::string>{of_child});
  kill(child, SIGKILL);
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EST_ASSERT_OK(RemoveTemporaryFiles(dir.path(), "m"));
  EXPECT_TRUE(ListDirectory(dir.path())->empty());
}

TEST(Bundle, TheSameContentsKeepTheirFiles) {
  const TempDir dir;
  EST_ASSERT_OK(Write(dir.File("m"), AllDTypes()));
  EST_ASSERT_OK(Write(dir.File("m"), AllDTypes()));
  EXPECT_EQ(*ListDirectory(dir.path()),
            (std::vector<std::string>{"m.data-00000-of-00001", "m.index"}));
}

TEST(Bundle, EveryFlippedBitOfTheDataIsDataLossNamingFileVariableAndOffset) {
  const TempDir dir;
  EST_ASSERT_OK(
      Write(dir.File("m"), {{"a", Array::Of<float>({2}, {1, 2})}, {"b", Array::String("x")}}));
  const std::string path = DataPath(dir.File("m"), 0, 1);
  const std::string data = ReadFile(path).value();
  const auto reader = BundleReader::Open(dir.File("m")).value();
  for (size_t bit = 0; bit < data.size() * 8; ++bit) {
    std::string damaged = data;
    damaged[bit / 8] = static_cast<char>(damaged[bit / 8] ^ (1 << (bit % 8)));
    EST_ASSERT_OK(Replace(path, damaged));
    const absl::Status status = BundleReader::Open(dir.File("m")).value()->VerifyContents();
    EXPECT_THAT(status,
                StatusIs(absl::StatusCode::kDataLoss,
                         HasSubstr(absl::StrCat(path, bit < 64 ? ": a (8 bytes at offset 0)"
                                                               : ": b (6 bytes at offset 8)"))))
        << bit;
  }
  EST_EXPECT_OK(reader->VerifyContents());  // it holds the file that was renamed away
  EST_ASSERT_OK(Replace(path, data.substr(0, 12)));
  EXPECT_THAT(BundleReader::Open(dir.File("m")),
              ErrorHas("b (6 bytes at offset 8): the file ends at 12"));
  EST_ASSERT_OK(RemoveFile(path));
  EXPECT_THAT(BundleReader::Open(dir.File("m")), ErrorHas("is missing; it holds "));
}

TEST(Bundle, AMissingCheckpointAndAMissingVariableAreNotFound) {
  const TempDir dir;
  EXPECT_THAT(BundleReader::Open(dir.File("m")), StatusIs(absl::StatusCode::kNotFound));
  EST_ASSERT_OK(Write(dir.File("m"), {{"dense/kernel", Array::Scalar<float>(1)}}));
  const absl::Status status =
      BundleReader::Open(dir.File("m")).value()->Read("dense/kernl").status();
  EXPECT_THAT(status,
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("did you mean dense/kernel?")));
}

TEST(Bundle, ReadIntoRefusesAnotherShape) {
  const TempDir dir;
  EST_ASSERT_OK(Write(dir.File("m"), {{"a", Array::Of<float>({2}, {1, 2})}}));
  Array value(DType::kFloat32, {3});
  const absl::Status status = BundleReader::Open(dir.File("m")).value()->ReadInto("a", &value);
  EXPECT_THAT(status, StatusIs(absl::StatusCode::kInvalidArgument,
                               HasSubstr("f32 [2], here it is f32 [3]")));
}

TEST(Bundle, AShapeHasAtMostTwoToThe56Elements) {
  const auto parse = [](const Shape& shape) {
    proto::TensorShapeProto message;
    for (const int64_t dim : shape.dims()) message.add_dim()->set_size(dim);
    return ParseShape("w", message);
  };
  const int64_t most = int64_t{1} << 56;
  EXPECT_EQ(parse({most / 2, 2, 0}).value(), (Shape{most / 2, 2, 0}));
  EXPECT_THAT(parse({most + 1}), StatusIs(absl::StatusCode::kDataLoss));
}

// The file system may know the index at the next try, so the checkpoint is neither read nor lost.
TEST(Bundle, AnUnknownIndexIsNotRead) {
  const TempDir dir;
  const std::string prefix = dir.File("m");
  EST_ASSERT_OK(Write(prefix, {{"a", Array::Scalar(1.0f)}}));
  int asked = 0;
  const ScopedFaultInjector faults([&](FileOperation operation, absl::string_view /*path*/) {
    const bool fails = operation == FileOperation::kStat && asked++ == 0;
    return Fault{.status = fails ? absl::UnavailableError("stale handle") : absl::OkStatus()};
  });
  EXPECT_THAT(ReadBundleIndex(prefix), StatusIs(absl::StatusCode::kUnavailable));
}

}  // namespace
}  // namespace estimator
