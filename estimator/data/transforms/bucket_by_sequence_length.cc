// BucketBySequenceLength. Elements wait in the bucket of their length until it has a batch, which
// is then padded to the longest of them. At the end of the input the buckets are emptied in order.
#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/pipeline/position_log.h"
#include "estimator/data/pipeline/rows.h"
#include "estimator/data/pipeline/transform.h"
#include "estimator/data/pipeline/user_function.h"
#include "estimator/data/transforms/pad_rows.h"

namespace estimator {
namespace {

constexpr absl::string_view kName = "BucketBySequenceLength";

struct Bucketing {
  ElementLengthFn length;
  std::vector<int64_t> boundaries;
  std::vector<int64_t> batch_sizes;  // of each bucket
  BucketBySequenceLengthOptions options;
  std::optional<ElementSpec> rows;  // the spec of the input

  // How the rows of a bucket are padded.
  PaddedBatchOptions PaddingOf(size_t bucket) const {
    PaddedBatchOptions padding = {.padded_shapes = options.padded_shapes,
                                  .padding_values = options.padding_values};
    if (!options.pad_to_bucket_boundary || bucket == boundaries.size()) return padding;
    if (rows) {
      ForEachKind(*rows, *rows, [&](const ArraySpecMap& specs, const ArraySpecMap&, auto) {
        for (const auto& [name, spec] : specs) {
          if (spec.shape) padding.padded_shapes.emplace(name, *spec.shape);
        }
      });
    }
    for (auto& [name, shape] : padding.padded_shapes) {
      for (int axis = 0; axis < shape.rank(); ++axis) {
        if (shape[axis] == Shape::kUnknownDim) shape.set_dim(axis, boundaries[bucket] - 1);
      }
    }
    return padding;
  }
};

// State: whether the input ended, number of elements read, the base, the ordinals of the waiting
// elements relative to the base; the state of the input (bytes). The base is the number of elements
// that were read when the state of the input was taken. A restore reads the waiting elements again.
class BucketIterator final : public TransformIterator {
 public:
  BucketIterator(IteratorPtr input, std::shared_ptr<const Bucketing> bucketing)
      : TransformIterator(std::move(input)),
        bucketing_(std::move(bucketing)),
        buckets_(bucketing_->batch_sizes.size()) {
    for (size_t b = 0; b < buckets_.size(); ++b) padding_.push_back(bucketing_->PaddingOf(b));
  }

  absl::StatusOr<std::optional<Element>> Next() override {
    while (!ended_) {
      EST_ASSIGN_OR_RETURN(const std::optional<size_t> bucket, Read());
      if (!bucket) {
        ended_ = true;
      } else if (static_cast<int64_t>(buckets_[*bucket].size()) >=
                 bucketing_->batch_sizes[*bucket]) {
        return BatchOf(*bucket);
      }
    }
    for (size_t b = 0; b < buckets_.size(); ++b) {
      if (bucketing_->options.drop_remainder) buckets_[b].clear();
      if (!buckets_[b].empty()) return BatchOf(b);
    }
    return std::nullopt;
  }
  absl::Status Save(StateWriter& state) const override {
    EST_RETURN_IF_ERROR(SaveFields(state, ended_, num_read_));
    std::vector<int64_t> ordinals;
    std::shared_ptr<const Mark> base;  // of the oldest waiting element
    for (const std::vector<Waiting>& bucket : buckets_) {
      for (const Waiting& row : bucket) {
        ordinals.push_back(row.ordinal);
        if (base == nullptr || row.mark->num_read < base->num_read) base = row.mark;
      }
    }
    std::sort(ordinals.begin(), ordinals.end());
    state.Int(base == nullptr ? num_read_ : base->num_read);
    state.Int(static_cast<uint64_t>(ordinals.size()));
    for (const int64_t ordinal : ordinals) state.Int(ordinal - base->num_read);
    if (base == nullptr) return SaveNested(*input_, state);
    state.Bytes(base->state);
    return absl::OkStatus();
  }
  absl::Status Restore(StateReader& state) override {
    int64_t num_read = 0, base = 0;
    EST_RETURN_IF_ERROR(RestoreFields(state, ended_, num_read, base));
    EST_ASSIGN_OR_RETURN(const uint64_t waiting, state.Unsigned());
    // Each takes at least one byte, so a damaged number cannot allocate more than the state.
    if (waiting > state.remaining() || base > num_read) return Damaged();
    std::vector<int64_t> ordinals(waiting);
    EST_RETURN_IF_ERROR(RestoreFields(state, ordinals));
    EST_RETURN_IF_ERROR(RestoreNested(*input_, state));
    num_read_ = base;
    for (const int64_t ordinal : ordinals) {
      if (ordinal >= num_read - base || base + ordinal < num_read_) return Damaged();
      EST_RETURN_IF_ERROR(SkipTo(base + ordinal));
      EST_ASSIGN_OR_RETURN(const std::optional<size_t> bucket, Read());
      if (!bucket) return InputChanged();
    }
    return SkipTo(num_read);
  }
  std::string Where() const override { return where_; }

 private:
  // A position of the input.
  struct Mark {
    int64_t num_read;
    std::string state;
  };
  struct Waiting {
    Element element;
    std::string where;
    int64_t ordinal;                   // number of elements read before this one
    std::shared_ptr<const Mark> mark;  // at or before this element
  };

  // Reads an element into its bucket, which is returned; nullopt at the end of the input.
  absl::StatusOr<std::optional<size_t>> Read() {
    if (mark_ == nullptr || num_read_ >= next_mark_) {
      EST_ASSIGN_OR_RETURN(std::string state, PositionLog::StateOf(*input_));
      // A large state, as that of a shuffle, is kept for several elements.
      constexpr int64_t kStateBytesPerElement = 2048;
      next_mark_ = num_read_ + 1 + static_cast<int64_t>(state.size()) / kStateBytesPerElement;
      mark_ = std::make_shared<Mark>(Mark{num_read_, std::move(state)});
    }
    EST_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
    if (!element) return std::optional<size_t>();
    Waiting row = {.element = *std::move(element),
                   .where = input_->Where(),
                   .ordinal = num_read_++,
                   .mark = mark_};
    const absl::StatusOr<int64_t> length = CallUserFunction(bucketing_->length, row.element);
    if (!length.ok()) return Annotate(length.status(), absl::StrCat(kName, ": ", row.where));
    const std::vector<int64_t>& boundaries = bucketing_->boundaries;
    const auto bucket = static_cast<size_t>(
        std::upper_bound(boundaries.begin(), boundaries.end(), *length) - boundaries.begin());
    EST_RETURN_IF_ERROR(CheckBoundary(row, *length, bucket));
    buckets_[bucket].push_back(std::move(row));
    return std::optional<size_t>(bucket);
  }
  // With pad_to_bucket_boundary, each array must have a size to be padded to.
  absl::Status CheckBoundary(const Waiting& row, int64_t length, size_t bucket) const {
    if (!bucketing_->options.pad_to_bucket_boundary || bucketing_->options.no_padding)
      return absl::OkStatus();
    if (bucket == bucketing_->boundaries.size()) {
      return InvalidArgument(kName, ": ", row.where, " has length ", length,
                             ", but with pad_to_bucket_boundary every length must be less than the "
                             "last of bucket_boundaries (",
                             absl::StrJoin(bucketing_->boundaries, ", "),
                             "); add a boundary, or leave out such elements with Filter");
    }
    for (const auto member : {&Element::features, &Element::labels}) {
      for (const auto& [name, array] : row.element.*member) {
        if (array.shape().rank() == 0 || padding_[bucket].padded_shapes.count(name) > 0) continue;
        return InvalidArgument(kName, ": ", row.where, ": which axes of ",
                               QuotedArray(member, name), " (", array.TypeString(),
                               ") to pad to the bucket's boundary is not known; list it in "
                               "padded_shapes with Shape::kUnknownDim for these axes, or give the "
                               "Map before an output_signature");
      }
    }
    return absl::OkStatus();
  }
  absl::StatusOr<std::optional<Element>> BatchOf(size_t bucket) {
    std::vector<Element> elements;
    std::vector<std::string> origins;
    for (Waiting& row : buckets_[bucket]) {
      elements.push_back(std::move(row.element));
      origins.push_back(std::move(row.where));
    }
    buckets_[bucket].clear();
    where_ = absl::StrCat("the batch of ", elements.size(), " elements from ", origins[0], " on");
    const auto where = [&](size_t row) { return origins[row]; };
    absl::StatusOr<Element> batch = bucketing_->options.no_padding
                                        ? StackRows(elements, where)
                                        : PadRows(elements, padding_[bucket], where);
    if (!batch.ok()) return Annotate(batch.status(), kName);
    return *std::move(batch);
  }
  absl::Status SkipTo(int64_t ordinal) {
    EST_ASSIGN_OR_RETURN(const int64_t skipped, input_->Skip(ordinal - num_read_));
    if (num_read_ + skipped < ordinal) return InputChanged();
    num_read_ = ordinal;
    return absl::OkStatus();
  }
  static absl::Status Damaged() { return DataLoss(kName, ": the state is damaged"); }
  static absl::Status InputChanged() {
    return InvalidArgument(kName,
                           ": the input ends before the saved position: it has changed since");
  }

  const std::shared_ptr<const Bucketing> bucketing_;
  std::vector<PaddedBatchOptions> padding_;  // of each bucket
  std::vector<std::vector<Waiting>> buckets_;
  bool ended_ = false;
  int64_t num_read_ = 0;
  std::shared_ptr<const Mark> mark_;  // the newest
  int64_t next_mark_ = 0;
  std::string where_;
};

class BucketBySequenceLength final : public TransformNode {
 public:
  BucketBySequenceLength(NodePtr input, std::shared_ptr<const Bucketing> bucketing,
                         std::optional<ElementSpec> spec)
      : TransformNode(std::move(input)), bucketing_(std::move(bucketing)), spec_(std::move(spec)) {}
  std::string Label() const override {
    const BucketBySequenceLengthOptions& options = bucketing_->options;
    return absl::StrCat(kName, "([", absl::StrJoin(bucketing_->boundaries, ", "), "], [",
                        absl::StrJoin(bucketing_->batch_sizes, ", "), "]",
                        options.pad_to_bucket_boundary ? ", pad_to_bucket_boundary" : "",
                        options.no_padding ? ", no_padding" : "",
                        options.drop_remainder ? ", drop_remainder)" : ")");
  }
  std::optional<ElementSpec> element_spec() const override { return spec_; }
  int64_t Cardinality() const override {
    const int64_t n = input()->Cardinality();
    return n > 0 ? -1 : n;  // the number of batches depends on the lengths
  }
  // Lengths and periods in epochs take all batches to have as many examples as the first.
  int64_t ExamplesPerEpoch() const override {
    const std::vector<int64_t>& sizes = bucketing_->batch_sizes;
    const bool equal = std::equal(sizes.begin() + 1, sizes.end(), sizes.begin()) &&
                       input()->Cardinality() == Dataset::kInfinite;
    return equal ? input()->ExamplesPerEpoch() : -1;
  }

 private:
  absl::StatusOr<IteratorPtr> Over(IteratorPtr input, const IterationContext&) const override {
    return std::make_unique<BucketIterator>(std::move(input), bucketing_);
  }

  const std::shared_ptr<const Bucketing> bucketing_;
  const std::optional<ElementSpec> spec_;
};

absl::Status CheckBuckets(const std::vector<int64_t>& boundaries,
                          const std::vector<int64_t>& batch_sizes) {
  if (batch_sizes.size() != boundaries.size() + 1) {
    return InvalidArgument("there are ", batch_sizes.size(), " bucket_batch_sizes and ",
                           boundaries.size(),
                           " bucket_boundaries; there must be one batch size more than boundaries");
  }
  for (size_t i = 1; i < boundaries.size(); ++i) {
    if (boundaries[i] <= boundaries[i - 1]) {
      return InvalidArgument("bucket_boundaries are ", absl::StrJoin(boundaries, ", "),
                             "; each must be greater than the one before");
    }
  }
  for (const int64_t size : batch_sizes) {
    if (size < 1) {
      return InvalidArgument("bucket_batch_sizes are ", absl::StrJoin(batch_sizes, ", "),
                             "; each must be at least 1");
    }
  }
  return absl::OkStatus();
}

}  // namespace

NodePtr BucketBySequenceLengthNode(NodePtr input, ElementLengthFn element_length_func,
                                   std::vector<int64_t> bucket_boundaries,
                                   std::vector<int64_t> bucket_batch_sizes,
                                   BucketBySequenceLengthOptions options) {
  const absl::Status status = CheckBuckets(bucket_boundaries, bucket_batch_sizes);
  if (!status.ok()) return ErrorNode(Annotate(status, kName));
  const auto bucketing =
      std::make_shared<const Bucketing>(Bucketing{.length = std::move(element_length_func),
                                                  .boundaries = std::move(bucket_boundaries),
                                                  .batch_sizes = std::move(bucket_batch_sizes),
                                                  .options = std::move(options),
                                                  .rows = input->element_spec()});
  std::optional<ElementSpec> spec = bucketing->rows;
  if (spec && !bucketing->options.no_padding) {
    absl::StatusOr<ElementSpec> padded =
        PaddedSpec(*spec, {.padded_shapes = bucketing->options.padded_shapes,
                           .padding_values = bucketing->options.padding_values});
    if (!padded.ok()) return ErrorNode(Annotate(padded.status(), kName));
    spec = *std::move(padded);
  }
  if (spec) spec = WithBatchAxis(*spec, Shape::kUnknownDim);
  return std::make_shared<BucketBySequenceLength>(std::move(input), bucketing, std::move(spec));
}

}  // namespace estimator
