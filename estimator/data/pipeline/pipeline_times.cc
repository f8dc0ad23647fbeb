#include "estimator/data/pipeline/pipeline_times.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

namespace estimator {

class PipelineTimes::Measured final : public NodeIterator {
 public:
  Measured(std::shared_ptr<PipelineTimes> times, Nanoseconds& total, IteratorPtr iterator)
      : times_(std::move(times)), total_(total), iterator_(std::move(iterator)) {}

  absl::StatusOr<std::optional<Element>> Next() override {
    const auto start = std::chrono::steady_clock::now();
    absl::StatusOr<std::optional<Element>> element = iterator_->Next();
    const int64_t ns = std::chrono::duration_cast<std::chrono::nanoseconds>(
                           std::chrono::steady_clock::now() - start)
                           .count();
    total_.fetch_add(ns, std::memory_order_relaxed);
    return element;
  }
  absl::StatusOr<int64_t> Skip(int64_t count) override { return iterator_->Skip(count); }
  absl::Status Save(StateWriter& state) const override { return iterator_->Save(state); }
  absl::Status Restore(StateReader& state) override { return iterator_->Restore(state); }
  std::string Where() const override { return iterator_->Where(); }

 private:
  const std::shared_ptr<PipelineTimes> times_;  // keeps total_ alive
  Nanoseconds& total_;
  const IteratorPtr iterator_;
};

IteratorPtr PipelineTimes::Measure(const DatasetNode& node, IteratorPtr iterator) {
  const std::lock_guard<std::mutex> lock(mutex_);
  return std::make_unique<Measured>(shared_from_this(), inclusive_[&node], std::move(iterator));
}

const PipelineTimes::Nanoseconds* PipelineTimes::Find(const DatasetNode& node) const {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = inclusive_.find(&node);
  return found == inclusive_.end() ? nullptr : &found->second;
}

void PipelineTimes::AppendStages(const DatasetNode& node, std::vector<StageTime>& stages) const {
  int64_t before = 0;
  for (const NodePtr& input : node.inputs()) {
    AppendStages(*input, stages);
    if (const Nanoseconds* total = Find(*input)) before += total->load(std::memory_order_relaxed);
  }
  const Nanoseconds* total = Find(node);
  if (total == nullptr) return;
  const int64_t own = total->load(std::memory_order_relaxed) - before;
  stages.push_back({.stage = node.Label(),
                    .seconds = static_cast<double>(std::max<int64_t>(own, 0)) * 1e-9,
                    .advice = node.SpeedAdvice()});
}

std::vector<StageTime> PipelineTimes::Stages(const DatasetNode& last) const {
  std::vector<StageTime> stages;
  AppendStages(last, stages);
  return stages;
}

}  // namespace estimator
