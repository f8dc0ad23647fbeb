// Kernel: one op, compiled for its attributes and static shapes. Kernels know nothing of graphs.
//
// An op can have a kernel in each of four tiers. `reference` (plain loops) defines every result;
// the others are faster and are checked against it. An exact kernel (kernels/exact) is both. A
// program takes the fastest tier whose factory accepts the spec.
#ifndef ESTIMATOR_KERNELS_KERNEL_H_
#define ESTIMATOR_KERNELS_KERNEL_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
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

// How convolutions, and matrix products of f32, are computed (RunConfig.conv_algorithm).
enum class ConvAlgorithm {
  // By the rules of the kernels: where it is faster, convolutions by Winograd's algorithm, and both
  // by three products of bf16. In f32, errors are at most 1e-4 of the result's root mean square,
  // and with compute_dtype bf16 at most 1e-3 for filters of 5x5 (winograd/winograd.h). For
  // convolutions of bf16 see bfloat16/winograd.h.
  kAuto,
  kDirect,  // neither of the two: the rounding error of a plain sum
  // Winograd wherever a kernel supports the shape, even where it is slower; no three products.
  kWinograd,
};

// What is known about an op when its kernel is built.
struct KernelSpec {
  std::string op;         // TensorFlow's op name: "Conv2D"
  std::string name = {};  // the node's name, used in messages
  Attrs attrs = {};
  std::vector<TensorSpec> inputs = {};
  std::vector<TensorSpec> outputs = {};
  // For each input its value if it is a constant (axes, paddings, a shape), else nullopt.
  std::vector<std::optional<Array>> constants = {};
  ConvAlgorithm conv_algorithm = ConvAlgorithm::kAuto;
  // CompileOptions.compute_dtype. kBfloat16: the errors of f32 results may be as large as if the
  // factors were rounded to bf16.
  DType compute_dtype = DType::kFloat32;
};

// False if no Winograd kernel may be built for the spec. Their factories ask this first.
inline bool WinogradAllowed(const KernelSpec& spec) {
  return spec.conv_algorithm != ConvAlgorithm::kDirect;
}

// The position of a step in the training run. Random ops derive their numbers from it.
struct StepContext {
  int64_t step = 0;  // global_step at the start of the step; LoopSpec::draws_in_order changes it
  int replica = 0;
  int num_replicas = 1;
  // 0 outside loops. In the body of a loop it depends on the rows of the trips of all loops around
  // the op, so that a random op draws other numbers at each trip.
  uint64_t trip_key = 0;
  // The time of the steady clock in nanoseconds at which the step is ended; 0: never.
  int64_t deadline_ns = 0;
};

// StepContext::trip_key of the trip with row `row` of a loop in a context with the key `outer`.
uint64_t TripKey(uint64_t outer, int64_t row);

// Rows [begin, end) of an output, or all of them if end is 0. Both are multiples of kMultiple, or
// the number of all rows.
struct RowRange {
  int64_t begin = 0, end = 0;
  static constexpr int64_t kMultiple = 32;
};

// The operands of one execution. Buffers are dense and row-major and have the sizes of the spec.
// The elements of a string operand are std::string objects. Outputs do not overlap inputs unless
// AliasInput allows it.
struct KernelArgs {
  absl::Span<const void* const> inputs;
  absl::Span<void* const> outputs;
  void* scratch = nullptr;  // scratch_bytes() bytes, 64-byte aligned
  RowRange rows = {};       // of output 0: those to compute, if Kernel::RunsRows
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

// The size of a part of the scratch memory after which another part begins, aligned as well.
constexpr size_t AlignedBytes(size_t bytes) {
  return (bytes + Array::kAlignment - 1) / Array::kAlignment * Array::kAlignment;
}

enum class KernelTier {
  kReference = 0,  // plain loops, which define the results
  kFused = 1,      // several ops in one pass over memory
  kOneDnn = 2,
  kNative = 3,  // our own convolutions and matrix products, where they are faster than oneDNN
};

// A kernel is built once and run once a step, by one thread at a time. It may use the process's
// OpenMP threads.
class Kernel {
 public:
  virtual ~Kernel() = default;
  // Runs in every step, so it should not allocate. Errors: only for the values of the operands (a
  // label out of range); the message names the element and the value.
  virtual absl::Status Run(const KernelArgs& args) = 0;
  virtual size_t scratch_bytes() const { return 0; }
  // The input whose buffer `output` may overwrite, or -1. The kernel must read element i of that
  // input before it writes element i of the output.
  virtual int AliasInput(int /*output*/) const { return -1; }
  // Whether Run computes only the rows KernelArgs::rows of its one output, if they are given, with
  // the bits that they have when it computes all.
  virtual bool RunsRows() const { return false; }

  // The tier of the factory that CreateKernel took; nullopt if a pass built the kernel itself.
  std::optional<KernelTier> tier() const { return tier_; }
  void set_tier(KernelTier tier) { tier_ = tier; }

 private:
  std::optional<KernelTier> tier_;
};

// What a factory answers for a spec: null if it does not accept the spec, else how the kernel is
// built. So passes can ask what is accepted without building: some kernels generate code or
// allocate.
class KernelPlan {
 public:
  using Builder = std::function<std::unique_ptr<Kernel>()>;

  KernelPlan() = default;
  KernelPlan(std::nullptr_t) {}
  //   build: a function without arguments. It returns null only if the system refuses something
  //   that the spec does not show.
  template <typename Build,
            typename = std::enable_if_t<std::is_invocable_r_v<std::unique_ptr<Kernel>, Build&>>>
  KernelPlan(Build build) : build_(std::move(build)) {}
  // A kernel that the factory has built already.
  template <typename T, typename = std::enable_if_t<std::is_convertible_v<T*, Kernel*>>>
  KernelPlan(std::unique_ptr<T> kernel) : kernel_(std::move(kernel)) {}

  explicit operator bool() const { return build_ != nullptr || kernel_ != nullptr; }
  bool operator==(std::nullptr_t) const { return !*this; }

  // Builds the kernel. REQUIRES: not null.
  std::unique_ptr<Kernel> Build() && { return kernel_ ? std::move(kernel_) : build_(); }
  operator std::unique_ptr<Kernel>() && { return *this ? std::move(*this).Build() : nullptr; }
  operator std::shared_ptr<Kernel>() && { return *this ? std::move(*this).Build() : nullptr; }

 private:
  Builder build_;
  std::unique_ptr<Kernel> kernel_;
};

// Accepts a spec, or returns null if the tier does not support it (its dtypes, its layout). Then
// the next slower tier is asked.
using KernelFactory = std::function<KernelPlan(const KernelSpec&)>;

// A kernel from a function, for ops that need no other state.
//   alias_input: the input that output 0 may overwrite, or -1.
KernelPlan MakeKernel(std::function<absl::Status(const KernelArgs&)> run, size_t scratch_bytes = 0,
                      int alias_input = -1);
// The same from a function that cannot fail and returns nothing.
template <typename Run, typename = std::enable_if_t<
                            std::is_void_v<std::invoke_result_t<const Run&, const KernelArgs&>>>>
KernelPlan MakeKernel(Run run, size_t scratch_bytes = 0, int alias_input = -1) {
  auto with_status = [run = std::move(run)](const KernelArgs& args) {
    run(args);
    return absl::OkStatus();
  };
  return MakeKernel(std::move(with_status), scratch_bytes, alias_input);
}

// EST_REGISTER_KERNEL calls this before main. REQUIRES: (op, tier) is not registered yet.
bool RegisterKernel(absl::string_view op, KernelTier tier, KernelFactory factory);
// For an op whose result has no rounding (a move, a comparison, a search): one kernel defines the
// result and is the fast one too.
bool RegisterExactKernel(absl::string_view op, const KernelFactory& factory);
bool HasKernel(absl::string_view op, KernelTier tier = KernelTier::kReference);
std::vector<std::string> RegisteredKernels(KernelTier tier);  // sorted op names

// The kernel of the fastest tier in [slowest, fastest] that accepts the spec. If no tier above the
// reference tier accepts it, but one accepts it with float32 in place of bfloat16: that kernel,
// widened (kernels/widened.h).
// Errors: UNIMPLEMENTED naming op, dtypes and shapes if there is none.
absl::StatusOr<std::unique_ptr<Kernel>> CreateKernel(const KernelSpec& spec,
                                                     KernelTier fastest = KernelTier::kNative,
                                                     KernelTier slowest = KernelTier::kReference);
// The tier of the kernel that CreateKernel would return; nullopt if it would fail. This and the
// next two functions ask factories for plans and generate no code.
std::optional<KernelTier> AcceptingTier(const KernelSpec& spec, KernelTier fastest,
                                        KernelTier slowest = KernelTier::kReference);
// Whether CreateKernel would return a kernel.
bool Accepts(const KernelSpec& spec, KernelTier fastest,
             KernelTier slowest = KernelTier::kReference);

// Whether that kernel would run on the spec's own dtypes: it would not be widened.
bool AcceptsUnwidened(const KernelSpec& spec, KernelTier fastest,
                      KernelTier slowest = KernelTier::kReference);

// Builds the reference kernel and runs it once on arrays, for constant folding and tests.
absl::StatusOr<std::vector<Array>> RunReferenceKernel(const KernelSpec& spec,
                                                      absl::Span<const Array> inputs,
                                                      const StepContext& step = {});
// The same with the fastest tier up to `fastest`.
absl::StatusOr<std::vector<Array>> RunKernel(const KernelSpec& spec, absl::Span<const Array> inputs,
                                             KernelTier fastest, const StepContext& step = {});

// EST_REGISTER_KERNEL("Relu", KernelTier::kReference, [](const KernelSpec& spec) { ... });
// EST_REGISTER_EXACT_KERNEL("Tile", MakeTile);
// The library that does this needs alwayslink = True.
#define EST_REGISTER_KERNEL(...) EST_CALL_BEFORE_MAIN(__COUNTER__, RegisterKernel, __VA_ARGS__)
#define EST_REGISTER_EXACT_KERNEL(...) \
  EST_CALL_BEFORE_MAIN(__COUNTER__, RegisterExactKernel, __VA_ARGS__)
#define EST_CALL_BEFORE_MAIN(counter, ...) EST_CALL_BEFORE_MAIN2(counter, __VA_ARGS__)
#define EST_CALL_BEFORE_MAIN2(counter, function, ...)              \
  [[maybe_unused]] static const bool kernel_registered_##counter = \
      ::estimator::function(__VA_ARGS__)

}  // namespace estimator

#endif  // ESTIMATOR_KERNELS_KERNEL_H_
