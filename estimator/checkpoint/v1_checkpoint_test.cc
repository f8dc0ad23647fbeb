// Checkpoints in the V1 format, TensorFlow's own first, hold what TensorFlow says is in them.
#include "estimator/checkpoint/v1/v1_checkpoint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/array/array.h"
#include "estimator/array/compare.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/bundle_writer.h"
#include "estimator/checkpoint/table/index_table.h"
#include "estimator/checkpoint/testing/v1_files.h"
#include "estimator/proto/saved_tensor_slice.pb.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const std::string kAnyShard = "-" + std::string(5, '?');  // no trigraph

using Reader = std::unique_ptr<BundleReader>;

Reader Golden(const std::string& name) {
  return BundleReader::Open("testdata/checkpoints_v1/" + name).value();
}

std::string BytesOf(const BundleReader& reader, const std::string& name) {
  std::string bytes;
  for (const BundleEntry* const part : reader.index().PartsOf(reader.index().tensors.at(name))) {
    EST_EXPECT_OK(reader.values().Read(*part, [&](absl::string_view piece) {
      bytes.append(piece.data(), piece.size());
      return absl::OkStatus();
    }));
  }
  return bytes;
}

absl::Status ErrorOf(const std::string& prefix) { return BundleReader::Open(prefix).status(); }

class V1GoldenTest : public ::testing::TestWithParam<const char*> {};

TEST_P(V1GoldenTest, HoldsWhatTensorFlowWroteInTodaysFormat) {
  const Reader v1 = Golden(GetParam());
  const Reader v2 = Golden(absl::StrCat("expected/", GetParam()));
  EXPECT_EQ(v1->names(), v2->names());
  for (const std::string& name : v2->names()) {
    const BundleEntry& old_entry = v1->index().tensors.at(name);
    const BundleEntry& new_entry = v2->index().tensors.at(name);
    EXPECT_EQ(old_entry.dtype_on_disk, new_entry.dtype_on_disk) << name;
    EXPECT_EQ(old_entry.spec.shape, new_entry.spec.shape) << name;
    EXPECT_EQ(old_entry.slices.size(), new_entry.slices.size()) << name;
    EXPECT_EQ(BytesOf(*v1, name), BytesOf(*v2, name)) << name;
    if (new_entry.spec.dtype == DType::kInvalid) continue;
    const auto old_value = v1->Read(name), new_value = v2->Read(name);
    EST_ASSERT_OK(old_value);
    EXPECT_TRUE(SameBits(*old_value, *new_value)) << name << ": " << old_value->ToString();
  }
  EST_EXPECT_OK(v1->VerifyContents());
}

INSTANTIATE_TEST_SUITE_P(V1, V1GoldenTest,
                         ::testing::Values("all_dtypes", "partitioned", "sharded"));

TEST(V1Checkpoint, ValuesBesideALargeOneInABlockAreRead) {
  const Reader reader = Golden("blocks");
  EXPECT_THAT(reader->names(), ElementsAre("a/small", "b/small", "c/large", "d/small", "e/small"));
  EXPECT_TRUE(
      SameBits(*reader->Read("a/small"), Array::Of<float>({10}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9})));
  EXPECT_TRUE(SameBits(*reader->Read("c/large"), Array(DType::kFloat32, {66000})));
  EXPECT_TRUE(SameBits(*reader->Read("d/small"), Array::Of<int32_t>({2}, {2, -3})));
  EXPECT_TRUE(SameBits(*reader->Read("e/small"), Array::Of<float>({1}, {3})));
}

TEST(V1Checkpoint, TheNameOfAStateFileServesAndOneFileOfSeveralDoesNot) {
  const std::string sharded = "testdata/checkpoints_v1/sharded";
  EXPECT_THAT(*V1Files(sharded),
              ElementsAre(sharded + "-00000-of-00002", sharded + "-00001-of-00002"));
  EXPECT_EQ(*V1Files(sharded + kAnyShard + "-of-00002"), *V1Files(sharded));
  EXPECT_EQ(Golden("sharded" + kAnyShard + "-of-00002")->names().size(), 4u);
  EXPECT_THAT(*V1Files("testdata/checkpoints_v1/expected/sharded"), ElementsAre());
  EXPECT_THAT(*V1Files("testdata/checkpoints_v1/other"), ElementsAre());
  // One file alone has half of `both`.
  EXPECT_THAT(ErrorOf(sharded + "-00000-of-00002"),
              ErrorHas("both: its 1 slices hold 6 of 12 elements"));
}

class V1FileTest : public ::testing::Test {
 protected:
  const TempDir dir_;
  const std::string path_ = dir_.File("m");
};

TEST_F(V1FileTest, ARangeIsThatOfTheWholeAlsoWhereNumbersHaveNoPlace) {
  Array numbers(DType::kInt64, {200000});
  for (int64_t i = 0; i < 200000; ++i) {
    numbers.data<int64_t>()[i] = i % 3 == 0 ? -i : (i << (i % 50));
  }
  Array words(DType::kString, {3000});
  for (int64_t i = 0; i < 3000; ++i) {
    words.data<std::string>()[i] = std::string(static_cast<size_t>(i), 'w');
  }
  EST_ASSERT_OK(WriteV1File(path_, {{.name = "n", .value = numbers},
                                    {.name = "f", .value = numbers.Cast(DType::kFloat32)},
                                    {.name = "w", .value = words}}));
  const Reader reader = BundleReader::Open(path_).value();
  EXPECT_TRUE(SameBits(*reader->Read("n"), numbers));
  EXPECT_TRUE(SameBits(*reader->Read("w"), words));
  for (const char* const name : {"n", "f", "w"}) {
    const BundleEntry& entry = reader->index().tensors.at(name);
    // Of another reader, which has not read it whole.
    const Reader other = BundleReader::Open(path_).value();
    const std::string whole = BytesOf(*reader, name);
    ASSERT_EQ(static_cast<int64_t>(whole.size()), entry.size);
    for (const int64_t begin : {int64_t{0}, entry.size / 2 + 3, int64_t{17}, entry.size - 100}) {
      std::string range(100, '\0');
      EST_ASSERT_OK(other->values().ReadRange(entry, begin, range.size(), range.data()));
      EXPECT_EQ(range, whole.substr(static_cast<size_t>(begin), 100)) << name << " " << begin;
    }
  }
}

TEST_F(V1FileTest, ThreadsReadFromOneReader) {
  Array numbers(DType::kInt64, {150000});
  for (int64_t i = 0; i < 150000; ++i) numbers.data<int64_t>()[i] = i << (i % 40);
  const Array words = Array::Of<std::string>({3}, {"a", "", "bcd"});
  EST_ASSERT_OK(
      WriteV1File(path_, {{.name = "n", .value = numbers}, {.name = "w", .value = words}}));
  const Reader reader = BundleReader::Open(path_).value();
  const BundleEntry& entry = reader->index().tensors.at("n");
  std::vector<std::thread> threads;
  for (int64_t thread = 0; thread < 4; ++thread) {
    threads.emplace_back([&, thread] {
      std::vector<int64_t> piece(1000);
      for (int64_t first = 1000 * thread; first < 150000; first += 4000) {
        EST_ASSERT_OK(reader->values().ReadRange(entry, 8 * first, 8 * piece.size(),
                                                 reinterpret_cast<char*>(piece.data())));
        ASSERT_EQ(std::memcmp(piece.data(), numbers.data<int64_t>() + first, 8 * piece.size()), 0);
      }
      EXPECT_TRUE(SameBits(*reader->Read("n"), numbers));
      EXPECT_TRUE(SameBits(*reader->Read("w"), words));
      EST_EXPECT_OK(reader->VerifyContents());
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST_F(V1FileTest, AFileOfSeveralThatIsMissingIsNamed) {
  const Array half = Array::Of<float>({2}, {1, 2});
  for (const int i : {0, 1}) {
    EST_ASSERT_OK(
        WriteV1File(absl::StrCat(path_, "-0000", i, "-of-00002"),
                    {{.name = "v", .value = half, .whole = {4}, .extents = {{2 * i, 2}}}}));
  }
  EXPECT_TRUE(
      SameBits(*BundleReader::Open(path_).value()->Read("v"), Array::Of<float>({4}, {1, 2, 1, 2})));
  EST_ASSERT_OK(RemoveFile(path_ + "-00001-of-00002"));
  EXPECT_THAT(ErrorOf(path_),
              ErrorIs(AllOf(HasSubstr(path_ + "-00001-of-00002 is missing"),
                            HasSubstr("every variable in it is lost, from offset 0 on"))));
  EST_ASSERT_OK(WriteV1File(path_ + "-00002-of-00003", {{.name = "v", .value = half}}));
  EXPECT_THAT(ErrorOf(path_), ErrorHas("name one: " + path_ + kAnyShard + "-of-00003"));
}

TEST_F(V1FileTest, TodaysFormatGoesFirst) {
  EST_ASSERT_OK(WriteV1File(path_, {{.name = "v", .value = Array::Scalar<float>(1)}}));
  const auto writer = BundleWriter::Open(path_).value();
  EST_ASSERT_OK(writer->Add("v", Array::Scalar<float>(2)));
  EST_ASSERT_OK(writer->Finish());
  EXPECT_EQ(BundleReader::Open(path_).value()->Read("v")->scalar<float>(), 2);
}

TEST_F(V1FileTest, WhatIsNoCheckpointIsToldSoWithTheLikelyPrefix) {
  EST_ASSERT_OK(WriteFileAtomically(path_ + ".meta", std::string(100, 'x')));
  EXPECT_THAT(BundleReader::Open(path_ + ".meta"), StatusIs(absl::StatusCode::kInvalidArgument));
  EXPECT_THAT(ErrorOf(path_ + ".meta"),
              ErrorIs(AllOf(HasSubstr("is not a checkpoint: there is no " + path_ + ".meta.index"),
                            HasSubstr("V1 format"), HasSubstr("did you mean " + path_ + "?"))));
  EST_ASSERT_OK(WriteFileAtomically(dir_.File("checkpoint"), "model_checkpoint_path: \"m\"\n"));
  EXPECT_THAT(ErrorOf(dir_.File("checkpoint")),
              ErrorHas("did you mean its folder, " + dir_.path() + "?"));
}

// Fixed bug: any file at all was a damaged V1 checkpoint.
TEST_F(V1FileTest, OnlyAFileThatLooksLikeAV1CheckpointIsADamagedOne) {
  for (const char* text :
       {"", "x", "hello, this is a text of more than 48 bytes, so long as a footer"}) {
    EST_ASSERT_OK(WriteFileAtomically(path_, text));
    EXPECT_THAT(ErrorOf(path_), StatusIs(absl::StatusCode::kInvalidArgument,
                                         HasSubstr(path_ + " is not a checkpoint")));
    EST_ASSERT_OK(WriteFileAtomically(dir_.File("model.ckpt-7"), text));
    EXPECT_THAT(ErrorOf(dir_.File("model.ckpt-7")), StatusIs(absl::StatusCode::kDataLoss));
  }
  EST_ASSERT_OK(WriteV1File(path_, {{.name = "v", .value = Array::Scalar<float>(1)}}));
  EST_ASSERT_OK(WriteFileAtomically(path_, ReadFile(path_)->substr(0, 20)));
  EXPECT_THAT(ErrorOf(path_), StatusIs(absl::StatusCode::kDataLoss));
}

// A table with right checksums and the entries of one variable, changed by `change`.
class V1MessageTest : public V1FileTest {
 protected:
  absl::Status ErrorAfter(const std::function<void(proto::SavedTensorSlices& meta,
                                                   proto::SavedTensorSlices& data)>& change) {
    EST_EXPECT_OK(WriteV1File(path_, {{.name = "v", .value = Array::Of<float>({2}, {1, 2})}}));
    const auto entries = ReadIndexTable(path_).value();
    proto::SavedTensorSlices meta, data;
    EXPECT_TRUE(meta.ParseFromString(entries[0].second));
    EXPECT_TRUE(data.ParseFromString(entries[1].second));
    change(meta, data);
    EST_EXPECT_OK(WriteIndexTable(
        path_, {{"", meta.SerializeAsString()}, {entries[1].first, data.SerializeAsString()}}));
    return ErrorOf(path_);
  }
};

TEST_F(V1MessageTest, WhatDoesNotFitTogetherIsToldWithTheVariable) {
  EST_EXPECT_OK(ErrorAfter([](auto&, auto&) {}));
  EXPECT_THAT(
      ErrorAfter([](auto&, auto& data) { data.mutable_data()->mutable_data()->add_float_val(3); }),
      ErrorIs(AllOf(HasSubstr(path_ + ": v: offset "), HasSubstr("it holds 3 of 2 elements"))));
  EXPECT_THAT(
      ErrorAfter([](auto& meta, auto&) { meta.mutable_meta()->mutable_tensor(0)->set_name("w"); }),
      ErrorHas(path_ + ": w: the list of tensors has a slice of [2], but the table does not"));
  EXPECT_THAT(
      ErrorAfter([](auto& meta, auto&) { meta.mutable_meta()->mutable_tensor(0)->clear_slice(); }),
      ErrorHas(path_ + ": v: it has no slices"));
  EXPECT_THAT(ErrorAfter([](auto& meta, auto&) {
                meta.mutable_meta()->mutable_tensor(0)->set_type(proto::DT_RESOURCE);
              }),
              ErrorHas("v has dtype resource, which the V1 format does not support"));
  EXPECT_THAT(ErrorAfter([](auto& meta, auto&) {
                meta.mutable_meta()->mutable_versions()->set_min_consumer(2);
              }),
              ErrorHas("newer than this reader's 1"));
  EXPECT_THAT(ErrorAfter([](auto& meta, auto&) { meta.clear_meta(); }),
              ErrorHas("every variable is lost"));
}

TEST_F(V1FileTest, AFieldOfFourBytesThatIsNotKnownIsSteppedOver) {
  const Array a = Array::Of<float>({2}, {1, 2});
  EST_ASSERT_OK(WriteV1File(path_, {{.name = "a", .value = a}}));
  const auto entries = ReadIndexTable(path_).value();
  std::map<std::string, std::string> table;
  for (const auto& [key, value] : entries)
    table[key] = value + (key.empty() ? "" : std::string("\x7d\0\0\0\0", 5));
  EST_ASSERT_OK(WriteIndexTable(path_, table));
  EXPECT_TRUE(SameBits(*BundleReader::Open(path_).value()->Read("a"), a));
}

}  // namespace
}  // namespace estimator
