import { systemClock } from '../../../../src/common/clock.ts'
import {
  defineSink,
  defineSource,
  field,
  type Plugin,
  RetriableError,
  type SourceRecord,
  z,
} from '../../../../src/sdk/index.ts'
import type { ExternalSystem } from './external-system.ts'

/** The longest pause of a source without new rows, and the longest time that the ledger takes to store records. */
const IDLE_MS_MAX = 500
const STORE_MS_MAX = 20

const failures = { 'failure.percent': field.int({ doc: 'How often a call fails.' }).default(0) }

function failSometimes({ 'failure.percent': percent }: { readonly 'failure.percent': number }): void {
  if (Math.random() * 100 < percent) throw new RetriableError('the external system does not answer')
}

/** Each partition of a table is written to the partition with its number of the topic, as the numbers of its rows. */
function rows(system: ExternalSystem) {
  return defineSource({
    class: 'Rows',
    version: '1.0.0',
    summary: 'Reads the rows of a table.',
    config: z.object({
      topic: field.text({ doc: 'The topic.' }),
      partitions: field.int({ doc: 'Partitions of the table.' }),
      'batch.size': field.int({ doc: 'Rows of a batch.' }),
      ...failures,
    }),
    tasks: ({ partitions }, tasksMax, raw) => {
      const count = Math.min(partitions, tasksMax)
      const numbers = Array.from({ length: partitions }, (_, partition) => partition)
      return Array.from({ length: count }, (_, task) => ({
        ...raw,
        assigned: numbers.filter((partition) => partition % count === task).join(','),
      }))
    },
    alterOffsets() {},
    async *poll({ connector, task, config, raw, resumeFrom, signal }) {
      const run = system.startRun(connector, task, signal)
      const assigned = (raw['assigned'] ?? '').split(',').map(Number)
      const next = new Map(
        assigned.map((partition) => [partition, Number(resumeFrom({ partition })?.['row'] ?? -1) + 1]),
      )
      try {
        while (!signal.aborted) {
          system.markActive(run)
          failSometimes(config)
          const batch: SourceRecord[] = []
          for (const partition of assigned) {
            for (let count = 0; count < config['batch.size'] && next.get(partition)! < system.rowCount; count++) {
              const row = next.get(partition)!
              next.set(partition, row + 1)
              const { topic } = config
              batch.push({
                topic,
                partition,
                value: String(row),
                sourcePartition: { partition },
                sourceOffset: { row },
              })
            }
          }
          yield batch
          await systemClock.sleep(Math.random() * IDLE_MS_MAX, signal).catch(() => undefined)
        }
      } finally {
        system.endRun(run)
      }
    },
  })
}

/** Stores records in the ledger when their offsets are about to be committed, and holds them in its memory until then. */
function ledger(system: ExternalSystem) {
  return defineSink({
    class: 'Ledger',
    version: '1.0.0',
    summary: 'Writes records into a ledger.',
    config: z.object(failures),
    start({ connector, task, config, signal }) {
      const run = system.startRun(connector, task, signal)
      let held: { readonly topic: string; readonly partition: number; readonly offset: number }[] = []
      return {
        put(records) {
          system.markActive(run)
          failSometimes(config)
          for (const { origin } of records) held.push(origin)
        },
        async flush() {
          system.markActive(run)
          const stored = held
          held = []
          await systemClock.sleep(Math.random() * STORE_MS_MAX)
          failSometimes(config)
          for (const { topic, partition, offset } of stored) system.deliver(connector, topic, partition, offset)
        },
        close(partitions) {
          held = held.filter(
            ({ topic, partition }) => !partitions.some((at) => at.topic === topic && at.partition === partition),
          )
        },
        stop() {
          system.endRun(run)
        },
      }
    },
  })
}

export function recordingConnectors(system: ExternalSystem): readonly Plugin[] {
  return [rows(system), ledger(system)] as readonly Plugin[]
}
