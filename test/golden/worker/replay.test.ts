import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import type { Broker } from '../../../src/broker/broker.ts'
import { openBroker } from '../../../src/broker/open-broker.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { startKafka } from '../../env/kafka.ts'
import { describeOn, real } from '../../env/real.ts'
import { startWorkerProcess } from '../../support/worker-process.ts'
import { Replay } from './replay.ts'
import { TopicLog } from './topic-log.ts'

const kafka = await real('kafka')

describeOn([kafka], 'a recorded session with Kafka Connect 4.3.1', () => {
  it('gets the same responses and topic records from this worker', { timeout: 300_000 }, async () => {
    const replay = await startReplay(await freshLog())
    await replay.run()
    expect(replay.differences).toEqual([])
    expect(replay.unused, 'unused allowances').toEqual([])
  })
})

/** Starts a separate Kafka, because the recording uses fixed names of topics and groups. */
async function freshLog(): Promise<string> {
  const { bootstrap, stop } = await startKafka()
  onTestFinished(stop)
  return bootstrap
}

/** Creates the initial state of the recording. */
async function startReplay(bootstrap: string): Promise<Replay> {
  const address = { kind: 'kafka', config: { 'bootstrap.servers': bootstrap } } as const
  const broker = await openBroker(address, { logger: silentLogger() })
  onTestFinished(() => broker.close())
  await writeRawText(broker)
  const groupId = `golden-${randomUUID()}`
  const worker = await startWorkerProcess({
    log: ['--bootstrap', bootstrap],
    groupId,
    settings: {
      'offset.storage.partitions': '5',
      'status.storage.partitions': '3',
      'offset.flush.interval.ms': '2000',
    },
  })
  onTestFinished(() => worker.kill())
  writeFileSync(join(worker.directory, 'in.txt'), 'alpha\nbeta\ngamma\n')
  return new Replay(worker.url, await TopicLog.open(broker, groupId))
}

async function writeRawText(broker: Broker): Promise<void> {
  await broker.topics.create({ name: 'rawtext', partitions: 1 })
  const producer = await broker.producer()
  await producer.send([{ topic: 'rawtext', key: null, value: Buffer.from('this is not JSON') }])
  await producer.close()
}
