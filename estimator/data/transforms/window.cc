// Window. A function makes a dataset of each window of elements, and these datasets are joined.
// A window begins `shift` elements after the one before, and takes every stride-th element.
#include <algorithm>
#include <deque>
#include <memory>
#include <utility>

#include "absl/strings/str_cat.h"
#include "estimator/base/saturating.h"
#include "estimator/base/status.h"
#include "estimator/data/pipeline/nodes.h"
#include "estimator/data/pipeline/position_log.h"
#include "estimator/data/pipeline/transform.h"

namespace estimator {
namespace {

struct Windowing {
  NodePtr input;
  WindowFn fn;
  int64_t size, shift, stride;
  bool drop_remainder;

  // The number of input elements from the first to the last of a window.
  int64_t Span() const { return SaturatingAdd(SaturatingMultiply(size - 1, stride), 1); }
};

// The elements of one window.
class WindowAccess final : public RandomAccess {
 public:
  WindowAccess(std::vector<Element> elements, uint64_t number)
      : elements_(std::move(elements)), number_(number) {}
  int64_t size() const override { return static_cast<int64_t>(elements_.size()); }
  absl::StatusOr<Element> Get(int64_t index) const override {
    return elements_[static_cast<size_t>(index)];
  }
  std::string Where(int64_t index) const override {
    return absl::StrCat("element ", index, " of window ", number_);
  }
  bool in_memory() const override { return true; }

 private:
  std::vector<Element> elements_;
  uint64_t number_;
};

// State: number of the window, whether it is open; that of PositionLog at the beginning of the
// window; if it is open, the state of its dataset (nested).
class WindowIterator final : public TransformIterator {
 public:
  WindowIterator(IteratorPtr input, Windowing windowing, IterationContext context)
      : TransformIterator(std::move(input)), windowing_(std::move(windowing)), context_(context) {}

  absl::StatusOr<std::optional<Element>> Next() override {
    while (true) {
      if (window_ == nullptr) {
        EST_ASSIGN_OR_RETURN(const bool more, Open());
        if (!more) return std::nullopt;
      }
      EST_ASSIGN_OR_RETURN(std::optional<Element> element, window_->Next());
      if (element) return element;
      window_ = nullptr;
      ++number_;
      EST_RETURN_IF_ERROR(Drop(windowing_.shift));
    }
  }
  absl::Status Save(StateWriter& state) const override {
    EST_RETURN_IF_ERROR(SaveFields(state, number_, /*is_open=*/window_ != nullptr));
    EST_RETURN_IF_ERROR(log_.Save(*input_, state));
    return window_ == nullptr ? absl::OkStatus() : SaveNested(*window_, state);
  }
  absl::Status Restore(StateReader& state) override {
    EST_ASSIGN_OR_RETURN(number_, state.Unsigned());
    EST_ASSIGN_OR_RETURN(const bool is_open, state.Bool());
    EST_RETURN_IF_ERROR(PositionLog::Restore(*input_, state));
    if (!is_open) return absl::OkStatus();
    EST_ASSIGN_OR_RETURN(const bool more, Open());
    if (!more) {
      return InvalidArgument("Window: the input ends before window ", number_,
                             " of the saved position: it has changed since");
    }
    return RestoreNested(*window_, state);
  }
  std::string Where() const override {
    return window_ == nullptr ? absl::StrCat("window ", number_) : window_->Where();
  }

 private:
  // Reads an element of the input, unless the input ended.
  absl::StatusOr<std::optional<Element>> Read() {
    if (ended_) return std::nullopt;
    EST_ASSIGN_OR_RETURN(std::optional<Element> element, log_.Read(*input_));
    if (!element) ended_ = true;
    return element;
  }
  // Opens the window that begins at the front of the buffer. False if there are no more windows.
  absl::StatusOr<bool> Open() {
    const auto span = static_cast<size_t>(windowing_.Span());
    while (buffer_.size() < span) {
      EST_ASSIGN_OR_RETURN(std::optional<Element> element, Read());
      if (!element) break;
      buffer_.push_back(*std::move(element));
    }
    if (buffer_.empty() || (windowing_.drop_remainder && buffer_.size() < span)) return false;
    std::vector<Element> elements;
    for (size_t i = 0; i < std::min(span, buffer_.size());
         i += static_cast<size_t>(windowing_.stride)) {
      elements.push_back(buffer_[i]);
    }
    const NodePtr elements_node =
        IndexedNode("Window", std::make_shared<WindowAccess>(std::move(elements), number_),
                    windowing_.input->element_spec());
    EST_ASSIGN_OR_RETURN(window_, MakeInnerIterator(windowing_.fn(elements_node), context_, number_,
                                                    absl::StrCat("Window: window ", number_)));
    return true;
  }
  // Drops elements from the buffer, then from the input.
  absl::Status Drop(int64_t count) {
    const int64_t buffered = std::min(count, static_cast<int64_t>(buffer_.size()));
    buffer_.erase(buffer_.begin(), buffer_.begin() + buffered);
    log_.Consumed(buffered);
    for (int64_t i = buffered; i < count && !ended_; ++i) {
      EST_ASSIGN_OR_RETURN(const std::optional<Element> element, Read());
      if (element) log_.Consumed();
    }
    return absl::OkStatus();
  }

  Windowing windowing_;
  IterationContext context_;
  PositionLog log_;  // an element is consumed when it leaves the buffer
  bool ended_ = false;
  std::deque<Element> buffer_;
  uint64_t number_ = 0;
  IteratorPtr window_;  // null between windows
};

class Window final : public TransformNode {
 public:
  explicit Window(Windowing windowing)
      : TransformNode(windowing.input), windowing_(std::move(windowing)) {}
  std::string Label() const override {
    return absl::StrCat("Window(", windowing_.size, ", ", windowing_.shift, ", ", windowing_.stride,
                        windowing_.drop_remainder ? ", drop_remainder)" : ")");
  }
  std::optional<ElementSpec> element_spec() const override { return std::nullopt; }
  int64_t Cardinality() const override { return input()->Cardinality() == 0 ? 0 : -1; }
  int64_t ExamplesPerEpoch() const override { return -1; }

 private:
  absl::StatusOr<IteratorPtr> Over(IteratorPtr input,
                                   const IterationContext& context) const override {
    return std::make_unique<WindowIterator>(std::move(input), windowing_, context);
  }

  Windowing windowing_;
};

}  // namespace

NodePtr WindowNode(NodePtr input, int64_t size, WindowFn fn, const WindowOptions& options) {
  const int64_t shift = options.shift.value_or(size);
  if (size < 1 || shift < 1 || options.stride < 1) {
    return ErrorNode(InvalidArgument("Window: size is ", size, ", shift ", shift, " and stride ",
                                     options.stride, "; each must be at least 1"));
  }
  return std::make_shared<Window>(Windowing{.input = std::move(input),
                                            .fn = std::move(fn),
                                            .size = size,
                                            .shift = shift,
                                            .stride = options.stride,
                                            .drop_remainder = options.drop_remainder});
}

}  // namespace estimator
