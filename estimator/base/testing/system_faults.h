// Makes one system call on a file fail, of all that a test makes: those of estimator/base, and
// those that no fault injector is asked about (fault_injection.h), such as guesses and the standard
// library's. A program that links this has its own open, stat, read and so on, which call the
// system's.
#ifndef ESTIMATOR_BASE_TESTING_SYSTEM_FAULTS_H_
#define ESTIMATOR_BASE_TESTING_SYSTEM_FAULTS_H_

#include <string>

#include "absl/strings/string_view.h"

namespace estimator::testing {

// While it lives, call number `index` of those that can fail with the errno `error` fails with it.
// Counted are the calls on paths that begin with `prefix`, on any thread. Thread-safe.
// REQUIRES: no other lives.
class SystemFault {
 public:
  SystemFault(absl::string_view prefix, int index, int error);
  ~SystemFault();
  SystemFault(const SystemFault&) = delete;
  SystemFault& operator=(const SystemFault&) = delete;

  // The call that failed and its path, such as "stat /tmp/m/checkpoint"; empty if none has failed.
  std::string hit() const;
};

}  // namespace estimator::testing

#endif  // ESTIMATOR_BASE_TESTING_SYSTEM_FAULTS_H_
