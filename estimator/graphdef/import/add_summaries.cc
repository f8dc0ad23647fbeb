#include "estimator/graphdef/import/add_summaries.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace estimator {

void AddSummaries(const std::vector<SourceSummary>& summaries,
                  const std::function<absl::StatusOr<Tensor>(FlatTensor)>& fetch, Graph& graph,
                  std::vector<std::string>* warnings) {
  for (const SourceSummary& summary : summaries) {
    const auto leave_out = [&](absl::string_view reason) {
      warnings->push_back(absl::StrCat("The summary '", summary.tag, "' is left out: ", reason));
    };
    const absl::StatusOr<Tensor> value = fetch(summary.value);
    if (!value.ok()) {
      leave_out(value.status().message());
      continue;
    }
    // TensorFlow checks these when the summary runs; a summary must not end a training here.
    const bool one = value->shape().num_elements() == 1;
    const bool image =
        value->rank() == 4 && (value->dtype() == DType::kUint8 || IsFloating(value->dtype()));
    const bool fits = value->dtype() != DType::kString &&
                      (summary.kind == SummaryRequest::Kind::kHistogram ||
                       (summary.kind == SummaryRequest::Kind::kScalar && one) ||
                       (summary.kind == SummaryRequest::Kind::kImage && image));
    if (fits) {
      graph.summaries().push_back({.kind = summary.kind,
                                   .tag = summary.tag,
                                   .value = *value,
                                   .max_outputs = summary.max_outputs});
    } else {
      leave_out(absl::StrCat("it cannot show ", value->spec().ToString()));
    }
  }
}

}  // namespace estimator
