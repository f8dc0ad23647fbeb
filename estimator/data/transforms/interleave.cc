// Interleave. The function maps every element to a dataset. cycle_length datasets are open at the
// same time, one in each slot, and each gives block_length elements in its turn. FlatMap has one
// slot. The order is that of TensorFlow's deterministic interleave: when a dataset ends, its slot
// stays empty until its next turn.
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/random.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/pipeline/position_log.h"

namespace estimator {
namespace {

struct Interleaving {
  NodePtr input;
  ExpandFn fn;
  uint64_t cycle_length;
  uint64_t block_length;
  IterationContext context;

  absl::StatusOr<std::unique_ptr<NodeIterator>> MakeInput() const {
    return input->MakeIterator(context);
  }
  // The iterator of the dataset of the element with number `ordinal`.
  absl::StatusOr<std::unique_ptr<NodeIterator>> Open(const Element& element, uint64_t ordinal,
                                                     const std::string& where) const {
    absl::StatusOr<NodePtr> node = fn(element);
    absl::Status status = node.status();
    if (status.ok()) status = (*node)->status();
    IterationContext inner = context;
    inner.epoch_key = HashSeed(context.epoch_key, ordinal);
    inner.timer = nullptr;  // the inner dataset's time is this node's
    if (status.ok()) {
      absl::StatusOr<std::unique_ptr<NodeIterator>> iterator = (*node)->MakeIterator(inner);
      if (iterator.ok()) return iterator;
      status = iterator.status();
    }
    return Annotate(status, absl::StrCat("Interleave: ", where));
  }
};

// State:
//   the slot whose turn it is, the number of elements that it gave in this turn
//   the number of datasets opened, whether the input ended
//   for each slot: whether it is open; if so, its ordinal, the state of the input before its
//   element (bytes), and the state of its dataset (nested)
//   the state of the input (nested)
class InterleaveIterator final : public NodeIterator {
 public:
  InterleaveIterator(std::unique_ptr<NodeIterator> input, Interleaving interleaving)
      : input_(std::move(input)),
        interleaving_(std::move(interleaving)),
        slots_(interleaving_.cycle_length) {}

  absl::StatusOr<std::optional<Element>> Next() override {
    while (!input_ended_ || num_open_ > 0) {
      Slot& slot = slots_[turn_];
      if (slot.iterator != nullptr) {
        EST_ASSIGN_OR_RETURN(std::optional<Element> element, slot.iterator->Next());
        if (element) {
          where_ = slot.iterator->Where();
          if (++given_ == interleaving_.block_length) NextTurn();
          return element;
        }
        slot.iterator = nullptr;
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
    state.Int(turn_);
    state.Int(given_);
    state.Int(num_opened_);
    state.Bool(input_ended_);
    for (const Slot& slot : slots_) {
      state.Bool(slot.iterator != nullptr);
      if (slot.iterator == nullptr) continue;
      state.Int(slot.ordinal);
      state.Bytes(slot.input_state);
      EST_RETURN_IF_ERROR(SaveNested(*slot.iterator, state));
    }
    return SaveNested(*input_, state);
  }
  absl::Status Restore(StateReader& state) override {
    EST_ASSIGN_OR_RETURN(turn_, state.Unsigned());
    EST_ASSIGN_OR_RETURN(given_, state.Unsigned());
    EST_ASSIGN_OR_RETURN(num_opened_, state.Unsigned());
    EST_ASSIGN_OR_RETURN(input_ended_, state.Bool());
    if (turn_ >= slots_.size()) {
      return absl::DataLossError(absl::StrCat("Interleave: the saved input position is in slot ",
                                              turn_, ", but there are only ", slots_.size()));
    }
    for (Slot& slot : slots_) {
      EST_ASSIGN_OR_RETURN(const bool open, state.Bool());
      if (open) EST_RETURN_IF_ERROR(RestoreSlot(slot, state));
    }
    return RestoreNested(*input_, state);
  }
  std::string Where() const override { return where_; }

 private:
  struct Slot {
    std::unique_ptr<NodeIterator> iterator;  // null if the slot is not open
    uint64_t ordinal = 0;
    std::string input_state;
  };

  void NextTurn() {
    given_ = 0;
    turn_ = (turn_ + 1) % slots_.size();
  }
  absl::Status Fill(Slot& slot) {
    EST_ASSIGN_OR_RETURN(slot.input_state, PositionLog::StateOf(*input_));
    EST_ASSIGN_OR_RETURN(const std::optional<Element> element, input_->Next());
    if (!element) {
      input_ended_ = true;
      return absl::OkStatus();
    }
    slot.ordinal = num_opened_++;
    EST_ASSIGN_OR_RETURN(slot.iterator,
                         interleaving_.Open(*element, slot.ordinal, input_->Where()));
    ++num_open_;
    return absl::OkStatus();
  }
  absl::Status RestoreSlot(Slot& slot, StateReader& state) {
    // The dataset of a slot is not stored. A second iterator over the input reads the slot's
    // element again, and the function maps it to the dataset.
    EST_ASSIGN_OR_RETURN(slot.ordinal, state.Unsigned());
    EST_ASSIGN_OR_RETURN(const absl::string_view input_state, state.Bytes());
    slot.input_state = std::string(input_state);
    EST_ASSIGN_OR_RETURN(const std::unique_ptr<NodeIterator> input, interleaving_.MakeInput());
    StateReader reader(input_state);
    EST_RETURN_IF_ERROR(input->Restore(reader));
    EST_ASSIGN_OR_RETURN(const std::optional<Element> element, input->Next());
    if (!element) {
      return absl::InvalidArgumentError(
          "Interleave: the input ends before the saved position: it has changed since");
    }
    EST_ASSIGN_OR_RETURN(slot.iterator, interleaving_.Open(*element, slot.ordinal, input->Where()));
    ++num_open_;
    return RestoreNested(*slot.iterator, state);
  }

  std::unique_ptr<NodeIterator> input_;
  Interleaving interleaving_;
  std::vector<Slot> slots_;
  uint64_t turn_ = 0;
  uint64_t given_ = 0;
  uint64_t num_opened_ = 0;
  size_t num_open_ = 0;
  bool input_ended_ = false;
  std::string where_;
};

class Interleave final : public DatasetNode {
 public:
  explicit Interleave(Interleaving interleaving) : interleaving_(std::move(interleaving)) {}
  std::string Label() const override {
    return absl::StrCat("Interleave(", interleaving_.cycle_length, ", ", interleaving_.block_length,
                        ")");
  }
  std::vector<NodePtr> inputs() const override { return {interleaving_.input}; }
  int64_t Cardinality() const override { return interleaving_.input->Cardinality() == 0 ? 0 : -1; }
  absl::StatusOr<std::unique_ptr<NodeIterator>> NewIterator(
      const IterationContext& context) const override {
    Interleaving interleaving = interleaving_;
    interleaving.context = context;
    interleaving.context.wants_indices = false;
    EST_ASSIGN_OR_RETURN(std::unique_ptr<NodeIterator> input, interleaving.MakeInput());
    return std::make_unique<InterleaveIterator>(std::move(input), std::move(interleaving));
  }

 private:
  Interleaving interleaving_;
};

}  // namespace

NodePtr InterleaveNode(NodePtr input, ExpandFn fn, int cycle_length, int block_length) {
  if (cycle_length < 1 || block_length < 1) {
    return ErrorNode(absl::InvalidArgumentError(
        absl::StrCat("Interleave: cycle_length is ", cycle_length, " and block_length ",
                     block_length, "; both must be at least 1")));
  }
  return std::make_shared<Interleave>(
      Interleaving{.input = std::move(input),
                   .fn = std::move(fn),
                   .cycle_length = static_cast<uint64_t>(cycle_length),
                   .block_length = static_cast<uint64_t>(block_length),
                   .context = {}});
}

}  // namespace estimator
