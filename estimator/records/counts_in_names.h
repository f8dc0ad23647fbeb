// The numbers of records that file names state, as in "flowers00-230.tfrec".
#ifndef ESTIMATOR_RECORDS_COUNTS_IN_NAMES_H_
#define ESTIMATOR_RECORDS_COUNTS_IN_NAMES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace estimator {

// For each file, the count that its name ends in before ".tfrec", or nullopt if it has none. The
// number of shards in "train-00000-of-01024.tfrec" is not a count. If the numbers are 0, 1, 2, ...
// or 1, 2, 3, ..., they count the files, and no file has a count.
std::vector<std::optional<int64_t>> CountsInNames(const std::vector<std::string>& files);

// The sum of the counts; nullopt if a file has none, or if there are no files.
std::optional<int64_t> SumOfCountsInNames(const std::vector<std::string>& files);

}  // namespace estimator

#endif  // ESTIMATOR_RECORDS_COUNTS_IN_NAMES_H_
