// Kills a training with SIGKILL at random instants, restarts it, and compares the result with that
// of a training that was never killed, bit for bit.
//
//   bazel run //tools/kill_test -- --kills=200 --use_tpu=false
//   bazel run //tools/kill_test -- --kills=200 --use_tpu=true              on eight replicas
//   bazel run //tools/kill_test -- --kills=50 --model=resnet --use_tpu=false
// The same for a program that trains in several processes, of which a random one is killed:
//   kill_test --kills=100 --processes=1,2,4
//       --command="mnist_tpu --num_shards=4 --train_steps=60 --save_checkpoints_steps=5"
// Without kills, it compares the numbers of processes: --kills=0 --processes=2,4,8.
//
// A round trains from the beginning to the last step, with kills in between. After each round of
// several processes, the last checkpoint has the bytes of one undisturbed process. Otherwise:
//   - the variables and slots of the last checkpoint are those of the undisturbed run
//   - every step read the examples that it read in the undisturbed run
//   - TensorBoard shows every step once: the loss of each step, as in the undisturbed run
#include <gflags/gflags.h>
#include <glog/logging.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "estimator/base/file.h"
#include "estimator/base/file_system.h"
#include "estimator/base/main.h"
#include "estimator/base/path.h"
#include "estimator/base/random.h"
#include "estimator/base/status.h"
#include "estimator/base/testing/temp_dir.h"
#include "estimator/base/usage_error.h"
#include "estimator/checkpoint/bundle_reader.h"
#include "estimator/checkpoint/latest_checkpoint.h"
#include "estimator/summary/event_reader.h"
#include "tools/kill_test/kill_ranks.h"
#include "tools/kill_test/trainee.h"

DEFINE_int64(kills, 200, "how often to kill");
DEFINE_string(model, "mnist", "what to train: mnist or resnet");
DEFINE_bool(use_tpu, false, "train on eight replicas");
DEFINE_int64(max_steps, 40, "steps of a round");
DEFINE_int64(save_checkpoints_steps, 3, "steps between checkpoints");
DEFINE_int64(random_seed, 1, "seed of the instants");
DEFINE_string(command, "",
              "kill processes of this program, in place of --model: with its arguments, but "
              "without --model_dir and --num_processes");
DEFINE_string(processes, "2", "with --command: the numbers of processes, such as 1,2,4");
DEFINE_string(trainee_model_dir, "",
              "train in this folder, without kills; the program starts itself so");
DEFINE_string(trainee_data_dir, "", "the data of --trainee_model_dir");

namespace estimator::kill_test {
namespace {

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// A process of this program that trains.
class Trainee {
 public:
  static absl::StatusOr<Trainee> Start(const std::string& model_dir, const std::string& data_dir) {
    const std::vector<std::string> words = {
        "/proc/self/exe",
        absl::StrCat("--model=", FLAGS_model),
        absl::StrCat("--use_tpu=", FLAGS_use_tpu ? "true" : "false"),
        absl::StrCat("--max_steps=", FLAGS_max_steps),
        absl::StrCat("--save_checkpoints_steps=", FLAGS_save_checkpoints_steps),
        absl::StrCat("--trainee_model_dir=", model_dir),
        absl::StrCat("--trainee_data_dir=", data_dir),
        "--minloglevel=1"};
    EST_ASSIGN_OR_RETURN(const pid_t pid, StartProcess(words));
    return Trainee(pid);
  }
  // Waits for the end, at most for `seconds`, and then kills it. Returns whether it was killed.
  // Errors: INTERNAL if it ends with an error of its own.
  absl::StatusOr<bool> KillAfter(double seconds) const {
    const Clock::time_point start = Clock::now();
    int status = 0;
    while (waitpid(pid_, &status, WNOHANG) == 0) {
      if (SecondsSince(start) >= seconds) {
        kill(pid_, SIGKILL);
        waitpid(pid_, &status, 0);
        if (WIFSIGNALED(status)) return true;
        break;  // it ended before the signal came
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return false;
    return absl::InternalError(absl::StrCat("a training failed, with status ", status));
  }

 private:
  explicit Trainee(pid_t pid) : pid_(pid) {}
  pid_t pid_;
};

// What a finished training left.
struct Result {
  std::map<std::string, Array> variables;
  std::map<int64_t, std::string> examples;         // step -> the crc of its examples
  std::vector<std::pair<int64_t, double>> losses;  // step, loss, as TensorBoard shows them
};

// Errors: DATA_LOSS if a step read different examples before and after a kill.
absl::StatusOr<std::map<int64_t, std::string>> ReadExamples(const std::string& model_dir) {
  EST_ASSIGN_OR_RETURN(const std::string text, ReadFile(ExamplesPath(model_dir)));
  std::map<int64_t, std::string> examples;
  for (const absl::string_view line : absl::StrSplit(text, '\n', absl::SkipEmpty())) {
    const std::pair<std::string, std::string> parts = absl::StrSplit(line, absl::MaxSplits(' ', 1));
    int64_t step = 0;
    if (!absl::SimpleAtoi(parts.first, &step))
      return absl::DataLossError(absl::StrCat("not a line of examples: ", line));
    const auto [known, is_new] = examples.emplace(step, parts.second);
    if (!is_new && known->second != parts.second)
      return absl::DataLossError(absl::StrCat("step ", step, " read other examples after a kill"));
  }
  return examples;
}

absl::StatusOr<Result> ReadResult(const std::string& model_dir) {
  Result result;
  EST_ASSIGN_OR_RETURN(const std::optional<std::string> prefix, LatestCheckpoint(model_dir));
  if (!prefix.has_value()) return absl::NotFoundError(absl::StrCat("no checkpoint in ", model_dir));
  EST_ASSIGN_OR_RETURN(const std::unique_ptr<BundleReader> reader, BundleReader::Open(*prefix));
  for (const std::string& name : reader->names()) {
    EST_ASSIGN_OR_RETURN(result.variables[name], reader->Read(name));
  }
  EST_ASSIGN_OR_RETURN(result.examples, ReadExamples(model_dir));
  EST_ASSIGN_OR_RETURN(const auto records, ReadEventDirectory(model_dir));
  for (const SummaryRecord& record : records) {
    if (record.tag == "loss") result.losses.emplace_back(record.step, record.scalar);
  }
  return result;
}

// Errors: DATA_LOSS that names the first difference.
absl::Status Compare(const Result& whole, const Result& killed) {
  if (whole.variables.size() != killed.variables.size())
    return absl::DataLossError("the checkpoints have different variables");
  for (const auto& [name, value] : whole.variables) {
    const auto found = killed.variables.find(name);
    if (found == killed.variables.end()) return absl::DataLossError(absl::StrCat("no ", name));
    const Array& other = found->second;
    if (other.num_bytes() != value.num_bytes() ||
        std::memcmp(other.raw(), value.raw(), value.num_bytes()) != 0) {
      return absl::DataLossError(absl::StrCat(name, " differs"));
    }
  }
  if (killed.examples != whole.examples)
    return absl::DataLossError(
        absl::StrCat("the steps read other examples: ", whole.examples.size(),
                     " steps undisturbed, ", killed.examples.size(), " with kills"));
  if (killed.losses != whole.losses) {
    return absl::DataLossError(absl::StrCat("TensorBoard shows ", killed.losses.size(),
                                            " losses, undisturbed ", whole.losses.size()));
  }
  return absl::OkStatus();
}

// A number in [0, 1) that depends on the seed and on how often it was called.
double Random() {
  static uint64_t calls = 0;
  return static_cast<double>(HashSeed(static_cast<uint64_t>(FLAGS_random_seed), calls++) >> 11) *
         0x1.0p-53;
}

absl::Status KillRounds(const std::string& folder) {
  const std::string data_dir = JoinPath(folder, "data");
  if (FLAGS_model == "resnet") EST_RETURN_IF_ERROR(WritePictures(data_dir));
  const std::string whole_dir = JoinPath(folder, "whole");
  const Clock::time_point start = Clock::now();
  EST_ASSIGN_OR_RETURN(const Trainee undisturbed, Trainee::Start(whole_dir, data_dir));
  EST_RETURN_IF_ERROR(undisturbed.KillAfter(3600).status());
  const double whole_seconds = SecondsSince(start);
  EST_ASSIGN_OR_RETURN(const Result whole, ReadResult(whole_dir));
  LOG(INFO) << "The undisturbed training took " << whole_seconds << " s for " << FLAGS_max_steps
            << " steps and has " << whole.variables.size() << " variables and slots";

  int64_t kills = 0, kills_before_a_step = 0;
  for (int64_t round = 1; kills < FLAGS_kills; ++round) {
    const std::string dir = JoinPath(folder, absl::StrCat("killed-", round));
    int64_t in_round = 0;
    while (true) {
      EST_ASSIGN_OR_RETURN(const Trainee trainee, Trainee::Start(dir, data_dir));
      // Long enough to come past the start, short enough for several kills in a round. The limit
      // grows with each kill, so that a round ends on a machine that has become busy.
      const double limit = whole_seconds * (0.7 + 0.05 * static_cast<double>(in_round));
      EST_ASSIGN_OR_RETURN(const bool killed, trainee.KillAfter(Random() * limit));
      if (!killed) break;
      ++kills;
      ++in_round;
      if (!FileExists(ExamplesPath(dir))) ++kills_before_a_step;
    }
    EST_ASSIGN_OR_RETURN(const Result result, ReadResult(dir));
    const absl::Status same = Compare(whole, result);
    if (!same.ok()) {
      return absl::DataLossError(
          absl::StrCat("round ", round, ", after ", in_round, " kills: ", same.message()));
    }
    LOG(INFO) << "Round " << round << " was killed " << in_round
              << " times and gave the same bits; " << kills << " of " << FLAGS_kills << " kills";
    EST_RETURN_IF_ERROR(RemoveDirectoryRecursively(dir));
  }
  LOG(INFO) << kills << " kills (" << kills_before_a_step
            << " of them before the first step) changed nothing";
  return absl::OkStatus();
}

absl::Status KillRanksOfCommand() {
  KillRanksOptions options = {
      .command = FLAGS_command, .num_processes = {}, .kills = FLAGS_kills, .random = Random};
  for (const absl::string_view number : absl::StrSplit(FLAGS_processes, ',')) {
    if (!absl::SimpleAtoi(number, &options.num_processes.emplace_back()) ||
        options.num_processes.back() < 1) {
      return UsageError(absl::StrCat("--processes must be numbers such as 1,2,4, given \"",
                                     FLAGS_processes, "\""));
    }
  }
  // The bits depend on the number of threads of a replica.
  setenv("OMP_NUM_THREADS", "1", /*overwrite=*/1);
  const TempDir folder;
  return KillRanks(folder.path(), options);
}

absl::Status Run() {
  if (!FLAGS_command.empty()) return KillRanksOfCommand();
  if (!FLAGS_trainee_model_dir.empty()) {
    return Train({.model = FLAGS_model,
                  .data_dir = FLAGS_trainee_data_dir,
                  .model_dir = FLAGS_trainee_model_dir,
                  .use_tpu = FLAGS_use_tpu,
                  .max_steps = FLAGS_max_steps,
                  .save_checkpoints_steps = FLAGS_save_checkpoints_steps});
  }
  if (FLAGS_model != "mnist" && FLAGS_model != "resnet")
    return UsageError(absl::StrCat("--model must be mnist or resnet, given \"", FLAGS_model, "\""));
  const TempDir folder;
  return KillRounds(folder.path());
}

}  // namespace
}  // namespace estimator::kill_test

int main(int argc, char** argv) {
  gflags::SetUsageMessage("kills a training at random instants and checks that nothing is lost");
  return estimator::Main(argc, argv, estimator::kill_test::Run);
}
