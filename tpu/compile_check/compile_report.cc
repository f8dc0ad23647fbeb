#include "tpu/compile_check/compile_report.h"

#include <algorithm>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_replace.h"
#include "tpu/compile_check/hlo_memory.h"

namespace estimator::tpu {
namespace {

constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;

void AppendLargest(absl::string_view title, const std::vector<LargeTensor>& tensors,
                   std::string& text) {
  if (tensors.empty()) return;
  absl::StrAppend(&text, "  ", title, ":\n");
  for (const LargeTensor& tensor : tensors) {
    absl::StrAppend(
        &text,
        absl::StrFormat("    %10s  %s  %s\n", HumanBytes(static_cast<double>(tensor.bytes)),
                        tensor.shape, tensor.op.empty() ? "(made by the compiler)" : tensor.op));
  }
}

double CostOf(const CompileOutcome& outcome, const char* name) {
  const auto it = outcome.costs.find(name);
  return it == outcome.costs.end() ? 0 : std::max(it->second, 0.0);
}

absl::string_view KindOf(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kResourceExhausted:
      return "does not fit";
    case absl::StatusCode::kAborted:
      return "crashes the compiler";
    case absl::StatusCode::kCancelled:
      return "was not compiled, because a signal ended the compiler";
    case absl::StatusCode::kDeadlineExceeded:
      return "was not compiled in time";
    default:
      return "does not compile";
  }
}

}  // namespace

std::string HumanBytes(double bytes) {
  const char* const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
  return unit == 0 ? absl::StrFormat("%.0f bytes", bytes)
                   : absl::StrFormat("%.2f %s", bytes, units[unit]);
}

CompileReport ReportOn(const CompileRequest& request, const CompileOutcome& outcome) {
  CompileReport report;
  report.passed = outcome.status.ok();
  const CompileTarget& target = request.target;
  std::string& text = report.text;
  absl::StrAppend(&text, target.name, " (", target.topology, ", ", request.num_replicas,
                  " replicas): ", report.passed ? "compiles" : KindOf(outcome.status),
                  absl::StrFormat(" (%.1f s)\n", outcome.seconds));
  if (!report.passed) {
    // A message of libtpu may have several lines.
    absl::StrAppend(&text, "  ", absl::StrReplaceAll(outcome.status.message(), {{"\n", "\n  "}}),
                    "\n");
    if (absl::IsResourceExhausted(outcome.status)) {
      AppendLargest("the largest values of the program, without padding",
                    LargestInStableHlo(request.stablehlo), text);
    }
    return report;
  }
  if (!outcome.scheduled_hlo.empty()) {
    const HloMemory memory = MemoryOfHlo(outcome.scheduled_hlo);
    // Outputs are not added, because updated variables are written over their arguments.
    const auto total = static_cast<double>(memory.arguments + memory.temporaries);
    absl::StrAppend(&text, "  memory of a device: arguments ",
                    HumanBytes(static_cast<double>(memory.arguments)), ", outputs ",
                    HumanBytes(static_cast<double>(memory.outputs)),
                    " (variables take the place of their arguments), temporaries about ",
                    HumanBytes(static_cast<double>(memory.temporaries)),
                    absl::StrFormat("; together about %.0f %% of %.0f GiB\n",
                                    100 * total / (target.memory_gib * kGiB), target.memory_gib));
    AppendLargest("the largest temporaries at the peak", memory.largest, text);
  }
  const double flops = CostOf(outcome, "flops");
  const double bytes = CostOf(outcome, "bytes accessed");
  if (flops > 0 || bytes > 0) {
    const double compute = flops / (target.tflops * 1e12);
    const double traffic = bytes / (target.gigabytes_per_sec * 1e9);
    absl::StrAppend(&text,
                    absl::StrFormat("  a step of a device: %.3f GFLOP, %s of memory traffic\n",
                                    flops / 1e9, HumanBytes(bytes)));
    absl::StrAppend(
        &text, absl::StrFormat("  roofline: at least %.3f ms a step, bound by %s (%.1f TFLOP/s of "
                               "bf16 products, %.0f GB/s)\n",
                               1e3 * std::max(compute, traffic),
                               compute > traffic ? "arithmetic" : "memory", target.tflops,
                               target.gigabytes_per_sec));
  }
  return report;
}

}  // namespace estimator::tpu
