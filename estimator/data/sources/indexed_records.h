// The node of an indexed TFRecordDataset, which reads a record at any position.
#ifndef ESTIMATOR_DATA_SOURCES_INDEXED_RECORDS_H_
#define ESTIMATOR_DATA_SOURCES_INDEXED_RECORDS_H_

#include <string>
#include <vector>

#include "estimator/data/pipeline/dataset_node.h"
#include "estimator/data/sources/file_datasets.h"

namespace estimator {

// Reads or makes the index of each file.
// Errors (of the node): those of LoadTFRecordIndex; INVALID_ARGUMENT for options that an indexed
// dataset does not have.
NodePtr IndexedRecordsNode(const std::vector<std::string>& files,
                           const TFRecordDatasetOptions& options);

}  // namespace estimator

#endif  // ESTIMATOR_DATA_SOURCES_INDEXED_RECORDS_H_
