// Kernel: one op, compiled for its attributes and static shapes. No graph here.
//
// Three tiers implement an op. `reference` (plain loops) is the definition of every result;
// `fused` and `onednn` are faster and are held against it. A program takes the fastest tier
// whose factory accepts the spec.
#ifndef ESTIMATOR_KERNELS_KERNEL_H_
#define ESTIMATOR_KERNELS_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "estimator/array/array.h"
#include "estimator/array/attrs.h"
#include "estimator/array/tensor_spec.h"

namespace estimator {

// All that is known of an op when its kernel is built.
struct KernelSpec {
  std::string op;         // TensorFlow's op name: "Conv2D"
  std::string name = {};  // the node's name, for messages
  Attrs attrs = {};
  std::vector<TensorSpec> inputs = {};
  std::vector<TensorSpec> outputs = {};
  // One per input: its value where it is a constant (axes, paddings, a shape), else nullopt.
  std::vector<std::optional<Array>> constants = {};
};

// Where in the training run a step stands; what random ops are keyed by.
struct StepContext {
  int64_t step = 0;  // global_step at the start of the step
  int replica = 0;
  int num_replicas = 1;
};

// The operands of one execution. Buffers are dense, row-major, of the spec's sizes; a string
// operand points to std::string objects. Outputs do not overlap inputs unless AliasInput allows it.
struct KernelArgs {
  absl::Span<const void* const> inputs;
  absl::Span<void* const> outputs;
  void* scratch = nullptr;  // scratch_bytes() bytes, 64-byte aligned
  StepContext step;

  template <typename T>
  const T* in(int i) const {
    return static_cast<const T*>(inputs[static_cast<size_t>(i)]);
  }
  template <typename T>
  T* out(int i) const {
    return static_cast<T*>(outputs[static_cast<size_t>(i)]);
  }
};

// Built once, run once a step, by one thread at a time (it may use the process's OpenMP team
// inside).
class Kernel {
 public:
  virtual ~Kernel() = default;
  // Errors: what the data itself can do wrong (a label out of range); the message names the
  // element and the value. No allocation here.
  virtual absl::Status Run(const KernelArgs& args) = 0;
  virtual size_t scratch_bytes() const { return 0; }
  // The input whose buffer `output` may be written over (element i read before it is written), or
  // -1.
  virtual int AliasInput(int /*output*/) const { return -1; }
};

enum class KernelTier { kReference = 0, kFused = 1, kOneDnn = 2 };

// Returns null where this tier does not do this spec (a dtype, a layout); the next tier is asked.
using KernelFactory = std::function<std::unique_ptr<Kernel>(const KernelSpec&)>;

// A kernel from a function, for ops that need no state beyond the spec.
std::unique_ptr<Kernel> MakeKernel(std::function<absl::Status(const KernelArgs&)> run,
                                   size_t scratch_bytes = 0, int alias_input = -1);

// Called by EST_REGISTER_KERNEL before main. REQUIRES: (op, tier) is new.
bool RegisterKernel(absl::string_view op, KernelTier tier, KernelFactory factory);
bool HasKernel(absl::string_view op, KernelTier tier = KernelTier::kReference);
std::vector<std::string> RegisteredKernels(KernelTier tier);  // sorted op names

// The fastest kernel up to `fastest` that accepts the spec.
// Errors: UNIMPLEMENTED naming op, dtypes and shapes.
absl::StatusOr<std::unique_ptr<Kernel>> CreateKernel(const KernelSpec& spec,
                                                     KernelTier fastest = KernelTier::kOneDnn);

// Builds the reference kernel and runs it once on arrays: constant folding, and tests.
absl::StatusOr<std::vector<Array>> RunReferenceKernel(const KernelSpec& spec,
                                                      absl::Span<const Array> inputs,
                                                      const StepContext& step = {});
// The same on the fastest tier up to `fastest`.
absl::StatusOr<std::vector<Array>> RunKernel(const KernelSpec& spec, absl::Span<const Array> inputs,
                                             KernelTier fastest, const StepContext& step = {});

// EST_REGISTER_KERNEL("Relu", KernelTier::kReference, [](const KernelSpec& spec) { ... });
// The library needs alwayslink = True.
#define EST_REGISTER_KERNEL(...) EST_REGISTER_KERNEL_AT(__COUNTER__, __VA_ARGS__)
#define EST_REGISTER_KERNEL_AT(counter, ...) EST_REGISTER_KERNEL_AT2(counter, __VA_ARGS__)
#define EST_REGISTER_KERNEL_AT2(counter, ...)                      \
  [[maybe_unused]] static const bool kernel_registered_##counter = \
      ::estimator::RegisterKernel(__VA_ARGS__)

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_KERNEL_H_
