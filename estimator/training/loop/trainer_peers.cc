// What the processes that train together agree on: where a call starts, what they compute, how
// long the next run is, and how the call ends.
#include <algorithm>
#include <bit>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "estimator/base/cpu/cpu_isa.h"
#include "estimator/base/crc32c.h"
#include "estimator/base/exit_code.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/path.h"
#include "estimator/base/status.h"
#include "estimator/base/version.h"
#include "estimator/data/pipeline/element_bytes.h"
#include "estimator/data/pipeline/iterator_state.h"
#include "estimator/graph/fingerprint.h"
#include "estimator/runtime/openmp_team.h"
#include "estimator/training/input/host_positions.h"
#include "estimator/training/loop/trainer.h"
#include "estimator/training/loop/trainer_loop.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// The newest instruction set that this process uses.
const char* IsaName() {
  return MayUse(CpuIsa::kAmx)          ? "amx"
         : MayUse(CpuIsa::kAvx512Bf16) ? "avx512_bf16"
         : MayUse(CpuIsa::kAvx512)     ? "avx512"
                                       : "avx2";
}

std::string Hex(uint64_t number) { return absl::StrCat(absl::Hex(number, absl::kZeroPad8)); }

// The command line of this process, for a shell.
std::string OwnCommand() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::string text(std::istreambuf_iterator<char>(file), {}), command;
  for (size_t begin = 0; begin < text.size();) {
    const std::string word = text.substr(begin, text.find('\0', begin) - begin);
    begin += word.size() + 1;
    const bool plain =
        !word.empty() && word.find_first_of(" '\"\\$&|;<>()*?`#") == std::string::npos;
    absl::StrAppend(
        &command, command.empty() ? "" : " ",
        plain ? word : absl::StrCat("'", absl::StrReplaceAll(word, {{"'", "'\\''"}}), "'"));
  }
  return command;
}

// What a rank says before a run.
struct Turn {
  int64_t steps = 0;  // 0: it wants to end the training
  bool interrupted = false;
  bool input_ended = false;
  bool set_variables = false;
  int64_t examples = 0;  // that it has read in this call
  float rate = 0;

  std::string ToBytes() const {
    StateWriter writer;
    writer.Int(steps);
    writer.Bool(interrupted);
    writer.Bool(input_ended);
    writer.Bool(set_variables);
    writer.Int(examples);
    writer.Int(uint64_t{std::bit_cast<uint32_t>(rate)});
    return writer.bytes();
  }
  static absl::StatusOr<Turn> FromBytes(absl::string_view bytes) {
    StateReader reader(bytes);
    Turn turn;
    EST_ASSIGN_OR_RETURN(turn.steps, reader.Int());
    EST_ASSIGN_OR_RETURN(turn.interrupted, reader.Bool());
    EST_ASSIGN_OR_RETURN(turn.input_ended, reader.Bool());
    EST_ASSIGN_OR_RETURN(turn.set_variables, reader.Bool());
    EST_ASSIGN_OR_RETURN(turn.examples, reader.Int());
    EST_ASSIGN_OR_RETURN(const uint64_t rate, reader.Unsigned());
    turn.rate = std::bit_cast<float>(static_cast<uint32_t>(rate));
    return turn;
  }
};

// The ranks for which `is` holds, by name: "rank 1 (host2), rank 3 (host4)".
template <typename Is>
std::string RanksThat(const Peers& peers, const std::vector<Turn>& turns, Is is) {
  std::vector<std::string> names;
  for (size_t i = 0; i < turns.size(); ++i) {
    if (is(turns[i])) names.push_back(peers.Name(static_cast<int>(i)));
  }
  return absl::StrJoin(names, ", ");
}

}  // namespace

absl::StatusOr<InputSizes> Trainer::SumSizes(const absl::StatusOr<const StepInput*>& first) {
  const bool empty = first.ok() && *first == nullptr;
  InputSizes mine;
  if (first.ok() && !empty) mine = SizesOf(**first);
  if (peers_.alone()) return first.ok() ? absl::StatusOr<InputSizes>(mine) : first.status();
  StateWriter writer;
  writer.Int(mine.examples_per_step);
  writer.Int(std::max<int64_t>(-1, mine.examples_per_epoch) + 1);
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> all,
                       peers_.Exchange("the sizes of the inputs", first.status(), writer.bytes()));
  InputSizes sum = {.examples_per_step = 0, .examples_per_epoch = 0};
  for (const std::string& bytes : all) {
    StateReader reader(bytes);
    EST_ASSIGN_OR_RETURN(const int64_t of_step, reader.Int());
    EST_ASSIGN_OR_RETURN(const int64_t of_epoch, reader.Int());
    sum.examples_per_step += of_step;
    const bool known = of_epoch > 0 && sum.examples_per_epoch >= 0;
    sum.examples_per_epoch = known ? sum.examples_per_epoch + of_epoch - 1 : -1;
  }
  // That of the config is of all inputs already.
  if (config_.examples_per_epoch.has_value()) sum.examples_per_epoch = *config_.examples_per_epoch;
  return sum;
}

absl::StatusOr<Trainer::Start> Trainer::AgreeOnStart(absl::StatusOr<Start> prepared) {
  if (peers_.alone()) return prepared;
  if (peers_.is_chief()) {
    // The others restore what the chief has restored.
    absl::StatusOr<CheckpointChoice> restored = CheckpointChoice();
    if (prepared.ok()) {
      restored->prefix = prepared->checkpoint;
    } else {
      restored = prepared.status();
    }
    EST_RETURN_IF_ERROR(CheckpointOfChief(peers_, model_dir_, restored).status());
  } else if (peers_.failed()) {
    return prepared;  // the chief could not start
  } else if (absl::IsNotFound(prepared.status())) {
    prepared = Annotate(prepared.status(),
                        "all processes restore the chief's checkpoint, so model_dir must be a "
                        "folder that all of them see");
  }
  const bool trains = prepared.ok() && prepared->action == Start::Action::kTrain;
  std::string batch;  // the contents of the first one
  if (trains) {
    local_examples_ = prepared->examples_per_step;
    EST_ASSIGN_OR_RETURN(const StepInput* const first, input_.open().Peek());
    for (const Element& element : first->replicas) absl::StrAppend(&batch, ElementToBytes(element));
    batch = Hex(Crc32c(batch));
  }
  const int action = prepared.ok() ? static_cast<int>(prepared->action) : 0;
  EST_ASSIGN_OR_RETURN(
      const std::vector<std::string> all,
      peers_.Exchange("the start of training", prepared.status(), absl::StrCat(action, batch)));
  const char empty = static_cast<char>('0' + static_cast<int>(Start::Action::kInputEmpty));
  for (size_t i = 0; i < all.size(); ++i) {
    const std::string name = peers_.Name(static_cast<int>(i));
    if (all[i][0] == empty && prepared->action != Start::Action::kInputEmpty) {
      LOG(WARNING) << "The input of " << name << " is empty, so no process trains";
      prepared->action = Start::Action::kInputEmpty;
    }
    if (all[i][0] != all[0][0] && all[i][0] != empty && all[0][0] != empty) {
      return FailedPrecondition(
          name,
          all[i][0] > all[0][0] ? " has nothing to train, and " : " has something to train, and ",
          peers_.Name(0), " does not agree: give all the same max_steps");
    }
    if (trains && peers_.is_chief() && i > 0 && all[i] == all[0]) {
      LOG(WARNING) << "The first batch of " << name << " is that of " << peers_.Name(0)
                   << ": if each process reads the same examples, more processes gain nothing. "
                   << "Let each read its own: Shard(params.context.num_hosts, "
                   << "params.context.current_host, params.batch_size)";
    }
  }
  if (prepared->action != Start::Action::kTrain) return prepared;
  EST_ASSIGN_OR_RETURN(input_positions_, peers_.Exchange("the positions of the inputs",
                                                         absl::OkStatus(), input_position_));
  input_position_ = JoinHostPositions(input_positions_);
  EST_ASSIGN_OR_RETURN(sizes_, SumSizes(input_.open().Peek()));
  prepared->examples_per_step = sizes_.examples_per_step;
  agreed_rate_ = RateInStore();
  return prepared;
}

absl::StatusOr<int64_t> Trainer::AgreeOnTarget(const absl::StatusOr<int64_t>& target) {
  if (peers_.alone()) return target;
  EST_ASSIGN_OR_RETURN(const std::string of_chief,
                       peers_.FromChief("the last step", target.ok() ? absl::StatusOr<std::string>(
                                                                           absl::StrCat(*target))
                                                                     : target.status()));
  int64_t step = 0;
  if (!absl::SimpleAtoi(of_chief, &step))
    return DataLoss("an exchange of the processes is damaged");
  return step;
}

absl::Status Trainer::AgreeOnProgram(int64_t target_step) {
  if (peers_.alone()) return absl::OkStatus();
  const BuiltModel& model = *main_->model;
  Peers::Facts facts = {
      {"version of the framework", kVersion},
      {"program (the graph of model_fn)", Hex(GraphFingerprint(*model.graph))},
      {"seed (tf_random_seed)",
       config_.tf_random_seed ? absl::StrCat(*config_.tf_random_seed) : "the default"},
      {"number of replicas", absl::StrCat(model.num_replicas)},
      {"batch size of a replica", absl::StrCat(model.batch_size)},
      {"accumulate_steps", absl::StrCat(config_.accumulate_steps)},
      {"compute_dtype", std::string(DTypeName(config_.compute_dtype))},
      {"conv_algorithm", absl::StrCat(static_cast<int>(config_.conv_algorithm))},
      {"disable_passes", absl::StrCat("[", absl::StrJoin(config_.disable_passes, ","), "]")},
      {"number of threads", absl::StrCat(OpenMpTeam::Size())},
      {"instruction set", IsaName()},
      {"last step", absl::StrCat(target_step)},
      {"global step", absl::StrCat(state_.global_step())}};
  for (const Variable& variable : model.graph->variables()) {
    if (variable.local()) continue;
    EST_ASSIGN_OR_RETURN(const Array value, state_.store().Get(variable.name()));
    facts[absl::StrCat("hash of variable '", variable.name(), "'")] =
        Hex(ExtendCrc32c(Crc32c(value.TypeString()), value.raw(), value.num_bytes()));
  }
  return peers_.CheckSame(facts);
}

absl::StatusOr<int64_t> Trainer::AgreeOnNextRun(Loop& loop, const absl::StatusOr<int64_t>& mine) {
  Turn turn = {.steps = mine.value_or(0),
               .interrupted = InterruptRequested(),
               .set_variables = variables_set_,
               .examples = (state_.global_step() - loop.first_step) * local_examples_,
               .rate = RateInStore()};
  absl::Status status = mine.status();
  // At the end of one input, each says whether it has more.
  if (turn.steps > 0 || loop.last_run.end == RunEnd::kInputEnded) {
    const AddSeconds waiting(loop.session.times().input);
    const absl::StatusOr<const StepInput*> next = input_.open().Peek();
    status.Update(next.status());
    turn.input_ended = next.ok() && *next == nullptr;
  }
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> all,
                       peers_.Exchange("the next run", status, turn.ToBytes()));
  std::vector<Turn> turns;
  std::vector<float> rates;
  std::vector<bool> set;
  for (const std::string& bytes : all) {
    EST_ASSIGN_OR_RETURN(turns.emplace_back(), Turn::FromBytes(bytes));
    rates.push_back(turns.back().rate);
    set.push_back(turns.back().set_variables);
  }
  EST_RETURN_IF_ERROR(AgreeOnVariables(loop.session, set));
  const auto any = [&turns](auto is) { return std::any_of(turns.begin(), turns.end(), is); };
  const auto interrupted = [](const Turn& t) { return t.interrupted; };
  const auto ended = [](const Turn& t) { return t.input_ended; };
  if (any(interrupted)) {
    LOG_IF(INFO, !InterruptRequested())
        << RanksThat(peers_, turns, interrupted) << " was asked to stop, so all processes stop";
    RequestInterrupt();
    loop.interrupted = true;
    return 0;
  }
  if (any(ended)) {
    loop.last_run.end = RunEnd::kInputEnded;
    std::vector<std::string> counts;
    for (size_t i = 0; i < turns.size(); ++i) {
      counts.push_back(absl::StrCat(peers_.Name(static_cast<int>(i)), " has read ",
                                    turns[i].examples, " examples",
                                    turns[i].input_ended ? " and has no more" : ""));
    }
    if (peers_.is_chief() && any([](const Turn& t) { return !t.input_ended; })) {
      LOG(WARNING) << "The input of " << RanksThat(peers_, turns, ended)
                   << " has ended, so all processes stop at step " << state_.global_step() << ": "
                   << absl::StrJoin(counts, ", ");
    }
    return 0;
  }
  if (any([](const Turn& t) { return t.steps == 0; })) {
    const bool chief_ends = turns[0].steps == 0;
    LOG_IF(INFO, !chief_ends) << RanksThat(peers_, turns,
                                           [](const Turn& t) { return t.steps == 0; })
                              << " ends the training at step " << state_.global_step();
    return 0;
  }
  EST_RETURN_IF_ERROR(AgreeOnRate(loop, rates));
  return turns[0].steps;
}

absl::Status Trainer::AgreeOnRate(Loop& loop, const std::vector<float>& rates) {
  const auto changed =
      std::find_if(rates.begin(), rates.end(), [this](float rate) { return rate != agreed_rate_; });
  if (changed == rates.end()) return absl::OkStatus();
  agreed_rate_ = *changed;
  if (RateInStore() == agreed_rate_) return absl::OkStatus();
  LOG(INFO) << "The learning rate is " << agreed_rate_ << ", which a hook of "
            << peers_.Name(static_cast<int>(changed - rates.begin())) << " has set";
  return loop.session.SetLearningRate(agreed_rate_);
}

absl::Status Trainer::AgreeOnVariables(TrainSession& session, const std::vector<bool>& set) {
  const auto first = std::find(set.begin(), set.end(), true);
  if (first == set.end()) return absl::OkStatus();
  const auto from = static_cast<size_t>(first - set.begin());
  const bool is_mine = peers_.rank() == static_cast<int>(from);
  for (const Variable& variable : main_->model->graph->variables()) {
    if (variable.local()) continue;
    const absl::StatusOr<Array> mine = state_.store().Get(variable.name());
    EST_ASSIGN_OR_RETURN(
        const std::vector<std::string> all,
        peers_.Exchange("the variables that a hook has set", mine.status(),
                        is_mine && mine.ok() ? ElementToBytes({.features = *mine, .labels = {}})
                                             : std::string()));
    if (is_mine) continue;
    EST_ASSIGN_OR_RETURN(const Element value, ElementFromBytes(all[from]));
    EST_RETURN_IF_ERROR(state_.store().Set(variable.name(), *value.features.Only()));
  }
  variables_set_ = false;
  if (is_mine) return absl::OkStatus();
  return session.SaveAgain();
}

absl::Status Trainer::AgreeOnEnd(TrainSession& session, const absl::Status& mine) {
  const std::string saved(Basename(state_.checkpoint()));
  EST_ASSIGN_OR_RETURN(const std::vector<std::string> all,
                       peers_.Exchange("the end of training", mine,
                                       absl::StrCat(variables_set_ ? "1" : "0", saved)));
  std::vector<bool> set;
  for (const std::string& bytes : all) set.push_back(bytes[0] == '1');
  EST_RETURN_IF_ERROR(AgreeOnVariables(session, set));
  // A step that is saved again has the same name.
  const std::string of_chief = all[0].substr(1);
  if (!peers_.is_chief() && !of_chief.empty())
    state_.set_checkpoint(JoinPath(model_dir_, of_chief));
  return absl::OkStatus();
}

absl::Status Trainer::ExplainLostPeer(const absl::Status& status) const {
  const std::string command = OwnCommand();
  return WithExitCode(
      absl::Status(status.code(),
                   absl::StrCat(peers_.Name(peers_.rank()), " stops at step ", state_.global_step(),
                                ": ", status.message(),
                                ". Start all processes again, and they continue from the newest "
                                "checkpoint in ",
                                model_dir_, ". The command of this one: ", command)),
      kLostPeerExitCode);
}

}  // namespace estimator
