// FakeMachine: a Machine with the variables and the files that a test gives it.
#ifndef TPU_CLUSTER_TESTING_FAKE_MACHINE_H_
#define TPU_CLUSTER_TESTING_FAKE_MACHINE_H_

#include <map>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "estimator/base/file.h"
#include "estimator/base/file_system.h"
#include "estimator/base/path.h"
#include "estimator/base/testing/temp_dir.h"
#include "glog/logging.h"
#include "tpu/cluster/machine.h"

namespace estimator::tpu {

class FakeMachine {
 public:
  std::map<std::string, std::string> variables;

  // Its copies read the current variables and files. REQUIRES: this object outlives them.
  Machine machine() const {
    return {.variable = [this](const std::string& name) -> std::optional<std::string> {
              const auto found = variables.find(name);
              if (found == variables.end() || found->second.empty()) return std::nullopt;
              return found->second;
            },
            .is_empty =
                [this](const std::string& name) {
                  const auto found = variables.find(name);
                  return found != variables.end() && found->second.empty();
                },
            .root = root_.path()};
  }
  std::string Path(const std::string& relative) const { return JoinPath(root_.path(), relative); }
  void Write(const std::string& relative, const std::string& text) const {
    CHECK(CreateDirectories(Dirname(Path(relative))).ok());
    CHECK(WriteFileAtomically(Path(relative), text).ok());
  }
  // Adds a chip on the PCI bus, such as 0x0063 for v5e, and its device node.
  void AddChip(const std::string& device, int number, bool with_node = true) const {
    const std::string folder = absl::StrCat("sys/bus/pci/devices/0000:00:0", number, ".0/");
    Write(folder + "vendor", "0x1ae0\n");
    Write(folder + "device", device + "\n");
    if (with_node) Write(absl::StrCat("dev/accel", number), "");
  }

 private:
  estimator::TempDir root_;
};

}  // namespace estimator::tpu

#endif  // TPU_CLUSTER_TESTING_FAKE_MACHINE_H_
