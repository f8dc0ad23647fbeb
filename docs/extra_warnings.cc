// A fixed bug: a program of estimator_binary with -Wextra -Werror did not compile if it used
// designated initializers for a struct of its own.
#include <cstdint>
#include <iostream>
#include <string>

#include "estimator/base/main.h"
#include "tpu/tpu_estimator.h"

namespace {

struct NetworkOptions {
  int64_t units;
  std::string name;
  double dropout;
};

absl::Status Run() {
  const NetworkOptions options = {.units = 10};
  std::cout << options.units << options.name << options.dropout << "\n";
  return absl::OkStatus();
}

}  // namespace

int main(int argc, char** argv) { return estimator::Main(argc, argv, Run); }
