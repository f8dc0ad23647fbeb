// Shuffle. There are three ways:
//   An indexed input that fits into the buffer: a permutation of its indices.
//   A stream of indices, such as a repeated source: a buffer of indices.
//   Any other input: a buffer of elements. The state has no data. It has the ordinals of the
//   buffered elements, and a state of the input before the oldest one. A restore reads these
//   elements again.
// With a buffer, as in TensorFlow: fill the buffer, return a random slot, and fill that slot from
// the input.
#include <algorithm>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "estimator/base/random.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/pipeline/position_log.h"
#include "estimator/data/pipeline/transform.h"
#include "estimator/data/transforms/permutation.h"

namespace estimator {
namespace {

// The first integer of the state. On disk: do not change.
enum Kind { kPermuted = 1, kIndices = 2, kElements = 3 };

absl::Status CheckKind(Kind kind, StateReader& state) {
  EST_ASSIGN_OR_RETURN(const int64_t saved, state.Int());
  if (saved == kind) return absl::OkStatus();
  return InvalidArgument(
      "Shuffle: the saved input position is of an input of another size, which fitted into the "
      "buffer while this one does not, or the reverse");
}

absl::Status CheckSize(int64_t saved, const RandomAccess& source) {
  if (saved == source.size()) return absl::OkStatus();
  return InvalidArgument("Shuffle: the saved input position is of a source of ", saved,
                         " elements, this one has ", source.size());
}

// Reads the number of items in a buffer. Each takes at least one byte of the state, so a damaged
// number cannot allocate more than that.
absl::StatusOr<uint64_t> ReadBuffered(StateReader& state) {
  EST_ASSIGN_OR_RETURN(const uint64_t buffered, state.Unsigned());
  if (buffered > state.remaining()) return DataLoss("Shuffle: the state is cut short");
  return buffered;
}

// State: kind, key, size, position.
class PermutedStream final : public IndexStream {
 public:
  PermutedStream(SourcePtr source, uint64_t key)
      : IndexStream(std::move(source)),
        key_(key),
        permutation_(key, IndexStream::source()->size()) {}

  absl::StatusOr<std::optional<int64_t>> NextIndex() override {
    if (position_ >= permutation_.size()) return std::nullopt;
    return permutation_.At(position_++);
  }
  absl::StatusOr<int64_t> Skip(int64_t count) override {
    const int64_t skipped = std::min(count, permutation_.size() - position_);
    position_ += skipped;
    return skipped;
  }
  absl::Status Save(StateWriter& state) const override {
    state.Int(kPermuted);
    return SaveFields(state, key_, permutation_.size(), position_);
  }
  absl::Status Restore(StateReader& state) override {
    EST_RETURN_IF_ERROR(CheckKind(kPermuted, state));
    int64_t size = 0;
    EST_RETURN_IF_ERROR(RestoreFields(state, key_, size, position_));
    EST_RETURN_IF_ERROR(CheckSize(size, *source()));
    permutation_ = Permutation(key_, size);
    return absl::OkStatus();
  }

 private:
  uint64_t key_;
  Permutation permutation_;
  int64_t position_ = 0;
};

// State: kind, key, number of draws, whether the input ended, size of the source, the buffer; the
// state of the input (nested).
class IndexShuffle final : public Transform<int64_t> {
 public:
  IndexShuffle(IteratorPtr input, uint64_t key, int64_t buffer_size)
      : Transform(std::move(input)), key_(key), capacity_(static_cast<size_t>(buffer_size)) {}

  absl::Status Save(StateWriter& state) const override {
    state.Int(kIndices);
    EST_RETURN_IF_ERROR(
        SaveFields(state, key_, draws_, ended_, source()->size(), uint64_t{buffer_.size()}));
    for (const int64_t index : buffer_) state.Int(index);
    return SaveNested(*input_, state);
  }
  absl::Status Restore(StateReader& state) override {
    EST_RETURN_IF_ERROR(CheckKind(kIndices, state));
    int64_t size = 0;
    EST_RETURN_IF_ERROR(RestoreFields(state, key_, draws_, ended_, size));
    EST_RETURN_IF_ERROR(CheckSize(size, *source()));
    EST_ASSIGN_OR_RETURN(const uint64_t buffered, ReadBuffered(state));
    buffer_.resize(buffered);
    for (int64_t& index : buffer_) {
      EST_ASSIGN_OR_RETURN(index, state.Int());
      if (index < 0 || index >= size) {
        return DataLoss("Shuffle: the saved index ", index, " is not in [0, ", size, ")");
      }
    }
    return RestoreNested(*input_, state);
  }

 protected:
  absl::StatusOr<std::optional<int64_t>> Produce() override {
    while (!ended_ && buffer_.size() < capacity_) {
      EST_ASSIGN_OR_RETURN(const std::optional<int64_t> index, Pull());
      if (index) {
        buffer_.push_back(*index);
      } else {
        ended_ = true;
      }
    }
    if (buffer_.empty()) return std::nullopt;
    std::swap(buffer_[DrawBelow(key_, draws_++, buffer_.size())], buffer_.back());
    const int64_t drawn = buffer_.back();
    buffer_.pop_back();
    return drawn;
  }

 private:
  uint64_t key_;
  size_t capacity_;
  uint64_t draws_ = 0;
  bool ended_ = false;
  std::vector<int64_t> buffer_;
};

// State: kind, key, number of draws, whether the input ended, number of elements read, the base,
// the ordinals of the buffered elements relative to the base; the state of the input (bytes). The
// base is the number of elements that were read when the state of the input was taken.
class ElementShuffle final : public TransformIterator {
 public:
  ElementShuffle(IteratorPtr input, uint64_t key, int64_t buffer_size)
      : TransformIterator(std::move(input)),
        key_(key),
        capacity_(static_cast<size_t>(buffer_size)) {}

  absl::StatusOr<std::optional<Element>> Next() override {
    while (!ended_ && buffer_.size() < capacity_) {
      EST_RETURN_IF_ERROR(MarkInput());
      EST_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
      if (element) {
        buffer_.push_back({num_read_++, *std::move(element), input_->Where()});
      } else {
        ended_ = true;
      }
    }
    if (buffer_.empty()) return std::nullopt;
    std::swap(buffer_[DrawBelow(key_, draws_++, buffer_.size())], buffer_.back());
    last_where_ = std::move(buffer_.back().where);
    std::optional<Element> drawn = std::move(buffer_.back().element);
    buffer_.pop_back();
    return drawn;
  }
  absl::Status Save(StateWriter& state) const override {
    state.Int(kElements);
    EST_RETURN_IF_ERROR(SaveFields(state, key_, draws_, ended_, num_read_));
    const int64_t oldest = OldestOrdinal();
    auto mark = marks_.rbegin();
    while (mark != marks_.rend() && mark->num_read > oldest) ++mark;
    // There is no mark if nothing was read since the beginning or a restore. The buffer is empty.
    if (mark == marks_.rend()) {
      state.Int(num_read_);
      state.Int(0);
      return SaveNested(*input_, state);
    }
    state.Int(mark->num_read);
    state.Int(static_cast<uint64_t>(buffer_.size()));
    for (const Slot& slot : buffer_) state.Int(slot.ordinal - mark->num_read);
    state.Bytes(mark->state);
    return absl::OkStatus();
  }
  absl::Status Restore(StateReader& state) override {
    EST_RETURN_IF_ERROR(CheckKind(kElements, state));
    int64_t num_read = 0;
    EST_RETURN_IF_ERROR(RestoreFields(state, key_, draws_, ended_, num_read, num_read_));
    EST_ASSIGN_OR_RETURN(const uint64_t buffered, ReadBuffered(state));
    buffer_.resize(buffered);
    std::vector<Slot*> by_ordinal;
    for (Slot& slot : buffer_) {
      EST_ASSIGN_OR_RETURN(const int64_t delta, state.Int());
      slot.ordinal = num_read_ + delta;
      by_ordinal.push_back(&slot);
    }
    EST_RETURN_IF_ERROR(RestoreNested(*input_, state));
    // The input gives elements in the order of their ordinals, and each goes back to its slot.
    std::sort(by_ordinal.begin(), by_ordinal.end(),
              [](const Slot* a, const Slot* b) { return a->ordinal < b->ordinal; });
    for (Slot* slot : by_ordinal) {
      EST_RETURN_IF_ERROR(SkipTo(slot->ordinal));
      EST_RETURN_IF_ERROR(MarkInput());
      EST_ASSIGN_OR_RETURN(std::optional<Element> element, input_->Next());
      if (!element) return InputChanged();
      ++num_read_;
      slot->element = *std::move(element);
      slot->where = input_->Where();
    }
    return SkipTo(num_read);
  }
  std::string Where() const override { return last_where_; }

 private:
  struct Slot {
    int64_t ordinal = 0;  // number of elements read from the input before this one
    Element element;
    std::string where;  // the origin of the element
  };
  struct Mark {
    int64_t num_read;
    std::string state;
  };

  int64_t OldestOrdinal() const {
    int64_t oldest = num_read_;
    for (const Slot& slot : buffer_) oldest = std::min(oldest, slot.ordinal);
    return oldest;
  }
  // Records the state of the input eight times per buffer size, and drops states that no buffered
  // element needs.
  absl::Status MarkInput() {
    if (!marks_.empty() &&
        num_read_ - marks_.back().num_read < static_cast<int64_t>(capacity_ / 8 + 1)) {
      return absl::OkStatus();
    }
    EST_ASSIGN_OR_RETURN(std::string state, PositionLog::StateOf(*input_));
    marks_.push_back({num_read_, std::move(state)});
    const int64_t oldest = OldestOrdinal();
    while (marks_.size() > 1 && marks_[1].num_read <= oldest) marks_.pop_front();
    return absl::OkStatus();
  }
  absl::Status SkipTo(int64_t ordinal) {
    while (num_read_ < ordinal) {
      EST_RETURN_IF_ERROR(MarkInput());
      const int64_t step = std::min(ordinal - num_read_, static_cast<int64_t>(capacity_ / 8 + 1));
      EST_ASSIGN_OR_RETURN(const int64_t skipped, input_->Skip(step));
      if (skipped < step) return InputChanged();
      num_read_ += step;
    }
    return absl::OkStatus();
  }
  static absl::Status InputChanged() {
    return InvalidArgument(
        "Shuffle: the input ends before the saved position: it has changed since");
  }

  uint64_t key_;
  size_t capacity_;
  uint64_t draws_ = 0;
  bool ended_ = false;
  int64_t num_read_ = 0;
  std::string last_where_ = "the first element of Shuffle";
  std::vector<Slot> buffer_;
  std::deque<Mark> marks_;
};

// Whether the elements of one pass over the node are the examples, one by one. Files whose names
// have counts know the number of examples, but the number of elements after them is not known.
bool HasSingleExamples(const DatasetNode& node) {
  const int64_t elements = node.Cardinality();
  if (elements >= 0) return elements == node.ExamplesPerEpoch();
  if (elements == Dataset::kInfinite) return false;
  for (const absl::string_view batches : {"Batch(", "BucketBySequenceLength("}) {
    if (absl::StrContains(node.Label(), batches)) return false;
  }
  const std::vector<NodePtr> inputs = node.inputs();
  return inputs.size() != 1 || node.ExamplesPerEpoch() != inputs[0]->ExamplesPerEpoch() ||
         HasSingleExamples(*inputs[0]);
}

class Shuffle final : public TransformNode {
 public:
  Shuffle(NodePtr input, int64_t buffer_size, uint64_t seed, bool reshuffle)
      : TransformNode(std::move(input)),
        buffer_size_(buffer_size),
        seed_(seed),
        reshuffle_(reshuffle) {}
  std::string Label() const override { return absl::StrCat("Shuffle(", buffer_size_, ")"); }
  int num_seeded() const override { return input()->num_seeded() + 1; }
  std::optional<std::string> Advice() const override {
    constexpr int64_t kFarBelow = 10;
    const int64_t n = input()->ExamplesPerEpoch();
    if (n < 0 || !HasSingleExamples(*input()) || n / kFarBelow < buffer_size_) return std::nullopt;
    return absl::StrCat("Shuffle(", buffer_size_, ") mixes only ", buffer_size_, " of ", n,
                        " examples at a time: raise its buffer_size, or shuffle the files first");
  }

 private:
  uint64_t Key(const IterationContext& context) const {
    return HashSeed(seed_, reshuffle_ ? context.epoch_key : 0);
  }
  absl::StatusOr<IteratorPtr> NewIterator(const IterationContext& context) const override {
    if (SourcePtr source = input()->random_access(); source && source->size() <= buffer_size_) {
      return std::make_unique<PermutedStream>(std::move(source), Key(context));
    }
    return TransformNode::NewIterator(context);
  }
  void ForInput(IterationContext& context) const override { context.wants_indices = true; }
  absl::StatusOr<IteratorPtr> Over(IteratorPtr iterator,
                                   const IterationContext& context) const override {
    const uint64_t key = Key(context);
    if (iterator->AsIndexStream() != nullptr) {
      return std::make_unique<IndexShuffle>(std::move(iterator), key, buffer_size_);
    }
    return std::make_unique<ElementShuffle>(std::move(iterator), key, buffer_size_);
  }

  int64_t buffer_size_;
  uint64_t seed_;
  bool reshuffle_;
};

}  // namespace

NodePtr ShuffleNode(NodePtr input, int64_t buffer_size, uint64_t seed, bool reshuffle) {
  return std::make_shared<Shuffle>(std::move(input), buffer_size, seed, reshuffle);
}

}  // namespace estimator
