// MaxPool, AvgPool and their gradients as plain loops over NHWC. Padding counts neither for a
// maximum nor for an average.
#include <algorithm>
#include <cstdint>

#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/accumulate.h"
#include "estimator/kernels/window.h"

namespace estimator {
namespace {

struct Pool {
  int64_t batch = 0;
  int64_t channels = 0;
  Window rows;
  Window columns;

  int64_t in_image() const { return rows.input * columns.input * channels; }
};

// Calls fn(output_pixel, window) for every output of image n. window(fn2) calls fn2(input_pixel)
// for every input of the window, in row-major order.
template <typename Fn>
void ForEachWindow(const Pool& pool, int64_t n, Fn&& fn) {
  for (int64_t p = 0; p < pool.rows.output; ++p) {
    for (int64_t q = 0; q < pool.columns.output; ++q) {
      const auto window = [&](auto&& each) {
        for (int64_t r = pool.rows.FirstTap(p); r < pool.rows.EndTap(p); ++r) {
          const int64_t row = (n * pool.rows.input + pool.rows.Input(p, r)) * pool.columns.input;
          for (int64_t s = pool.columns.FirstTap(q); s < pool.columns.EndTap(q); ++s) {
            each(row + pool.columns.Input(q, s));
          }
        }
      };
      fn((n * pool.rows.output + p) * pool.columns.output + q, window);
    }
  }
}

template <typename T>
void MaxPool(const Pool& pool, const T* in, T* out) {
  const int64_t channels = pool.channels;
  for (int64_t n = 0; n < pool.batch; ++n) {
    ForEachWindow(pool, n, [&](int64_t output, const auto& window) {
      T* const best = out + output * channels;
      bool first = true;
      window([&](int64_t input) {
        const T* const x = in + input * channels;
        for (int64_t c = 0; c < channels; ++c) {
          // The first tap is taken as it is, so that a window of -infinity, or one that begins with
          // NaN, keeps it.
          if (first || x[c] > best[c]) best[c] = x[c];
        }
        first = false;
      });
    });
  }
}

// The gradient flows to the first input of the window, in row-major order, that equals the maximum.
template <typename T, typename Acc = Accumulator<T>>
void MaxPoolGrad(const Pool& pool, const T* in, const T* out, const T* grad, T* in_grad, Acc* sums,
                 bool* found) {
  const int64_t channels = pool.channels;
  for (int64_t n = 0; n < pool.batch; ++n) {
    // Windows may overlap. Sums in bf16 would be rounded at each of them.
    std::fill(sums, sums + pool.in_image(), Acc{0});
    // ForEachWindow counts pixels from the start of the batch; `sums` has one image.
    Acc* const image = sums - n * pool.in_image();
    ForEachWindow(pool, n, [&](int64_t output, const auto& window) {
      const T* const best = out + output * channels;
      const T* const g = grad + output * channels;
      std::fill(found, found + channels, false);
      window([&](int64_t input) {
        const T* const x = in + input * channels;
        for (int64_t c = 0; c < channels; ++c) {
          // A NaN equals nothing: its window has no gradient.
          if (found[c] || x[c] != best[c]) continue;
          found[c] = true;
          image[input * channels + c] += static_cast<Acc>(g[c]);
        }
      });
    });
    for (int64_t e = 0; e < pool.in_image(); ++e)
      in_grad[n * pool.in_image() + e] = static_cast<T>(sums[e]);
  }
}

// The reverse: every output takes the `grad` of its maximum, or 0 if no input equals it.
template <typename T>
void MaxPoolGradGrad(const Pool& pool, const T* in, const T* out, const T* grad, T* out_grad,
                     bool* found) {
  const int64_t channels = pool.channels;
  for (int64_t n = 0; n < pool.batch; ++n) {
    ForEachWindow(pool, n, [&](int64_t output, const auto& window) {
      std::fill(found, found + channels, false);
      std::fill_n(out_grad + output * channels, channels, T(0.0f));
      window([&](int64_t input) {
        for (int64_t c = 0; c < channels; ++c) {
          if (found[c] || in[input * channels + c] != out[output * channels + c]) continue;
          found[c] = true;
          out_grad[output * channels + c] = grad[input * channels + c];
        }
      });
    });
  }
}

template <typename T, typename Acc = Accumulator<T>>
void AvgPool(const Pool& pool, const T* in, T* out, Acc* sums) {
  const int64_t channels = pool.channels;
  for (int64_t n = 0; n < pool.batch; ++n) {
    ForEachWindow(pool, n, [&](int64_t output, const auto& window) {
      std::fill(sums, sums + channels, Acc{0});
      int64_t count = 0;
      window([&](int64_t input) {
        const T* const x = in + input * channels;
        for (int64_t c = 0; c < channels; ++c) sums[c] += static_cast<Acc>(x[c]);
        ++count;
      });
      for (int64_t c = 0; c < channels; ++c) {
        out[output * channels + c] = static_cast<T>(sums[c] / static_cast<Acc>(count));
      }
    });
  }
}

template <typename T, typename Acc = Accumulator<T>>
void AvgPoolGrad(const Pool& pool, const T* grad, T* in_grad, Acc* sums) {
  const int64_t channels = pool.channels;
  for (int64_t n = 0; n < pool.batch; ++n) {
    std::fill(sums, sums + pool.in_image(), Acc{0});
    Acc* const image = sums - n * pool.in_image();
    ForEachWindow(pool, n, [&](int64_t output, const auto& window) {
      const T* const g = grad + output * channels;
      int64_t count = 0;
      window([&](int64_t) { ++count; });
      window([&](int64_t input) {
        for (int64_t c = 0; c < channels; ++c) {
          image[input * channels + c] += static_cast<Acc>(g[c]) / static_cast<Acc>(count);
        }
      });
    });
    for (int64_t e = 0; e < pool.in_image(); ++e)
      in_grad[n * pool.in_image() + e] = static_cast<T>(sums[e]);
  }
}

// The kernel that `make` returns for a pool: make(T{}, pool), with the type T of its images.
//   input: the shape of what is pooled.
template <typename Make>
KernelPlan ForPool(const KernelSpec& spec, const Shape& input, Make make) {
  const auto& ksize = spec.attrs.ints("ksize");
  const auto windows = MakeWindow2D(spec.attrs, input, ksize[1], ksize[2]);
  if (!windows.ok()) return nullptr;
  const Pool pool{.batch = input.dim(0),
                  .channels = input.dim(3),
                  .rows = windows->rows,
                  .columns = windows->columns};
  return VisitFloating(spec.outputs[0].dtype, [&](auto tag) { return make(tag, pool); });
}

KernelPlan MakeMaxPool(const KernelSpec& spec) {
  return ForPool(spec, spec.inputs[0].shape, [](auto tag, const Pool& p) {
    using T = decltype(tag);
    return MakeKernel([p](const KernelArgs& args) { MaxPool(p, args.in<T>(0), args.out<T>(0)); });
  });
}

KernelPlan MakeMaxPoolGrad(const KernelSpec& spec) {
  return ForPool(spec, spec.inputs[0].shape, [](auto tag, const Pool& p) {
    using T = decltype(tag);
    using Acc = Accumulator<T>;
    return MakeKernel(
        [p](const KernelArgs& args) {
          Acc* const sums = static_cast<Acc*>(args.scratch);
          bool* const found = reinterpret_cast<bool*>(sums + p.in_image());
          MaxPoolGrad(p, args.in<T>(0), args.in<T>(1), args.in<T>(2), args.out<T>(0), sums, found);
        },
        static_cast<size_t>(p.in_image()) * sizeof(Acc) + static_cast<size_t>(p.channels));
  });
}

KernelPlan MakeMaxPoolGradGrad(const KernelSpec& spec) {
  return ForPool(spec, spec.inputs[0].shape, [](auto tag, const Pool& p) {
    using T = decltype(tag);
    return MakeKernel(
        [p](const KernelArgs& args) {
          MaxPoolGradGrad(p, args.in<T>(0), args.in<T>(1), args.in<T>(2), args.out<T>(0),
                          static_cast<bool*>(args.scratch));
        },
        static_cast<size_t>(p.channels));
  });
}

KernelPlan MakeAvgPool(const KernelSpec& spec) {
  return ForPool(spec, spec.inputs[0].shape, [](auto tag, const Pool& p) {
    using T = decltype(tag);
    using Acc = Accumulator<T>;
    return MakeKernel(
        [p](const KernelArgs& args) {
          AvgPool(p, args.in<T>(0), args.out<T>(0), static_cast<Acc*>(args.scratch));
        },
        static_cast<size_t>(p.channels) * sizeof(Acc));
  });
}

KernelPlan MakeAvgPoolGrad(const KernelSpec& spec) {
  return ForPool(spec, spec.outputs[0].shape, [](auto tag, const Pool& p) {
    using T = decltype(tag);
    using Acc = Accumulator<T>;
    return MakeKernel(
        [p](const KernelArgs& args) {
          AvgPoolGrad(p, args.in<T>(1), args.out<T>(0), static_cast<Acc*>(args.scratch));
        },
        static_cast<size_t>(p.in_image()) * sizeof(Acc));
  });
}

EST_REGISTER_KERNEL("MaxPool", KernelTier::kReference, MakeMaxPool);
EST_REGISTER_KERNEL("MaxPoolGrad", KernelTier::kReference, MakeMaxPoolGrad);
EST_REGISTER_KERNEL("MaxPoolGradGrad", KernelTier::kReference, MakeMaxPoolGradGrad);
EST_REGISTER_KERNEL("AvgPool", KernelTier::kReference, MakeAvgPool);
EST_REGISTER_KERNEL("AvgPoolGrad", KernelTier::kReference, MakeAvgPoolGrad);

}  // namespace
}  // namespace estimator
