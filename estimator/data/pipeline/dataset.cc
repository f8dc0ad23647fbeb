#include "estimator/data/pipeline/dataset.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/available_memory.h"
#include "estimator/base/random.h"
#include "estimator/base/status.h"
#include "estimator/base/strings.h"
#include "estimator/data/pipeline/dataset_node.h"
#include "estimator/data/pipeline/iterator_state.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/pipeline/pipeline_times.h"
#include "estimator/data/pipeline/position_log.h"
#include "estimator/data/pipeline/user_function.h"

namespace estimator {
namespace {

thread_local std::optional<int64_t> default_seed;

constexpr int64_t kSeedWithoutAny = 1;  // the default of RunConfig::tf_random_seed

// The seed of a random transform of `inputs`: the given one, or one derived from the run's seed.
uint64_t SeedFor(absl::Span<const Dataset> inputs, std::optional<int64_t> given) {
  if (given) return static_cast<uint64_t>(*given);
  int num_seeded = 0;
  for (const Dataset& input : inputs) num_seeded += input.node()->num_seeded();
  const auto run_seed = static_cast<uint64_t>(default_seed.value_or(kSeedWithoutAny));
  return HashSeed(run_seed, static_cast<uint64_t>(num_seeded));
}

// The state of the nodes of `node` in a sealed state. A Prefetch at the end of a pipeline changes
// no position. So a state that was saved without it, or with one of another size, is one of this
// pipeline too.
absl::StatusOr<std::string> NodesStateOf(const DatasetNode& node, absl::string_view sealed) {
  const absl::StatusOr<absl::string_view> nodes = UnsealState(DescribeNode(node), sealed);
  if (nodes.ok()) return std::string(*nodes);
  if (node.prefetched() == nullptr || !absl::IsInvalidArgument(nodes.status()))
    return nodes.status();
  EST_ASSIGN_OR_RETURN(const SealedState saved, ReadSealedState(sealed));
  const std::string before = DescribeNode(*node.prefetched());
  const absl::string_view last = LastStep(saved.description);
  if (IsPrefetchLabel(last)) {
    EST_ASSIGN_OR_RETURN(const absl::string_view same,
                         UnsealState(absl::StrCat(before, " > ", last), sealed));
    return std::string(same);
  }
  EST_ASSIGN_OR_RETURN(const absl::string_view input, UnsealState(before, sealed));
  return PositionLog::StateBeforeReading(input);
}

// The iterator that users see. It keeps the first error, and seals and checks states.
class PipelineIterator final : public Iterator {
 public:
  explicit PipelineIterator(NodePtr node) : node_(std::move(node)) {}
  absl::Status Begin() {
    EST_ASSIGN_OR_RETURN(iterator_, node_->MakeIterator({.timer = times_}));
    return absl::OkStatus();
  }

  absl::StatusOr<std::optional<Element>> Next() override {
    EST_RETURN_IF_ERROR(error_);
    absl::StatusOr<std::optional<Element>> element = iterator_->Next();
    error_ = element.status();
    return element;
  }
  absl::StatusOr<int64_t> Skip(int64_t count) override {
    EST_RETURN_IF_ERROR(error_);
    absl::StatusOr<int64_t> skipped = iterator_->Skip(count);
    error_ = skipped.status();
    return skipped;
  }
  absl::StatusOr<std::string> SaveState() override {
    EST_RETURN_IF_ERROR(error_);
    StateWriter nodes;
    EST_RETURN_IF_ERROR(iterator_->Save(nodes));
    return SealState(DescribeNode(*node_), nodes.bytes());
  }
  absl::Status RestoreState(absl::string_view state) override {
    EST_ASSIGN_OR_RETURN(const std::string nodes, NodesStateOf(*node_, state));
    // A new iterator is restored, so that this one is unchanged after an error.
    EST_ASSIGN_OR_RETURN(IteratorPtr restored, node_->MakeIterator({.timer = times_}));
    StateReader reader(nodes);
    EST_RETURN_IF_ERROR(restored->Restore(reader));
    iterator_ = std::move(restored);
    error_ = absl::OkStatus();
    return absl::OkStatus();
  }
  std::vector<StageTime> StageTimes() const override { return times_->Stages(*node_); }

 private:
  const NodePtr node_;
  const std::shared_ptr<PipelineTimes> times_ = std::make_shared<PipelineTimes>();
  IteratorPtr iterator_;
  absl::Status error_;
};

// Returns make(input, args...), or the input if it already has an error.
template <typename Make, typename... Args>
Dataset Then(const NodePtr& input, Make make, Args&&... args) {
  return Dataset(input->status().ok() ? make(input, std::forward<Args>(args)...) : input);
}
// As Then, but with an error if `value` is below `least`.
template <typename Make, typename... Args>
Dataset AtLeast(int64_t least, int64_t value, absl::string_view what, const NodePtr& input,
                Make make, Args&&... args) {
  if (value >= least) return Then(input, make, std::forward<Args>(args)...);
  return Then(input, [&](const NodePtr&) {
    return ErrorNode(InvalidArgument(what, " is ", value, "; it must be at least ", least,
                                     value == 0 && absl::EndsWith(what, "batch_size")
                                         ? " (params.batch_size is 0 if none is given for the mode)"
                                         : ""));
  });
}

// Returns make(the nodes of the parts, args...), or the first part that has an error.
template <typename Make, typename... Args>
Dataset FromParts(const std::vector<Dataset>& parts, Make make, Args&&... args) {
  std::vector<NodePtr> nodes;
  for (const Dataset& part : parts) {
    if (!part.node()->status().ok()) return part;
    nodes.push_back(part.node());
  }
  return Dataset(make(std::move(nodes), std::forward<Args>(args)...));
}

// What Dataset::Advice must know of all nodes.
struct PipelineTraits {
  bool reads_ahead = false;
  bool keeps_elements = false;
  int64_t file_bytes = 0;
};

// Returns the advice of the nodes, in the order of the data, and adds their traits to `traits`.
std::vector<std::string> AdviceOfNodes(const DatasetNode& node, PipelineTraits& traits) {
  std::vector<std::string> advice;
  for (const NodePtr& input : node.inputs()) {
    for (std::string& text : AdviceOfNodes(*input, traits)) advice.push_back(std::move(text));
  }
  if (std::optional<std::string> text = node.Advice()) advice.push_back(*std::move(text));
  traits.reads_ahead |= node.prefetched() != nullptr;
  traits.keeps_elements |= node.keeps_elements();
  traits.file_bytes += node.FileBytes();
  return advice;
}

// The dataset of a user's function, which is called later, maybe in another thread.
//   seed: the default seed of the thread that built the pipeline.
template <typename Argument>
absl::StatusOr<NodePtr> NodeFrom(const std::function<absl::StatusOr<Dataset>(const Argument&)>& fn,
                                 const Argument& argument, std::optional<int64_t> seed) {
  // The function may build random transforms, whose seeds must not depend on the calling thread.
  const std::optional<int64_t> before = std::exchange(default_seed, seed);
  absl::StatusOr<Dataset> dataset = CallUserFunction(fn, argument);
  default_seed = before;
  if (!dataset.ok()) return dataset.status();
  return dataset->node();
}

}  // namespace

Dataset Dataset::FromTensorSlices(Element arrays, StringArg name) {
  return Dataset(SlicesNode(std::move(arrays), absl::StrCat("Slices", DataName(name)),
                            name.empty() ? "FromTensorSlices" : std::string(name)));
}
Dataset Dataset::FromTensors(Element element) { return Dataset(TensorsNode(std::move(element))); }
Dataset Dataset::Range(int64_t begin, int64_t end) { return Dataset(RangeNode(begin, end)); }
Dataset Dataset::FromGenerator(std::function<absl::StatusOr<std::optional<Element>>(int64_t)> fn,
                               std::optional<int64_t> size,
                               std::optional<ElementSpec> output_signature) {
  return Dataset(GeneratorNode(std::move(fn), size, std::move(output_signature)));
}
Dataset Dataset::Zip(Dataset features, Dataset labels) {
  return FromParts({std::move(features), std::move(labels)}, ZipNode, /*second_is_labels=*/true);
}
Dataset Dataset::Zip(std::vector<Dataset> parts) {
  return FromParts(parts, ZipNode, /*second_is_labels=*/false);
}
Dataset Dataset::Concatenate(std::vector<Dataset> parts) {
  return FromParts(parts, ConcatenateNode);
}
Dataset Dataset::SampleFromDatasets(std::vector<Dataset> datasets, std::vector<double> weights,
                                    SampleFromDatasetsOptions options) {
  const uint64_t seed = SeedFor(datasets, options.seed);
  return FromParts(datasets, SampleNode, std::move(weights), seed, options);
}
Dataset Dataset::ChooseFromDatasets(std::vector<Dataset> datasets, Dataset choice_dataset,
                                    ChooseFromDatasetsOptions options) {
  return FromParts(datasets, [&](std::vector<NodePtr> nodes) {
    const NodePtr& choices = choice_dataset.node();
    return choices->status().ok() ? ChooseNode(std::move(nodes), choices, options) : choices;
  });
}

Dataset Dataset::IgnoreErrors(int64_t max_errors) const {
  return AtLeast(0, max_errors, "IgnoreErrors: max_errors", node_, IgnoreErrorsNode, max_errors);
}
Dataset Dataset::Map(MapFunction fn, MapOptions options) const {
  return Then(node_, [&](const NodePtr& input) {
    if (!options.seed) return MapNode(input, std::move(fn), options);
    return ErrorNode(InvalidArgument(
        "Map: seed is ", *options.seed,
        ", but the function draws no numbers; let it take a RandomStream& after the element"));
  });
}
Dataset Dataset::Map(RandomMapFn fn, MapOptions options) const {
  return Then(node_, RandomMapNode, std::move(fn), options, SeedFor({*this}, options.seed));
}
Dataset Dataset::Filter(FilterFn fn) const { return Then(node_, FilterNode, std::move(fn)); }
Dataset Dataset::Shuffle(int64_t buffer_size, ShuffleOptions options) const {
  return AtLeast(1, buffer_size, "Shuffle: buffer_size", node_, ShuffleNode, buffer_size,
                 SeedFor({*this}, options.seed), options.reshuffle_each_iteration);
}
Dataset Dataset::Repeat(int64_t count) const { return Then(node_, RepeatNode, count); }
Dataset Dataset::Batch(int64_t batch_size, BatchOptions options) const {
  return AtLeast(1, batch_size, "Batch: batch_size", node_, BatchNode, batch_size,
                 options.drop_remainder);
}
Dataset Dataset::PaddedBatch(int64_t batch_size, PaddedBatchOptions options) const {
  return AtLeast(1, batch_size, "PaddedBatch: batch_size", node_, PaddedBatchNode, batch_size,
                 std::move(options));
}
Dataset Dataset::BucketBySequenceLength(ElementLengthFn element_length_func,
                                        std::vector<int64_t> bucket_boundaries,
                                        std::vector<int64_t> bucket_batch_sizes,
                                        BucketBySequenceLengthOptions options) const {
  return Then(node_, BucketBySequenceLengthNode, std::move(element_length_func),
              std::move(bucket_boundaries), std::move(bucket_batch_sizes), std::move(options));
}
Dataset Dataset::Unbatch() const { return Then(node_, UnbatchNode); }
Dataset Dataset::Rebatch(int64_t batch_size, BatchOptions options) const {
  return Unbatch().Batch(batch_size, options);
}
Dataset Dataset::Window(int64_t size, std::function<absl::StatusOr<Dataset>(const Dataset&)> fn,
                        WindowOptions options) const {
  WindowFn expand = [fn = std::move(fn), seed = default_seed](const NodePtr& window) {
    return NodeFrom(fn, Dataset(window), seed);
  };
  return Then(node_, WindowNode, size, std::move(expand), options);
}
Dataset Dataset::Enumerate(int64_t start, StringArg name) const {
  return Then(node_, EnumerateNode, start, std::string(name));
}
Dataset Dataset::Cache() const { return Then(node_, CacheNode); }
Dataset Dataset::Cache(StringArg filename) const {
  if (filename.empty()) return Cache();  // as in TensorFlow
  return Then(node_, FileCacheNode, std::string(filename));
}
Dataset Dataset::Prefetch(int64_t buffer_size) const {
  if (buffer_size == 0) return *this;
  return AtLeast(kAutotune, buffer_size, "Prefetch: buffer_size", node_, PrefetchNode, buffer_size,
                 /*gate=*/nullptr);
}
Dataset Dataset::Take(int64_t count) const {
  // -1 takes all, as in TensorFlow.
  return Then(node_, SliceNode, absl::StrCat("Take(", count, ")"), 0, 1, count < 0 ? -1 : count, 1);
}
Dataset Dataset::TakeWhile(FilterFn fn) const { return Then(node_, TakeWhileNode, std::move(fn)); }
Dataset Dataset::Skip(int64_t count) const {
  return AtLeast(0, count, "Skip: count", node_, SliceNode, absl::StrCat("Skip(", count, ")"),
                 count, 1, -1, 1);
}
Dataset Dataset::Shard(int64_t num_shards, int64_t index, int64_t block) const {
  return Then(node_, [&](const NodePtr& input) {
    if (num_shards < 1 || index < 0 || index >= num_shards) {
      return ErrorNode(InvalidArgument("Shard: index is ", index, " of ", num_shards,
                                       " shards; it must be in [0, num_shards)"));
    }
    if (block < 1)
      return ErrorNode(InvalidArgument("Shard: block is ", block, "; it must be at least 1"));
    if (num_shards == 1) return input;  // a program for several hosts has one often
    return SliceNode(input,
                     absl::StrCat("Shard(", num_shards, ", ", index,
                                  block == 1 ? "" : absl::StrCat(", block ", block), ")"),
                     index * block, num_shards, -1, block);
  });
}
Dataset Dataset::FlatMap(std::function<absl::StatusOr<Dataset>(const Element&)> fn) const {
  return Interleave(std::move(fn), {.cycle_length = 1, .block_length = 1});
}
Dataset Dataset::Interleave(std::function<absl::StatusOr<Dataset>(const Element&)> fn,
                            InterleaveOptions options) const {
  ExpandFn expand = [fn = std::move(fn), seed = default_seed](const Element& element) {
    return NodeFrom(fn, element, seed);
  };
  return Then(node_, InterleaveNode, std::move(expand), options);
}

absl::StatusOr<Element> Dataset::Reduce(Element initial, const ReduceFn& fn) const {
  if (Cardinality() == kInfinite) {
    return InvalidArgument("Reduce: the dataset has no end (", Describe(),
                           "); call Take before Reduce");
  }
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<Iterator> iterator, MakeIterator());
  const ElementSpec spec = SpecOf(initial);
  Element state = std::move(initial);
  for (int64_t i = 0;; ++i) {
    EST_ASSIGN_OR_RETURN(const std::optional<Element> element, iterator->Next());
    if (!element) return state;
    const auto next = [&](const Element& e) { return fn(state, e); };
    absl::StatusOr<Element> reduced = CallUserFunction(next, *element);
    absl::Status status = reduced.status();
    if (status.ok()) {
      status = CheckSpec(spec, "the initial state", SpecOf(*reduced), "the result of the function",
                         CompareShapes::kNo);
    }
    if (!status.ok()) return Annotate(status, absl::StrCat("Reduce: element ", i));
    state = *std::move(reduced);
  }
}

absl::StatusOr<std::unique_ptr<Iterator>> Dataset::MakeIterator() const {
  EST_RETURN_IF_ERROR(node_->status());
  auto iterator = std::make_unique<PipelineIterator>(node_);
  EST_RETURN_IF_ERROR(iterator->Begin());
  return iterator;
}
int64_t Dataset::Cardinality() const { return node_->Cardinality(); }
std::optional<ElementSpec> Dataset::element_spec() const {
  return node_->status().ok() ? node_->element_spec() : std::nullopt;
}
int64_t Dataset::ExamplesPerEpoch() const { return node_->ExamplesPerEpoch(); }
std::vector<std::string> Dataset::Advice() const {
  PipelineTraits traits;
  std::vector<std::string> advice = AdviceOfNodes(*node_, traits);
  if (!traits.reads_ahead)
    advice.push_back(
        "no batch is read while a step runs, so each step waits for its batch: end the input with "
        "Prefetch(kAutotune)");
  const std::optional<AvailableMemory> memory = ReadAvailableMemory();
  if (traits.file_bytes > 0 && !traits.keeps_elements && memory.has_value() &&
      traits.file_bytes < memory->bytes / 4) {
    advice.push_back(absl::StrCat("each epoch reads ", HumanBytes(traits.file_bytes),
                                  " of files again, which fit into memory: add Cache() after the "
                                  "transforms that draw no random numbers"));
  }
  return advice;
}
std::string Dataset::Describe() const { return DescribeNode(*node_); }

void SetDefaultSeed(std::optional<int64_t> seed) { default_seed = seed; }
std::optional<int64_t> DefaultSeed() { return default_seed; }

}  // namespace estimator
