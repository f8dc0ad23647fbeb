// Times the sum of a buffer over processes: in memory that they share, with copies to and from it,
// and through Gloo. Prints one line of JSON.
//   all_reduce_benchmark [MEGABYTES] [ROUNDS]
// It measures the group of processes that the environment names (find_group.h). Alone, it starts
// two processes on this machine. tools/peers/processes.py measures PyTorch beside it.
//
// The bound is the time that memory needs: each process adds two arrays of its own, of half the
// size, into both. So it reads and writes as many bytes as its part of a sum in shared memory does.
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <limits>
#include <optional>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_format.h"
#include "estimator/base/status.h"
#include "estimator/distributed/find_group.h"
#include "estimator/distributed/join_group.h"
#include "estimator/distributed/launcher.h"
#include "estimator/distributed/socket.h"
#include "glog/logging.h"

namespace estimator {
namespace {

// The least time in ms of the slowest process.
template <typename Fn>
absl::StatusOr<double> LeastMs(ProcessGroup& group, int rounds, const Fn& fn) {
  double least = std::numeric_limits<double>::max();
  for (int round = 0; round < rounds; ++round) {
    EST_RETURN_IF_ERROR(group.Barrier());
    const auto start = Clock::now();
    EST_RETURN_IF_ERROR(fn());
    const double micros = Seconds(Clock::now() - start).count() * 1e6;
    EST_ASSIGN_OR_RETURN(const int64_t slowest, group.AllReduceMax(static_cast<int64_t>(micros)));
    least = std::min(least, static_cast<double>(slowest) / 1000);
  }
  return least;
}

absl::StatusOr<double> BoundMs(ProcessGroup& group, int rounds, int64_t count) {
  std::vector<float> a(static_cast<size_t>(count / 2), 1.f), b(a);
  return LeastMs(group, rounds, [&] {
    float *x = a.data(), *y = b.data();
#pragma omp simd
    for (int64_t i = 0; i < count / 2; ++i) x[i] = y[i] = x[i] + y[i];
    return absl::OkStatus();
  });
}

absl::Status Measure(GroupOptions options, int64_t count, int rounds) {
  omp_set_num_threads(1);  // as the thread that sums gradients beside the step
  EST_ASSIGN_OR_RETURN(const auto group, JoinGroup(options));
  EST_ASSIGN_OR_RETURN(const double bound, BoundMs(*group, rounds, count));
  EST_ASSIGN_OR_RETURN(void* const shared, group->SharedBuffer(count * 4));
  std::vector<float> values(static_cast<size_t>(count), 1.f);
  const auto sum = [&](ProcessGroup& of, void* buffer) {
    return LeastMs(of, rounds,
                   [&] { return of.AllReduceSum(DType::kFloat32, buffer, buffer, count); });
  };
  EST_ASSIGN_OR_RETURN(const double in_place, sum(*group, shared));
  EST_ASSIGN_OR_RETURN(const double copied, sum(*group, values.data()));

  // A second group at the next port, which does not use shared memory.
  EST_ASSIGN_OR_RETURN(HostPort address, HostPort::Parse(options.rendezvous));
  ++address.port;
  options.rendezvous = address.ToString();
  options.listener_fd = -1;
  options.use_shared_memory = false;
  EST_ASSIGN_OR_RETURN(const auto gloo_group, JoinGroup(options));
  EST_ASSIGN_OR_RETURN(const double gloo, sum(*gloo_group, values.data()));
  if (options.rank == 0) {
    std::cout << absl::StrFormat(
                     R"({"program": "all_reduce_benchmark", "processes": %d, "megabytes": %g, )"
                     R"("bound_ms": %.2f, "shared_ms": %.2f, "copied_ms": %.2f, "gloo_ms": %.2f})",
                     group->size(), static_cast<double>(count) * 4e-6, bound, in_place, copied,
                     gloo)
              << std::endl;
  }
  return absl::OkStatus();
}

absl::Status Run(int64_t count, int rounds) {
  EST_ASSIGN_OR_RETURN(const GroupOptions options,
                       FindGroup({}, std::nullopt, &::getenv, ::getppid()));
  return options.size == 1 ? RunProcesses({.num_processes = 2}) : Measure(options, count, rounds);
}

}  // namespace
}  // namespace estimator

int main(int argc, char** argv) {
  double megabytes = 100;
  int rounds = 30;
  const bool valid = (argc < 2 || absl::SimpleAtod(argv[1], &megabytes)) &&
                     (argc < 3 || absl::SimpleAtoi(argv[2], &rounds)) && argc < 4 &&
                     megabytes > 0 && rounds > 0;
  CHECK(valid) << "usage: all_reduce_benchmark [megabytes] [rounds]";
  const absl::Status status = estimator::Run(static_cast<int64_t>(megabytes * 250'000), rounds);
  LOG_IF(ERROR, !status.ok()) << status;
  return status.ok() ? 0 : 1;
}
