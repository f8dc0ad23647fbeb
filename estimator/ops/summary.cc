#include "estimator/ops/summary.h"

#include <cctype>

#include "absl/strings/str_cat.h"
#include "estimator/graph/graph.h"

namespace estimator::summary {
namespace {

// Source: TF 2.15 summary_op_util.clean_tag: [^-/\w\.] become '_', and leading slashes go.
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
      graph.Fail(absl::InvalidArgumentError(absl::StrCat("summary ", unique, ": not a tensor")));
    }
    return unique;
  }
  graph.summaries().push_back(
      {.kind = kind, .tag = unique, .value = t, .max_outputs = max_outputs});
  return unique;
}

// Keeps the error that `t` does not fit.
std::string Refuse(absl::string_view tag, const Tensor& t, absl::string_view wanted) {
  t.graph()->Fail(absl::InvalidArgumentError(
      absl::StrCat("summary ", tag, ": takes ", wanted, ", not ", t.spec().ToString())));
  return std::string(tag);
}

}  // namespace

std::string Scalar(absl::string_view tag, const Tensor& t) {
  if (t.valid() && (t.shape().num_elements() != 1 || t.dtype() == DType::kString)) {
    return Refuse(tag, t, "one number");
  }
  return Request(SummaryRequest::Kind::kScalar, tag, t, 0);
}

std::string Histogram(absl::string_view tag, const Tensor& t) {
  if (t.valid() && t.dtype() == DType::kString) return Refuse(tag, t, "numbers");
  return Request(SummaryRequest::Kind::kHistogram, tag, t, 0);
}

std::string Image(absl::string_view tag, const Tensor& t, int max_outputs) {
  if (t.valid()) {
    const bool dtype = t.dtype() == DType::kUint8 || IsFloating(t.dtype());
    const bool shape = t.rank() == 4 && (t.dim(3) == 1 || t.dim(3) == 3 || t.dim(3) == 4);
    if (!dtype || !shape)
      return Refuse(tag, t, "u8 or floating [N, H, W, C] with 1, 3 or 4 channels");
    if (max_outputs < 1) return Refuse(tag, t, "max_outputs of at least 1");
  }
  return Request(SummaryRequest::Kind::kImage, tag, t, max_outputs);
}

}  // namespace estimator::summary
