#include "estimator/kernels/fused/elementwise.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "estimator/kernels/fused/bfloat16.h"

namespace estimator::fused {
namespace {

// The number of floats in a tile: 4 KiB, so that eight values fit into an L1 cache of 32 KiB.
constexpr int64_t kTile = 1024;

const float kTrue = std::bit_cast<float>(0xffffffffu);

void WidenMask(const uint8_t* from, float* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    // A mask has all bits of a float set, as vector comparisons give it and selections take it.
    const uint32_t bits = from[i] != 0 ? 0xffffffffu : 0u;
    std::memcpy(to + i, &bits, sizeof(bits));
  }
}

void WidenBytes(const uint8_t* from, float* to, int64_t n) {
#pragma omp simd
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]);
}

void NarrowMask(const float* from, uint8_t* to, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    // The bits of a mask are those of a NaN, so they are copied and not compared as a float.
    uint32_t bits = 0;
    std::memcpy(&bits, from + i, sizeof(bits));
    to[i] = static_cast<uint8_t>(bits & 1u);
  }
}

}  // namespace

KernelPlan ElementwiseKernel::Create(const KernelSpec& spec) { return CreateObserved(spec, -1); }

std::unique_ptr<ElementwiseKernel> ElementwiseKernel::CreateObserved(const KernelSpec& spec,
                                                                     int64_t value) {
  std::unique_ptr<ElementwiseKernel> kernel(new ElementwiseKernel());
  kernel->observed_ = value;
  std::vector<float> alphas;
  if (spec.attrs.has("alphas")) alphas = spec.attrs.get<std::vector<float>>("alphas");
  if (!kernel->Build(spec, spec.attrs.get<std::vector<std::string>>("ops"), spec.attrs.ints("args"),
                     spec.attrs.ints("outputs"), alphas)) {
    return nullptr;
  }
  return kernel;
}

KernelPlan ElementwiseKernel::CreateSingle(const KernelSpec& spec) {
  std::vector<int64_t> args(3, -1);
  const int64_t num_inputs = static_cast<int64_t>(spec.inputs.size());
  if (num_inputs > 3 || spec.outputs.size() != 1) return nullptr;
  for (int64_t i = 0; i < num_inputs; ++i) args[static_cast<size_t>(i)] = i;
  std::vector<float> alphas;
  if (spec.attrs.has("alpha")) alphas = {spec.attrs.f("alpha")};
  std::unique_ptr<ElementwiseKernel> kernel(new ElementwiseKernel());
  if (!kernel->Build(spec, {spec.op}, args, {num_inputs}, alphas)) return nullptr;
  return kernel;
}

bool ElementwiseKernel::Build(const KernelSpec& spec, const std::vector<std::string>& ops,
                              const std::vector<int64_t>& args, const std::vector<int64_t>& outputs,
                              const std::vector<float>& alphas) {
  if (ops.empty() || args.size() != 3 * ops.size() || outputs.empty() ||
      outputs.size() != spec.outputs.size() || (!alphas.empty() && alphas.size() != ops.size())) {
    return false;
  }
  const int64_t n = spec.outputs[0].shape.num_elements();
  for (const TensorSpec& output : spec.outputs) {
    if (output.shape != spec.outputs[0].shape) return false;
  }
  if (!AddInputs(spec, n)) return false;
  for (size_t j = 0; j < ops.size(); ++j) {
    const std::optional<float> alpha = alphas.empty() ? std::nullopt : std::optional(alphas[j]);
    if (!AddOp(ops[j], args.data() + 3 * j, alpha)) return false;
  }
  for (size_t o = 0; o < outputs.size(); ++o) {
    if (outputs[o] < 0 || outputs[o] >= static_cast<int64_t>(values_.size())) return false;
    const Value& value = values_[static_cast<size_t>(outputs[o])];
    const DType dtype = value.is_mask   ? DType::kBool
                        : value.is_bf16 ? DType::kBfloat16
                                        : DType::kFloat32;
    if (value.is_u8 || spec.outputs[o].dtype != dtype) return false;
  }
  if (observed_ >= 0 && !KeepObserved(spec, n)) return false;
  PlaceOutputs(spec, outputs);
  AssignSlots();
  ChooseAliases(spec, outputs);
  chunks_ = MakeChunks(n, static_cast<int64_t>(ops.size()));
  without_tiles_ = IsPlainBfloat16Op();
  return true;
}

// Keeps the tile of the observed value to the end. Returns false if it is not a number of full
// size.
bool ElementwiseKernel::KeepObserved(const KernelSpec& spec, int64_t n) {
  if (observed_ >= static_cast<int64_t>(values_.size())) return false;
  const auto index = static_cast<size_t>(observed_);
  if (values_[index].is_mask || values_[index].is_u8) return false;
  if (observed_ < num_inputs_ && spec.inputs[index].shape.num_elements() != n) return false;
  // Otherwise a later op could reuse the slot before the observer has seen the value.
  values_[index].last_use = static_cast<int>(ops_.size());
  return true;
}

// Whether the chain is one op that is bound by memory, from bf16 inputs of full size to bf16. Tiles
// of floats would halve its speed.
bool ElementwiseKernel::IsPlainBfloat16Op() const {
  if (observed_ >= 0 || ops_.size() != 1 || ops_[0].is_cast || !IsCheapTileOp(ops_[0].op))
    return false;
  for (int i = 0; i < num_inputs_; ++i) {
    const Value& input = values_[static_cast<size_t>(i)];
    if (!input.is_bf16 || !std::count(converted_inputs_.begin(), converted_inputs_.end(), i))
      return false;
  }
  return copies_.size() == 1 && copies_[0].value == ops_[0].result;
}

bool ElementwiseKernel::AddInputs(const KernelSpec& spec, int64_t n) {
  num_inputs_ = static_cast<int>(spec.inputs.size());
  for (int i = 0; i < num_inputs_; ++i) {
    const TensorSpec& input = spec.inputs[static_cast<size_t>(i)];
    Value value;
    value.is_mask = input.dtype == DType::kBool;
    value.is_bf16 = input.dtype == DType::kBfloat16;
    value.is_u8 = input.dtype == DType::kUint8;
    const bool is_f32 = input.dtype == DType::kFloat32;
    if (!value.is_mask && !value.is_bf16 && !value.is_u8 && !is_f32) return false;
    if (input.shape.num_elements() == n) {
      // The tiles of f32 inputs are where the inputs are. All others are converted into a slot
      // first.
      if (is_f32) {
        value.place = Place::kBuffer;
        value.buffer = i;
      } else {
        converted_inputs_.push_back(i);
      }
    } else if (input.shape.num_elements() == 1 && !value.is_u8) {
      scalars_.push_back({i, i});
    } else {
      return false;
    }
    values_.push_back(value);
  }
  return true;
}

// Adds the next op.  args: its operands, padded with -1 to three.  alpha: ignored by most ops.
bool ElementwiseKernel::AddOp(const std::string& name, const int64_t* args,
                              std::optional<float> alpha) {
  const bool is_cast = name == "Cast";
  const std::optional<TileOpInfo> info = is_cast ? TileOpInfo{.num_operands = 1} : FindTileOp(name);
  if (!info.has_value() || (info->has_alpha && !alpha.has_value())) return false;
  Op op{.is_cast = is_cast,
        .op = info->op,
        .alpha = alpha.value_or(0.0f),
        .result = static_cast<int>(values_.size())};
  std::optional<bool> is_bf16;  // of the operands that are numbers
  for (int k = 0; k < 3; ++k) {
    const int64_t operand = args[k];
    if ((k < info->num_operands) != (operand >= 0)) return false;
    if (operand < 0) continue;
    if (operand >= static_cast<int64_t>(values_.size())) return false;
    Value& value = values_[static_cast<size_t>(operand)];
    if (value.is_mask != (info->first_is_mask && k == 0)) return false;
    if (value.is_u8 && !is_cast) return false;
    if (!value.is_mask) {
      // Mixed operands would need a rounding that the op does not have. A Cast says where one is.
      if (is_bf16.value_or(value.is_bf16) != value.is_bf16) return false;
      is_bf16 = value.is_bf16;
    }
    value.last_use = static_cast<int>(ops_.size());
    op.operands[k] = static_cast<int>(operand);
  }
  Value result{.is_mask = info->result_is_mask};
  // A cast gives bf16 if it reads f32, and f32 if it reads bf16 or u8.
  const bool reads_u8 = values_[static_cast<size_t>(op.operands[0])].is_u8;
  if (!result.is_mask) result.is_bf16 = is_cast ? !*is_bf16 && !reads_u8 : *is_bf16;
  // Tiles are f32. A chain of bf16 ops must round after each op to have the bits of the single ops;
  // an exact op needs no rounding.
  op.is_rounded = result.is_bf16 && (is_cast || !info->is_exact);
  values_.push_back(result);
  ops_.push_back(op);
  return true;
}

// A computed f32 output is written directly to its buffer. Any other output is copied at the end.
void ElementwiseKernel::PlaceOutputs(const KernelSpec& spec, const std::vector<int64_t>& outputs) {
  for (size_t o = 0; o < spec.outputs.size(); ++o) {
    Value& value = values_[static_cast<size_t>(outputs[o])];
    const bool computed = outputs[o] >= num_inputs_;
    // A value that is two outputs has its place in the first one already, and is copied to the
    // second.
    if (computed && !value.is_mask && !value.is_bf16 && value.place == Place::kSlot) {
      value.place = Place::kBuffer;
      value.buffer = static_cast<int>(o);
      value.is_output_buffer = true;
    } else {
      copies_.push_back({static_cast<int>(o), static_cast<int>(outputs[o])});
      value.last_use = static_cast<int>(ops_.size());
    }
  }
}

// A slot is free after the last op that reads its value. That op may write its result there.
void ElementwiseKernel::AssignSlots() {
  std::vector<int> free_slots;
  const auto take = [&](Value& value) {
    if (value.place != Place::kSlot) return;
    if (free_slots.empty()) free_slots.push_back(num_slots_++);
    value.slot = free_slots.back();
    free_slots.pop_back();
  };
  std::vector<bool> permanent(values_.size(), false);
  // Scalars fill their slot once in every chunk, so their slots are never reused.
  for (const Scalar& scalar : scalars_) {
    permanent[static_cast<size_t>(scalar.value)] = true;
    take(values_[static_cast<size_t>(scalar.value)]);
  }
  // All inputs of a tile are converted before its first op, so their slots are in use at the same
  // time.
  for (int input : converted_inputs_) take(values_[static_cast<size_t>(input)]);
  for (size_t j = 0; j < ops_.size(); ++j) {
    std::vector<int> released;
    for (int operand : ops_[j].operands) {
      if (operand < 0) continue;
      Value& value = values_[static_cast<size_t>(operand)];
      if (value.place != Place::kSlot || permanent[static_cast<size_t>(operand)]) continue;
      if (value.last_use != static_cast<int>(j)) continue;
      // An op may read one value twice (x * x), but its slot is free only once.
      if (std::find(released.begin(), released.end(), value.slot) != released.end()) continue;
      released.push_back(value.slot);
    }
    free_slots.insert(free_slots.end(), released.begin(), released.end());
    Value& result = values_[static_cast<size_t>(ops_[j].result)];
    take(result);
    // No op reads the result, so its slot is free at once.
    if (result.place == Place::kSlot && result.last_use < 0) free_slots.push_back(result.slot);
  }
}

// An output can overwrite an f32 input of the same size if no op after the one that computes the
// output reads that input. A bf16 output can overwrite any bf16 input of the same size, because a
// tile of the input is converted before anything is computed, and one of the output at the end.
void ElementwiseKernel::ChooseAliases(const KernelSpec& spec, const std::vector<int64_t>& outputs) {
  const int64_t n = spec.outputs[0].shape.num_elements();
  std::vector<bool> taken(spec.inputs.size(), false);
  for (size_t o = 0; o < spec.outputs.size(); ++o) {
    alias_.push_back(-1);
    const Value& value = values_[static_cast<size_t>(outputs[o])];
    const bool in_buffer = value.is_output_buffer && value.buffer == static_cast<int>(o);
    if (!in_buffer && !value.is_bf16) continue;
    const int written_at =
        value.is_bf16 ? static_cast<int>(ops_.size()) : static_cast<int>(outputs[o]) - num_inputs_;
    for (int i = 0; i < num_inputs_; ++i) {
      const Value& input = values_[static_cast<size_t>(i)];
      if (input.is_mask || input.is_u8 || input.is_bf16 != value.is_bf16) continue;
      if (taken[static_cast<size_t>(i)] || input.last_use > written_at) continue;
      if (spec.inputs[static_cast<size_t>(i)].shape.num_elements() != n) continue;
      taken[static_cast<size_t>(i)] = true;
      alias_.back() = i;
      break;
    }
  }
}

// The tile slots, then one pointer for each value.
size_t ElementwiseKernel::RangeScratchBytes() const {
  const size_t bytes =
      static_cast<size_t>(num_slots_) * kTile * sizeof(float) + values_.size() * sizeof(float*);
  return AlignedBytes(bytes);
}

size_t ElementwiseKernel::scratch_bytes() const {
  return without_tiles_ ? 0 : RangeScratchBytes() * static_cast<size_t>(chunks_.count);
}

void ElementwiseKernel::ConvertInputs(const KernelArgs& args, float** tiles, int64_t begin,
                                      int64_t n) const {
  for (const int i : converted_inputs_) {
    const Value& value = values_[static_cast<size_t>(i)];
    if (value.is_bf16) {
      WidenBfloat16(args.in<Bfloat16>(i) + begin, tiles[i], static_cast<size_t>(n));
    } else if (value.is_u8) {
      WidenBytes(args.in<uint8_t>(i) + begin, tiles[i], n);
    } else {
      WidenMask(args.in<uint8_t>(i) + begin, tiles[i], n);
    }
  }
}

void ElementwiseKernel::RunRange(const KernelArgs& args, void* scratch, int64_t begin, int64_t end,
                                 const Observer* observer) const {
  if (without_tiles_) {
    const Op& op = ops_[0];
    const auto operand = [&](int k) {
      return op.operands[k] < 0 ? nullptr : args.in<Bfloat16>(op.operands[k]) + begin;
    };
    RunBfloat16Tile(op.op, operand(0), operand(1), args.out<Bfloat16>(0) + begin,
                    static_cast<size_t>(end - begin), op.alpha);
    return;
  }
  float* const slots = static_cast<float*>(scratch);
  float** const tiles = reinterpret_cast<float**>(slots + num_slots_ * kTile);
  for (size_t v = 0; v < values_.size(); ++v)
    tiles[v] = values_[v].slot < 0 ? nullptr : slots + values_[v].slot * kTile;
  for (const Scalar& scalar : scalars_) {
    // Tile functions take no scalars, so one is repeated over a tile, once for all tiles of the
    // range.
    float* const tile = tiles[scalar.value];
    const Value& value = values_[static_cast<size_t>(scalar.value)];
    const float x = value.is_mask   ? (*args.in<uint8_t>(scalar.input) != 0 ? kTrue : 0.0f)
                    : value.is_bf16 ? static_cast<float>(*args.in<Bfloat16>(scalar.input))
                                    : *args.in<float>(scalar.input);
    std::fill(tile, tile + std::min(kTile, end - begin), x);
  }
  for (int64_t i = begin; i < end; i += kTile) {
    const int64_t n = std::min(kTile, end - i);
    for (size_t v = 0; v < values_.size(); ++v) {
      const Value& value = values_[v];
      if (value.place != Place::kBuffer) continue;
      // The const_cast is safe: inputs are only read through this pointer.
      tiles[v] = value.is_output_buffer ? args.out<float>(value.buffer) + i
                                        : const_cast<float*>(args.in<float>(value.buffer)) + i;
    }
    ConvertInputs(args, tiles, i, n);
    const size_t size = static_cast<size_t>(n);
    for (const Op& op : ops_) {
      const auto operand = [&](int k) -> const float* {
        return op.operands[k] < 0 ? nullptr : tiles[op.operands[k]];
      };
      float* const result = tiles[op.result];
      if (!op.is_cast) {
        RunTile(op.op, operand(0), operand(1), operand(2), result, size, op.alpha);
        if (op.is_rounded) RoundToBfloat16(result, result, size);
      } else if (op.is_rounded) {
        RoundToBfloat16(operand(0), result, size);
      } else if (result != operand(0)) {
        std::memcpy(result, operand(0), size * sizeof(float));
      }
    }
    for (const Copy& copy : copies_) {
      const float* const from = tiles[copy.value];
      if (values_[static_cast<size_t>(copy.value)].is_mask) {
        NarrowMask(from, args.out<uint8_t>(copy.output) + i, n);
      } else if (values_[static_cast<size_t>(copy.value)].is_bf16) {
        NarrowToBfloat16(from, args.out<Bfloat16>(copy.output) + i, size);
      } else {
        std::memcpy(args.out<float>(copy.output) + i, from, size * sizeof(float));
      }
    }
    if (observer != nullptr) (*observer)(tiles[observed_], i, n);
  }
}

absl::Status ElementwiseKernel::Run(const KernelArgs& args) {
  ParallelFor(chunks_, [&](int chunk, int64_t begin, int64_t end) {
    char* const scratch = static_cast<char*>(args.scratch);
    RunRange(args, scratch + RangeScratchBytes() * static_cast<size_t>(chunk), begin, end, nullptr);
  });
  return absl::OkStatus();
}

}  // namespace estimator::fused
