// Cumsum, MatrixBandPart.
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

EST_REGISTER_KERNEL("Cumsum", KernelTier::kReference,
                    [](const KernelSpec& spec) -> std::unique_ptr<Kernel> {
                      const auto axes = ConstantInts(spec, 1);
                      if (!axes.has_value()) return nullptr;
                      const Shape& shape = spec.inputs[0].shape;
                      const auto axis = static_cast<int>(WrapAxis((*axes)[0], shape.rank()));
                      const bool exclusive = spec.attrs.b("exclusive"),
                                 reverse = spec.attrs.b("reverse");
                      int64_t outer = 1, inner = 1;
                      for (int i = 0; i < axis; ++i) outer *= shape.dim(i);
                      for (int i = axis + 1; i < shape.rank(); ++i) inner *= shape.dim(i);
                      const int64_t size = shape.dim(axis);
                      std::unique_ptr<Kernel> kernel;
                      VisitNumeric(spec.inputs[0].dtype, [&](auto tag) {
                        using T = decltype(tag);
                        if constexpr (kIsNumberType<T>) {
                          kernel = MakeKernel([=](const KernelArgs& args) {
                            for (int64_t row = 0; row < outer * inner; ++row) {
                              const int64_t start = row / inner * size * inner + row % inner;
                              const T* x = args.in<T>(0) + start;
                              T* out = args.out<T>(0) + start;
                              Compute<T> sum = 0;
                              for (int64_t k = 0; k < size; ++k) {
                                const int64_t at = (reverse ? size - 1 - k : k) * inner;
                                if (exclusive) out[at] = static_cast<T>(sum);
                                sum = static_cast<Compute<T>>(sum + static_cast<Compute<T>>(x[at]));
                                if (!exclusive) out[at] = static_cast<T>(sum);
                              }
                            }
                            return absl::OkStatus();
                          });
                        }
                      });
                      return kernel;
                    });

EST_REGISTER_KERNEL("MatrixBandPart", KernelTier::kReference,
                    [](const KernelSpec& spec) -> std::unique_ptr<Kernel> {
                      const auto lower = ConstantInts(spec, 1), upper = ConstantInts(spec, 2);
                      if (!lower.has_value() || !upper.has_value()) return nullptr;
                      const Shape& shape = spec.inputs[0].shape;
                      const int64_t rows = shape.dim(-2), columns = shape.dim(-1),
                                    n = shape.num_elements();
                      const int64_t num_lower = (*lower)[0], num_upper = (*upper)[0];
                      std::unique_ptr<Kernel> kernel;
                      VisitNumeric(spec.inputs[0].dtype, [&](auto tag) {
                        using T = decltype(tag);
                        kernel = MakeKernel([=](const KernelArgs& args) {
                          for (int64_t i = 0; i < n; ++i) {
                            const int64_t row = i / columns % rows, column = i % columns;
                            const bool in = (num_lower < 0 || row - column <= num_lower) &&
                                            (num_upper < 0 || column - row <= num_upper);
                            args.out<T>(0)[i] = in ? args.in<T>(0)[i] : T{};
                          }
                          return absl::OkStatus();
                        });
                      });
                      return kernel;
                    });

}  // namespace
}  // namespace estimator
