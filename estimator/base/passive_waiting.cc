// Makes the threads of programs with estimator::Main wait for work without spinning.
//
// By default, threads of libgomp spin for milliseconds at the end of every parallel loop before
// they sleep. If another program uses the same cores, each of the many short loops of a step then
// waits for a thread that is not scheduled. A small model became a hundred times slower.
//
// OMP_WAIT_POLICY=passive prevents this. libgomp reads the variable once, when it is loaded, before
// the program's constructors run. Functions in .preinit_array run earlier, before all libraries.
// At that time the environment cannot grow, so OMP_WAIT_POLICY takes the place of another variable
// that no library reads while it is loaded. A constructor restores that variable afterwards, so the
// program and its children see the user's environment.
// If the user sets OMP_WAIT_POLICY or GOMP_SPINCOUNT, nothing changes.
#include <unistd.h>

#include <initializer_list>

namespace {

// These functions run before any library is initialized, including sanitizers and parts of libc.
#define EST_BEFORE_LIBRARIES __attribute__((no_sanitize("address", "thread", "undefined")))

char passive[] = "OMP_WAIT_POLICY=passive";
char* displaced = nullptr;  // the variable that `passive` replaces for a while

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

// glibc passes argc, argv and the environment to functions in this section.
__attribute__((section(".preinit_array"),
               used)) void (*const set_passive_waiting)(int, char**, char**) = SetPassiveWaiting;

}  // namespace
