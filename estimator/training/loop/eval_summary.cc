#include "estimator/training/loop/eval_summary.h"

#include "estimator/base/status.h"
#include "estimator/summary/event_file_writer.h"
#include "estimator/summary/summary_bytes.h"
#include "glog/logging.h"

namespace estimator {

absl::Status WriteEvalSummary(const std::string& eval_dir, const EvalResult& result,
                              size_t max_summary_bytes) {
  EST_ASSIGN_OR_RETURN(const std::shared_ptr<EventFileWriter> writer,
                       EventFileWriter::ForDirectory(eval_dir));
  const int64_t step = result.global_step();
  for (const auto& [name, value] : result.values) {
    if (name == "global_step") continue;
    if (value.dtype() == DType::kString && value.shape().rank() == 0) {
      const absl::StatusOr<std::string> summary =
          RetagSummary(name, value.scalar<std::string>(), max_summary_bytes);
      if (summary.ok()) {
        EST_RETURN_IF_ERROR(writer->AddSummary(*summary, step));
      } else {  // TensorFlow's words
        LOG(WARNING) << "Skipping summary for " << name << ", "
                     << (absl::IsInvalidArgument(summary.status())
                             ? "cannot parse string to Summary"
                             : summary.status().message());
      }
    } else if (value.dtype() != DType::kString && value.num_elements() == 1) {
      EST_RETURN_IF_ERROR(writer->AddScalar(name, static_cast<float>(value.AsDouble()), step));
    } else {
      EST_RETURN_IF_ERROR(writer->AddTensor(name, value, step));
    }
  }
  // TensorFlow writes this tag too.
  if (!result.checkpoint_path.empty()) {
    EST_RETURN_IF_ERROR(
        writer->AddTensor("checkpoint_path", Array::String(result.checkpoint_path), step));
  }
  return writer->Flush();
}

}  // namespace estimator
