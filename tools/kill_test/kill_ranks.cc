#include "tools/kill_test/kill_ranks.h"

#include <glog/logging.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "estimator/base/file.h"
#include "estimator/base/file_system.h"
#include "estimator/base/path.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/latest_checkpoint.h"

extern char** environ;

namespace estimator::kill_test {
namespace {

using Clock = std::chrono::steady_clock;

// A round that takes so much longer than the program alone does not end.
constexpr double kHangSeconds = 900;
constexpr size_t kShownBytes = 3000;  // of the output of a round that failed

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string ReadProc(pid_t pid, const char* file) {
  std::ifstream in(absl::StrCat("/proc/", pid, "/", file), std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(in), {});
}

std::vector<pid_t> ProcessesThat(const std::function<bool(pid_t)>& is) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    pid_t pid = 0;
    if (absl::SimpleAtoi(entry.path().filename().string(), &pid) && is(pid)) found.push_back(pid);
  }
  return found;
}

bool IsChildOf(pid_t parent, pid_t pid) {
  const std::string stat = ReadProc(pid, "stat");  // "812 (name) S 811 ..."
  const size_t end = stat.rfind(')');
  return end != std::string::npos && stat.compare(end + 2, 2, "Z ") != 0 &&
         absl::StartsWith(stat.substr(end + 4), absl::StrCat(parent, " "));
}

// One run of the program.
class Run {
 public:
  static absl::StatusOr<Run> Start(const std::string& command, const std::string& model_dir,
                                   absl::string_view more) {
    Run run(model_dir);
    // A rank's errors are expected. They are shown if the run fails.
    EST_ASSIGN_OR_RETURN(
        run.pid_, StartProcess({"/bin/sh", "-c",
                                absl::StrCat("exec ", command, more, " --model_dir=", model_dir,
                                             " >", run.log_, " 2>&1")}));
    return run;
  }
  // Kills one of the ranks at `next_instant`, seconds from the last kill on, until there are no
  // more or the program ends. Returns the newest checkpoint at each kill.
  absl::StatusOr<std::vector<std::string>> Kill(
      const std::function<std::optional<double>()>& next_instant,
      const std::function<double()>& random) {
    std::vector<std::string> kills;
    Clock::time_point start = Clock::now();
    std::optional<double> instant = next_instant();
    int status = 0;
    while (waitpid(pid_, &status, WNOHANG) == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      if (SecondsSince(start) > kHangSeconds) {
        ::kill(pid_, SIGKILL);  // the ranks end with it
        waitpid(pid_, &status, 0);
        return Failed("does not end");
      }
      if (!instant.has_value() || SecondsSince(start) < *instant) continue;
      const auto ranks = ProcessesThat([this](pid_t pid) { return IsChildOf(pid_, pid); });
      if (ranks.empty()) continue;
      const auto index = static_cast<size_t>(random() * static_cast<double>(ranks.size()));
      if (::kill(ranks[index], SIGKILL) != 0) continue;
      const absl::StatusOr<std::optional<std::string>> latest = LatestCheckpoint(model_dir_);
      kills.emplace_back(latest.ok() && latest->has_value() ? Basename(**latest) : "none");
      start = Clock::now();
      instant = next_instant();
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
      return Failed(absl::StrCat("ended with status ", status));
    const auto left = ProcessesThat(
        [this](pid_t pid) { return absl::StrContains(ReadProc(pid, "cmdline"), model_dir_); });
    if (!left.empty()) return Failed(absl::StrCat("left process ", left[0], " behind"));
    return kills;
  }
  // The bytes of both files of the last checkpoint, and its name.
  absl::StatusOr<std::string> Checkpoint() const {
    EST_ASSIGN_OR_RETURN(const std::optional<std::string> prefix, LatestCheckpoint(model_dir_));
    if (!prefix.has_value()) return Failed("has written no checkpoint");
    std::string bytes(Basename(*prefix));
    for (const char* suffix : {".index", ".data-00000-of-00001"}) {
      EST_ASSIGN_OR_RETURN(const std::string file,
                           ReadFile(absl::StrCat(*prefix, suffix), int64_t{1} << 32));
      absl::StrAppend(&bytes, file);
    }
    return bytes;
  }
  absl::Status Failed(const std::string& how) const {
    const std::string output = ReadFile(log_).value_or("");
    const size_t skipped = output.size() - std::min(output.size(), kShownBytes);
    return absl::InternalError(
        absl::StrCat("the program ", how, ". Its output:\n", output.substr(skipped)));
  }

 private:
  explicit Run(std::string model_dir)
      : model_dir_(std::move(model_dir)), log_(absl::StrCat(model_dir_, ".log")) {}
  std::string model_dir_, log_;
  pid_t pid_ = 0;
};

}  // namespace

absl::StatusOr<pid_t> StartProcess(const std::vector<std::string>& words) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t pid = 0;
  const int error = posix_spawn(&pid, arguments[0], nullptr, nullptr, arguments.data(), environ);
  if (error != 0) return absl::ErrnoToStatus(error, "cannot start a process");
  return pid;
}

absl::Status KillRanks(const std::string& folder, const KillRanksOptions& options) {
  const auto never = [] { return std::optional<double>(); };
  const Clock::time_point start = Clock::now();
  EST_ASSIGN_OR_RETURN(Run whole, Run::Start(options.command, JoinPath(folder, "whole"), ""));
  EST_RETURN_IF_ERROR(whole.Kill(never, options.random).status());
  EST_ASSIGN_OR_RETURN(const std::string bytes, whole.Checkpoint());
  LOG(INFO) << "One process took " << SecondsSince(start)
            << " s; both files of its last checkpoint have " << bytes.size() << " bytes";

  int64_t kills = 0;
  std::vector<double> seconds;  // of the undisturbed round of each number
  const size_t num_sizes = options.num_processes.size();
  // Otherwise the rounds of one number could use up the kills of the others.
  const int64_t most_in_round =
      (options.kills + std::ssize(options.num_processes) - 1) / std::ssize(options.num_processes);
  for (size_t round = 0; kills < options.kills || round < num_sizes; ++round) {
    const int size = options.num_processes[round % num_sizes];
    const bool undisturbed = round < num_sizes;
    const Clock::time_point round_start = Clock::now();
    const std::string dir = JoinPath(folder, absl::StrCat("round-", round));
    EST_ASSIGN_OR_RETURN(
        Run run, Run::Start(options.command, dir,
                            absl::StrCat(" --num_processes=", size,
                                         " --max_restarts=", options.kills > 0 ? 1000 : 0)));
    int64_t asked = 0;
    // As in KillRounds: the limit grows, so that a round ends.
    const auto next_instant = [&]() -> std::optional<double> {
      if (undisturbed || asked == std::min(most_in_round, options.kills - kills))
        return std::nullopt;
      const double limit = seconds[round % num_sizes] * (0.7 + 0.05 * static_cast<double>(asked++));
      return options.random() * limit;
    };
    EST_ASSIGN_OR_RETURN(const std::vector<std::string> at, run.Kill(next_instant, options.random));
    kills += std::ssize(at);
    if (undisturbed) seconds.push_back(SecondsSince(round_start));
    EST_ASSIGN_OR_RETURN(const std::string result, run.Checkpoint());
    if (result != bytes) {
      return absl::DataLossError(
          absl::StrCat("round ", round + 1, ", ", size, " processes, after kills at [",
                       absl::StrJoin(at, ", "), "]: the last checkpoint has other bytes"));
    }
    LOG(INFO) << "Round " << round + 1 << " in " << size << " processes was killed " << at.size()
              << " times and gave the same bytes; " << kills << " of " << options.kills
              << " kills. The newest checkpoints were [" << absl::StrJoin(at, ", ") << "]";
    EST_RETURN_IF_ERROR(RemoveDirectoryRecursively(dir));
  }
  LOG(INFO) << kills << " kills changed nothing";
  return absl::OkStatus();
}

}  // namespace estimator::kill_test
