// SampleFromDatasets and ChooseFromDatasets. A selector gives the number of the dataset whose
// element is next: a random draw, or the elements of another dataset.
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "estimator/base/random.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/pipeline/transform.h"
#include "estimator/data/transforms/joined_spec.h"

namespace estimator {
namespace {

// Selects the dataset of the next element.
class Selector {
 public:
  virtual ~Selector() = default;
  // The number of a dataset; nullopt at the end. `ended` says which datasets have ended; at least
  // one has not.
  virtual absl::StatusOr<std::optional<size_t>> Next(const std::vector<bool>& ended) = 0;
  virtual absl::Status Save(StateWriter& state) const = 0;
  virtual absl::Status Restore(StateReader& state) = 0;
};

// Draws among the datasets that have not ended. Draw i depends on the key and i only.
// State: key, number of draws.
class RandomSelector final : public Selector {
 public:
  RandomSelector(uint64_t key, std::vector<double> weights)
      : key_(key), weights_(std::move(weights)) {}
  absl::StatusOr<std::optional<size_t>> Next(const std::vector<bool>& ended) override {
    double sum = 0;
    for (size_t i = 0; i < weights_.size(); ++i) sum += ended[i] ? 0 : weights_[i];
    const Philox::Result bits = Philox(key_, draws_++).Next4();
    double rest = UniformDouble(bits[0], bits[1]) * sum;
    size_t drawn = 0;
    for (size_t i = 0; i < weights_.size(); ++i) {
      if (ended[i]) continue;
      drawn = i;  // also if rounding leaves a rest after the last one
      rest -= weights_[i];
      if (rest < 0) break;
    }
    return drawn;
  }
  absl::Status Save(StateWriter& state) const override { return SaveFields(state, key_, draws_); }
  absl::Status Restore(StateReader& state) override { return RestoreFields(state, key_, draws_); }

 private:
  uint64_t key_;
  std::vector<double> weights_;
  uint64_t draws_ = 0;
};

// State: that of the dataset of choices (nested).
class ChoiceSelector final : public Selector {
 public:
  explicit ChoiceSelector(IteratorPtr choices) : choices_(std::move(choices)) {}
  absl::StatusOr<std::optional<size_t>> Next(const std::vector<bool>& ended) override {
    EST_ASSIGN_OR_RETURN(const std::optional<Element> choice, choices_->Next());
    if (!choice) return std::nullopt;
    const absl::StatusOr<Array> array = choice->features.Only();
    if (!array.ok() || array->dtype() != DType::kInt64 || array->num_elements() != 1) {
      return InvalidArgument("ChooseFromDatasets: ", choices_->Where(), " of choice_dataset is ",
                             choice->ToString(), "; it must be one i64 scalar");
    }
    const int64_t number = array->data<int64_t>()[0];
    if (number < 0 || number >= static_cast<int64_t>(ended.size())) {
      return InvalidArgument("ChooseFromDatasets: ", choices_->Where(), " of choice_dataset is ",
                             number, "; it must be in [0, ", ended.size(),
                             "), the number of datasets");
    }
    return static_cast<size_t>(number);
  }
  absl::Status Save(StateWriter& state) const override { return SaveNested(*choices_, state); }
  absl::Status Restore(StateReader& state) override { return RestoreNested(*choices_, state); }

 private:
  IteratorPtr choices_;
};

// State: whether it ended; the selector's; for each dataset whether it ended, and if not its state
// (nested).
class DirectedInterleaveIterator final : public NodeIterator {
 public:
  DirectedInterleaveIterator(std::vector<IteratorPtr> parts, std::unique_ptr<Selector> selector,
                             JoinedSpec spec, bool stop_on_empty_dataset)
      : parts_(std::move(parts)),
        selector_(std::move(selector)),
        spec_(std::move(spec)),
        stop_on_empty_dataset_(stop_on_empty_dataset),
        part_ended_(parts_.size(), false) {}

  absl::StatusOr<std::optional<Element>> Next() override {
    while (!ended_) {
      EST_ASSIGN_OR_RETURN(const std::optional<size_t> selected, selector_->Next(part_ended_));
      if (!selected) {
        ended_ = true;
        break;
      }
      last_ = *selected;
      if (part_ended_[last_]) continue;  // a choice that is skipped
      EST_ASSIGN_OR_RETURN(std::optional<Element> element, parts_[last_]->Next());
      if (element) {
        EST_RETURN_IF_ERROR(spec_.Check(*element, [this] { return parts_[last_]->Where(); }));
        return element;
      }
      part_ended_[last_] = true;
      ended_ = stop_on_empty_dataset_ ||
               std::find(part_ended_.begin(), part_ended_.end(), false) == part_ended_.end();
    }
    return std::nullopt;
  }
  absl::Status Save(StateWriter& state) const override {
    state.Bool(ended_);
    EST_RETURN_IF_ERROR(selector_->Save(state));
    for (size_t i = 0; i < parts_.size(); ++i) {
      state.Bool(part_ended_[i]);
      if (!part_ended_[i]) EST_RETURN_IF_ERROR(SaveNested(*parts_[i], state));
    }
    return absl::OkStatus();
  }
  absl::Status Restore(StateReader& state) override {
    EST_ASSIGN_OR_RETURN(ended_, state.Bool());
    EST_RETURN_IF_ERROR(selector_->Restore(state));
    for (size_t i = 0; i < parts_.size(); ++i) {
      EST_ASSIGN_OR_RETURN(const bool part_ended, state.Bool());
      part_ended_[i] = part_ended;
      if (!part_ended) EST_RETURN_IF_ERROR(RestoreNested(*parts_[i], state));
    }
    if (std::find(part_ended_.begin(), part_ended_.end(), false) == part_ended_.end()) {
      ended_ = true;
    }
    return absl::OkStatus();
  }
  std::string Where() const override { return parts_[last_]->Where(); }

 private:
  std::vector<IteratorPtr> parts_;
  std::unique_ptr<Selector> selector_;
  JoinedSpec spec_;
  bool stop_on_empty_dataset_;
  std::vector<bool> part_ended_;
  bool ended_ = false;
  size_t last_ = 0;  // the dataset of the last element
};

class Sample final : public JoinNode {
 public:
  Sample(std::vector<NodePtr> parts, std::vector<double> weights, JoinedSpec spec, uint64_t seed,
         SampleFromDatasetsOptions options)
      : JoinNode(std::move(parts), spec.spec()),
        weights_(std::move(weights)),
        spec_(std::move(spec)),
        seed_(seed),
        options_(options) {}
  std::string Label() const override {
    return options_.stop_on_empty_dataset ? "SampleFromDatasets[stop_on_empty_dataset]"
                                          : "SampleFromDatasets";
  }
  int num_seeded() const override { return DatasetNode::num_seeded() + 1; }
  int64_t Cardinality() const override {
    // All elements of all datasets, unless the first one that ends stops it.
    if (!options_.stop_on_empty_dataset) return SumOfCardinalities();
    const bool all_infinite = std::all_of(parts().begin(), parts().end(), [](const NodePtr& part) {
      return part->Cardinality() == Dataset::kInfinite;
    });
    return all_infinite ? Dataset::kInfinite : -1;
  }
  absl::StatusOr<IteratorPtr> NewIterator(const IterationContext& context) const override {
    EST_ASSIGN_OR_RETURN(auto parts, MakeIterators(context));
    const uint64_t pass = options_.rerandomize_each_iteration ? context.epoch_key : 0;
    return std::make_unique<DirectedInterleaveIterator>(
        std::move(parts), std::make_unique<RandomSelector>(HashSeed(seed_, pass), weights_), spec_,
        options_.stop_on_empty_dataset);
  }

 private:
  std::vector<double> weights_;
  JoinedSpec spec_;
  uint64_t seed_;
  SampleFromDatasetsOptions options_;
};

class Choose final : public JoinNode {
 public:
  // nodes: the datasets, then the dataset of choices.
  Choose(std::vector<NodePtr> nodes, JoinedSpec spec, ChooseFromDatasetsOptions options)
      : JoinNode(std::move(nodes), spec.spec()), spec_(std::move(spec)), options_(options) {}
  std::string Label() const override {
    return options_.stop_on_empty_dataset ? "ChooseFromDatasets[stop_on_empty_dataset]"
                                          : "ChooseFromDatasets";
  }
  int64_t Cardinality() const override { return parts().back()->Cardinality() == 0 ? 0 : -1; }
  absl::StatusOr<IteratorPtr> NewIterator(const IterationContext& context) const override {
    EST_ASSIGN_OR_RETURN(auto iterators, MakeIterators(context));
    auto selector = std::make_unique<ChoiceSelector>(std::move(iterators.back()));
    iterators.pop_back();
    return std::make_unique<DirectedInterleaveIterator>(std::move(iterators), std::move(selector),
                                                        spec_, options_.stop_on_empty_dataset);
  }

 private:
  JoinedSpec spec_;
  ChooseFromDatasetsOptions options_;
};

// Checks the weights, and removes those of 0 with their datasets. Without weights all are 1.
absl::Status ApplyWeights(std::vector<NodePtr>* parts, std::vector<double>* weights) {
  if (weights->empty()) weights->assign(parts->size(), 1.0);
  if (weights->size() != parts->size()) {
    return InvalidArgument("SampleFromDatasets: there are ", weights->size(), " weights for ",
                           parts->size(), " datasets; give one weight for each, or none");
  }
  std::vector<NodePtr> drawn;
  std::vector<double> positive;
  for (size_t i = 0; i < weights->size(); ++i) {
    const double weight = (*weights)[i];
    if (!std::isfinite(weight) || weight < 0) {
      return InvalidArgument("SampleFromDatasets: weights[", i, "] is ", weight,
                             "; a weight must be finite and at least 0");
    }
    if (weight == 0) continue;
    drawn.push_back((*parts)[i]);
    positive.push_back(weight);
  }
  // Their sum must not overflow.
  const double largest = positive.empty() ? 1 : *std::max_element(positive.begin(), positive.end());
  for (double& weight : positive) weight /= largest;
  *parts = std::move(drawn);
  *weights = std::move(positive);
  return absl::OkStatus();
}

}  // namespace

NodePtr SampleNode(std::vector<NodePtr> parts, std::vector<double> weights, uint64_t seed,
                   SampleFromDatasetsOptions options) {
  absl::StatusOr<JoinedSpec> spec = JoinedSpec::Of("SampleFromDatasets", parts);
  if (!spec.ok()) return ErrorNode(spec.status());
  const NodePtr first = parts[0];
  const absl::Status status = ApplyWeights(&parts, &weights);
  if (!status.ok()) return ErrorNode(status);
  if (parts.empty()) return SliceNode(first, "Take(0)", 0, 1, 0, 1);  // as in TensorFlow
  return std::make_shared<Sample>(std::move(parts), std::move(weights), *std::move(spec), seed,
                                  options);
}

NodePtr ChooseNode(std::vector<NodePtr> parts, NodePtr choices, ChooseFromDatasetsOptions options) {
  const std::optional<ElementSpec> choice = choices->element_spec();
  const ArraySpec scalar = {DType::kInt64, Shape{}};
  if (choice && (choice->features.size() != 1 || !(choice->features.begin()->second == scalar))) {
    return ErrorNode(InvalidArgument("ChooseFromDatasets: the elements of choice_dataset are ",
                                     choice->ToString(), "; they must be one i64 scalar"));
  }
  absl::StatusOr<JoinedSpec> spec = JoinedSpec::Of("ChooseFromDatasets", parts);
  if (!spec.ok()) return ErrorNode(spec.status());
  parts.push_back(std::move(choices));
  return std::make_shared<Choose>(std::move(parts), *std::move(spec), options);
}

}  // namespace estimator
