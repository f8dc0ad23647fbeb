// Cache(filename): what is written, what later passes and runs read, and what a crash leaves.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/fault_injection.h"
#include "estimator/base/file.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/data/pipeline/dataset.h"

namespace estimator {
namespace {

using Numbers = std::vector<int64_t>;

class FileCache : public testing::Test {
 protected:
  // Numbers 0 to n - 1; calls_ counts how many are computed.
  Dataset Counted(int64_t n = 5) {
    return Dataset::Range(0, n).Map([this](const Element& element) -> absl::StatusOr<Element> {
      ++calls_;
      return element;
    });
  }
  Dataset Cached(int64_t n = 5) { return Counted(n).Cache(path_); }

  TempDir dir_;
  const std::string path_ = JoinPath(dir_.path(), "made", "numbers.cache");
  std::atomic<int> calls_{0};
};

// The values, up to an error.
absl::StatusOr<Numbers> Values(const Dataset& dataset, int limit = 1000) {
  Numbers values;
  const auto iterator = dataset.MakeIterator();
  if (!iterator.ok()) return iterator.status();
  for (int i = 0; i < limit; ++i) {
    const auto element = (*iterator)->Next();
    if (!element.ok()) return element.status();
    if (!element->has_value()) break;
    values.push_back((*element)->features.Only()->scalar<int64_t>());
  }
  return values;
}

// A fixed bug: the error of flock(2) on Lustre and some NFS ended the program.
TEST_F(FileCache, IsWrittenOnAFileSystemWithoutLocks) {
  const ScopedFaultInjector no_locks([](FileOperation operation, absl::string_view path) -> Fault {
    if (operation != FileOperation::kOpen || Basename(path) != "numbers.cache.lock") return {};
    return {.status = absl::UnimplementedError("cannot lock: No locks available")};
  });
  EXPECT_EQ(Values(Cached(3).Repeat(2)).value(), (Numbers{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(calls_, 3);
}

TEST_F(FileCache, IsWrittenOnceAndReadByLaterPassesAndRuns) {
  EXPECT_EQ(Values(Cached().Repeat(3)).value(),
            (Numbers{0, 1, 2, 3, 4, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4}));
  EXPECT_EQ(calls_, 5);
  EXPECT_EQ(Values(Cached()).value(), (Numbers{0, 1, 2, 3, 4})) << "another run";
  EXPECT_EQ(Values(Cached().Skip(3)).value(), (Numbers{3, 4}));
  EXPECT_EQ(calls_, 5);
  EXPECT_FALSE(FileExists(path_ + ".partial"));
}

TEST_F(FileCache, KeepsLabelsStringsAndShapes) {
  const Element element = {.features = {{"words", Array::Strings({"a", "bc"})},
                                        {"none", Array(DType::kFloat32, {0, 2})}},
                           .labels = Array::Scalar<int32_t>(3)};
  for (int run = 0; run < 2; ++run) {
    const auto iterator = Dataset::FromTensors(element).Cache(path_).MakeIterator().value();
    const std::optional<Element> read = iterator->Next().value();
    EXPECT_EQ(read->ToString(), element.ToString());
    EXPECT_EQ(read->features.at("words").values<std::string>()[1], "bc");
    EXPECT_EQ(read->labels.Only()->scalar<int32_t>(), 3);
    EXPECT_FALSE(iterator->Next().value().has_value());
  }
}

TEST_F(FileCache, OfAnEmptyDatasetIsEmpty) {
  EXPECT_EQ(Values(Cached(0)).value(), Numbers{});
  EXPECT_TRUE(FileExists(path_));
  EXPECT_EQ(Values(Cached(0)).value(), Numbers{});
}

TEST_F(FileCache, WithoutAFilenameIsInMemory) {
  EXPECT_EQ(Counted().Cache("").Describe(), "Range(0, 5) > Map > Cache");
  EXPECT_EQ(Cached().Describe(), "Range(0, 5) > Map > Cache(file)");
}

TEST_F(FileCache, IsNotWrittenByAPassThatEndsEarly) {
  EXPECT_EQ(Values(Cached().Take(4)).value().size(), 4u);
  EXPECT_FALSE(FileExists(path_));
  EXPECT_FALSE(FileExists(path_ + ".partial"));
  EXPECT_EQ(Values(Cached().Take(4).Repeat(2)).value().size(), 8u);
  EXPECT_FALSE(FileExists(path_));
}

TEST_F(FileCache, IsWrittenByOneOfTwoIterators) {
  const Dataset cached = Cached();
  const auto first = cached.MakeIterator().value(), second = cached.MakeIterator().value();
  for (int i = 0; i < 5; ++i) {
    for (const auto* iterator : {&first, &second}) {
      EXPECT_EQ((*iterator)->Next().value()->features.Only()->scalar<int64_t>(), i);
    }
  }
  EXPECT_FALSE(second->Next().value().has_value());
  EXPECT_FALSE(FileExists(path_)) << "the first one writes";
  EXPECT_FALSE(first->Next().value().has_value());
  EXPECT_TRUE(FileExists(path_));
  EXPECT_EQ(Values(cached).value(), (Numbers{0, 1, 2, 3, 4}));
}

TEST_F(FileCache, OfAnotherPipelineIsRefused) {
  EST_ASSERT_OK(Values(Cached()));
  EXPECT_THAT(Values(Cached(6)),
              StatusIs(absl::StatusCode::kFailedPrecondition,
                       absl::StrCat("Cache: ", path_,
                                    ": the cache is of another pipeline: cached \"Range(0, 5) > "
                                    "Map\", now \"Range(0, 6) > Map\"; delete the file, or give "
                                    "another filename")));
}

TEST_F(FileCache, ThatIsDamagedAtAnyByteIsRefused) {
  EST_ASSERT_OK(Values(Cached(3)));
  const std::string whole = ReadFile(path_).value();
  for (size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x10);
    EST_ASSERT_OK(WriteFileAtomically(path_, damaged));
    const auto values = Values(Cached(3));
    EXPECT_THAT(values, StatusIs(absl::StatusCode::kDataLoss)) << i;
    EXPECT_THAT(values, ErrorHas(path_)) << i;
    EXPECT_THAT(values, ErrorHas("delete the file, and the next run writes it again")) << i;
    EST_ASSERT_OK(WriteFileAtomically(path_, whole.substr(0, i)));
    EXPECT_THAT(Values(Cached(3)), StatusIs(absl::StatusCode::kDataLoss)) << i;
  }
  EST_ASSERT_OK(WriteFileAtomically(path_, whole + whole));
  EXPECT_FALSE(Values(Cached(3)).ok());
}

TEST_F(FileCache, IsNeverWrongAfterACrash) {
  bool finished = false;
  for (int operations = 0; !finished; ++operations) {
    ASSERT_LT(operations, 100);
    {
      ScopedFaultInjector crash(CrashAfter(operations));
      const auto values = Values(Cached());
      finished = values.ok();
    }
    EXPECT_EQ(Values(Cached()).value(), (Numbers{0, 1, 2, 3, 4})) << operations;
    EXPECT_EQ(Values(Cached()).value(), (Numbers{0, 1, 2, 3, 4})) << operations;
    EST_ASSERT_OK(RemoveFile(path_));
  }
}

TEST_F(FileCache, ResumesExactlyWhetherTheFileIsThereOrNot) {
  const Dataset pipeline = Cached().Repeat(2);
  const auto reference = pipeline.MakeIterator().value();
  std::vector<std::string> states;
  for (int i = 0; i < 10; ++i) {
    states.push_back(reference->SaveState().value());
    EST_ASSERT_OK(reference->Next());
  }
  for (const bool with_file : {true, false}) {
    for (size_t i = 0; i < states.size(); ++i) {
      if (with_file) {
        EST_ASSERT_OK(Values(Cached()));
      } else if (FileExists(path_)) {
        EST_ASSERT_OK(RemoveFile(path_));
      }
      const auto resumed = pipeline.MakeIterator().value();
      EST_ASSERT_OK(resumed->RestoreState(states[i]));
      for (size_t k = i; k < states.size(); ++k) {
        EXPECT_EQ(resumed->Next().value()->features.Only()->scalar<int64_t>(),
                  static_cast<int64_t>(k % 5))
            << i;
      }
      EXPECT_FALSE(resumed->Next().value().has_value());
    }
  }
}

TEST_F(FileCache, SeeksInsteadOfComputingAgain) {
  EST_ASSERT_OK(Values(Cached()));
  const auto iterator = Cached().MakeIterator().value();
  for (int i = 0; i < 3; ++i) EST_ASSERT_OK(iterator->Next());
  const std::string state = iterator->SaveState().value();
  calls_ = 0;
  const auto resumed = Cached().MakeIterator().value();
  EST_ASSERT_OK(resumed->RestoreState(state));
  EXPECT_EQ(resumed->Next().value()->features.Only()->scalar<int64_t>(), 3);
  EXPECT_EQ(calls_, 0);
  EXPECT_LT(state.size(), 60u);
}

TEST_F(FileCache, OfAShuffleKeepsTheFirstOrder) {
  const auto cached = [this](int64_t seed) {
    return Dataset::Range(0, 20).Shuffle(20, {.seed = seed}).Cache(path_);
  };
  const Numbers first = Values(cached(1)).value();
  EXPECT_EQ(Values(cached(1).Repeat(2).Skip(20)).value(), first);
}

}  // namespace
}  // namespace estimator
