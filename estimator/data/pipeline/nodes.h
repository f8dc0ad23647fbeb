// Creates the nodes of Dataset's methods. Each is in the .cc file named above it.
#ifndef ESTIMATOR_DATA_PIPELINE_NODES_H_
#define ESTIMATOR_DATA_PIPELINE_NODES_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/data/pipeline/dataset_node.h"
#include "estimator/data/pipeline/read_gate.h"

namespace estimator {

using GeneratorFn = std::function<absl::StatusOr<std::optional<Element>>(int64_t)>;
// Must not throw. User functions may throw, so they are wrapped (user_function.h).
using ExpandFn = std::function<absl::StatusOr<NodePtr>(const Element&)>;
using WindowFn = std::function<absl::StatusOr<NodePtr>(const NodePtr&)>;

// memory_sources.cc
// Rows of arrays.
//   source: the name of the source in messages: "FromTensorSlices" or a path.
NodePtr SlicesNode(Element arrays, std::string label, std::string source);
NodePtr TensorsNode(Element element);
NodePtr RangeNode(int64_t begin, int64_t end);
NodePtr GeneratorNode(GeneratorFn fn, std::optional<int64_t> size,
                      std::optional<ElementSpec> output_signature);

// zip.cc, concatenate.cc, enumerate.cc
NodePtr ZipNode(std::vector<NodePtr> parts, bool second_is_labels);
NodePtr ConcatenateNode(std::vector<NodePtr> parts);
NodePtr EnumerateNode(NodePtr input, int64_t start, std::string name);

// directed_interleave.cc
NodePtr SampleNode(std::vector<NodePtr> parts, std::vector<double> weights, uint64_t seed,
                   SampleFromDatasetsOptions options);
NodePtr ChooseNode(std::vector<NodePtr> parts, NodePtr choices, ChooseFromDatasetsOptions options);

// map.cc, filter.cc, interleave.cc, window.cc
NodePtr MapNode(NodePtr input, MapFunction fn, const MapOptions& options);
NodePtr RandomMapNode(NodePtr input, RandomMapFn fn, const MapOptions& options, uint64_t seed);
NodePtr FilterNode(NodePtr input, FilterFn fn);
NodePtr TakeWhileNode(NodePtr input, FilterFn fn);
NodePtr InterleaveNode(NodePtr input, ExpandFn fn, InterleaveOptions options);
NodePtr WindowNode(NodePtr input, int64_t size, WindowFn fn, const WindowOptions& options);

// shuffle.cc, repeat.cc, slice.cc
NodePtr ShuffleNode(NodePtr input, int64_t buffer_size, uint64_t seed, bool reshuffle);
NodePtr RepeatNode(NodePtr input, int64_t count);
// Elements begin, begin + step, ..., at most `count` of them (-1 for all).
NodePtr SliceNode(NodePtr input, std::string label, int64_t begin, int64_t step, int64_t count,
                  int64_t block);
// The position before a Shard of each element of `node`, by its own, if only maps come after that
// Shard. Otherwise null.
std::function<int64_t(int64_t)> PositionsBeforeShard(const DatasetNode& node);

// ignore_errors.cc
NodePtr IgnoreErrorsNode(NodePtr input, int64_t max_errors);

// batch.cc, padded_batch.cc, bucket_by_sequence_length.cc, unbatch.cc, cache.cc, file_cache.cc,
// prefetch.cc
NodePtr BatchNode(NodePtr input, int64_t batch_size, bool drop_remainder);
NodePtr PaddedBatchNode(NodePtr input, int64_t batch_size, PaddedBatchOptions options);
NodePtr BucketBySequenceLengthNode(NodePtr input, ElementLengthFn element_length_func,
                                   std::vector<int64_t> bucket_boundaries,
                                   std::vector<int64_t> bucket_batch_sizes,
                                   BucketBySequenceLengthOptions options);
NodePtr UnbatchNode(NodePtr input);
NodePtr CacheNode(NodePtr input);
NodePtr FileCacheNode(NodePtr input, std::string filename);
//   buffer_size: at least 1, or kAutotune.
//   gate: the thread of the Prefetch reads only while it is open. Null: always.
NodePtr PrefetchNode(NodePtr input, int64_t buffer_size, std::shared_ptr<ReadGate> gate = nullptr);
// Whether a node of this label is a Prefetch. On disk (in saved states): do not change.
bool IsPrefetchLabel(absl::string_view label);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_PIPELINE_NODES_H_
