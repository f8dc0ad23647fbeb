#include "estimator/training/input/read_ahead.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/dataset_node.h"
#include "estimator/data/pipeline/iterator_state.h"
#include "estimator/data/pipeline/nodes.h"

namespace estimator {
namespace {

// Passes on everything, but reads only while the gate is open.
class GatedIterator final : public NodeIterator {
 public:
  GatedIterator(std::unique_ptr<NodeIterator> input, std::shared_ptr<ReadGate> gate)
      : input_(std::move(input)), gate_(std::move(gate)) {}
  absl::StatusOr<std::optional<Element>> Next() override {
    if (!gate_->Enter()) return std::nullopt;                // the input is about to be destroyed
    const absl::Cleanup leave = [this] { gate_->Leave(); };  // Next may throw std::bad_alloc
    return input_->Next();
  }
  // Only Restore calls it, in the thread of the loop.
  absl::StatusOr<int64_t> Skip(int64_t count) override { return input_->Skip(count); }
  absl::Status Save(StateWriter& state) const override { return input_->Save(state); }
  absl::Status Restore(StateReader& state) override { return input_->Restore(state); }
  std::string Where() const override { return input_->Where(); }

 private:
  const std::unique_ptr<NodeIterator> input_;
  const std::shared_ptr<ReadGate> gate_;
};

class GatedNode final : public DatasetNode {
 public:
  GatedNode(NodePtr input, std::shared_ptr<ReadGate> gate)
      : input_(std::move(input)), gate_(std::move(gate)) {}
  std::string Label() const override { return "Gate"; }
  std::vector<NodePtr> inputs() const override { return {input_}; }
  int64_t Cardinality() const override { return input_->Cardinality(); }

 private:
  absl::StatusOr<std::unique_ptr<NodeIterator>> NewIterator(
      const IterationContext& context) const override {
    EST_ASSIGN_OR_RETURN(std::unique_ptr<NodeIterator> input, input_->MakeIterator(context));
    return std::make_unique<GatedIterator>(std::move(input), gate_);
  }

  const NodePtr input_;
  const std::shared_ptr<ReadGate> gate_;
};

// A Prefetch of `input` that hides the gate from descriptions.
class GatedPrefetch final : public DatasetNode {
 public:
  GatedPrefetch(NodePtr input, int64_t num_elements, std::shared_ptr<ReadGate> gate)
      : input_(input),
        prefetch_(PrefetchNode(std::make_shared<GatedNode>(std::move(input), std::move(gate)),
                               num_elements)) {}
  std::string Label() const override { return prefetch_->Label(); }
  std::vector<NodePtr> inputs() const override { return {input_}; }
  std::optional<ElementSpec> element_spec() const override { return input_->element_spec(); }
  int64_t Cardinality() const override { return input_->Cardinality(); }
  bool reads_ahead() const override { return true; }

 private:
  absl::StatusOr<std::unique_ptr<NodeIterator>> NewIterator(
      const IterationContext& context) const override {
    return prefetch_->MakeIterator(context);
  }

  const NodePtr input_, prefetch_;
};

// " > Prefetch(2)", or "" if the pipeline does not end with a Prefetch.
absl::string_view LastPrefetch(absl::string_view pipeline) {
  const size_t begin = pipeline.rfind(" > Prefetch(");
  if (begin == absl::string_view::npos || pipeline.find(')', begin) + 1 != pipeline.size())
    return "";
  return pipeline.substr(begin);
}

// Whether this describes the inputs of several replicas: "8 x Range > Batch(2)".
bool IsOfSeveral(absl::string_view pipeline) {
  const size_t digits = pipeline.size();
  while (!pipeline.empty() && absl::ascii_isdigit(static_cast<unsigned char>(pipeline[0])))
    pipeline.remove_prefix(1);
  return pipeline.size() < digits && absl::ConsumePrefix(&pipeline, " x ");
}

}  // namespace

Dataset ReadAhead(const Dataset& dataset, int64_t num_elements, std::shared_ptr<ReadGate> gate) {
  if (!dataset.node()->status().ok() || dataset.node()->reads_ahead()) return dataset;
  if (gate == nullptr) return dataset.Prefetch(num_elements);
  return Dataset(std::make_shared<GatedPrefetch>(dataset.node(), num_elements, std::move(gate)));
}

namespace {

InputFn ReadStepsAhead(const InputFn& input_fn, int64_t global_batch_size,
                       std::shared_ptr<ReadGate> gate, bool unless_it_waits) {
  return InputFn(
      [=](const InputFn::Call& call) -> absl::StatusOr<Dataset> {
        EST_ASSIGN_OR_RETURN(const Dataset dataset, input_fn(call));
        if (unless_it_waits && dataset.node()->may_wait()) return dataset;
        // With PER_HOST_V2, a step takes an element for each replica.
        const int64_t rows_of_all = call.batch_size * call.num_invocations;
        const int64_t elements_of_step =
            rows_of_all > 0 ? std::max<int64_t>(1, global_batch_size / rows_of_all) : 1;
        return ReadAhead(dataset, kStepsReadAhead * elements_of_step, gate);
      },
      input_fn.identity());
}

}  // namespace

InputFn ReadAhead(const InputFn& input_fn, int64_t global_batch_size,
                  std::shared_ptr<ReadGate> gate) {
  return ReadStepsAhead(input_fn, global_batch_size, std::move(gate), false);
}

InputFn ReadAheadUnlessItWaits(const InputFn& input_fn, int64_t global_batch_size,
                               std::shared_ptr<ReadGate> gate) {
  return ReadStepsAhead(input_fn, global_batch_size, std::move(gate), true);
}

absl::StatusOr<std::string> StateWithPrefetchOf(absl::string_view pipeline,
                                                absl::string_view state) {
  const absl::string_view prefetch = LastPrefetch(pipeline);
  if (prefetch.empty()) return std::string(state);
  EST_RETURN_IF_ERROR(CheckSealedState(state));
  constexpr size_t kBeforeDescription = 5;  // magic and version (iterator_state.h)
  StateReader head(state.substr(kBeforeDescription));
  EST_ASSIGN_OR_RETURN(const absl::string_view saved, head.Bytes());
  EST_ASSIGN_OR_RETURN(const absl::string_view nodes, UnsealState(saved, state));
  const absl::string_view old_prefetch = LastPrefetch(saved);
  const std::string description =
      absl::StrCat(saved.substr(0, saved.size() - old_prefetch.size()), prefetch);
  StateWriter converted;
  if (IsOfSeveral(saved)) {
    StateReader parts(nodes);
    while (parts.remaining() > 0) {
      EST_ASSIGN_OR_RETURN(const absl::string_view part, parts.Bytes());
      EST_ASSIGN_OR_RETURN(const std::string of_replica, StateWithPrefetchOf(pipeline, part));
      converted.Bytes(of_replica);
    }
    return SealState(description, converted.bytes());
  }
  if (!old_prefetch.empty()) return SealState(description, nodes);
  // The state of a Prefetch that has read nothing ahead.
  converted.Bytes(nodes);
  converted.Int(0);
  return SealState(description, converted.bytes());
}

}  // namespace estimator
