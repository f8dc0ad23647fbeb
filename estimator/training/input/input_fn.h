// InputFn: a user's input_fn with an identity.
#ifndef ESTIMATOR_TRAINING_INPUT_INPUT_FN_H_
#define ESTIMATOR_TRAINING_INPUT_INPUT_FN_H_

#include <cstdint>
#include <functional>
#include <memory>
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
    int64_t invocation = 0;       // counts from 0, for input modes that call several times
    int64_t num_invocations = 1;  // of all calls of this input mode
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

// The identity of a user's input_fn: its address if it is a plain function. Null for lambdas and
// other objects, which cannot be distinguished from each other.
// Not inlined: g++ 12 reports an uninitialized pointer in std::function::target if it can inline
// the call.
template <typename Params>
[[gnu::noinline]] const void* FunctionIdentity(
    const std::function<absl::StatusOr<Dataset>(const Params&)>& input_fn) {
  if (const auto* plain = input_fn.template target<Dataset (*)(const Params&)>()) {
    return reinterpret_cast<const void*>(*plain);
  }
  if (const auto* plain = input_fn.template target<absl::StatusOr<Dataset> (*)(const Params&)>()) {
    return reinterpret_cast<const void*>(*plain);
  }
  return nullptr;
}

}  // namespace estimator

#endif  // ESTIMATOR_TRAINING_INPUT_INPUT_FN_H_
