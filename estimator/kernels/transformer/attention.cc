// Scaled dot-product attention, forward and backward, in f32 with one head per thread at a time.
// The heads are read where a dense layer has written them, without transposing. Both ops are made
// by a pass.
//   _Attention: q [B, S, heads, D]; k, v [B, T, heads, D]; bias f32 that broadcasts to
//     [B, heads, S, T], if has_bias; mask bool [B, heads, S, T], if has_mask
//     -> y [B, S, heads, D]
//   _AttentionGrad: dy like y, and the inputs of _Attention -> dq, dk, dv
//   attributes: has_bias, has_mask; scale and keep_scale, f32
//   With one query (S = 1), q, y and their gradients may be [B, heads, 1, D]: the same order.
//   p = softmax(q k^T scale + bias), y = (mask ? p keep_scale : 0) v
// More inputs are ignored. They are constants of the ops that were replaced.
#include <cstddef>
#include <cstdint>
#include <optional>

#include "estimator/kernels/fused/parallel.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/transformer/attention_head.h"

namespace estimator::transformer {
namespace {

struct Plan {
  HeadSizes sizes;
  int64_t batch = 0, heads = 0;
  int bias = -1, mask = -1;               // inputs
  int64_t batch_bias = 0, head_bias = 0;  // floats from the bias of an example or head to the next
  int64_t bias_row = 0;
  fused::Chunks chunks;

  // Where head `head` of q or y begins; of k and v with `rows` keys.
  int64_t Offset(int64_t unit, int64_t rows) const {
    return unit / heads * rows * sizes.stride + unit % heads * sizes.size;
  }
  HeadMasks Masks(const KernelArgs& args, int64_t unit) const {
    HeadMasks masks;
    if (bias >= 0) {
      masks.bias = args.in<float>(bias) + unit / heads * batch_bias + unit % heads * head_bias;
      masks.bias_stride = bias_row;
    }
    if (mask >= 0) masks.mask = args.in<uint8_t>(mask) + unit * sizes.queries * sizes.keys;
    return masks;
  }
};

bool IsF32(const TensorSpec& spec, const Shape& shape) {
  return spec.dtype == DType::kFloat32 && spec.shape == shape;
}

// Reads the bias's shape, [B or 1, heads or 1, S or 1, T].
bool PlanBias(const TensorSpec& spec, Plan* plan) {
  const Shape& shape = spec.shape;
  if (spec.dtype != DType::kFloat32 || shape.rank() != 4 || shape[3] != plan->sizes.keys)
    return false;
  int64_t step = plan->sizes.keys;
  const auto stride = [&](int axis, int64_t size, int64_t* result) {
    // A stride of 0 repeats an axis of size 1, so the bias is never broadcast in memory.
    *result = shape[axis] == 1 ? 0 : step;
    const bool fits = shape[axis] == 1 || shape[axis] == size;
    step *= shape[axis];
    return fits;
  };
  return stride(2, plan->sizes.queries, &plan->bias_row) &&
         stride(1, plan->heads, &plan->head_bias) && stride(0, plan->batch, &plan->batch_bias);
}

//   first: the index of q.
std::optional<Plan> MakePlan(const KernelSpec& spec, size_t first) {
  const bool has_bias = spec.attrs.b("has_bias"), has_mask = spec.attrs.b("has_mask");
  const size_t num_inputs = first + 3 + (has_bias ? 1 : 0) + (has_mask ? 1 : 0);
  if (spec.inputs.size() < num_inputs) return std::nullopt;
  const Shape &given_q = spec.inputs[first].shape, &k = spec.inputs[first + 1].shape;
  Shape q = given_q;
  if (q.rank() == 4 && k.rank() == 4 && q[2] == 1 && q[1] == k[2]) {
    q.set_dim(1, 1);
    q.set_dim(2, k[2]);
  }
  // Offsets of heads are quotients by the sizes of q and k, and a softmax over no keys has no
  // meaning.
  if (q.rank() != 4 || k.rank() != 4 || q.num_elements() == 0 || k.num_elements() == 0)
    return std::nullopt;
  if (!IsF32(spec.inputs[first], given_q) || !IsF32(spec.inputs[first + 1], k) ||
      !IsF32(spec.inputs[first + 2], k) || q[0] != k[0] || q[2] != k[2] || q[3] != k[3])
    return std::nullopt;
  Plan plan{.sizes = {.queries = q[1],
                      .keys = k[1],
                      .size = q[3],
                      .stride = q[2] * q[3],
                      .scale = spec.attrs.f("scale"),
                      .keep_scale = spec.attrs.f("keep_scale")},
            .batch = q[0],
            .heads = q[2],
            .chunks = fused::MakeChunks(q[0] * q[2], q[1] * k[1])};
  if (has_bias) {
    plan.bias = static_cast<int>(first) + 3;
    if (!PlanBias(spec.inputs[first + 3], &plan)) return std::nullopt;
  }
  if (has_mask) {
    plan.mask = static_cast<int>(num_inputs) - 1;
    const TensorSpec& mask = spec.inputs[num_inputs - 1];
    if (mask.dtype != DType::kBool || !(mask.shape == Shape{q[0], q[2], q[1], k[1]}))
      return std::nullopt;
  }
  return plan;
}

// A kernel that calls run(args, row, key, masks, scratch) for every head. Its queries begin at
// float `row`, and its keys at float `key` of their tensors.
template <typename Run>
KernelPlan ForEachHead(const Plan& plan, Run run) {
  const size_t floats = AttentionScratch(plan.sizes);  // of a thread
  return MakeKernel(
      [plan, run, floats](const KernelArgs& args) {
        fused::ForEachItem(plan.chunks, [&](int chunk, int64_t unit) {
          run(args, plan.Offset(unit, plan.sizes.queries), plan.Offset(unit, plan.sizes.keys),
              plan.Masks(args, unit),
              static_cast<float*>(args.scratch) + static_cast<size_t>(chunk) * floats);
        });
      },
      static_cast<size_t>(plan.chunks.count) * floats * sizeof(float));
}

KernelPlan MakeAttention(const KernelSpec& spec) {
  const std::optional<Plan> plan = MakePlan(spec, 0);
  if (!plan.has_value() || spec.outputs.size() != 1 ||
      !IsF32(spec.outputs[0], spec.inputs[0].shape))
    return nullptr;
  return ForEachHead(*plan, [sizes = plan->sizes](const KernelArgs& args, int64_t row, int64_t key,
                                                  const HeadMasks& masks, float* scratch) {
    AttentionHead(sizes, args.in<float>(0) + row, args.in<float>(1) + key, args.in<float>(2) + key,
                  masks, scratch, args.out<float>(0) + row);
  });
}

KernelPlan MakeAttentionGrad(const KernelSpec& spec) {
  const std::optional<Plan> plan = MakePlan(spec, 1);
  if (!plan.has_value() || spec.outputs.size() != 3 ||
      !IsF32(spec.inputs[0], spec.inputs[1].shape) ||
      !IsF32(spec.outputs[0], spec.inputs[1].shape) ||
      !IsF32(spec.outputs[1], spec.inputs[2].shape) ||
      !IsF32(spec.outputs[2], spec.inputs[2].shape))
    return nullptr;
  return ForEachHead(*plan, [sizes = plan->sizes](const KernelArgs& args, int64_t row, int64_t key,
                                                  const HeadMasks& masks, float* scratch) {
    AttentionHeadGrad(sizes, args.in<float>(0) + row, args.in<float>(1) + row,
                      args.in<float>(2) + key, args.in<float>(3) + key, masks, scratch,
                      args.out<float>(0) + row, args.out<float>(1) + key, args.out<float>(2) + key);
  });
}

EST_REGISTER_KERNEL("_Attention", KernelTier::kFused, MakeAttention);
EST_REGISTER_KERNEL("_AttentionGrad", KernelTier::kFused, MakeAttentionGrad);

}  // namespace
}  // namespace estimator::transformer
