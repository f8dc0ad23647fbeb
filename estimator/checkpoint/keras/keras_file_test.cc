#include "estimator/checkpoint/keras/keras_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/load.h"

namespace estimator {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::Not;

constexpr char kFolder[] = "testdata/keras/";

std::unique_ptr<BundleReader> Open(const std::string& name) {
  auto reader = BundleReader::Open(kFolder + name);
  EST_EXPECT_OK(reader);
  return *std::move(reader);
}

// Compares the variables of `expected`, which TensorFlow wrote, bit by bit.
void ExpectHas(const BundleReader& reader, const std::string& expected_name) {
  const auto expected = Open(expected_name);
  for (const std::string& name : expected->names()) {
    const auto value = reader.Read(name);
    EST_ASSERT_OK(value) << name;
    const Array wanted = expected->Read(name).value();
    ASSERT_EQ(value->TypeString(), wanted.TypeString()) << name;
    EXPECT_EQ(std::memcmp(value->raw(), wanted.raw(), wanted.num_bytes()), 0) << name;
  }
  EST_EXPECT_OK(reader.VerifyContents());
}

struct Pair {
  std::string file;
  std::string expected;
};

class KerasFileTest : public ::testing::TestWithParam<Pair> {};

TEST_P(KerasFileTest, HasTheVariablesOfKerasAndNoOthers) {
  const auto reader = Open(GetParam().file);
  EXPECT_EQ(reader->names(), Open(GetParam().expected)->names());
  ExpectHas(*reader, GetParam().expected);
}

INSTANTIATE_TEST_SUITE_P(Files, KerasFileTest,
                         ::testing::Values(Pair{"small.h5", "small.expected"},
                                           Pair{"small.keras", "small.expected"},
                                           Pair{"small_weights.h5", "small_weights.expected"},
                                           Pair{"rmsprop.h5", "rmsprop.expected"},
                                           Pair{"rmsprop.keras", "rmsprop.expected"},
                                           Pair{"text.h5", "text.expected"},
                                           Pair{"dtypes.h5", "dtypes.expected"}),
                         [](const auto& info) {
                           std::string name = info.param.file;
                           for (char& c : name) c = c == '.' ? '_' : c;
                           return name;
                         });

TEST(KerasFile, LayersInLayersOfAnArchiveHaveKerasNames) {
  const auto reader = Open("text.keras");
  ExpectHas(*reader, "text.expected");
  // The order of the variables of layers in layers is not known, so neither are their slots.
  EXPECT_THAT(reader->names(), Contains("optimizer/1"));
  EXPECT_THAT(reader->names(), Contains("global_step"));
}

TEST(KerasFile, NamesThatAreSplitOverAttributesAreFound) {
  EXPECT_EQ(Open("split_names.h5")->names(), Open("small_weights.expected")->names());
}

TEST(KerasFile, NamesOfWeightsThatAreNoPathsGetTheirLayerUnlessTheyHaveIt) {
  EXPECT_THAT(
      Open("names.h5")->names(),
      ::testing::ElementsAre("new/bias", "new/kernel", "newer/kernel", "old_W_1", "old_b_1"));
}

// "block1/conv" was given a name, so it is not found here by it.
TEST(KerasFile, WithoutAConfigLayersHaveTheNamesOfTheirClasses) {
  const auto reader = Open("small.weights.h5");
  EXPECT_THAT(reader->names(),
              IsSupersetOf({"conv2d/kernel", "batch_normalization/0", "dense/kernel", "dense/bias",
                            "layer_normalization/gamma", "separable_conv2d/pointwise_kernel",
                            "sequential/dense_1/bias", "optimizer/1", "global_step"}));
  EXPECT_THAT(reader->names(), Not(Contains(HasSubstr("metrics"))));
}

TEST(KerasFile, RangesAreThoseOfTheWhole) {
  const auto reader = Open("dtypes.h5");
  for (const std::string name : {"dense/chunks", "dense/big_endian", "dense/int64"}) {
    const Array whole = reader->Read(name).value();
    const BundleEntry& entry = reader->index().tensors.at(name);
    for (size_t begin = 0; begin < whole.num_bytes(); begin += 7) {
      const size_t size = std::min<size_t>(whole.num_bytes() - begin, 401);
      std::string bytes(size, '\0');
      EST_ASSERT_OK(
          reader->values().ReadRange(entry, static_cast<int64_t>(begin), size, bytes.data()));
      ASSERT_EQ(std::memcmp(bytes.data(), static_cast<const char*>(whole.raw()) + begin, size), 0)
          << name << " " << begin;
    }
  }
}

TEST(KerasFile, ManyThreadsReadAtOnce) {
  const auto expected = Open("small.expected");
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&expected] {
      for (int repeat = 0; repeat < 3; ++repeat) {
        const auto reader = Open("small.keras");
        for (const std::string& name : expected->names()) EST_EXPECT_OK(reader->Read(name));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(KerasFile, TheGlobalStepIsTheOptimizersIterations) {
  EXPECT_EQ(LoadGlobalStep("testdata/keras/small.keras").value(), 2);
}

struct Hostile {
  std::string file;
  absl::StatusCode code;
  std::string message;
};

class HostileFileTest : public ::testing::TestWithParam<Hostile> {};

TEST_P(HostileFileTest, IsRefusedWithTheReason) {
  const std::string path = std::string(kFolder) + "hostile/" + GetParam().file + ".h5";
  EXPECT_THAT(BundleReader::Open(path).status(),
              StatusIs(GetParam().code, AllOf(HasSubstr(path), HasSubstr(GetParam().message))));
}

constexpr auto kDataLoss = absl::StatusCode::kDataLoss;
constexpr auto kUnimplemented = absl::StatusCode::kUnimplemented;

INSTANTIATE_TEST_SUITE_P(
    Files, HostileFileTest,
    ::testing::Values(
        Hostile{"external_link", kUnimplemented, "dense/dense/kernel:0: it links to another file"},
        Hostile{"soft_link", kUnimplemented, "dense/dense/kernel:0: it is a soft link"},
        Hostile{"cycle", kDataLoss, "is a group in 64 others"},
        Hostile{"external_storage", kUnimplemented, "its values are in other files"},
        Hostile{"virtual", kUnimplemented, "its values are in other files or datasets"},
        Hostile{"compound", kUnimplemented, "its elements are compounds, not numbers"},
        Hostile{"strings", kUnimplemented, "its elements are strings, not numbers"},
        Hostile{"lzf", kUnimplemented, "it is compressed; decompress the file with `h5repack"},
        Hostile{"huge", kDataLoss, "but it has 0 in the file"},
        Hostile{"overflow", kDataLoss, "impossible shape [4294967296,4294967296]"},
        Hostile{"never_written", kDataLoss, "but it has 0 in the file"},
        Hostile{"bomb", kUnimplemented, "it is compressed"},
        Hostile{"empty_name", kDataLoss, ":0: a weight without a name"},
        Hostile{"not_keras", absl::StatusCode::kInvalidArgument, "not of Keras"}),
    [](const auto& info) { return info.param.file; });

TEST(KerasFile, TextAndMissingFilesAreToldApartFromDamage) {
  const TempDir dir;
  const std::string path = dir.File("m.h5");
  EXPECT_THAT(BundleReader::Open(path).status(),
              StatusIs(absl::StatusCode::kNotFound, HasSubstr("there is no file " + path)));
  EST_ASSERT_OK(WriteFileAtomically(path, "<!DOCTYPE html>"));
  EXPECT_THAT(BundleReader::Open(path).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       AllOf(HasSubstr("begins with \"<!DOCTYP\""), HasSubstr("git lfs pull"))));
}

TEST(KerasFile, ATruncatedFileIsDamaged) {
  const TempDir dir;
  for (const std::string name : {"small.h5", "small.keras"}) {
    const std::string whole = ReadFile(kFolder + name).value();
    const std::string path = dir.File(name);
    for (const size_t size : {whole.size() - 1, whole.size() / 2, size_t{100}}) {
      EST_ASSERT_OK(WriteFileAtomically(path, whole.substr(0, size)));
      EXPECT_THAT(BundleReader::Open(path).status(), StatusIs(kDataLoss, HasSubstr(path))) << size;
    }
  }
}

// A zip archive has checksums, unlike HDF5.
TEST(KerasFile, AChangedByteOfAnArchivesWeightsIsFound) {
  const TempDir dir;
  std::string bytes = ReadFile("testdata/keras/small.keras").value();
  const size_t at = bytes.find("\x89HDF");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 20000] ^= 1;
  const std::string path = dir.File("m.keras");
  EST_ASSERT_OK(WriteFileAtomically(path, bytes));
  EXPECT_THAT(BundleReader::Open(path).status(),
              StatusIs(kDataLoss, AllOf(HasSubstr("model.weights.h5"), HasSubstr("CRC"))));
}

TEST(KerasFile, AChangedByteOfAnArchivesConfigIsFound) {
  const TempDir dir;
  std::string bytes = ReadFile("testdata/keras/small.keras").value();
  const size_t at = bytes.find("config.json");
  ASSERT_NE(at, std::string::npos);
  bytes[at + 100] ^= 1;
  const std::string path = dir.File("m.keras");
  EST_ASSERT_OK(WriteFileAtomically(path, bytes));
  EXPECT_THAT(BundleReader::Open(path).status(), StatusIs(kDataLoss, HasSubstr("config.json")));
}

TEST(KerasFile, AFileThatAnotherProgramHasLockedIsRead) {
  const TempDir dir;
  const std::string path = dir.File("m.h5");
  EST_ASSERT_OK(WriteFileAtomically(path, ReadFile("testdata/keras/small.h5").value()));
  const int locked = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(locked, LOCK_EX), 0);
  EST_EXPECT_OK(BundleReader::Open(path));
  ::close(locked);
}

}  // namespace
}  // namespace estimator
