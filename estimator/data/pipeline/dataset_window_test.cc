// The transforms that split or count elements: Unbatch, Window, Enumerate, TakeWhile, Reduce.
// Expected elements are those of TF 2.15's functions of these names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/testing/status_matchers.h"
#include "estimator/data/pipeline/dataset.h"

namespace estimator {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// The values of each element: "[0, 1, 2]"; an error ends the list.
std::vector<std::string> Texts(const Dataset& dataset, int limit = 100) {
  std::vector<std::string> texts;
  const auto iterator = dataset.MakeIterator();
  if (!iterator.ok()) return {iterator.status().ToString()};
  for (int i = 0; i < limit; ++i) {
    const auto element = (*iterator)->Next();
    if (!element.ok()) {
      texts.push_back(element.status().ToString());
      break;
    }
    if (!element->has_value()) break;
    std::string text;
    for (const auto& [name, array] : (*element)->features) {
      absl::StrAppend(&text, text.empty() ? "" : " ", array.ToString(100));
    }
    texts.push_back(text);
  }
  return texts;
}

int64_t NumberOf(const Element& element) { return element.features.Only()->data<int64_t>()[0]; }
absl::StatusOr<bool> All(const Element&) { return true; }
Dataset Stream(int64_t n) { return Dataset::Range(0, n).Filter(All); }

TEST(Unbatch, ReversesBatch) {
  for (const Dataset& range : {Dataset::Range(0, 5), Stream(5)}) {
    EXPECT_THAT(Texts(range.Batch(2).Unbatch()), ElementsAre("0", "1", "2", "3", "4"));
    EXPECT_THAT(Texts(range.Batch(2).Unbatch().Skip(3)), ElementsAre("3", "4"));
    EXPECT_THAT(Texts(range.Batch(2).Batch(2).Unbatch()), ElementsAre("[0, 1]", "[2, 3]", "[4]"))
        << "the last batch of batches has one batch";
  }
}

TEST(Unbatch, SkipsElementsWithoutRows) {
  const Dataset rows = Dataset::Range(0, 4).Map([](const Element& e) -> absl::StatusOr<Element> {
    Array array(DType::kInt64, {NumberOf(e) % 2 == 0 ? 0 : NumberOf(e)});
    for (int64_t& value : array.values<int64_t>()) value = NumberOf(e);
    return Element{.features = array, .labels = {}};
  });
  EXPECT_THAT(Texts(rows.Unbatch()), ElementsAre("1", "3", "3", "3"));
  EXPECT_THAT(Texts(rows.Unbatch().Skip(2)), ElementsAre("3", "3"));
}

TEST(Unbatch, KnowsItsCardinalityIfTheBatchSizeIsFixed) {
  const Dataset range = Dataset::Range(0, 10);
  EXPECT_EQ(range.Batch(4, {.drop_remainder = true}).Unbatch().Cardinality(), 8);
  EXPECT_EQ(range.Batch(4).Unbatch().Cardinality(), -1);
  EXPECT_EQ(range.Repeat().Batch(4).Unbatch().Cardinality(), Dataset::kInfinite);
  EXPECT_EQ(Dataset::Range(0, 0).Batch(4).Unbatch().Cardinality(), 0);
}

TEST(Rebatch, BatchesTheRowsAgain) {
  EXPECT_THAT(Texts(Dataset::Range(0, 7).Batch(4).Rebatch(3)),
              ElementsAre("[0, 1, 2]", "[3, 4, 5]", "[6]"));
  EXPECT_THAT(Texts(Dataset::Range(0, 7).Batch(4).Rebatch(3, {.drop_remainder = true})),
              ElementsAre("[0, 1, 2]", "[3, 4, 5]"));
}

// dataset.window(size, shift, stride, drop_remainder).flat_map(lambda w: w.batch(size)).
std::vector<std::string> Windows(int64_t n, int64_t size, WindowOptions options = {}) {
  return Texts(Stream(n).Window(
      size, [size](const Dataset& window) { return window.Batch(size); }, options));
}

// The lists are those of TF 2.15.1.
TEST(Window, HasTensorFlowsWindows) {
  EXPECT_THAT(Windows(7, 3), ElementsAre("[0, 1, 2]", "[3, 4, 5]", "[6]"));
  EXPECT_THAT(Windows(7, 3, {.drop_remainder = true}), ElementsAre("[0, 1, 2]", "[3, 4, 5]"));
  EXPECT_THAT(Windows(5, 3, {.shift = 1}),
              ElementsAre("[0, 1, 2]", "[1, 2, 3]", "[2, 3, 4]", "[3, 4]", "[4]"));
  EXPECT_THAT(Windows(5, 3, {.shift = 1, .drop_remainder = true}),
              ElementsAre("[0, 1, 2]", "[1, 2, 3]", "[2, 3, 4]"));
  EXPECT_THAT(Windows(7, 3, {.shift = 1, .stride = 2, .drop_remainder = true}),
              ElementsAre("[0, 2, 4]", "[1, 3, 5]", "[2, 4, 6]"));
  EXPECT_THAT(Windows(6, 3, {.shift = 2, .stride = 2}), ElementsAre("[0, 2, 4]", "[2, 4]", "[4]"));
  EXPECT_THAT(Windows(10, 2, {.shift = 4}), ElementsAre("[0, 1]", "[4, 5]", "[8, 9]"));
  EXPECT_THAT(Windows(8, 2, {.shift = 5, .stride = 2}), ElementsAre("[0, 2]", "[5, 7]"));
  EXPECT_THAT(Windows(2, 5), ElementsAre("[0, 1]"));
  EXPECT_THAT(Windows(2, 5, {.drop_remainder = true}), IsEmpty());
  EXPECT_THAT(Windows(0, 2), IsEmpty());
}

TEST(Window, JoinsWhatTheFunctionReturns) {
  const auto sums = [](const Dataset& window) -> absl::StatusOr<Dataset> {
    EXPECT_EQ(window.element_spec()->ToString(), "features i64 []");
    const absl::StatusOr<Element> sum = window.Reduce(
        {.features = Array::Scalar<int64_t>(0), .labels = {}},
        [](const Element& state, const Element& element) -> absl::StatusOr<Element> {
          return Element{.features = Array::Scalar<int64_t>(NumberOf(state) + NumberOf(element)),
                         .labels = {}};
        });
    if (!sum.ok()) return sum.status();
    return Dataset::FromTensors(*sum);
  };
  EXPECT_THAT(Texts(Dataset::Range(0, 6).Window(2, sums)), ElementsAre("1", "5", "9"));
  const auto nothing = [](const Dataset& window) { return window.Take(0); };
  EXPECT_THAT(Texts(Dataset::Range(0, 6).Window(2, nothing)), IsEmpty());
  const auto twice = [](const Dataset& window) { return window.Repeat(2); };
  EXPECT_THAT(Texts(Dataset::Range(0, 3).Window(2, twice)),
              ElementsAre("0", "1", "0", "1", "2", "2"));
}

TEST(Window, NamesWhatIsWrong) {
  EXPECT_THAT(Dataset::Range(0, 3).Window(0, [](const Dataset& w) { return w; }).MakeIterator(),
              ErrorIs("Window: size is 0, shift 0 and stride 1; each must be at least 1"));
  EXPECT_THAT(Windows(3, 2, {.shift = 0}),
              ElementsAre("INVALID_ARGUMENT: Window: size is 2, shift 0 and stride 1; each must be "
                          "at least 1"));
  const auto fails = [](const Dataset& window) { return window.Batch(0); };
  EXPECT_THAT(Texts(Dataset::Range(0, 3).Window(2, fails))[0],
              ::testing::StartsWith("INVALID_ARGUMENT: Window: window 0: Batch: batch_size is 0"));
  const auto throws = [](const Dataset&) -> absl::StatusOr<Dataset> {
    throw std::runtime_error("thrown");
  };
  EXPECT_THAT(Texts(Dataset::Range(0, 3).Window(2, throws)),
              ElementsAre("INTERNAL: Window: window 0: the function threw an exception: thrown"));
}

TEST(Enumerate, AddsTheNumberOfEachElement) {
  const Dataset letters = Dataset::FromTensorSlices(
      {.features = {{"letter", Array::Strings({"a", "b", "c"})}}, .labels = {}});
  for (const Dataset& dataset : {letters, letters.Filter(All)}) {
    EXPECT_THAT(Texts(dataset.Enumerate()), ElementsAre("0 'a'", "1 'b'", "2 'c'"));
    EXPECT_THAT(Texts(dataset.Skip(1).Enumerate(5, "n").Repeat(2)),
                ElementsAre("'b' 5", "'c' 6", "'b' 5", "'c' 6"));
  }
  EXPECT_THAT(Texts(letters.Enumerate(-1).Batch(2)),
              ElementsAre("[-1, 0] ['a', 'b']", "[1] ['c']"));
  EXPECT_EQ(letters.Repeat().Enumerate().Cardinality(), Dataset::kInfinite);
  EXPECT_EQ(letters.Enumerate().Cardinality(), 3);
  EXPECT_EQ(letters.Enumerate(5).Describe(), "Slices > Enumerate(5)");
}

TEST(TakeWhile, EndsBeforeTheFirstElementThatIsNotTaken) {
  const auto below = [](int64_t bound) {
    return [bound](const Element& e) -> absl::StatusOr<bool> { return NumberOf(e) < bound; };
  };
  EXPECT_THAT(Texts(Dataset::Range(0, 5).TakeWhile(below(2))), ElementsAre("0", "1"));
  EXPECT_THAT(Texts(Dataset::Range(0, 2).TakeWhile(below(9))), ElementsAre("0", "1"));
  EXPECT_THAT(Texts(Dataset::Range(0, 5).TakeWhile(below(0))), IsEmpty());
  EXPECT_THAT(Texts(Dataset::Range(0, 5).Repeat().TakeWhile(below(4)).Take(9)),
              ElementsAre("0", "1", "2", "3"));
  const auto iterator = Dataset::Range(0, 5).TakeWhile(below(1)).MakeIterator().value();
  EST_ASSERT_OK(iterator->Next());
  for (int i = 0; i < 2; ++i) EXPECT_FALSE(iterator->Next().value().has_value());
}

TEST(Reduce, FoldsTheElements) {
  const Element zero = {.features = Array::Scalar<int64_t>(0), .labels = {}};
  const auto add = [](const Element& state, const Element& element) -> absl::StatusOr<Element> {
    return Element{.features = Array::Scalar<int64_t>(NumberOf(state) + NumberOf(element)),
                   .labels = {}};
  };
  EXPECT_EQ(NumberOf(Dataset::Range(0, 5).Reduce(zero, add).value()), 10);
  EXPECT_EQ(NumberOf(Dataset::Range(0, 0).Reduce(zero, add).value()), 0);
  EXPECT_THAT(Dataset::Range(0, 5).Repeat().Reduce(zero, add),
              ErrorIs("Reduce: the dataset has no end (Range(0, 5) > Repeat); call Take before "
                      "Reduce"));
  EXPECT_THAT(Dataset::Range(0, 5).Batch(0).Reduce(zero, add), ErrorHas("batch_size is 0"));
  const auto changes = [](const Element&, const Element&) -> absl::StatusOr<Element> {
    return Element{.features = Array::Scalar(1.0f), .labels = {}};
  };
  EXPECT_THAT(Dataset::Range(0, 5).Reduce(zero, changes),
              ErrorIs("Reduce: element 0: features is i64 [] in the initial state, but f32 [] in "
                      "the result of the function"));
  const auto throws = [](const Element& state, const Element&) -> absl::StatusOr<Element> {
    return Element{.features = state.features.at("x"), .labels = {}};
  };
  EXPECT_THAT(Dataset::Range(0, 5).Reduce(zero, throws),
              ErrorHas("Reduce: element 0: the function threw an exception"));
}

}  // namespace
}  // namespace estimator
