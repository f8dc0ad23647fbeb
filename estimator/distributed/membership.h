// A process's connection to the server of the chief, for the whole run: small collective calls, and
// the news that another process is lost.
#ifndef ESTIMATOR_DISTRIBUTED_MEMBERSHIP_H_
#define ESTIMATOR_DISTRIBUTED_MEMBERSHIP_H_

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "estimator/distributed/socket.h"
#include "estimator/distributed/wire.h"

namespace estimator {

// A thread of this class sends heartbeats and reads what the server sends. The other functions may
// be called by any thread.
class Membership {
 public:
  // Introduces this process to the server at the other end of the socket.
  // Errors: FAILED_PRECONDITION if the server refuses it; UNAVAILABLE or DEADLINE_EXCEEDED if it is
  // no server of a group, or does not answer before the deadline.
  static absl::StatusOr<std::unique_ptr<Membership>> Join(Socket socket, int rank, int size,
                                                          absl::string_view token,
                                                          double peer_timeout_secs,
                                                          Clock::time_point deadline);
  // Tells the server that this process leaves on purpose.
  ~Membership();

  // A collective call. Returns the bytes of each rank.
  //   name: of the call. If another rank makes another one, that is an error of the group.
  absl::StatusOr<Fields> Call(absl::string_view name, absl::string_view bytes);

  // The error of the group, with its exit code (base/exit_code.h); OK while it has none.
  absl::Status error() const;
  bool failed() const { return failed_.load(std::memory_order_acquire); }
  // Ends the group with an error that this process found, unless it has one. Returns the group's
  // error.
  //   time_for_cause: what this process saw may be a consequence, and the server learns the cause
  //   within this time.
  absl::Status Report(const absl::Status& status, Seconds time_for_cause);
  // A function that this class calls, on its thread, when the group fails. Null: none. Returns when
  // the one before is not running any more.
  void OnFailure(std::function<void()> callback);

  // The address of this process in the network of the server.
  std::string LocalHost() const { return socket_.Local().host; }

 private:
  Membership(Socket socket, double peer_timeout_secs);

  // The first error stays. Returns it.
  absl::Status Fail(const absl::Status& status);
  void Run();
  // False: the connection ended.
  bool Read();
  void Handle(const Frame& frame);
  bool Send(FrameType type, const Fields& fields);

  const double peer_timeout_secs_;
  const Socket socket_;
  const Socket wake_;  // an eventfd
  FrameReader reader_;
  std::mutex send_mutex_;
  std::mutex callback_mutex_;
  std::function<void()> on_failure_;
  std::optional<Clock::time_point> left_deadline_;  // read by the thread only
  absl::Status left_;

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::optional<Fields> result_;
  absl::Status error_;
  std::atomic<bool> failed_ = false;
  std::atomic<bool> stop_ = false;
  std::thread thread_;
};

}  // namespace estimator

#endif  // ESTIMATOR_DISTRIBUTED_MEMBERSHIP_H_
