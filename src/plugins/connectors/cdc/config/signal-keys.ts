import { field, type z } from '../../../../sdk/index.ts'
import { WATERMARK_STRATEGIES } from '../signals/signal-table.ts'

const group = 'Signals'

const SIGNAL_CHANNELS = ['source', 'kafka', 'file'] as const
export type SignalConfig = z.infer<z.ZodObject<ReturnType<typeof signalKeys>>>

/** Keys of signals and of incremental snapshots, as those of Debezium. `tableForm`: how a table is named. */
export const signalKeys = (tableForm: string) => ({
  'signal.enabled.channels': field
    .parsed(
      field.list({
        doc: 'Where signals come from: `source` (the table of `signal.data.collection`), `kafka` (the topic of `signal.kafka.topic`) and `file` (the file of `signal.file`).',
        importance: 'MEDIUM',
        group,
      }),
      (names) => {
        const unknown = names.find((name) => !SIGNAL_CHANNELS.some((channel) => channel === name))
        if (unknown === undefined) return names
        throw new Error(
          `Invalid value ${unknown} for configuration signal.enabled.channels: expected ${SIGNAL_CHANNELS.join(', ')}`,
        )
      },
    )
    .prefault('source'),
  'signal.data.collection': field
    .text({
      doc: `Table of signals, as ${tableForm}, with three text columns: id, type and data.`,
      importance: 'MEDIUM',
      group,
    })
    .optional(),
  'signal.file': field
    .path({
      doc: 'File of signals: one JSON object with `id`, `type` and `data` on each line. It is truncated when it was read.',
      importance: 'LOW',
      group,
    })
    .default('file-signals.txt'),
  'signal.kafka.topic': field
    .text({
      reaches: 'read topic',
      doc:
        'Topic of signals. Default: `topic.prefix` followed by `-signal`. Partition 0 is read. A record whose key is the `topic.prefix` is a ' +
        'signal; its value is a JSON object with `type`, `data` and optionally `id`.',
      importance: 'MEDIUM',
      nonEmpty: true,
      group,
    })
    .optional(),
  'signal.kafka.bootstrap.servers': field
    .text({
      doc:
        "Servers of the Kafka cluster with the signal topic. It must be the cluster of the connector's consumers: that of the worker " +
        'unless `consumer.override.bootstrap.servers` is set. The settings of these consumers apply to the topic.',
      importance: 'MEDIUM',
      nonEmpty: true,
      group,
    })
    .optional(),
  'signal.kafka.poll.timeout.ms': field
    .long({ doc: 'How long the topic is read for signals in each interval, in ms.', importance: 'LOW', min: 0, group })
    .default(100),
  'signal.poll.interval.ms': field
    .long({
      doc: 'Interval in which the file and the topic of signals are read, in ms.',
      importance: 'LOW',
      min: 1,
      group,
    })
    .default(5000),
  'incremental.snapshot.chunk.size': field
    .int({
      doc: 'Rows of an incremental snapshot that are read and held at once; fewer if they have more than about 16 MB.',
      importance: 'MEDIUM',
      min: 1,
      group,
    })
    .default(1024),
  'incremental.snapshot.watermarking.strategy': field
    .oneOf(WATERMARK_STRATEGIES, {
      doc: 'How the end of a chunk is written to the signal table: by another row (`insert_insert`), or by deleting the row of its begin (`insert_delete`).',
      importance: 'LOW',
      group,
    })
    .default('insert_insert'),
  'read.only': field
    .boolean({
      doc: 'Whether incremental snapshots write nothing to the database. Chunks then end at a position of the log.',
      importance: 'LOW',
      group,
    })
    .default(false),
})
