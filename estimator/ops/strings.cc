#include "estimator/ops/strings.h"

#include <vector>

#include "absl/strings/match.h"
#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"

namespace estimator {
namespace {

// The messages are those of TF 2.15 as_string_op.cc.
OutputSpecs AsStringRule(const ShapeContext& context) {
  // TensorFlow has no limit, so a malicious graph could ask for gigabytes.
  constexpr int64_t kLongest = 1 << 16;
  const TensorSpec& x = context.input(0);
  const int64_t precision = context.attrs.i("precision"), width = context.attrs.i("width");
  const bool scientific = context.attrs.b("scientific"), shortest = context.attrs.b("shortest");
  const std::string& fill = context.attrs.s("fill");
  const auto refused = [](const auto&... parts) { return InvalidArgument(parts...); };
  if (!IsFloating(x.dtype) && x.dtype != DType::kString) {
    const absl::string_view dtype = DTypeName(x.dtype);
    if (scientific || shortest)
      return refused("scientific and shortest format not supported for datatype ", dtype);
    if (precision >= 0) return refused("precision not supported for datatype ", dtype);
  }
  if (fill.size() > 1)
    return refused("Fill string must be one or fewer characters, but it is \"", fill, "\"");
  if (!fill.empty() && !absl::StrContains(" +-0#", fill))
    return refused("Fill argument not supported: \"", fill,
                   "\"; it may be ' ', '+', '-', '0', '#'");
  if (scientific && shortest) return refused("Cannot select both scientific and shortest notation");
  if (precision > kLongest || width > kLongest)
    return refused("precision ", precision, " or width ", width, " is more than ", kLongest);
  return std::vector<TensorSpec>{{DType::kString, x.shape}};
}

EST_REGISTER_OP("AsString", AsStringRule);

}  // namespace

Tensor AsString(const Tensor& x, const AsStringOptions& options, StringArg name) {
  return AddOp("AsString", {x},
               {{"precision", options.precision},
                {"scientific", options.scientific},
                {"shortest", options.shortest},
                {"width", options.width},
                {"fill", options.fill}},
               name);
}

}  // namespace estimator
