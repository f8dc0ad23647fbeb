// Transpose, ConcatV2, Split, SplitV, Pack, Unpack, ReverseV2, Tile.
#include <vector>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/loops.h"
#include "estimator/kernels/reference/moves.h"

namespace estimator {
namespace {

EST_REGISTER_KERNEL("Transpose", KernelTier::kReference,
                    [](const KernelSpec& spec) -> std::unique_ptr<Kernel> {
                      const auto perm = ConstantInts(spec, 1);
                      if (!perm.has_value()) return nullptr;
                      const Shape& from = spec.inputs[0].shape;
                      const std::vector<int64_t> own = from.strides();
                      std::vector<int64_t> strides;
                      for (const int64_t axis : *perm)
                        strides.push_back(own[static_cast<size_t>(WrapAxis(axis, from.rank()))]);
                      return GatherByStrides(spec, spec.outputs[0].shape, 0, strides);
                    });

EST_REGISTER_KERNEL("ReverseV2", KernelTier::kReference,
                    [](const KernelSpec& spec) -> std::unique_ptr<Kernel> {
                      const auto axes = ConstantInts(spec, 1);
                      if (!axes.has_value()) return nullptr;
                      const Shape& shape = spec.inputs[0].shape;
                      std::vector<int64_t> strides = shape.strides();
                      int64_t base = 0;
                      for (const int64_t given : *axes) {
                        const auto axis = static_cast<size_t>(WrapAxis(given, shape.rank()));
                        if (shape.dims()[axis] > 0)
                          base += (shape.dims()[axis] - 1) * strides[axis];
                        strides[axis] = -strides[axis];
                      }
                      return GatherByStrides(spec, shape, base, strides);
                    });

EST_REGISTER_KERNEL("Tile", KernelTier::kReference,
                    [](const KernelSpec& spec) -> std::unique_ptr<Kernel> {
                      const auto multiples = ConstantInts(spec, 1);
                      if (!multiples.has_value()) return nullptr;
                      const Shape& from = spec.inputs[0].shape;
                      const std::vector<int64_t> own = from.strides();
                      Shape shape;  // two axes for each axis: the repetitions, then the elements
                      std::vector<int64_t> strides;
                      for (size_t axis = 0; axis < own.size(); ++axis) {
                        shape.push_back((*multiples)[axis]);
                        shape.push_back(from.dims()[axis]);
                        strides.push_back(0);
                        strides.push_back(own[axis]);
                      }
                      return GatherByStrides(spec, shape, 0, strides);
                    });

// The parts of `whole` along `axis`, one for each size. With `drop_axis` a part lacks the axis
// (Pack).
std::vector<Part> PartsAlong(const Shape& whole, size_t axis, const std::vector<Shape>& parts,
                             bool drop_axis) {
  const std::vector<int64_t> strides = whole.strides();
  std::vector<Part> result;
  int64_t begin = 0;
  for (const Shape& part : parts) {
    std::vector<int64_t> own = strides;
    if (drop_axis) own.erase(own.begin() + static_cast<int64_t>(axis));
    result.push_back({begin * strides[axis], StridedWalk<1>(part, {own})});
    begin += drop_axis ? 1 : part.dims()[axis];
  }
  return result;
}

std::vector<Shape> Shapes(const std::vector<TensorSpec>& specs, size_t begin, size_t end) {
  std::vector<Shape> shapes;
  for (size_t i = begin; i < end; ++i) shapes.push_back(specs[i].shape);
  return shapes;
}

// Copies the inputs first_input + k into the parts of output 0.
std::unique_ptr<Kernel> JoinKernel(DType dtype, std::vector<Part> parts) {
  std::unique_ptr<Kernel> kernel;
  for (const Part& part : parts) {
    if (!part.walk.ok()) return nullptr;
  }
  VisitBySize(dtype, [&](auto tag) {
    using T = decltype(tag);
    kernel = MakeKernel([parts](const KernelArgs& args) {
      for (size_t k = 0; k < parts.size(); ++k) {
        const T* x = args.in<T>(static_cast<int>(k));
        T* out = args.out<T>(0) + parts[k].base;
        parts[k].walk.ForEach([&](int64_t i, const auto& at) { out[at[0]] = x[i]; });
      }
      return absl::OkStatus();
    });
  });
  return kernel;
}

// Copies the parts of input `input` to the outputs.
std::unique_ptr<Kernel> DivideKernel(DType dtype, int input, std::vector<Part> parts) {
  std::unique_ptr<Kernel> kernel;
  for (const Part& part : parts) {
    if (!part.walk.ok()) return nullptr;
  }
  VisitBySize(dtype, [&](auto tag) {
    using T = decltype(tag);
    kernel = MakeKernel([parts, input](const KernelArgs& args) {
      for (size_t k = 0; k < parts.size(); ++k) {
        const T* x = args.in<T>(input) + parts[k].base;
        T* out = args.out<T>(static_cast<int>(k));
        parts[k].walk.ForEach([&](int64_t i, const auto& at) { out[i] = x[at[0]]; });
      }
      return absl::OkStatus();
    });
  });
  return kernel;
}

EST_REGISTER_KERNEL("ConcatV2", KernelTier::kReference,
                    [](const KernelSpec& spec) -> std::unique_ptr<Kernel> {
                      const size_t n = spec.inputs.size() - 1;
                      const auto axis = ConstantInts(spec, static_cast<int>(n));
                      if (!axis.has_value()) return nullptr;
                      const Shape& whole = spec.outputs[0].shape;
                      return JoinKernel(
                          spec.outputs[0].dtype,
                          PartsAlong(whole, static_cast<size_t>(WrapAxis((*axis)[0], whole.rank())),
                                     Shapes(spec.inputs, 0, n), false));
                    });

EST_REGISTER_KERNEL("Pack", KernelTier::kReference, [](const KernelSpec& spec) {
  const Shape& whole = spec.outputs[0].shape;
  const auto axis = static_cast<size_t>(WrapAxis(spec.attrs.i("axis"), whole.rank()));
  return JoinKernel(spec.outputs[0].dtype,
                    PartsAlong(whole, axis, Shapes(spec.inputs, 0, spec.inputs.size()), true));
});

EST_REGISTER_KERNEL("Unpack", KernelTier::kReference, [](const KernelSpec& spec) {
  const Shape& whole = spec.inputs[0].shape;
  const auto axis = static_cast<size_t>(WrapAxis(spec.attrs.i("axis"), whole.rank()));
  return DivideKernel(spec.inputs[0].dtype, 0,
                      PartsAlong(whole, axis, Shapes(spec.outputs, 0, spec.outputs.size()), true));
});

EST_REGISTER_KERNEL("Split", KernelTier::kReference,
                    [](const KernelSpec& spec) -> std::unique_ptr<Kernel> {
                      const auto axis = ConstantInts(spec, 0);
                      if (!axis.has_value()) return nullptr;
                      const Shape& whole = spec.inputs[1].shape;
                      return DivideKernel(
                          spec.inputs[1].dtype, 1,
                          PartsAlong(whole, static_cast<size_t>(WrapAxis((*axis)[0], whole.rank())),
                                     Shapes(spec.outputs, 0, spec.outputs.size()), false));
                    });

EST_REGISTER_KERNEL("SplitV", KernelTier::kReference,
                    [](const KernelSpec& spec) -> std::unique_ptr<Kernel> {
                      const auto axis = ConstantInts(spec, 2);
                      if (!axis.has_value()) return nullptr;
                      const Shape& whole = spec.inputs[0].shape;
                      return DivideKernel(
                          spec.inputs[0].dtype, 0,
                          PartsAlong(whole, static_cast<size_t>(WrapAxis((*axis)[0], whole.rank())),
                                     Shapes(spec.outputs, 0, spec.outputs.size()), false));
                    });

}  // namespace
}  // namespace estimator
