// Chooses one of the errors (mutants) that are compiled into a program. mutate.py puts this text
// before each source that it changes.
//   EST_MUTANT         the number of the mutant; without it there is none
//   EST_MUTANT_TRACE   a file, to which each reached mutant is appended: "NUMBER SUITE.TEST", or
//                      "NUMBER " outside the tests of GoogleTest
#ifndef TOOLS_MUTATE_MUTANT_SWITCH_H_
#define TOOLS_MUTATE_MUTANT_SWITCH_H_

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <string>

// Those of GoogleTest, or null in a program without it: a library does not depend on it.
extern "C" const void* est_mutant_unit_test() __asm__("_ZN7testing8UnitTest11GetInstanceEv")
    __attribute__((weak));
extern "C" const void* est_mutant_test_info(const void* unit_test) __asm__(
    "_ZNK7testing8UnitTest17current_test_infoEv") __attribute__((weak));

namespace est_mutant {

inline constexpr int kMaxMutants = 4096;
// The test that reached a mutant last.
inline std::atomic<const void*> last_test[kMaxMutants];

// The first members of a testing::TestInfo.
struct TestName {
  std::string suite, name;
};

// Not inlined: the tests of the mutants run without it.
__attribute__((noinline)) inline void Trace(int number, const char* path) {
  const int error = errno;
  const void* test = est_mutant_unit_test ? est_mutant_test_info(est_mutant_unit_test()) : nullptr;
  const void* seen = test ? test : static_cast<const void*>(last_test);
  if (last_test[number].exchange(seen) != seen) {
    std::string line = std::to_string(number) + " ";
    if (test) {
      const auto* name = static_cast<const TestName*>(test);
      line += name->suite + "." + name->name;
    }
    line += "\n";
    // System calls, because tests replace the functions of the C library to let files fail.
    const long file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND, 0644);
    syscall(SYS_write, file, line.data(), line.size());
    syscall(SYS_close, file);
  }
  errno = error;
}

// Whether this run is that of mutant `number`, which is less than kMaxMutants.
inline bool Is(int number) {
  static const char* const chosen = std::getenv("EST_MUTANT");
  static const int mutant = chosen ? std::atoi(chosen) : 0;
  static const char* const trace = std::getenv("EST_MUTANT_TRACE");
  if (__builtin_expect(trace != nullptr, 0)) Trace(number, trace);
  return number == mutant;
}

}  // namespace est_mutant

#endif  // TOOLS_MUTATE_MUTANT_SWITCH_H_
