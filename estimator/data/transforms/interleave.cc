// Interleave. The function maps every element to a dataset. cycle_length datasets are open at the
// same time, one in each slot, and each gives block_length elements in its turn. FlatMap has one
// slot. The order is that of TensorFlow's deterministic interleave: when a dataset ends, its slot
// stays empty until its next turn.
//
// With threads, each dataset reads ahead (read_ahead.h), and the next ones are opened before their
// turn. The order is the same, and so is the state.
#include <algorithm>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/out_of_resources.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/pipeline/position_log.h"
#include "estimator/data/pipeline/transform.h"
#include "estimator/data/pipeline/typed_fn.h"
#include "estimator/data/transforms/read_ahead.h"
#include "estimator/data/transforms/thread_pool.h"

namespace estimator {
namespace {

// The number of elements that a dataset reads ahead.
constexpr size_t kReadAheadElements = 16;

struct Interleaving {
  NodePtr input;
  ExpandFn fn;
  uint64_t cycle_length;
  uint64_t block_length;
  int num_threads;  // 1 reads in the caller's thread
  NodePtr joined;   // of a TypedExpandFn; else null
  IterationContext context;

  absl::StatusOr<IteratorPtr> MakeInput() const { return input->MakeIterator(context); }
  // The iterator of the dataset of the element with number `ordinal`.
  absl::StatusOr<IteratorPtr> Open(const Element& element, uint64_t ordinal,
                                   const std::string& where) const {
    return MakeInnerIterator(fn(element), context, ordinal, absl::StrCat("Interleave: ", where));
  }
};

// State:
//   the slot whose turn it is, the number of elements that it gave in this turn
//   the number of datasets opened, whether the input ended
//   for each slot: 0 if it is not open. Else 1 + the number of elements to skip, its ordinal, the
//   state of the input before its element (bytes), and the state of its dataset (nested)
//   the state of the input (nested)
// Datasets that were opened before their turn are not part of it.
class InterleaveIterator final : public TransformIterator {
 public:
  InterleaveIterator(IteratorPtr input, Interleaving interleaving)
      : TransformIterator(std::move(input)),
        interleaving_(std::move(interleaving)),
        slots_(interleaving_.cycle_length) {}

  absl::StatusOr<std::optional<Element>> Next() override {
    while (!input_ended_ || num_open_ > 0) {
      Slot& slot = slots_[turn_];
      if (slot.open()) {
        EST_ASSIGN_OR_RETURN(std::optional<Element> element,
                             slot.ahead ? slot.ahead->Next() : slot.iterator->Next());
        if (element) {
          where_ = slot.ahead ? slot.ahead->where() : slot.iterator->Where();
          if (++given_ == interleaving_.block_length) NextTurn();
          return element;
        }
        slot = Slot();
        --num_open_;
        NextTurn();
      } else if (!input_ended_) {
        EST_RETURN_IF_ERROR(Fill(slot));
      } else {
        NextTurn();
      }
    }
    return std::nullopt;
  }
  absl::Status Save(StateWriter& state) const override {
    EST_RETURN_IF_ERROR(SaveFields(state, turn_, given_, num_opened_, input_ended_));
    for (const Slot& slot : slots_) {
      ReadAhead::Position position;
      if (slot.ahead) {
        EST_ASSIGN_OR_RETURN(position, slot.ahead->position());
      } else if (slot.iterator) {
        EST_ASSIGN_OR_RETURN(position.state, PositionLog::StateOf(*slot.iterator));
      }
      state.Int(slot.open() ? 1 + position.skip : 0);
      if (!slot.open()) continue;
      state.Int(slot.ordinal);
      state.Bytes(slot.input_state);
      state.Bytes(position.state);
    }
    if (staged_.empty() && staging_error_.ok()) return SaveNested(*input_, state);
    state.Bytes(staged_.empty() ? error_input_state_ : staged_.front().input_state);
    return absl::OkStatus();
  }
  absl::Status Restore(StateReader& state) override {
    EST_RETURN_IF_ERROR(RestoreFields(state, turn_, given_, num_opened_, input_ended_));
    if (turn_ >= slots_.size()) {
      return DataLoss("Interleave: the saved input position is in slot ", turn_,
                      ", but there are only ", slots_.size());
    }
    for (Slot& slot : slots_) {
      EST_ASSIGN_OR_RETURN(const int64_t open, state.Int());
      if (open > 0) EST_RETURN_IF_ERROR(RestoreSlot(slot, open - 1, state));
    }
    return RestoreNested(*input_, state);
  }
  std::string Where() const override { return where_; }

 private:
  struct Slot {
    // One of them has the dataset; both are null if the slot is not open.
    IteratorPtr iterator;
    std::unique_ptr<ReadAhead> ahead;
    uint64_t ordinal = 0;
    std::string input_state;

    bool open() const { return iterator != nullptr || ahead != nullptr; }
  };

  void NextTurn() {
    given_ = 0;
    turn_ = (turn_ + 1) % slots_.size();
  }
  absl::Status Fill(Slot& slot) {
    const auto num_staged = static_cast<size_t>(interleaving_.num_threads);
    while (staging_error_.ok() && !staging_ended_ && staged_.size() < num_staged) {
      EST_ASSIGN_OR_RETURN(error_input_state_, PositionLog::StateOf(*input_));
      staging_error_ = Stage(error_input_state_);
    }
    if (staged_.empty()) {
      EST_RETURN_IF_ERROR(staging_error_);
      input_ended_ = true;
      return absl::OkStatus();
    }
    slot = std::move(staged_.front());
    staged_.pop_front();
    ++num_opened_;
    ++num_open_;
    return absl::OkStatus();
  }
  // Opens the dataset of the next element of the input.
  absl::Status Stage(const std::string& input_state) {
    EST_ASSIGN_OR_RETURN(const std::optional<Element> element, input_->Next());
    if (!element) {
      staging_ended_ = true;
      return absl::OkStatus();
    }
    Slot slot;
    slot.input_state = input_state;
    slot.ordinal = num_opened_ + staged_.size();
    EST_ASSIGN_OR_RETURN(slot.iterator,
                         interleaving_.Open(*element, slot.ordinal, input_->Where()));
    EST_RETURN_IF_ERROR(StartThreads(slot));
    staged_.push_back(std::move(slot));
    return absl::OkStatus();
  }
  absl::Status StartThreads(Slot& slot) {
    if (interleaving_.num_threads == 1) return absl::OkStatus();
    if (pool_ == nullptr) {
      try {
        pool_ = std::make_unique<ThreadPool>(interleaving_.num_threads);
      } catch (const std::system_error& thrown) {
        EST_RETURN_IF_ERROR(OutOfResourcesError(thrown));
        return absl::InternalError(
            absl::StrCat("Interleave cannot start its threads: ", thrown.what()));
      }
    }
    slot.ahead =
        std::make_unique<ReadAhead>(std::move(slot.iterator), pool_.get(), kReadAheadElements);
    return slot.ahead->Start();
  }
  absl::Status RestoreSlot(Slot& slot, int64_t skip, StateReader& state) {
    // The dataset of a slot is not stored. A second iterator over the input reads the slot's
    // element again, and the function maps it to the dataset.
    EST_ASSIGN_OR_RETURN(slot.ordinal, state.Unsigned());
    EST_ASSIGN_OR_RETURN(const absl::string_view input_state, state.Bytes());
    slot.input_state = std::string(input_state);
    EST_ASSIGN_OR_RETURN(const IteratorPtr input, interleaving_.MakeInput());
    StateReader reader(input_state);
    EST_RETURN_IF_ERROR(input->Restore(reader));
    EST_ASSIGN_OR_RETURN(const std::optional<Element> element, input->Next());
    if (!element) {
      return InvalidArgument(
          "Interleave: the input ends before the saved position: it has changed since");
    }
    EST_ASSIGN_OR_RETURN(slot.iterator, interleaving_.Open(*element, slot.ordinal, input->Where()));
    ++num_open_;
    EST_RETURN_IF_ERROR(RestoreNested(*slot.iterator, state));
    EST_ASSIGN_OR_RETURN(const int64_t skipped, slot.iterator->Skip(skip));
    if (skipped < skip) {
      return InvalidArgument("Interleave: the saved input position is ", skip,
                             " elements ahead in a dataset that ends after ", skipped,
                             ": it has changed since");
    }
    return StartThreads(slot);
  }

  Interleaving interleaving_;
  std::unique_ptr<ThreadPool> pool_;  // before the slots, which use it until their end
  std::vector<Slot> slots_;
  std::deque<Slot> staged_;  // datasets that were opened before their turn
  bool staging_ended_ = false;
  absl::Status staging_error_;     // of the dataset after those
  std::string error_input_state_;  // before the element of that dataset
  uint64_t turn_ = 0;
  uint64_t given_ = 0;
  uint64_t num_opened_ = 0;
  size_t num_open_ = 0;
  bool input_ended_ = false;
  std::string where_;
};

class Interleave final : public TransformNode {
 public:
  explicit Interleave(Interleaving interleaving)
      : TransformNode(interleaving.input), interleaving_(std::move(interleaving)) {}
  std::string Label() const override {
    return absl::StrCat("Interleave(", interleaving_.cycle_length, ", ", interleaving_.block_length,
                        ")");
  }
  int64_t Cardinality() const override { return input()->Cardinality() == 0 ? 0 : -1; }
  int64_t ExamplesPerEpoch() const override {
    return joined() == nullptr ? -1 : joined()->ExamplesPerEpoch();
  }
  std::optional<ElementSpec> element_spec() const override {
    return joined() == nullptr ? std::nullopt : joined()->element_spec();
  }
  int64_t FileBytes() const override { return joined() == nullptr ? 0 : joined()->FileBytes(); }
  // The datasets of the function are not known before it is called.
  bool may_wait() const override {
    return input()->may_wait() || joined() == nullptr || joined()->may_wait();
  }
  std::optional<std::string> Advice() const override {
    return joined() == nullptr ? std::nullopt : joined()->Advice();
  }

 private:
  absl::StatusOr<IteratorPtr> Over(IteratorPtr input,
                                   const IterationContext& context) const override {
    Interleaving interleaving = interleaving_;
    interleaving.context = context;
    return std::make_unique<InterleaveIterator>(std::move(input), std::move(interleaving));
  }
  const NodePtr& joined() const { return interleaving_.joined; }

  Interleaving interleaving_;
};

}  // namespace

NodePtr InterleaveNode(NodePtr input, ExpandFn fn, InterleaveOptions options) {
  if (options.cycle_length < 1 || options.block_length < 1) {
    return ErrorNode(InvalidArgument("Interleave: cycle_length is ", options.cycle_length,
                                     " and block_length ", options.block_length,
                                     "; both must be at least 1"));
  }
  const absl::StatusOr<int> num_threads = NumThreads("Interleave", options.num_parallel_calls);
  if (!num_threads.ok()) return ErrorNode(num_threads.status());
  const auto* const typed = fn.target<TypedExpandFn>();
  const NodePtr joined = typed == nullptr ? nullptr : typed->joined();
  return std::make_shared<Interleave>(
      Interleaving{.input = std::move(input),
                   .fn = std::move(fn),
                   .cycle_length = static_cast<uint64_t>(options.cycle_length),
                   .block_length = static_cast<uint64_t>(options.block_length),
                   // More threads would have nothing to read.
                   .num_threads = std::min(*num_threads, options.cycle_length),
                   .joined = joined,
                   .context = {}});
}

}  // namespace estimator
