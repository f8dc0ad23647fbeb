// InputFn: a user's input_fn with an identity.
#ifndef ESTIMATOR_TRAINING_INPUT_INPUT_FN_H_
#define ESTIMATOR_TRAINING_INPUT_INPUT_FN_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <type_traits>
#include <utility>

#include "absl/status/statusor.h"
#include "estimator/data/pipeline/dataset.h"
#include "estimator/training/input/mode.h"

namespace estimator {

// Copies of one InputFn are the same input. A loop that is called again with the same input
// continues with the open one instead of opening it again.
class InputFn {
 public:
  // One call of the input_fn.
  struct Call {
    Mode mode = Mode::kTrain;
    int64_t batch_size = 0;       // the value of params.batch_size, for this mode
    int64_t invocation = 0;       // counts from 0 over the calls of all hosts
    int64_t num_invocations = 1;  // of all calls of this input mode, on all hosts
    // The processes that read an input of their own, and which of them this is. In evaluation and
    // prediction every process reads the whole input, so it is the only one for the call.
    int num_hosts = 1;
    int current_host = 0;
  };
  using Fn = std::function<absl::StatusOr<Dataset>(const Call&)>;

  InputFn() = default;
  // `identity` distinguishes this input from others; null: this object and its copies are one
  // input.
  explicit InputFn(Fn fn, const void* identity = nullptr)
      : fn_(std::make_shared<Fn>(std::move(fn))),
        identity_(identity == nullptr ? fn_.get() : identity) {}
  bool valid() const { return fn_ != nullptr; }
  absl::StatusOr<Dataset> operator()(const Call& call) const { return (*fn_)(call); }
  const void* identity() const { return identity_; }

 private:
  std::shared_ptr<const Fn> fn_;
  const void* identity_ = nullptr;
};

// The type of an input_fn: a function of the params, or of nothing, that returns a Dataset or
// absl::StatusOr<Dataset>.
template <typename Params>
class InputFnOf : public std::function<absl::StatusOr<Dataset>(const Params&)> {
  using Base = std::function<absl::StatusOr<Dataset>(const Params&)>;
  template <typename F>
  static constexpr bool kTakesParams =
      std::is_invocable_r_v<absl::StatusOr<Dataset>, F&, const Params&>;
  // Calls a function that takes nothing.
  template <typename F>
  struct WithoutParams {
    F fn;
    absl::StatusOr<Dataset> operator()(const Params&) { return fn(); }
  };

 public:
  InputFnOf() = default;
  InputFnOf(std::nullptr_t) {}  // NOLINT: converts
  template <typename F>
  requires(!std::is_base_of_v<InputFnOf, F>) InputFnOf(F fn)  // NOLINT: converts
      : Base(Wrapped(std::move(fn))) {}

  // The address if it is a plain function. Null for lambdas and other objects, which cannot be
  // distinguished from each other.
  // Not inlined: g++ 12 reports an uninitialized pointer in std::function::target if it can inline
  // the call.
  [[gnu::noinline]] const void* identity() const {
    const void* address = AddressOf<Dataset (*)(const Params&)>();
    if (address == nullptr) address = AddressOf<absl::StatusOr<Dataset> (*)(const Params&)>();
    if (address == nullptr) address = AddressOfWithout<Dataset (*)()>();
    if (address == nullptr) address = AddressOfWithout<absl::StatusOr<Dataset> (*)()>();
    return address;
  }

 private:
  template <typename F>
  static Base Wrapped(F fn) {
    if constexpr (kTakesParams<F>) {
      return Base(std::move(fn));
    } else if constexpr (std::is_invocable_r_v<absl::StatusOr<Dataset>, F&>) {
      return Base(WithoutParams<F>{std::move(fn)});
    } else {
      static_assert(kTakesParams<F>,
                    "an input_fn takes (const Params&), where Params is the Estimator's, or "
                    "nothing, and returns a Dataset or an absl::StatusOr<Dataset>");
      return Base();
    }
  }
  template <typename Plain>
  const void* AddressOf() const {
    const Plain* const plain = this->template target<Plain>();
    return plain == nullptr ? nullptr : reinterpret_cast<const void*>(*plain);
  }
  template <typename Plain>
  const void* AddressOfWithout() const {
    const auto* const plain = this->template target<WithoutParams<Plain>>();
    return plain == nullptr ? nullptr : reinterpret_cast<const void*>(plain->fn);
  }
};

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_INPUT_INPUT_FN_H_
