// Programs with estimator::Main wait for work without spinning.
//
// Threads of libgomp spin for milliseconds at the end of every parallel loop before they sleep.
// Where another program wants the same cores, each of the many short loops of a step then waits for
// a thread that has been put off: a small model became a hundred times slower. libgomp reads
// OMP_WAIT_POLICY once, before any code of ours runs, so the program starts itself again with it.
// A user who sets OMP_WAIT_POLICY or GOMP_SPINCOUNT has it as set. Without /proc: as libgomp does
// it.
#include <unistd.h>

#include <cstdlib>

namespace {

// glibc hands main's arguments to constructors.
__attribute__((constructor)) void StartAgainWithPassiveWaiting(int, char** argv, char**) {
  if (getenv("OMP_WAIT_POLICY") != nullptr || getenv("GOMP_SPINCOUNT") != nullptr) return;
  if (setenv("OMP_WAIT_POLICY", "passive", 1) == 0) execv("/proc/self/exe", argv);
}

}  // namespace
