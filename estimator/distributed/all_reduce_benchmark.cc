// Times the sum of a buffer over processes of this machine: in shared memory, with copies to and
// from it, and through Gloo. The bound is the time in which all processes at once do the same sums
// in memory of their own, without waiting for each other.
// With a Python that has PyTorch, its all-reduce through Gloo is measured too
// (all_reduce_benchmark.py).
//   all_reduce_benchmark [PROCESSES] [MEGABYTES] [PYTHON]
#include <omp.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "absl/strings/str_format.h"
#include "estimator/array/tree_sum.h"
#include "estimator/base/status.h"
#include "estimator/distributed/join_group.h"
#include "estimator/distributed/socket.h"
#include "glog/logging.h"

namespace estimator {
namespace {

constexpr int kRounds = 30;

// The least time in ms of the slowest process.
template <typename Fn>
absl::StatusOr<double> LeastMs(ProcessGroup& group, const Fn& fn) {
  double least = std::numeric_limits<double>::max();
  for (int round = 0; round < kRounds; ++round) {
    EST_RETURN_IF_ERROR(group.Barrier());
    const auto start = Clock::now();
    EST_RETURN_IF_ERROR(fn());
    const double micros = Seconds(Clock::now() - start).count() * 1e6;
    EST_ASSIGN_OR_RETURN(const int64_t slowest, group.AllReduceMax(static_cast<int64_t>(micros)));
    least = std::min(least, static_cast<double>(slowest) / 1000);
  }
  return least;
}

// 0 if there is no such Python.
double PyTorchMs(const std::string& python, int size, int64_t megabytes) {
  double ms = 0;
  const std::string command = absl::StrFormat(
      "%s estimator/distributed/all_reduce_benchmark.py %d %d", python, size, megabytes);
  FILE* const output = python.empty() ? nullptr : ::popen(command.c_str(), "r");
  if (output == nullptr) return 0;
  if (std::fscanf(output, "%lf", &ms) != 1) ms = 0;
  ::pclose(output);
  return ms;
}

void Print(const char* what, double ms, double bound) {
  absl::PrintF("%-20s %8.2f ms  %5.2f of the bound\n", what, ms, ms / bound);
}

// Returns the bound.
absl::StatusOr<double> Measure(GroupOptions options, int64_t count) {
  EST_ASSIGN_OR_RETURN(const auto group, JoinGroup(options));
  const int64_t bytes = count * 4;
  const int size = group->size();

  std::vector<std::vector<float>> own(size, std::vector<float>(count / size, 1.f));
  std::vector<const void*> inputs;
  std::vector<void*> outputs;
  for (auto& buffer : own) {
    inputs.push_back(buffer.data());
    outputs.push_back(buffer.data());
  }
  constexpr DType kFloat = DType::kFloat32;
  EST_ASSIGN_OR_RETURN(const double bound, LeastMs(*group, [&] {
                         return TreeSum(kFloat, kFloat, count / size, inputs, outputs);
                       }));
  own.clear();

  EST_ASSIGN_OR_RETURN(void* const shared, group->SharedBuffer(bytes));
  std::vector<float> values(count, 1.f);
  const auto sum = [&](ProcessGroup& g, void* buffer) {
    return LeastMs(g, [&] { return g.AllReduceSum(kFloat, buffer, buffer, count); });
  };
  EST_ASSIGN_OR_RETURN(const double in_place, sum(*group, shared));
  EST_ASSIGN_OR_RETURN(const double copied, sum(*group, values.data()));

  // A second group at the next port, which does not use the shared memory.
  EST_ASSIGN_OR_RETURN(HostPort address, HostPort::Parse(options.rendezvous));
  ++address.port;
  options.rendezvous = address.ToString();
  options.listener_fd = -1;
  options.use_shared_memory = false;
  EST_ASSIGN_OR_RETURN(const auto gloo_group, JoinGroup(options));
  EST_ASSIGN_OR_RETURN(const double gloo, sum(*gloo_group, values.data()));

  if (options.rank != 0) return bound;
  absl::PrintF("%d processes of %d threads, %.0f MB, least of %d rounds\n", size,
               omp_get_max_threads(), static_cast<double>(bytes) / 1e6, kRounds);
  Print("bound", bound, bound);
  Print("shared buffer", in_place, bound);
  Print("with copies", copied, bound);
  Print("through Gloo", gloo, bound);
  return bound;
}

absl::Status Run(int size, int64_t megabytes, const std::string& python) {
  EST_ASSIGN_OR_RETURN(Socket listener, ListenAt({"127.0.0.1", 0}));
  GroupOptions options = {.size = size, .rendezvous = listener.Local().ToString()};
  for (int rank = 1; rank < size; ++rank) {
    if (::fork() != 0) continue;
    options.rank = rank;
    listener = Socket();
    const absl::Status status = Measure(options, megabytes * 250'000).status();
    LOG_IF(ERROR, !status.ok()) << status;
    std::_Exit(status.ok() ? 0 : 1);
  }
  options.listener_fd = listener.Release();
  const absl::StatusOr<double> bound = Measure(options, megabytes * 250'000);
  while (::wait(nullptr) > 0) continue;
  if (!bound.ok()) return bound.status();
  if (const double ms = PyTorchMs(python, size, megabytes); ms > 0) Print("PyTorch", ms, *bound);
  return absl::OkStatus();
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  const int size = argc > 1 ? std::atoi(argv[1]) : 2;
  const int megabytes = argc > 2 ? std::atoi(argv[2]) : 100;
  CHECK(size > 1 && megabytes > 0) << "usage: all_reduce_benchmark [processes] [megabytes]";
  const absl::Status status = estimator::Run(size, megabytes, argc > 3 ? argv[3] : "");
  LOG_IF(ERROR, !status.ok()) << status;
  return status.ok() ? 0 : 1;
}
