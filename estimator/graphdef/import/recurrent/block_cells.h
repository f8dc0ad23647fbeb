// TensorFlow's recurrent cells in one op (LSTMBlockCell, GRUBlockCell, BlockLSTMV2), and their
// gradients.
#ifndef ESTIMATOR_GRAPHDEF_IMPORT_RECURRENT_BLOCK_CELLS_H_
#define ESTIMATOR_GRAPHDEF_IMPORT_RECURRENT_BLOCK_CELLS_H_

#include "estimator/graphdef/import/op_rules.h"

namespace estimator {

// Adds the rules of these ops.
void AddBlockCells(ImportRules& rules);

}  // namespace estimator

#endif  // ESTIMATOR_GRAPHDEF_IMPORT_RECURRENT_BLOCK_CELLS_H_
