// Makes the threads of programs with estimator::Main spin only briefly before they sleep.
//
// By default, threads of libgomp spin for milliseconds at the end of every parallel loop before
// they sleep. If another program uses the same cores, each of the many short loops of a step then
// waits for a thread that is not scheduled. A small model became a hundred times slower. If threads
// sleep at once, waking them takes much of a short step. MNIST on 2 cores of an AMD EPYC, which
// were idle or ran one other busy program, images/s:
//                              no spins   1,000 spins   10,000 spins   unlimited
//   batch 16                       3,920         6,420          6,750       6,560
//   batch 128, 8 replicas          3,450         4,930          4,870       5,100
//   batch 128                     10,200        10,800         11,000      11,000
//   batch 16, other program        3,420         3,110          1,560       1,680
//   batch 128, other program       5,520         5,320          4,110       3,490
// 1,000 spins take about 10 microseconds on that CPU.
//
// GOMP_SPINCOUNT sets their number. libgomp reads the variable once, when it is loaded, before
// the program's constructors run. Functions in .preinit_array run earlier, before all libraries.
// At that time the environment cannot grow, so GOMP_SPINCOUNT takes the place of another variable
// that no library reads while it is loaded. A constructor restores that variable afterwards, so the
// program and its children see the user's environment.
// If the user sets OMP_WAIT_POLICY or GOMP_SPINCOUNT, nothing changes.
#include <unistd.h>

#include <initializer_list>

namespace {

// These functions run before any library is initialized, including sanitizers and parts of libc.
#define EST_BEFORE_LIBRARIES __attribute__((no_sanitize("address", "thread", "undefined")))

char spin_count[] = "GOMP_SPINCOUNT=1000";
char* displaced = nullptr;  // the variable that spin_count replaces for a while

EST_BEFORE_LIBRARIES bool IsNamed(const char* variable, const char* name) {
  while (*name != '\0' && *variable == *name) ++variable, ++name;
  return *name == '\0' && *variable == '=';
}

EST_BEFORE_LIBRARIES char** Find(char** environment, const char* name) {
  for (; *environment != nullptr; ++environment) {
    if (IsNamed(*environment, name)) return environment;
  }
  return nullptr;
}

EST_BEFORE_LIBRARIES void SetSpinCount(int, char**, char** environment) {
  if (Find(environment, "OMP_WAIT_POLICY") || Find(environment, "GOMP_SPINCOUNT")) return;
  for (const char* name : {"_", "SHLVL", "PWD", "PATH", "HOME"}) {
    char** const place = Find(environment, name);
    if (place == nullptr) continue;
    displaced = *place;
    *place = spin_count;
    return;
  }
}

__attribute__((constructor)) void RestoreEnvironment() {
  if (displaced == nullptr) return;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (*variable == spin_count) *variable = displaced;
  }
}

// glibc passes argc, argv and the environment to functions in this section.
__attribute__((section(".preinit_array"),
               used)) void (*const set_spin_count)(int, char**, char**) = SetSpinCount;

}  // namespace
