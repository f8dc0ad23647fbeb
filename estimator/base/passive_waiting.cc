// Programs with estimator::Main wait for work without spinning.
//
// Threads of libgomp spin for milliseconds at the end of every parallel loop before they sleep.
// Where another program wants the same cores, each of the many short loops of a step then waits for
// a thread that has been put off: a small model became a hundred times slower. libgomp reads
// OMP_WAIT_POLICY once, before any code of ours runs, so the program starts itself again with it.
// A user who sets OMP_WAIT_POLICY or GOMP_SPINCOUNT has it as set. Without /proc: as libgomp does
// it.
#include <sys/prctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace {

constexpr char kThisProgram[] = "/proc/self/exe";

// Linux names a process after the file that it was started from, which now is "exe"; top, pkill and
// killall are to find it by its own name.
void TakeBackTheName() {
  char name[16] = "";
  if (prctl(PR_GET_NAME, name) != 0 || std::strcmp(name, "exe") != 0) return;
  prctl(PR_SET_NAME, program_invocation_short_name);
}

// glibc hands main's arguments to constructors.
__attribute__((constructor)) void StartAgainWithPassiveWaiting(int, char** argv, char**) {
  TakeBackTheName();
  if (getenv("OMP_WAIT_POLICY") != nullptr || getenv("GOMP_SPINCOUNT") != nullptr) return;
  if (setenv("OMP_WAIT_POLICY", "passive", 1) == 0) execv(kThisProgram, argv);
}

}  // namespace
