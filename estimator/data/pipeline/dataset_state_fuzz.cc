// Fuzzes RestoreState. The first byte selects a pipeline. The rest is the state of its nodes, which
// is sealed with the right description and crc32c.
#include <cstdint>
#include <optional>
#include <vector>

#include "estimator/base/testing/fuzz_input.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/data/pipeline/iterator_state.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr int64_t kSize = 23;

Dataset Indexed() { return Dataset::Range(0, kSize); }
Dataset Stream() {
  return Dataset::FromGenerator([](int64_t i) -> absl::StatusOr<std::optional<Element>> {
    if (i >= kSize) return std::nullopt;
    return Element{.features = Array::Scalar<int64_t>(i), .labels = {}};
  });
}
absl::StatusOr<Element> Same(const Element& element) { return element; }
absl::StatusOr<Dataset> SameWindow(const Dataset& window) { return window; }
absl::StatusOr<bool> Always(const Element&) { return true; }
absl::StatusOr<Element> Draw(const Element& element, RandomStream& random) {
  random();
  return element;
}
absl::StatusOr<bool> IsOdd(const Element& element) {
  return element.features.begin()->second.data<int64_t>()[0] % 2 == 1;
}
absl::StatusOr<int64_t> Last2Bits(const Element& element) {
  return element.features.begin()->second.data<int64_t>()[0] % 4;
}
absl::StatusOr<Dataset> UpTo(const Element& element) {
  return Dataset::Range(0, element.features.begin()->second.data<int64_t>()[0]).Shuffle(3);
}

// All pipelines end. Skipping 2^60 elements of an endless one would not finish.
const std::vector<Dataset>& Pipelines() {
  static const auto* const all = [] {
    auto* const list = new std::vector<Dataset>;
    for (const Dataset& source : {Indexed(), Stream()}) {
      for (Dataset& pipeline : std::vector<Dataset>{
               source.Map(Same).Shuffle(30).Batch(4),
               source.Shuffle(5).Repeat(3).PaddedBatch(4),
               source.Repeat(3).Shuffle(5).Batch(2, {.drop_remainder = true}),
               source.Filter(IsOdd).Cache().Shard(2, 1),
               source.Interleave(UpTo, {.cycle_length = 3, .block_length = 2}).Take(20),
               Dataset::Concatenate({source.Skip(3), source.Filter(IsOdd)}),
               Dataset::Zip(source.Shuffle(4), source.Repeat(2)),
           }) {
        list->push_back(std::move(pipeline));
      }
    }
    // At the end, because the first byte of an input is an index.
    list->push_back(Indexed().Map(Draw).Repeat(2).Batch(3));
    list->push_back(Stream().Map(Draw, {.num_parallel_calls = 2}).Shuffle(4));
    for (const Dataset& source : {Indexed(), Stream()}) {
      for (Dataset& pipeline : std::vector<Dataset>{
               source.Batch(4).Unbatch().Enumerate(),
               source.Repeat(2).Window(3, SameWindow, {.shift = 2, .stride = 2}).TakeWhile(Always),
               Dataset::SampleFromDatasets({source, source.Take(4)}).Prefetch(kAutotune),
               Dataset::ChooseFromDatasets({source, source.Take(4)}, Dataset::Range(0, 2).Repeat(9),
                                           {.stop_on_empty_dataset = false}),
           }) {
        list->push_back(std::move(pipeline));
      }
    }
    list->push_back(Stream().BucketBySequenceLength(Last2Bits, {1, 3}, {2, 3, 2}));
    return list;
  }();
  return *all;
}

}  // namespace
}  // namespace estimator

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace estimator;
  FuzzInput input(data, size);
  const Dataset& dataset = Pipelines()[input.Byte() % Pipelines().size()];
  const auto iterator = dataset.MakeIterator().value();
  const absl::Status status = iterator->RestoreState(SealState(dataset.Describe(), input.Rest()));
  if (!status.ok()) {
    CHECK(absl::IsDataLoss(status) || absl::IsInvalidArgument(status)) << status;
    return 0;
  }
  for (int i = 0; i < 10; ++i) {
    const auto element = iterator->Next();
    CHECK(element.ok()) << element.status();
    if (!element->has_value()) break;
    for (const auto& [name, array] : (*element)->features) {
      if (name == "index") continue;  // of Enumerate, whose count is part of the state
      for (const int64_t value : array.values<int64_t>()) CHECK(value >= 0 && value < kSize);
    }
    if (i % 3 == 0) CHECK(iterator->SaveState().ok());
  }
  return 0;
}
