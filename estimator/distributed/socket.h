// TCP sockets: addresses, listening and connecting.
#ifndef ESTIMATOR_DISTRIBUTED_SOCKET_H_
#define ESTIMATOR_DISTRIBUTED_SOCKET_H_

#include <chrono>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace estimator {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

// A machine and a port, written HOST:PORT or [IPV6]:PORT.
struct HostPort {
  std::string host;
  int port = 0;

  // Errors: INVALID_ARGUMENT that shows the form.
  static absl::StatusOr<HostPort> Parse(absl::string_view text);
  std::string ToString() const;
};

// Owns a file descriptor.
class Socket {
 public:
  Socket() = default;
  explicit Socket(int fd) : fd_(fd) {}
  ~Socket();
  Socket(Socket&& other) noexcept : fd_(other.Release()) {}
  Socket& operator=(Socket&& other) noexcept;

  int fd() const { return fd_; }
  int Release();  // the caller owns the descriptor then

  // The numeric addresses of both ends.
  HostPort Local() const;
  HostPort Remote() const;

 private:
  int fd_ = -1;
};

// Listens at the address. Port 0: any free one. A name of this machine that resolves to the
// loopback address, as Debian's /etc/hosts has it, means all addresses of the machine; localhost
// and 127.0.0.1 do not.
// Errors: UNAVAILABLE with the address and the system's message.
absl::StatusOr<Socket> ListenAt(const HostPort& address);

// Connects. Tries again until the deadline, because the other process may start later.
// Errors: UNAVAILABLE with the address and the last reason.
absl::StatusOr<Socket> ConnectTo(const HostPort& address, Clock::time_point deadline);

// The name of this machine.
std::string HostName();

// An address at which other machines find this one; the loopback address if it has no other.
std::string HostAddress();

// Whether the address, a number, is that of the loopback interface.
bool IsLoopback(absl::string_view host);

// Writes all bytes, and waits while the peer does not read. False: the connection is lost.
bool WriteAll(int fd, absl::string_view bytes);

}  // namespace estimator

#endif  // ESTIMATOR_DISTRIBUTED_SOCKET_H_
