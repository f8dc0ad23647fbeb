// A kernel that runs a short chain of oneDNN primitives: reorders, the main primitive, reorders.
//
// The factory builds everything. Run only sets the memory objects to the step's buffers and
// executes the primitives, through oneDNN's C interface, so it neither allocates nor throws.
// Scratchpads and reordered operands are in the kernel's scratch, which the runtime plans. A
// reordered filter can be kept between steps instead (kernels/prepared_input.h).
#ifndef ESTIMATOR_KERNELS_ONEDNN_PRIMITIVE_CHAIN_H_
#define ESTIMATOR_KERNELS_ONEDNN_PRIMITIVE_CHAIN_H_

#include <omp.h>

#include <cstddef>
#include <new>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "estimator/kernels/fused_ops.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/onednn/dnnl_api.h"
#include "estimator/kernels/prepared_input.h"

namespace estimator::onednn {

// The one CPU engine of the process.
const dnnl::engine& CpuEngine();

// While it lives, parallel regions that this thread starts have one thread, if `limits`. oneDNN
// divides the work of a primitive when the primitive is made and again when it runs.
class OneThread {
 public:
  explicit OneThread(bool limits) : before_(limits ? omp_get_max_threads() : 0) {
    if (before_ > 0) omp_set_num_threads(1);
  }
  ~OneThread() {
    if (before_ > 0) omp_set_num_threads(before_);
  }
  OneThread(const OneThread&) = delete;
  OneThread& operator=(const OneThread&) = delete;

 private:
  const int before_;
};

// The place of a primitive's operand when the kernel runs.
struct Operand {
  // kPrepared: the copy of the prepared input.
  enum class Place { kInput, kOutput, kScratch, kPrepared };
  Place place = Place::kInput;
  size_t value = 0;  // index of the input or output; for kScratch the offset in bytes
};
inline Operand Input(size_t index) { return {Operand::Place::kInput, index}; }
inline Operand Output(size_t index) { return {Operand::Place::kOutput, index}; }

// One operand of a step: its DNNL_ARG_* number, its layout and its place.
struct Argument {
  int arg = 0;
  dnnl::memory::desc layout;
  Operand operand;
};

class PrimitiveChain final : public Kernel, public PreparedInput {
 public:
  explicit PrimitiveChain(std::string name) : name_(std::move(name)), stream_(CpuEngine()) {}

  // The functions for building. Each may throw dnnl::error.

  // Reserves `bytes` of scratch, 64-byte aligned.
  Operand AddScratch(size_t bytes);
  // REQUIRES: the primitive was created with a user-mode scratchpad (see UserScratchpad).
  void AddStep(const dnnl::primitive& primitive, const dnnl::memory::desc& scratchpad,
               const std::vector<Argument>& arguments);
  void AddReorder(const dnnl::memory::desc& from_layout, Operand from,
                  const dnnl::memory::desc& to_layout, Operand to);
  // Copies bytes between buffers, unless the two are the same buffer.
  void AddCopy(Operand from, Operand to, size_t bytes);
  // Input `input` in layout `wanted`: itself if it has that layout already, else a copy, which is
  // that of PreparedInput. REQUIRES: it was not called before for a copy.
  Operand InPreparedLayout(size_t input, const dnnl::memory::desc& have,
                           const dnnl::memory::desc& wanted);

  // The kernel runs with one thread. Its primitives must be made under a OneThread too.
  void set_one_thread(bool one_thread) { one_thread_ = one_thread; }

  // The implementation that oneDNN chose for the main primitive, "jit:avx2". The builder sets it,
  // for tests.
  void set_implementation(std::string implementation) {
    implementation_ = std::move(implementation);
  }
  const std::string& implementation() const { return implementation_; }

  absl::Status Run(const KernelArgs& args) override;
  // The prepared input comes last.
  size_t scratch_bytes() const override { return scratch_bytes_ + prepared_bytes_; }
  int prepared_input() const override { return prepared_input_; }
  size_t prepared_bytes() const override { return prepared_bytes_; }
  size_t prepared_scratch_bytes() const override { return scratch_bytes_; }
  absl::Status Prepare(const void* input, void* prepared, void* scratch) override;
  absl::Status RunPrepared(const KernelArgs& args) override;
  int AliasInput(int output) const override { return output == 0 ? alias_input_ : -1; }
  void set_alias_input(int input) { alias_input_ = input; }

 private:
  struct Step {
    dnnl::primitive primitive;
    std::vector<dnnl::memory> memories;  // owners of the handles in `args`
    std::vector<dnnl_exec_arg_t> args;
    std::vector<Operand> operands;  // one for each of args; for a copy, source and destination
    size_t copy_bytes = 0;          // not 0: the step is a copy, not a primitive
  };
  // The buffers of one execution.
  struct Buffers {
    absl::Span<const void* const> inputs;
    absl::Span<void* const> outputs;
    char* scratch = nullptr;
    void* prepared = nullptr;
    const void* only_input = nullptr;  // not null: the input that a step reads; `inputs` is empty

    void* Address(const Operand& operand) const;
  };
  absl::Status RunStep(const Step& step, const Buffers& buffers) const;
  absl::Status RunSteps(const Buffers& buffers, bool with_preparation) const;

  std::string name_;
  dnnl::stream stream_;
  std::vector<Step> steps_;
  size_t scratch_bytes_ = 0;  // without the prepared input
  int prepared_input_ = -1;
  size_t prepared_bytes_ = 0;
  size_t prepare_step_ = 0;  // in steps_, if there is a prepared input
  int alias_input_ = -1;
  bool one_thread_ = false;
  std::string implementation_;
};

// Attributes that let the caller own the scratchpad.
dnnl::primitive_attr UserScratchpad();

// oneDNN crashes if it cannot map memory for the code that it generates. Throws std::bad_alloc if
// the process may not map as much as a kernel could need (ulimit -v).
void CheckRoomForCode();

// Runs `build`, which returns a kernel or an optional. Returns an empty one if oneDNN throws, for a
// shape, dtype or layout that it does not support. Throws std::bad_alloc if there is too little
// memory.
template <typename Build>
std::invoke_result_t<Build> NullIfUnsupported(Build&& build) {
  CheckRoomForCode();
  try {
    return build();
  } catch (const dnnl::error& error) {
    if (error.status == dnnl_out_of_memory) throw std::bad_alloc();
    return {};
  }
}

// The plan of a kernel that `make` builds: a function that returns a
// std::unique_ptr<PrimitiveChain>.
template <typename Make>
KernelPlan PlanChain(Make make) {
  return [make = std::move(make)] { return NullIfUnsupported(make); };
}

// Advances `desc` past oneDNN's own reference implementations, which are slower than ours.
// Returns false if there is no other implementation.
template <typename PrimitiveDesc>
bool SkipReference(PrimitiveDesc& desc) {
  const auto is_reference = [&] {
    return std::string(desc.impl_info_str()).rfind("ref", 0) == 0 ||
           std::string(desc.impl_info_str()).rfind("simple:any", 0) == 0;
  };
  while (is_reference()) {
    if (!desc.next_impl()) return false;
  }
  return true;
}

// True for f32, and for bf16 if the CPU has instructions for it.
bool SupportedType(DType dtype);
// REQUIRES: SupportedType(dtype).
dnnl::memory::data_type DataType(DType dtype);

// Logical dimensions {N, C, H, W} of a dense NHWC tensor. REQUIRES: rank 4.
dnnl::memory::desc NhwcLayout(const TensorSpec& spec);

// Whether oneDNN computes the activation with the bits of the op: Relu, Relu6, LeakyRelu or none.
// Others would have another accuracy. (oneDNN's Relu and Relu6 turn a NaN into 0.)
bool IsSupported(const FusedOps& fused);
// As UserScratchpad, with the activation as a post-op. If there is a side input, what the output's
// buffer holds is added to the result before the activation.
dnnl::primitive_attr FusedAttributes(const FusedOps& fused);

}  // namespace estimator::onednn

#endif  // ESTIMATOR_KERNELS_ONEDNN_PRIMITIVE_CHAIN_H_
