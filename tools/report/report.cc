// Writes one HTML file about runs, or shows them while they go on. `--help` shows how.
#include <cstdio>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/main.h"
#include "estimator/base/status.h"
#include "gflags/gflags.h"
#include "tools/report/gather.h"
#include "tools/report/serve.h"

DEFINE_string(output, "report.html", "the file to write");
DEFINE_bool(serve, false, "show the runs on this machine, instead of writing a file");
DEFINE_int64(port, 6007, "of --serve; 0: a free one");

namespace estimator {
namespace {

constexpr char kUsage[] =
    R"(report MODEL_DIR ... [--output=FILE.html | --serve [--port=N]]

Writes an HTML file about the runs in these folders: curves, throughput, hyperparameters, confusion
matrix, best and worst examples, weights, comparison. It needs no network. With --serve, shows them
on 127.0.0.1 until Ctrl-C, and again every few seconds. A run records more with --record_run.

Exit codes:
  0  success
  1  a file or the port cannot be had
  2  the command line is wrong)";

absl::Status Run(const std::vector<std::string>& dirs) {
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<ReportGatherer> gatherer, ReportGatherer::Open(dirs));
  if (!FLAGS_serve) {
    const std::string page = ReportPage(gatherer->Gather(/*live=*/false));
    EST_RETURN_IF_ERROR(WriteFileAtomically(FLAGS_output, page));
    std::printf("wrote %s, %zu bytes\n", FLAGS_output.c_str(), page.size());
    return absl::OkStatus();
  }
  const auto ready = [](const std::string& url) {
    std::printf("%s shows the runs until Ctrl-C\n", url.c_str());
    std::fflush(stdout);
  };
  return Serve(FLAGS_port, ready, [&](absl::string_view path) {
    const std::string json = gatherer->Gather(/*live=*/true);
    return path == "/" ? ReportPage(json) : json;
  });
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  gflags::SetUsageMessage(estimator::kUsage);
  return estimator::MainWithArguments(argc, argv, [](const std::vector<std::string>& dirs) {
    absl::Status status = absl::OkStatus();
    if (dirs.empty() || FLAGS_port < 0 || FLAGS_port > 65535) {
      status = absl::InvalidArgumentError(
          dirs.empty() ? "give the folders of runs, such as `report /tmp/mnist`"
                       : absl::StrCat("--port=", FLAGS_port, " is not between 0 and 65535"));
    }
    if (status.ok()) status = estimator::Run(dirs);
    if (status.ok()) return 0;
    std::fprintf(stderr, "error: %s\n", status.ToString().c_str());
    return absl::IsInvalidArgument(status) ? estimator::kUsageExitCode : estimator::kErrorExitCode;
  });
}
