// AsString: formats each element as printf does.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "estimator/kernels/kernel.h"
#include "estimator/kernels/reference/loops.h"

namespace estimator {
namespace {

// "%", flags, width and precision. The caller appends the conversion.
std::string FormatOf(const Attrs& attrs) {
  std::string format = absl::StrCat("%", attrs.s("fill"));
  if (attrs.i("width") > -1) absl::StrAppend(&format, attrs.i("width"));
  if (attrs.i("precision") > -1) absl::StrAppend(&format, ".", attrs.i("precision"));
  return format;
}

template <typename Number>
std::string Printed(const std::string& format, Number number) {
  // A width or a precision may ask for any length, so the first call only measures it.
  const int size = std::snprintf(nullptr, 0, format.c_str(), number);
  std::string text(static_cast<size_t>(std::max(size, 0)), '\0');
  std::snprintf(text.data(), text.size() + 1, format.c_str(), number);
  return text;
}

// A kernel that writes fn(element), a string, for elements of type T.
template <typename T, typename Fn>
KernelPlan ForEach(const KernelSpec& spec, Fn fn) {
  const int64_t n = spec.outputs[0].shape.num_elements();
  return MakeKernel([n, fn](const KernelArgs& args) {
    std::transform(args.in<T>(0), args.in<T>(0) + n, args.out<std::string>(0), fn);
  });
}

EST_REGISTER_KERNEL("AsString", KernelTier::kReference, [](const KernelSpec& spec) {
  const DType dtype = spec.inputs[0].dtype;
  std::string format = FormatOf(spec.attrs);
  if (dtype == DType::kString) {
    // As in TensorFlow, a string without a width is copied; with a width it ends at a zero byte.
    format += "s";
    const bool padded = spec.attrs.i("width") > 0;
    return ForEach<std::string>(spec, [format, padded](const std::string& x) {
      return padded ? Printed(format, x.c_str()) : x;
    });
  }
  return VisitNumericOrBool(dtype, [&](auto tag) {
    using T = decltype(tag);
    if constexpr (std::is_same_v<T, bool>) {
      return ForEach<T>(spec, [](bool x) { return std::string(x ? "true" : "false"); });
    } else if constexpr (kIsFloatingType<T>) {
      format += spec.attrs.b("shortest") ? "g" : spec.attrs.b("scientific") ? "e" : "f";
      return ForEach<T>(spec, [format](T x) {
        return Printed(format, static_cast<double>(static_cast<Compute<T>>(x)));
      });
    } else {
      format += std::is_signed_v<T> ? "lld" : "llu";
      using Wide = std::conditional_t<std::is_signed_v<T>, long long, unsigned long long>;
      return ForEach<T>(spec, [format](T x) { return Printed(format, static_cast<Wide>(x)); });
    }
  });
});

}  // namespace
}  // namespace estimator
