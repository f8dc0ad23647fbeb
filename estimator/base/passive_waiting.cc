// Programs with estimator::Main wait for work without spinning.
//
// Threads of libgomp spin for milliseconds at the end of every parallel loop before they sleep.
// Where another program wants the same cores, each of the many short loops of a step then waits for
// a thread that has been put off: a small model became a hundred times slower. libgomp reads
// OMP_WAIT_POLICY once, when it is loaded, before any constructor of the program's. What stands in
// .preinit_array runs earlier still, before every library: there the variable takes the place of
// one that no library looks at while it is loaded, and a constructor puts that one back. So the
// program and those that it starts have the environment that the user gave.
// A user who sets OMP_WAIT_POLICY or GOMP_SPINCOUNT has it as set.
#include <unistd.h>

#include <initializer_list>

namespace {

// No library is there yet, not even a sanitizer's or all of libc.
#define EST_BEFORE_LIBRARIES __attribute__((no_sanitize("address", "thread", "undefined")))

char passive[] = "OMP_WAIT_POLICY=passive";
char* displaced = nullptr;  // the variable that gave its place

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

EST_BEFORE_LIBRARIES void SetPassiveWaiting(int, char**, char** environment) {
  if (Find(environment, "OMP_WAIT_POLICY") || Find(environment, "GOMP_SPINCOUNT")) return;
  for (const char* name : {"_", "SHLVL", "PWD", "PATH", "HOME"}) {
    char** const place = Find(environment, name);
    if (place == nullptr) continue;
    displaced = *place;
    *place = passive;
    return;
  }
}

__attribute__((constructor)) void RestoreEnvironment() {
  if (displaced == nullptr) return;
  for (char** variable = environ; variable != nullptr && *variable != nullptr; ++variable) {
    if (*variable == passive) *variable = displaced;
  }
}

// glibc hands main's arguments and the environment to these.
__attribute__((section(".preinit_array"),
               used)) void (*const set_passive_waiting)(int, char**, char**) = SetPassiveWaiting;

}  // namespace
