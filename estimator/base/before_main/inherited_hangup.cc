// Keeps what the parent process decided about SIGHUP, for example `nohup` that it is ignored.
//
// Gloo of Debian 13 loads UCX (by Open MPI), which handles SIGHUP from the time it is loaded on. So
// a program under nohup would stop with its terminal, and another one would not end with it.
// Functions in .preinit_array run before all libraries are initialized.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace {

// The kernel's sigaction. The functions of libc may be those of a sanitizer, which is not
// initialized yet.
struct KernelAction {
  void* handler;
  unsigned long flags;
  void* restorer;
  unsigned long mask;
};

KernelAction at_start;
bool known = false;

__attribute__((no_sanitize("address", "thread", "undefined"))) void Remember(int, char**, char**) {
  known = ::syscall(SYS_rt_sigaction, SIGHUP, nullptr, &at_start, sizeof(at_start.mask)) == 0;
}

__attribute__((constructor)) void Restore() {
  if (known) ::syscall(SYS_rt_sigaction, SIGHUP, &at_start, nullptr, sizeof(at_start.mask));
}

__attribute__((section(".preinit_array"), used)) void (*const remember)(int, char**,
                                                                        char**) = Remember;

}  // namespace
