// Finds the largest batch of a step that fits into the memory of a device, with few compilations.
#ifndef TPU_COMPILE_CHECK_LARGEST_BATCH_H_
#define TPU_COMPILE_CHECK_LARGEST_BATCH_H_

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "estimator/base/string_arg.h"
#include "tpu/compile_check/compile_child.h"

namespace estimator::tpu {

// Gives the program for a batch of so many rows on each device; nullopt if the model cannot be
// built for them.
using ProgramForRows = std::function<absl::StatusOr<std::optional<std::string>>(int64_t rows)>;

struct SearchLimits {
  int max_compiles = 8;
  double seconds = 600;  // for all compilations of the search together
  // The search ends when the rows that fit and those that do not differ by 8, or by this share.
  double resolution = 1.0 / 32;
};

struct LargestBatch {
  int64_t fits = 0;       // the most rows of a device that are known to compile; 0: none
  int64_t too_large = 0;  // the fewest rows that are known not to fit; 0: none
  int num_compiles = 0;
  // OK if the search reached its resolution. Else why it ended before: RESOURCE_EXHAUSTED after
  // max_compiles; DEADLINE_EXCEEDED after `seconds`; CANCELLED after a signal; NOT_FOUND if the
  // model cannot be built for a number of rows; the compiler's errors other than too little memory.
  absl::Status ended;
};

// Starts from the outcome for `rows`, and tries multiples of 8. It interpolates the memory that the
// programs need, and halves the interval where that is slow. Each compilation is logged when it
// starts, and with its seconds when it ends.
LargestBatch FindLargestBatch(const CompileRequest& request, const CompileOutcome& outcome,
                              int64_t rows, const ProgramForRows& program,
                              const SearchLimits& limits = {});

// A line for the report: what is known, and if the search ended early, why.
//   rows: of the program that was checked.  num_replicas: to give the rows of all replicas, too.
std::string LargestBatchLine(const LargestBatch& largest, int64_t rows, int64_t num_replicas);

// The rows that would fill a device if all memory of the program grew with its rows. Variables do
// not, so more may fit. 0: the memory of the program is not known.
int64_t EstimateRows(const CompileRequest& request, const CompileOutcome& outcome, int64_t rows);

// What libtpu's message on too little memory says, in bytes.
struct MemoryShortage {
  double needed = 0;
  double available = 0;
};
// nullopt: the message has another form.
std::optional<MemoryShortage> ParseMemoryShortage(StringArg message);

}  // namespace estimator::tpu

#endif  // TPU_COMPILE_CHECK_LARGEST_BATCH_H_
