#include "estimator/distributed/launcher.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"
#include "estimator/base/exit_code.h"
#include "estimator/base/interrupt.h"
#include "estimator/base/status.h"
#include "estimator/distributed/find_group.h"
#include "estimator/distributed/socket.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr int kUsageError = 2;
constexpr int kForwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGPIPE};

// The output of one process: stdout or stderr.
struct Stream {
  Socket pipe;
  int to = STDOUT_FILENO;
  std::string prefix;
  std::string line;  // the beginning of one that is not whole yet

  void WriteLines(absl::string_view bytes) {
    line.append(bytes.data(), bytes.size());
    std::string text;
    size_t begin = 0;
    for (size_t end; (end = line.find('\n', begin)) != std::string::npos; begin = end + 1)
      absl::StrAppend(&text, prefix, line.substr(begin, end + 1 - begin));
    line.erase(0, begin);
    Write(text);
  }
  void WriteRest() {
    if (!line.empty()) Write(absl::StrCat(prefix, std::exchange(line, ""), "\n"));
  }
  void Write(absl::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = ::write(to, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) return;  // nobody reads it, which SIGPIPE tells the processes
      text.remove_prefix(static_cast<size_t>(written));
    }
  }
};

struct Process {
  pid_t pid = -1;       // -1: it has ended
  bool killed = false;  // by the launcher, so its end is no failure of its own
  Stream streams[2];
};

std::vector<std::string> ThisCommand() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return absl::StrSplit(absl::string_view(text).substr(0, text.empty() ? 0 : text.size() - 1),
                        '\0');
}

// The cores that this process may use, those of one package and the threads of one core together.
std::vector<int> AllowedCores() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<std::tuple<int, int, int>> cores;
  if (::sched_getaffinity(0, sizeof(set), &set) != 0) return {};
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (!CPU_ISSET(cpu, &set)) continue;
    const auto number = [cpu](const char* file) {
      int value = 0;
      std::ifstream(absl::StrCat("/sys/devices/system/cpu/cpu", cpu, "/topology/", file)) >> value;
      return value;
    };
    cores.emplace_back(number("physical_package_id"), number("core_id"), cpu);
  }
  std::sort(cores.begin(), cores.end());
  std::vector<int> result;
  for (const auto& core : cores) result.push_back(std::get<2>(core));
  return result;
}

std::vector<char*> Pointers(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

// What the chief may take longer than the others, to write a checkpoint.
constexpr auto kTimeToSave = std::chrono::minutes(10);

bool IsStopped(pid_t pid) {
  std::ifstream file(absl::StrCat("/proc/", pid, "/stat"));
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  return text.find(") T ") != std::string::npos;
}

class Processes {
 public:
  explicit Processes(const LaunchOptions& options)
      : command_(options.command.empty() ? ThisCommand() : options.command),
        own_(options.command.empty()),
        time_to_end_(
            std::chrono::duration_cast<Clock::duration>(Seconds(options.time_to_end_secs))),
        processes_(options.num_processes) {
    ::signal(SIGCHLD, SIG_DFL);  // an ignored one would hide exit codes
    sigset_t signals;
    ::sigemptyset(&signals);
    ::sigaddset(&signals, SIGCHLD);
    for (const int signal : kForwarded) ::sigaddset(&signals, signal);
    ::sigprocmask(SIG_BLOCK, &signals, &old_mask_);
    signals_ = Socket(::signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  ~Processes() {
    KillAll();
    for (Process& process : processes_) {
      if (process.pid > 0) ::waitpid(process.pid, nullptr, 0);
    }
    ::sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
  }

  absl::Status Start() {
    EST_ASSIGN_OR_RETURN(const Socket listener, ListenAt({"127.0.0.1", 0}));
    const auto cores = DivideCores(AllowedCores(), static_cast<int>(processes_.size()));
    const std::string token = NewToken();
    for (size_t rank = 0; rank < processes_.size(); ++rank) {
      std::vector<std::string> variables = {
          absl::StrCat("RANK=", rank),
          absl::StrCat("WORLD_SIZE=", processes_.size()),
          "MASTER_ADDR=127.0.0.1",
          absl::StrCat("MASTER_PORT=", listener.Local().port),
          absl::StrCat(kTokenVariable, "=", token),
          absl::StrCat(kLaunchedVariable, "=", rank == 0 ? listener.fd() : -1)};
      if (::getenv("OMP_NUM_THREADS") == nullptr) {
        variables.push_back(
            absl::StrCat("OMP_NUM_THREADS=", cores.empty() ? 1 : cores[rank].size()));
      }
      EST_RETURN_IF_ERROR(StartOne(static_cast<int>(rank), std::move(variables), listener.fd(),
                                   cores.empty() ? std::vector<int>() : cores[rank]));
    }
    return absl::OkStatus();
  }

  // Returns when all have ended.
  void Wait() {
    while (num_running_ > 0) {
      std::vector<pollfd> waiting = {{signals_.fd(), POLLIN, 0}};
      for (Process& process : processes_) {
        for (Stream& stream : process.streams) waiting.push_back({stream.pipe.fd(), POLLIN, 0});
      }
      ::poll(waiting.data(), waiting.size(), kill_at_.has_value() ? 200 : -1);
      ReadStreams();
      HandleSignals();
      if (kill_at_.has_value() && Clock::now() > *kill_at_) KillWhatStays();
    }
    ReadStreams();
    for (Process& process : processes_) {
      for (Stream& stream : process.streams) stream.WriteRest();
    }
  }

  // 0: none failed.
  int exit_code() const { return exit_code_; }
  const std::string& first_failure() const { return first_failure_; }
  bool interrupted() const { return interrupted_; }

 private:
  absl::Status StartOne(int rank, std::vector<std::string> variables, int listener,
                        const std::vector<int>& cores) {
    for (char** variable = environ; *variable != nullptr; ++variable) {
      const absl::string_view text = *variable;
      const bool replaced = std::any_of(variables.begin(), variables.end(), [&](const auto& ours) {
        return absl::StartsWith(text, ours.substr(0, ours.find('=') + 1));
      });
      if (!replaced) variables.emplace_back(text);
    }
    std::vector<std::string> command = command_;
    const std::vector<char*> arguments = Pointers(command), environment = Pointers(variables);
    const char* const program = own_ ? "/proc/self/exe" : command[0].c_str();
    cpu_set_t set;
    CPU_ZERO(&set);
    for (const int core : cores) CPU_SET(core, &set);

    int pipes[2][2];
    Process& process = processes_[rank];
    for (int i = 0; i < 2; ++i) {
      if (::pipe2(pipes[i], O_CLOEXEC) != 0)
        return absl::UnavailableError(absl::StrCat("cannot make a pipe: ", std::strerror(errno)));
      ::fcntl(pipes[i][0], F_SETFL, O_NONBLOCK);
      // What rank 0 prints on stdout is the program's result, and may be read by another program.
      process.streams[i].prefix = rank == 0 && i == 0 ? "" : absl::StrCat("[", rank, "] ");
      process.streams[i].to = i == 0 ? STDOUT_FILENO : STDERR_FILENO;
      process.streams[i].pipe = Socket(pipes[i][0]);
    }
    const Socket ends[2] = {Socket(pipes[0][1]), Socket(pipes[1][1])};
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid == 0) {
      // Only async-signal-safe calls from here on.
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(127);
      ::setpgid(0, 0);
      const int null = ::open("/dev/null", O_RDONLY);
      ::dup2(null, STDIN_FILENO);
      ::dup2(ends[0].fd(), STDOUT_FILENO);
      ::dup2(ends[1].fd(), STDERR_FILENO);
      if (rank == 0) ::fcntl(listener, F_SETFD, 0);
      if (!cores.empty()) ::sched_setaffinity(0, sizeof(set), &set);
      ::sigprocmask(SIG_SETMASK, &old_mask_, nullptr);
      ::execve(program, arguments.data(), environment.data());
      ::_exit(127);
    }
    if (pid < 0)
      return absl::UnavailableError(absl::StrCat("cannot start a process: ", std::strerror(errno)));
    ::setpgid(pid, pid);  // also here: it must be done before KillAll
    process.pid = pid;
    ++num_running_;
    return absl::OkStatus();
  }

  void ReadStreams() {
    std::array<char, 1 << 16> bytes;
    for (Process& process : processes_) {
      for (Stream& stream : process.streams) {
        for (ssize_t count; stream.pipe.fd() >= 0;) {
          count = ::read(stream.pipe.fd(), bytes.data(), bytes.size());
          if (count > 0) {
            stream.WriteLines({bytes.data(), static_cast<size_t>(count)});
          } else if (count < 0 && errno == EINTR) {
            continue;
          } else {
            if (count == 0) stream.pipe = Socket();
            break;
          }
        }
      }
    }
  }

  void HandleSignals() {
    signalfd_siginfo info;
    while (::read(signals_.fd(), &info, sizeof(info)) == sizeof(info)) {
      const auto signal = static_cast<int>(info.ssi_signo);
      if (signal == SIGCHLD) {
        Reap();
        continue;
      }
      interrupted_ = true;
      // The error that follows cannot be written either, and must not end this process.
      if (signal == SIGPIPE) ::signal(SIGPIPE, SIG_IGN);
      for (const Process& process : processes_) {
        if (process.pid > 0) ::kill(process.pid, signal);
      }
    }
  }

  void Reap() {
    for (size_t rank = 0; rank < processes_.size(); ++rank) {
      Process& process = processes_[rank];
      int status = 0;
      if (process.pid <= 0 || ::waitpid(process.pid, &status, WNOHANG) != process.pid) continue;
      process.pid = -1;
      --num_running_;
      const bool killed = WIFSIGNALED(status);
      const int code = killed ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
      // Several may have ended since the last look. One that lost a peer is not the first.
      const bool first = exit_code_ == 0 || exit_code_ == kLostPeerExitCode;
      if (code == 0 || process.killed || !first || code == exit_code_) continue;
      exit_code_ = code;
      first_failure_ = killed
                           ? absl::StrCat("rank ", rank, " was ended by signal ", WTERMSIG(status),
                                          " (", ::strsignal(WTERMSIG(status)), ")")
                           : absl::StrCat("rank ", rank, " ended with exit code ", code);
      // After an interrupt the chief may save for longer.
      if (code != kInterruptedExitCode) kill_at_ = Clock::now() + time_to_end_;
    }
  }

  void KillAll() {
    for (Process& process : processes_) Kill(process);
  }
  static void Kill(Process& process) {
    if (process.pid <= 0) return;
    process.killed = true;
    ::kill(-process.pid, SIGKILL);  // with what it has started
  }

  void KillWhatStays() {
    // The chief may be saving. One that is stopped is not.
    if (Clock::now() > *kill_at_ + kTimeToSave || IsStopped(processes_[0].pid)) return KillAll();
    for (size_t rank = 1; rank < processes_.size(); ++rank) Kill(processes_[rank]);
  }

  const std::vector<std::string> command_;
  const bool own_;  // whether the command is this program's
  const Clock::duration time_to_end_;
  std::vector<Process> processes_;
  sigset_t old_mask_;
  Socket signals_;
  int num_running_ = 0;
  int exit_code_ = 0;
  std::string first_failure_;
  std::optional<Clock::time_point> kill_at_;
  bool interrupted_ = false;
};

}  // namespace

std::vector<std::vector<int>> DivideCores(const std::vector<int>& cores, int num_processes) {
  const size_t each = cores.size() / static_cast<size_t>(num_processes);
  std::vector<std::vector<int>> result;
  for (int rank = 0; rank < num_processes && each > 0; ++rank) {
    const auto begin = cores.begin() + static_cast<ptrdiff_t>(rank * each);
    result.emplace_back(begin, begin + static_cast<ptrdiff_t>(each));
  }
  return result;
}

absl::Status RunProcesses(const LaunchOptions& options) {
  for (int restarts = 0;; ++restarts) {
    if (InterruptRequested())  // between two starts
      return WithExitCode(absl::CancelledError("interrupted"), kInterruptedExitCode);
    Processes processes(options);
    EST_RETURN_IF_ERROR(processes.Start());
    processes.Wait();
    const int code = processes.exit_code();
    if (code == 0) return absl::OkStatus();
    const std::string& failure = processes.first_failure();
    if (code == kInterruptedExitCode || processes.interrupted())
      return WithExitCode(absl::CancelledError(failure), code);
    if (code == kUsageError || restarts >= options.max_restarts)
      return WithExitCode(absl::UnavailableError(failure), code);
    LOG(WARNING) << failure << "; all " << options.num_processes << " processes are started again ("
                 << restarts + 1 << " of " << options.max_restarts << ")";
  }
}

}  // namespace estimator
