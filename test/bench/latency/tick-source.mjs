import { setTimeout as sleep } from 'node:timers/promises'
import { defineSource, field, STRING, z } from 'weir/sdk'

/** The same source as `TickSource.java`: emits groups of records whose value is the time at which they are emitted. */
export const tickSource = defineSource({
  class: 'TickSource',
  version: '1.0.0',
  summary: 'Emits groups of records at a constant rate.',
  config: z.object({
    topic: field.text({ doc: 'Topic of the records.' }),
    'group.records': field.int({ doc: 'Records of a group.', min: 1 }),
    'group.interval.ms': field.int({ doc: 'Time between two groups, in ms.', min: 1 }),
  }),
  async *poll({ config, signal }) {
    let nextMs = performance.now()
    while (!signal.aborted) {
      await sleep(Math.max(0, nextMs - performance.now()), undefined, { signal }).catch(() => undefined)
      nextMs += config['group.interval.ms']
      const value = String(process.hrtime.bigint())
      const record = {
        topic: config.topic,
        key: null,
        keySchema: null,
        value,
        valueSchema: STRING,
        sourcePartition: { task: '0' },
        sourceOffset: { time: value },
      }
      yield Array.from({ length: config['group.records'] }, () => record)
    }
  },
})
