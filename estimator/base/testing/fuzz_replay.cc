// The main function of a fuzz target's test. It runs the target on the corpus files that the
// arguments name. The test fails by a crash or a failed CHECK. See est_fuzz_test.
#include <cstdint>
#include <cstdio>
#include <string>

#include "estimator/base/file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

int main(int argc, char** argv) {
  for (int i = 1; i < argc; ++i) {
    const auto contents = estimator::ReadFile(argv[i]);
    if (!contents.ok()) {
      std::fprintf(stderr, "%s\n", contents.status().ToString().c_str());
      return 1;
    }
    std::printf("%s\n", argv[i]);
    std::fflush(stdout);
    // A short file is also replayed cut off at every length.
    const size_t first = contents->size() < 4096 ? 0 : contents->size();
    for (size_t size = first; size <= contents->size(); ++size) {
      // The copy ends at `size`, so asan reports a read past the end.
      const std::string input = contents->substr(0, size);
      LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(input.data()), input.size());
    }
  }
  std::printf("%d files replayed\n", argc - 1);
  return argc > 1 ? 0 : 1;
}
