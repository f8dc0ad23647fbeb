// Addresses of the form HOST:PORT. HOST is a name, an IPv4 address, or an IPv6 address in brackets:
//
//   tpu-vm:8470    10.0.0.2:8470    [fd20:ce::254]:8470
#ifndef TPU_CLUSTER_HOST_PORT_H_
#define TPU_CLUSTER_HOST_PORT_H_

#include <string>

#include "absl/status/statusor.h"
#include "estimator/base/string_arg.h"

namespace estimator::tpu {

struct HostPort {
  std::string host;  // without brackets
  std::string port;  // in [1, 65535]

  // "HOST:PORT", with brackets around an IPv6 address.
  std::string ToString() const;
};

// Parses HOST or HOST:PORT.
//   default_port: the port of a text without one.
// Errors: INVALID_ARGUMENT for an empty host, for a port that is not in [1, 65535], and for an IPv6
// address without brackets, or for brackets around anything else. The message has the text.
absl::StatusOr<HostPort> ParseHostPort(StringArg text, StringArg default_port);

// The host as an address has it: with brackets if it is a bare IPv6 address, else as it is.
std::string BracketHost(StringArg host);

}  // namespace estimator::tpu

#endif  // TPU_CLUSTER_HOST_PORT_H_
