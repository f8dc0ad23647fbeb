// One include for users of the framework: ops, layers, losses, optimizers, metrics, input, images,
// files, Estimator, and glog's LOG.
#ifndef ESTIMATOR_ESTIMATOR_H_
#define ESTIMATOR_ESTIMATOR_H_

#include "estimator/array/array.h"
#include "estimator/array/npy.h"
#include "estimator/base/status.h"
#include "estimator/checkpoint/checkpoint.h"
#include "estimator/data/data.h"
#include "estimator/export/export.h"
#include "estimator/graph/gradients.h"
#include "estimator/graph/graph.h"
#include "estimator/graph/op_registry.h"
#include "estimator/image/image.h"
#include "estimator/kernels/kernel.h"
#include "estimator/nn/layers/layers.h"
#include "estimator/nn/losses/keras_losses.h"
#include "estimator/nn/losses/losses.h"
#include "estimator/nn/metrics/metrics.h"
#include "estimator/nn/rnn/raw_rnn.h"
#include "estimator/nn/rnn/rnn.h"
#include "estimator/nn/seq2seq/seq2seq.h"
#include "estimator/nn/train/train.h"
#include "estimator/ops/ops.h"
#include "estimator/records/progress_bar.h"
#include "estimator/records/tfrecord.h"
#include "estimator/summary/event_file_writer.h"
#include "estimator/training/callbacks.h"
#include "estimator/training/early_stopping.h"
#include "estimator/training/estimator.h"
#include "estimator/training/exporter.h"
#include "estimator/training/finders.h"
#include "estimator/training/hooks.h"
#include "estimator/training/import_model_fn.h"
#include "estimator/training/in_memory_evaluator_hook.h"
#include "estimator/training/report.h"
#include "estimator/training/train_and_evaluate.h"
#include "estimator/training/warm_start.h"
#include "glog/logging.h"  // IWYU pragma: export

#endif  // ESTIMATOR_ESTIMATOR_H_
