#include "estimator/distributed/membership.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "estimator/base/exit_code.h"
#include "estimator/base/status.h"
#include "estimator/distributed/rendezvous_server.h"

namespace estimator {
namespace {

// What the server sends is trusted.
constexpr uint32_t kMaxResultBytes = UINT32_MAX;
// A process that leaves may have finished a sum that others are about to finish.
constexpr std::chrono::milliseconds kTimeToFinish(500);

// Sends a frame of a few bytes if that does not block. A connection that the system calls writable
// has room for all of them.
void SendWithoutWaiting(int fd, FrameType type) {
  pollfd writable = {fd, POLLOUT, 0};
  if (::poll(&writable, 1, 0) == 1) WriteAll(fd, EncodeFrame(type));
}

// Reads one frame. For the answer to a hello, before the thread starts.
absl::StatusOr<Frame> ReadOne(int fd, FrameReader& reader, Clock::time_point deadline) {
  for (;;) {
    EST_ASSIGN_OR_RETURN(std::optional<Frame> frame, reader.Next());
    if (frame.has_value()) return *std::move(frame);
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    pollfd waiting = {fd, POLLIN, 0};
    if (left <= 0 || ::poll(&waiting, 1, static_cast<int>(left)) == 0)
      return absl::DeadlineExceededError("the chief does not answer");
    std::array<char, 4096> bytes;
    const ssize_t count = ::recv(fd, bytes.data(), bytes.size(), 0);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return absl::UnavailableError("the chief closed the connection");
    reader.Append(absl::string_view(bytes.data(), static_cast<size_t>(count)));
  }
}

}  // namespace

absl::StatusOr<std::unique_ptr<Membership>> Membership::Join(Socket socket, int rank, int size,
                                                             absl::string_view token,
                                                             double peer_timeout_secs,
                                                             Clock::time_point deadline) {
  const Fields hello = {kProtocol,          std::string(token), absl::StrCat(rank),
                        absl::StrCat(size), HostName(),         absl::StrCat(::getpid())};
  std::unique_ptr<Membership> member(new Membership(std::move(socket), peer_timeout_secs));
  if (!member->Send(FrameType::kHello, hello))
    return absl::UnavailableError("the chief closed the connection");
  EST_ASSIGN_OR_RETURN(const Frame answer,
                       ReadOne(member->socket_.fd(), member->reader_, deadline));
  if (answer.type == FrameType::kRefused && answer.fields.size() == 1)
    return FailedPrecondition("the chief refuses this process: ", answer.fields[0]);
  if (answer.type != FrameType::kWelcome)
    return absl::UnavailableError("the chief is not a process of this program");
  member->thread_ = std::thread([m = member.get()] { m->Run(); });
  return member;
}

Membership::Membership(Socket socket, double peer_timeout_secs)
    : peer_timeout_secs_(peer_timeout_secs),
      socket_(std::move(socket)),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      reader_(kMaxResultBytes) {}

Membership::~Membership() {
  if (!thread_.joinable()) return;
  stop_ = true;
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wake_.fd(), &one, sizeof(one));
  thread_.join();
  SendWithoutWaiting(socket_.fd(), FrameType::kLeaving);
}

bool Membership::Send(FrameType type, const Fields& fields) {
  const std::lock_guard<std::mutex> lock(send_mutex_);
  return WriteAll(socket_.fd(), EncodeFrame(type, fields));
}

void Membership::Run() {
  const Seconds interval(HeartbeatSecs(peer_timeout_secs_));
  const Seconds limit(SilenceSecs(peer_timeout_secs_));
  Clock::time_point last_heard = Clock::now(), last_loop = last_heard, last_sent;
  while (!stop_ && !failed()) {
    Clock::time_point now = Clock::now();
    if (now - last_sent >= interval && send_mutex_.try_lock()) {
      // A call that is being sent is a sign of life too. A full buffer means that the server does
      // not read; this thread must not wait for it.
      last_sent = now;
      SendWithoutWaiting(socket_.fd(), FrameType::kHeartbeat);
      send_mutex_.unlock();
    }
    pollfd waiting[] = {{socket_.fd(), POLLIN, 0}, {wake_.fd(), POLLIN, 0}};
    const double milliseconds = left_deadline_.has_value() ? 50 : interval.count() * 500;
    ::poll(waiting, 2, static_cast<int>(milliseconds) + 1);
    now = Clock::now();
    if (waiting[0].revents != 0) {
      if (!Read()) {
        Fail(left_.ok()
                 ? absl::UnavailableError("the chief, rank 0, died: it closed the connection")
                 : left_)
            .IgnoreError();
      }
      last_heard = now;
    }
    // A process that was stopped itself must not say that the chief was.
    if (now - last_loop > limit) last_heard = now;
    last_loop = now;
    if (const Seconds silent = now - last_heard; silent > limit) {
      Fail(absl::DeadlineExceededError(
               absl::StrFormat("the chief, rank 0, did not answer for %.1f s", silent.count())))
          .IgnoreError();
      ::shutdown(socket_.fd(), SHUT_WR);  // ends a Send that waits
    }
    if (left_deadline_.has_value() && now > *left_deadline_) Fail(left_).IgnoreError();
  }
}

bool Membership::Read() {
  std::array<char, 1 << 16> bytes;
  const ssize_t count = ::recv(socket_.fd(), bytes.data(), bytes.size(), MSG_DONTWAIT);
  if (count < 0 && (errno == EAGAIN || errno == EINTR)) return true;
  if (count <= 0) return false;
  reader_.Append(absl::string_view(bytes.data(), static_cast<size_t>(count)));
  for (;;) {
    const auto frame = reader_.Next();
    if (!frame.ok()) return false;
    if (!frame->has_value()) return true;
    Handle(**frame);
  }
}

void Membership::Handle(const Frame& frame) {
  if (frame.type == FrameType::kResult) {
    const std::lock_guard<std::mutex> lock(mutex_);
    result_ = frame.fields;
    changed_.notify_all();
  } else if (frame.type == FrameType::kLeft && frame.fields.size() == 1 && left_.ok()) {
    left_ = absl::UnavailableError(frame.fields[0]);
    left_deadline_ = Clock::now() + kTimeToFinish;
  } else if (frame.type == FrameType::kFailed && frame.fields.size() == 2) {
    int code = 0;
    if (!absl::SimpleAtoi(frame.fields[0], &code)) code = 14;  // UNAVAILABLE
    Fail({static_cast<absl::StatusCode>(code), frame.fields[1]}).IgnoreError();
  }
}

absl::StatusOr<Fields> Membership::Call(absl::string_view name, absl::string_view bytes) {
  EST_RETURN_IF_ERROR(error());
  // A lost connection is noticed and explained by the thread.
  Send(FrameType::kCall, {std::string(name), std::string(bytes)});
  std::unique_lock<std::mutex> lock(mutex_);
  changed_.wait(lock, [this] { return result_.has_value() || !error_.ok(); });
  if (!result_.has_value()) return error_;
  Fields result = *std::move(result_);
  result_.reset();
  return result;
}

absl::Status Membership::error() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return error_;
}

absl::Status Membership::Report(const absl::Status& status, Seconds time_for_cause) {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    if (changed_.wait_for(lock, time_for_cause, [this] { return !error_.ok(); })) return error_;
  }
  Send(FrameType::kFailed,
       {absl::StrCat(static_cast<int>(status.code())), std::string(status.message())});
  return Fail(status);
}

absl::Status Membership::Fail(const absl::Status& status) {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (!error_.ok()) return error_;
    error_ = WithExitCode(status, kLostPeerExitCode);
    failed_.store(true, std::memory_order_release);
    changed_.notify_all();
  }
  const std::lock_guard<std::mutex> lock(callback_mutex_);
  if (on_failure_) on_failure_();
  return error();
}

void Membership::OnFailure(std::function<void()> callback) {
  const std::lock_guard<std::mutex> lock(callback_mutex_);
  on_failure_ = std::move(callback);
  if (failed() && on_failure_) on_failure_();
}

}  // namespace estimator
