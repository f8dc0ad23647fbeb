#include "estimator/kernels/onednn/primitive_chain.h"

#include <sys/mman.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "estimator/base/status.h"
#include "glog/logging.h"

namespace estimator::onednn {

void* PrimitiveChain::Buffers::Address(const Operand& operand) const {
  switch (operand.place) {
    // oneDNN's handles are not const, but primitives only read their sources.
    case Operand::Place::kInput:
      return const_cast<void*>(only_input == nullptr ? inputs[operand.value] : only_input);
    case Operand::Place::kOutput:
      return outputs[operand.value];
    case Operand::Place::kScratch:
      return scratch + operand.value;
    case Operand::Place::kPrepared:
      return prepared;
  }
  return nullptr;
}

const dnnl::engine& CpuEngine() {
  static const dnnl::engine& engine = *new dnnl::engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

void CheckRoomForCode() {
  // Each generated function takes 256 KiB; a convolution may have more than a hundred.
  constexpr size_t kCodeBytes = size_t{64} << 20;
  // Only reserves addresses and gives them back. No memory is touched, so the check costs two
  // system calls.
  void* const room =
      ::mmap(nullptr, kCodeBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) throw std::bad_alloc();
  ::munmap(room, kCodeBytes);
}

dnnl::primitive_attr UserScratchpad() {
  dnnl::primitive_attr attributes;
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

Operand PrimitiveChain::AddScratch(size_t bytes) {
  const Operand operand{Operand::Place::kScratch, scratch_bytes_};
  scratch_bytes_ += AlignedBytes(bytes);
  return operand;
}

void PrimitiveChain::AddStep(const dnnl::primitive& primitive, const dnnl::memory::desc& scratchpad,
                             const std::vector<Argument>& arguments) {
  Step step;
  step.primitive = primitive;
  const auto add = [&](int arg, const dnnl::memory::desc& layout, Operand operand) {
    step.memories.emplace_back(layout, CpuEngine(), nullptr);
    step.args.push_back({arg, step.memories.back().get()});
    step.operands.push_back(operand);
  };
  for (const Argument& argument : arguments) add(argument.arg, argument.layout, argument.operand);
  if (scratchpad.get_size() > 0) {
    add(DNNL_ARG_SCRATCHPAD, scratchpad, AddScratch(scratchpad.get_size()));
  }
  steps_.push_back(std::move(step));
}

void PrimitiveChain::AddReorder(const dnnl::memory::desc& from_layout, Operand from,
                                const dnnl::memory::desc& to_layout, Operand to) {
  const dnnl::reorder::primitive_desc desc(CpuEngine(), from_layout, CpuEngine(), to_layout,
                                           UserScratchpad());
  AddStep(dnnl::reorder(desc), desc.scratchpad_desc(),
          {{DNNL_ARG_FROM, from_layout, from}, {DNNL_ARG_TO, to_layout, to}});
}

void PrimitiveChain::AddCopy(Operand from, Operand to, size_t bytes) {
  Step step;
  step.operands = {from, to};
  step.copy_bytes = bytes;
  steps_.push_back(std::move(step));
}

Operand PrimitiveChain::InPreparedLayout(size_t input, const dnnl::memory::desc& have,
                                         const dnnl::memory::desc& wanted) {
  // Without a copy there is nothing to keep between steps, so the kernel has no prepared input.
  if (have == wanted) return Input(input);
  CHECK_LT(prepared_input_, 0) << name_ << " has two prepared inputs";
  const Operand copy{Operand::Place::kPrepared, 0};
  prepared_input_ = static_cast<int>(input);
  prepared_bytes_ = AlignedBytes(wanted.get_size());
  prepare_step_ = steps_.size();
  AddReorder(have, Input(input), wanted, copy);
  return copy;
}

absl::Status PrimitiveChain::RunStep(const Step& step, const Buffers& buffers) const {
  if (step.copy_bytes > 0) {
    const void* from = buffers.Address(step.operands[0]);
    void* to = buffers.Address(step.operands[1]);
    // The runtime may have given the side input and the output one buffer (AliasInput).
    if (from != to) std::memcpy(to, from, step.copy_bytes);
    return absl::OkStatus();
  }
  for (size_t i = 0; i < step.args.size(); ++i) {
    dnnl_memory_set_data_handle(step.args[i].memory, buffers.Address(step.operands[i]));
  }
  const OneThread limit(one_thread_);
  const dnnl_status_t status = dnnl_primitive_execute(
      step.primitive.get(), stream_.get(), static_cast<int>(step.args.size()), step.args.data());
  if (status == dnnl_success) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(name_, ": oneDNN's ", implementation_,
                                          " failed with status ", static_cast<int>(status)));
}

absl::Status PrimitiveChain::RunSteps(const Buffers& buffers, bool with_preparation) const {
  for (size_t s = 0; s < steps_.size(); ++s) {
    if (!with_preparation && prepared_input_ >= 0 && s == prepare_step_) continue;
    EST_RETURN_IF_ERROR(RunStep(steps_[s], buffers));
  }
  // The caller reads the outputs as soon as Run returns.
  dnnl_stream_wait(stream_.get());
  return absl::OkStatus();
}

absl::Status PrimitiveChain::Run(const KernelArgs& args) {
  char* const scratch = static_cast<char*>(args.scratch);
  return RunSteps({.inputs = args.inputs,
                   .outputs = args.outputs,
                   .scratch = scratch,
                   .prepared = scratch + scratch_bytes_},
                  true);
}

absl::Status PrimitiveChain::Prepare(const void* input, void* prepared, void* scratch) {
  EST_RETURN_IF_ERROR(RunStep(steps_[prepare_step_], {.inputs = {},
                                                      .outputs = {},
                                                      .scratch = static_cast<char*>(scratch),
                                                      .prepared = prepared,
                                                      .only_input = input}));
  dnnl_stream_wait(stream_.get());
  return absl::OkStatus();
}

absl::Status PrimitiveChain::RunPrepared(const KernelArgs& args) {
  // The primitives only read their prepared input.
  void* const prepared = const_cast<void*>(args.inputs[static_cast<size_t>(prepared_input_)]);
  return RunSteps({.inputs = args.inputs,
                   .outputs = args.outputs,
                   .scratch = static_cast<char*>(args.scratch),
                   .prepared = prepared},
                  false);
}

bool SupportedType(DType dtype) {
  if (dtype == DType::kFloat32) return true;
  if (dtype != DType::kBfloat16) return false;
  // On AVX-512 without bf16 instructions oneDNN emulates bf16, which is slower than f32.
  return HasIsa(dnnl::cpu_isa::avx512_core_bf16);
}

dnnl::memory::data_type DataType(DType dtype) {
  return dtype == DType::kBfloat16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

dnnl::memory::desc NhwcLayout(const TensorSpec& spec) {
  const Shape& shape = spec.shape;
  return dnnl::memory::desc({shape[0], shape[3], shape[1], shape[2]}, DataType(spec.dtype),
                            dnnl::memory::format_tag::nhwc);
}

namespace {

// Adds the activation to `post_ops`. Returns false if it is none of oneDNN's that are exact.
bool AppendActivation(const FusedOps& fused, dnnl::post_ops& post_ops) {
  if (!fused.activation.has_value()) return true;
  switch (*fused.activation) {
    case fused::TileOp::kRelu:
      AppendEltwise(post_ops, dnnl::algorithm::eltwise_relu, 0.0f, 0.0f);
      return true;
    case fused::TileOp::kRelu6:
      AppendEltwise(post_ops, dnnl::algorithm::eltwise_clip, 0.0f, 6.0f);
      return true;
    case fused::TileOp::kLeakyRelu:
      AppendEltwise(post_ops, dnnl::algorithm::eltwise_relu, fused.alpha, 0.0f);
      return true;
    default:
      return false;
  }
}

}  // namespace

bool IsSupported(const FusedOps& fused) {
  dnnl::post_ops post_ops;
  return AppendActivation(fused, post_ops);
}

dnnl::primitive_attr FusedAttributes(const FusedOps& fused) {
  dnnl::primitive_attr attributes = UserScratchpad();
  dnnl::post_ops post_ops;
  // Post-ops run in this order: the activation applies to the sum with the side input.
  if (fused.side) post_ops.append_sum(1.0f);
  CHECK(AppendActivation(fused, post_ops)) << "the activation is not supported";
  if (post_ops.len() > 0) attributes.set_post_ops(post_ops);
  return attributes;
}

}  // namespace estimator::onednn
