#include "estimator/ops/summary.h"

#include <cctype>
#include <cstdint>
#include <vector>

#include "estimator/base/status.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/kernels/kernel.h"
#include "estimator/ops/constant.h"
#include "estimator/summary/summary_bytes.h"

namespace estimator::summary {
namespace {

// Source: TF 2.15 summary_op_util.clean_tag: [^-/\w\.] become '_'; leading slashes are removed.
std::string CleanTag(absl::string_view tag) {
  std::string clean;
  for (const char c : tag) {
    const bool allowed = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '/' ||
                         c == '_' || c == '.';
    if (c == '/' && clean.empty()) continue;
    clean += allowed ? c : '_';
  }
  return clean;
}

std::string Request(SummaryRequest::Kind kind, absl::string_view tag, const Tensor& t,
                    int max_outputs) {
  Graph& graph = GraphFor({t});
  std::string unique = graph.UniqueName(CleanTag(tag));
  if (!t.valid()) {
    if (graph.status().ok()) {
      graph.Fail(InvalidArgument("summary ", unique, ": not a tensor"));
    }
    return unique;
  }
  graph.summaries().push_back(
      {.kind = kind, .tag = unique, .value = t, .max_outputs = max_outputs});
  return unique;
}

// Makes the graph keep the error that `t` does not fit.
std::string Refuse(absl::string_view tag, const Tensor& t, absl::string_view wanted) {
  t.graph()->Fail(
      InvalidArgument("summary ", tag, ": takes ", wanted, ", not ", t.spec().ToString()));
  return std::string(tag);
}

// What `t` or `max_outputs` should be, for the message; "" if both fit.
absl::string_view Misfit(const Tensor& t, int max_outputs) {
  const bool dtype = t.dtype() == DType::kUint8 || IsFloating(t.dtype());
  const bool shape = t.rank() == 4 && (t.dim(3) == 1 || t.dim(3) == 3 || t.dim(3) == 4);
  if (!dtype || !shape) return "u8 or floating [N, H, W, C] with 1, 3 or 4 channels";
  return max_outputs < 1 ? "max_outputs of at least 1" : "";
}

EST_REGISTER_OP("ImageSummary", [](const ShapeContext&) -> OutputSpecs {
  return std::vector<TensorSpec>{{DType::kString, Shape{}}};
});

// The kernel is here and not in estimator/kernels, because that layer must not depend on file
// formats: Summary and PNG.
EST_REGISTER_KERNEL("ImageSummary", KernelTier::kReference, [](const KernelSpec& spec) {
  const TensorSpec images = spec.inputs[1];
  const int max_images = static_cast<int>(spec.attrs.i("max_images"));
  return MakeKernel([images, max_images](const KernelArgs& args) -> absl::Status {
    // The array shares the memory of the input, is only read, and does not outlive this call.
    const Array wrapped = Array::Wrap(images.dtype, images.shape, const_cast<void*>(args.inputs[1]),
                                      /*owner=*/nullptr);
    EST_ASSIGN_OR_RETURN(
        *args.out<std::string>(0),
        estimator::ImageSummary(
            *args.in<std::string>(0),
            images.dtype == DType::kUint8 ? wrapped : wrapped.Cast(DType::kFloat32), max_images));
    return absl::OkStatus();
  });
});

}  // namespace

std::string Scalar(StringArg tag, const Tensor& t) {
  if (t.valid() && (t.shape().num_elements() != 1 || t.dtype() == DType::kString)) {
    return Refuse(tag, t, "one number");
  }
  return Request(SummaryRequest::Kind::kScalar, tag, t, 0);
}

std::string Histogram(StringArg tag, const Tensor& t) {
  if (t.valid() && t.dtype() == DType::kString) return Refuse(tag, t, "numbers");
  return Request(SummaryRequest::Kind::kHistogram, tag, t, 0);
}

std::string Image(StringArg tag, const Tensor& t, int max_outputs) {
  const absl::string_view misfit = t.valid() ? Misfit(t, max_outputs) : "";
  if (!misfit.empty()) return Refuse(tag, t, misfit);
  return Request(SummaryRequest::Kind::kImage, tag, t, max_outputs);
}

Tensor ImageValue(StringArg tag, const Tensor& t, int max_outputs) {
  const absl::string_view misfit = t.valid() ? Misfit(t, max_outputs) : "";
  if (!misfit.empty()) {
    Refuse(tag, t, misfit);
    return {};
  }
  const std::string clean = CleanTag(tag);
  return AddOp("ImageSummary", {Constant(Array::String(clean), clean + "/tag"), t},
               {{"max_images", int64_t{max_outputs}}}, clean);
}

}  // namespace estimator::summary
