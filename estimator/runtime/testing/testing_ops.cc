#include "estimator/runtime/testing/testing_ops.h"

#include "absl/strings/str_cat.h"
#include "estimator/graph/op_registry.h"
#include "estimator/kernels/kernel.h"

namespace estimator::testing {
namespace {

using Specs = std::vector<TensorSpec>;

absl::StatusOr<Specs> First(const ShapeContext& c) { return Specs{c.input(0)}; }
absl::StatusOr<Specs> Larger(const ShapeContext& c) {
  return Specs{c.input(0).shape.num_elements() >= c.input(1).shape.num_elements() ? c.input(0)
                                                                                  : c.input(1)};
}
absl::StatusOr<Specs> Stated(const ShapeContext& c) {
  return Specs{{c.attrs.dtype("dtype"), c.attrs.get<Shape>("shape")}};
}
absl::StatusOr<Specs> OfValue(const ShapeContext& c) {
  const Array& value = c.attrs.get<Array>("value");
  return Specs{{value.dtype(), value.shape()}};
}
absl::StatusOr<Specs> Product(const ShapeContext& c) {
  const int64_t m = c.input(0).shape[c.attrs.b("transpose_a") ? 1 : 0];
  const int64_t n = c.input(1).shape[c.attrs.b("transpose_b") ? 0 : 1];
  return Specs{{DType::kFloat32, {m, n}}};
}
absl::StatusOr<Specs> ScalarOf(const ShapeContext& c) { return Specs{{c.input(0).dtype, {}}}; }

EST_REGISTER_OP({.name = "Const", .num_inputs = 0, .shape = OfValue});
EST_REGISTER_OP({.name = "Placeholder", .num_inputs = 0, .shape = Stated, .stateful = true});
EST_REGISTER_OP({.name = "Identity", .num_inputs = 1, .shape = First});
EST_REGISTER_OP({.name = "Reshape", .num_inputs = 2, .shape = Stated});
EST_REGISTER_OP({.name = "AddV2", .num_inputs = 2, .shape = Larger});
EST_REGISTER_OP({.name = "Sub", .num_inputs = 2, .shape = Larger});
EST_REGISTER_OP({.name = "Mul", .num_inputs = 2, .shape = Larger});
EST_REGISTER_OP({.name = "MatMul", .num_inputs = 2, .shape = Product});
EST_REGISTER_OP({.name = "Sum", .num_inputs = 1, .shape = ScalarOf});
EST_REGISTER_OP({.name = "FailAbove", .num_inputs = 1, .shape = First});
EST_REGISTER_OP({.name = "StepNumber", .num_inputs = 0, .shape = Stated, .stateful = true});
EST_REGISTER_OP({.name = "CrossReplicaSum", .num_inputs = -1, .shape = First});
EST_REGISTER_OP({.name = "ApplyGradientDescent", .num_inputs = 3, .shape = First});
EST_REGISTER_OP({.name = "WithoutKernel", .num_inputs = 1, .shape = First});
EST_REGISTER_OP({.name = "AlsoWithoutKernel", .num_inputs = 1, .shape = First});

template <typename Fn>
KernelFactory Binary(Fn fn) {
  return [fn](const KernelSpec& spec) -> std::unique_ptr<Kernel> {
    std::unique_ptr<Kernel> kernel;
    VisitNumeric(spec.outputs[0].dtype, [&](auto tag) {
      using T = decltype(tag);
      const int64_t n = spec.outputs[0].shape.num_elements();
      const int64_t a = spec.inputs[0].shape.num_elements() == n ? 1 : 0;
      const int64_t b = spec.inputs[1].shape.num_elements() == n ? 1 : 0;
      // An operand that is broadcast is smaller than the result, so it cannot be overwritten.
      kernel = MakeKernel(
          [n, a, b, fn](const KernelArgs& args) {
            for (int64_t i = 0; i < n; ++i) {
              args.out<T>(0)[i] = static_cast<T>(fn(args.in<T>(0)[i * a], args.in<T>(1)[i * b]));
            }
            return absl::OkStatus();
          },
          0, a == 1 ? 0 : -1);
    });
    return kernel;
  };
}
EST_REGISTER_KERNEL("AddV2", KernelTier::kReference, Binary([](auto a, auto b) { return a + b; }));
EST_REGISTER_KERNEL("Sub", KernelTier::kReference, Binary([](auto a, auto b) { return a - b; }));
EST_REGISTER_KERNEL("Mul", KernelTier::kReference, Binary([](auto a, auto b) { return a * b; }));

EST_REGISTER_KERNEL("MatMul", KernelTier::kReference, [](const KernelSpec& spec) {
  const bool ta = spec.attrs.b("transpose_a"), tb = spec.attrs.b("transpose_b");
  const int64_t m = spec.outputs[0].shape[0], n = spec.outputs[0].shape[1];
  const int64_t k = spec.inputs[0].shape[ta ? 0 : 1];
  return MakeKernel([=](const KernelArgs& args) {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (int64_t l = 0; l < k; ++l) {
          sum += args.in<float>(0)[ta ? l * m + i : i * k + l] *
                 args.in<float>(1)[tb ? j * k + l : l * n + j];
        }
        args.out<float>(0)[i * n + j] = sum;
      }
    }
    return absl::OkStatus();
  });
});

// It sums in scratch, so that the tests cover scratch memory.
EST_REGISTER_KERNEL("Sum", KernelTier::kReference, [](const KernelSpec& spec) {
  const int64_t n = spec.inputs[0].shape.num_elements();
  return MakeKernel(
      [n](const KernelArgs& args) {
        float* sum = static_cast<float*>(args.scratch);
        *sum = 0;
        for (int64_t i = 0; i < n; ++i) *sum += args.in<float>(0)[i];
        *args.out<float>(0) = *sum;
        return absl::OkStatus();
      },
      sizeof(float));
});

EST_REGISTER_KERNEL("FailAbove", KernelTier::kReference, [](const KernelSpec& spec) {
  const int64_t n = spec.inputs[0].shape.num_elements();
  const float limit = spec.attrs.f("limit");
  return MakeKernel([n, limit](const KernelArgs& args) {
    float mean = 0;
    for (int64_t i = 0; i < n; ++i) mean += args.in<float>(0)[i] / static_cast<float>(n);
    if (mean > limit) return absl::InvalidArgumentError(absl::StrCat("the mean is ", mean));
    std::copy(args.in<float>(0), args.in<float>(0) + n, args.out<float>(0));
    return absl::OkStatus();
  });
});

EST_REGISTER_KERNEL("StepNumber", KernelTier::kReference, [](const KernelSpec&) {
  return MakeKernel([](const KernelArgs& args) {
    *args.out<float>(0) = static_cast<float>(args.step.step);
    return absl::OkStatus();
  });
});

EST_REGISTER_KERNEL("ApplyGradientDescent", KernelTier::kReference, [](const KernelSpec& spec) {
  const int64_t n = spec.outputs[0].shape.num_elements();
  return MakeKernel(
      [n](const KernelArgs& args) {
        for (int64_t i = 0; i < n; ++i) {
          args.out<float>(0)[i] = args.in<float>(0)[i] - *args.in<float>(1) * args.in<float>(2)[i];
        }
        return absl::OkStatus();
      },
      0, 0);
});

}  // namespace

Tensor Const(const Array& value) {
  return Graph::Current().AddOp("Const", {}, {{"value", value}, {"dtype", value.dtype()}});
}

Tensor Placeholder(const Shape& shape, DType dtype, absl::string_view name) {
  return Graph::Current().AddOp("Placeholder", {}, {{"dtype", dtype}, {"shape", shape}}, name);
}

Tensor Add(const Tensor& a, const Tensor& b) { return Graph::Current().AddOp("AddV2", {a, b}); }
Tensor Sub(const Tensor& a, const Tensor& b) { return Graph::Current().AddOp("Sub", {a, b}); }
Tensor Mul(const Tensor& a, const Tensor& b) { return Graph::Current().AddOp("Mul", {a, b}); }

Tensor MatMul(const Tensor& a, const Tensor& b, bool transpose_a, bool transpose_b) {
  return Graph::Current().AddOp("MatMul", {a, b},
                                {{"transpose_a", transpose_a}, {"transpose_b", transpose_b}});
}

Tensor Sum(const Tensor& x) { return Graph::Current().AddOp("Sum", {x}); }

Tensor Reshape(const Tensor& x, const Shape& shape) {
  const Tensor dims = Const(Array::FromSpan<int64_t>(Shape{shape.rank()}, shape.dims()));
  return Graph::Current().AddOp("Reshape", {x, dims}, {{"dtype", x.dtype()}, {"shape", shape}});
}

Tensor Identity(const Tensor& x) { return Graph::Current().AddOp("Identity", {x}); }

Tensor FailAbove(const Tensor& x, float limit) {
  return Graph::Current().AddOp("FailAbove", {x}, {{"limit", limit}});
}

Tensor StepNumber() {
  return Graph::Current().AddOp("StepNumber", {}, {{"dtype", DType::kFloat32}, {"shape", Shape{}}});
}

Tensor CrossReplicaSum(const Tensor& x, const std::vector<std::vector<int32_t>>& groups) {
  if (groups.empty()) return Graph::Current().AddOp("CrossReplicaSum", {x});
  Array assignment(DType::kInt32,
                   {static_cast<int64_t>(groups.size()), static_cast<int64_t>(groups[0].size())});
  int32_t* next = assignment.data<int32_t>();
  for (const std::vector<int32_t>& group : groups)
    next = std::copy(group.begin(), group.end(), next);
  return Graph::Current().AddOp("CrossReplicaSum", {x, Const(assignment)});
}

Tensor ApplyGradientDescent(const Tensor& var, const Tensor& rate, const Tensor& grad) {
  return Graph::Current().AddOp("ApplyGradientDescent", {var, rate, grad});
}

Variable MakeVariable(absl::string_view name, const Array& initial) {
  return GetVariable(name, initial.shape(),
                     {.dtype = initial.dtype(),
                      .initializer = [initial](const Shape&, DType) { return Const(initial); }});
}

Array F32(const Shape& shape, std::initializer_list<float> values) {
  return Array::Of<float>(shape, values);
}

}  // namespace estimator::testing
