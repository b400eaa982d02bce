import { describe, expect, it } from 'vitest'
import { ConnectorReports } from '../../../src/worker/tasks/connector-reports.ts'
import { openTestBroker } from '../../support/topic.ts'
import { guardedBroker } from '../../support/topic-access.ts'

const TOPIC = { name: 'reports', partitions: 3, replicationFactor: 1 }
const RECORD = { key: null, value: Buffer.from('v'), headers: [] }

describe('ConnectorReports', () => {
  it('creates the report topic once, with the configured number of partitions', async () => {
    const broker = await openTestBroker('in')
    const guarded = guardedBroker(broker)
    const reports = new ConnectorReports({ topics: async () => guarded.topics, producer: () => guarded.producer() })
    await Promise.all([reports.write(TOPIC, [RECORD]), reports.write(TOPIC, [RECORD])])
    await reports.close()
    expect((await broker.topics.describe('reports'))?.partitions).toHaveLength(3)
    const ends = await broker.topics.offsets('reports', 'latest')
    expect(ends.reduce((sum, { offset }) => sum + offset, 0)).toBe(2)
  })

  it('retries the creation of the topic and of the producer with the next report', async () => {
    const broker = await openTestBroker('in')
    const failures = [new Error('no topics'), new Error('no producer')]
    const open = async <Client>(client: Client | Promise<Client>, message: string): Promise<Client> => {
      const [next] = failures
      if (next?.message === message) throw failures.shift()
      return client
    }
    const guarded = guardedBroker(broker)
    const reports = new ConnectorReports({
      topics: () => open(guarded.topics, 'no topics'),
      producer: () => open(guarded.producer(), 'no producer'),
    })
    await expect(reports.write(TOPIC, [RECORD])).rejects.toThrow('no topics')
    await expect(reports.write(TOPIC, [RECORD])).rejects.toThrow('no producer')
    await reports.write(TOPIC, [RECORD])
    await reports.close()
    const ends = await broker.topics.offsets('reports', 'latest')
    expect(ends.reduce((sum, { offset }) => sum + offset, 0)).toBe(1)
  })
})
