// _FusedElementwise: computes a chain of element-wise ops in one pass over memory.
//
// Attributes:
//   ops      TensorFlow op names in order of evaluation (tile_ops.h has the list), or "Cast" from
//            f32 to bf16, or from bf16 or u8 to f32
//   args     three value indices for each op, padded with -1
//   outputs  the value indices that are the op's outputs, in order
//   alphas   the attribute "alpha" of each op, 0 if it has none; may be left out if no op has one
// Value k < num_inputs is input k; value num_inputs + j is the result of op j. An input has the
// outputs' shape, or one element. Values are f32 or bf16; the operands of an op have one dtype,
// which is that of its result. Results of comparisons and the first operand of SelectV2 are bool.
// An input of u8, an image, has the outputs' shape, and only casts read it.
//
// Every op is computed in f32. A bf16 result is rounded to bf16 after each op, as by TensorFlow's
// kernels of single ops, and kept as a float in its tile.
//
// The chain is evaluated in tiles: every op computes one tile before any op computes the next tile.
// So the intermediate values stay in the L1 cache. A single cheap op on bf16 needs no tiles.
#ifndef ESTIMATOR_KERNELS_FUSED_ELEMENTWISE_H_
#define ESTIMATOR_KERNELS_FUSED_ELEMENTWISE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/fused/tile_ops.h"
#include "estimator/kernels/kernel.h"

namespace estimator::fused {

class ElementwiseKernel final : public Kernel {
 public:
  // From a _FusedElementwise spec. Returns null if an op is not in the list, a dtype is not
  // supported, or an input has neither the outputs' shape nor one element.
  static KernelPlan Create(const KernelSpec& spec);
  // From a single op of the list, as a chain of one op.
  static KernelPlan CreateSingle(const KernelSpec& spec);
  // As Create, but RunRange shows the tiles of `value`, a number of full size, to its observer.
  static std::unique_ptr<ElementwiseKernel> CreateObserved(const KernelSpec& spec, int64_t value);

  absl::Status Run(const KernelArgs& args) override;
  size_t scratch_bytes() const override;
  // An output may overwrite an input that no later op of the chain reads.
  int AliasInput(int output) const override { return alias_[static_cast<size_t>(output)]; }

  // Gets the elements [first, first + n) of the observed value, before they are narrowed to bf16.
  using Observer = absl::FunctionRef<void(const float* tile, int64_t first, int64_t n)>;
  // Computes the elements [begin, end).
  //   scratch: RangeScratchBytes() bytes.  observer: null if no value is observed.
  void RunRange(const KernelArgs& args, void* scratch, int64_t begin, int64_t end,
                const Observer* observer) const;
  size_t RangeScratchBytes() const;

 private:
  // Where the tile of a value is: in the buffer of an input or output, or in a slot of the scratch.
  enum class Place { kBuffer, kSlot };
  struct Value {
    bool is_mask = false;
    bool is_bf16 = false;
    bool is_u8 = false;
    Place place = Place::kSlot;
    int slot = -1;    // kSlot: the index of the slot
    int buffer = -1;  // kBuffer: the index of the input or output
    bool is_output_buffer = false;
    // The last op that reads it; num_ops if it is copied to an output at the end; -1 if none.
    int last_use = -1;
  };
  struct Op {
    bool is_cast = false;     // copies its operand, instead of `op`
    bool is_rounded = false;  // to bf16
    TileOp op = TileOp::kAddV2;
    float alpha = 0;
    int operands[3] = {-1, -1, -1};
    int result = -1;
  };
  struct Scalar {  // an input of one element; fills its slot once in every chunk
    int input = 0;
    int value = 0;
  };
  // An output that is not computed in its buffer: a bool, a bf16, an input, or a value that is an
  // output twice.
  struct Copy {
    int output = 0;
    int value = 0;
  };

  ElementwiseKernel() = default;
  bool Build(const KernelSpec& spec, const std::vector<std::string>& ops,
             const std::vector<int64_t>& args, const std::vector<int64_t>& outputs,
             const std::vector<float>& alphas);
  bool AddInputs(const KernelSpec& spec, int64_t n);
  bool AddOp(const std::string& name, const int64_t* args, std::optional<float> alpha);
  void PlaceOutputs(const KernelSpec& spec, const std::vector<int64_t>& outputs);
  void AssignSlots();
  void ChooseAliases(const KernelSpec& spec, const std::vector<int64_t>& outputs);
  bool KeepObserved(const KernelSpec& spec, int64_t n);
  bool IsPlainBfloat16Op() const;
  void ConvertInputs(const KernelArgs& args, float** tiles, int64_t begin, int64_t n) const;

  int num_inputs_ = 0;
  int64_t observed_ = -1;  // the value for the observer
  std::vector<Value> values_;
  std::vector<Op> ops_;
  std::vector<Scalar> scalars_;
  // Full-size bool, bf16 and u8 inputs, converted to masks and floats in their slots.
  std::vector<int> converted_inputs_;
  std::vector<Copy> copies_;
  std::vector<int> alias_;  // for each output
  int num_slots_ = 0;
  bool without_tiles_ = false;  // IsPlainBfloat16Op()
  Chunks chunks_;
};

}  // namespace estimator::fused

#endif  // ESTIMATOR_KERNELS_FUSED_ELEMENTWISE_H_
