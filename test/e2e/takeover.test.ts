import { randomUUID } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { openBroker } from '../../src/broker/open-broker.ts'
import { createRegistryClient } from '../../src/clients/registry-client.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { startJavaConnect } from '../env/java-connect.ts'
import { describeOn, real } from '../env/real.ts'
import { runWeir, setArgs } from '../support/cli.ts'
import { createJavaClient } from '../support/java-requests.ts'
import { joinAsConfluentRegistry } from '../support/registry-member.ts'
import { startRegistryProcess } from '../support/registry-process.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'
import { startWorkerProcess } from '../support/worker-process.ts'

const kafka = await real('kafka')
// Used only to find out whether this machine can run a Java worker.
const java = await real('javaConnect')

const WAIT = { everyMs: 200, timeoutMs: 120_000 }
const SESSION = {
  'session.timeout.ms': '6000',
  'heartbeat.interval.ms': '500',
  'offset.flush.interval.ms': '500',
}

async function status(
  program: 'worker' | 'registry',
  settings: Readonly<Record<string, string>>,
  ...options: readonly string[]
) {
  const args = ['takeover', 'status', program, ...options, '--bootstrap', kafka.address.bootstrap, ...setArgs(settings)]
  const { code, stdout, stderr } = await runWeir(temporaryDirectory(), ...args)
  return { code, text: stdout + stderr }
}

describeOn([kafka, java], 'weir takeover status of a worker group', () => {
  it('leads from a Java worker to one of Weir', { timeout: 300_000 }, async () => {
    const { bootstrap } = kafka.address
    const groupId = `takeover-${randomUUID()}`
    const theirs = await startJavaConnect({ bootstrap, groupId, properties: SESSION })
    onTestFinished(() => theirs.stop())
    const file = join(temporaryDirectory(), 'lines.txt')
    writeFileSync(file, 'one\ntwo\n')
    const client = createJavaClient(theirs.url)
    const [name, topic] = ['lines', `lines-${groupId}`]
    await client.create(name, {
      'connector.class': 'org.apache.kafka.connect.file.FileStreamSourceConnector',
      file,
      topic,
    })
    await until('an offset', WAIT, async () => (await client.offsets(name)).length === 1)
    const settings = {
      'group.id': groupId,
      'config.storage.topic': `${groupId}-configs`,
      'offset.storage.topic': `${groupId}-offsets`,
      'status.storage.topic': `${groupId}-status`,
    }
    const before = await status('worker', settings)
    expect(before.text).toContain('1 workers of Kafka Connect, 0 of Weir.')
    expect(before.text).toContain(theirs.url)
    expect(before.text).toContain('Its storage topics exist.')
    expect(before.text).toContain(
      'lines: org.apache.kafka.connect.file.FileStreamSourceConnector, RUNNING, tasks RUNNING, 1 off',
    )
    expect(before.text).toContain('Next: Stop all workers of Kafka Connect.')
    expect(before.code).toBe(1)
    const returned = await status('worker', settings, '--back')
    expect(returned).toEqual({ code: 0, text: expect.stringContaining('Next: Nothing: the return is complete.') })

    await theirs.kill()
    await until('the session of the killed worker to end', WAIT, async () =>
      (await status('worker', settings)).text.includes('0 workers of Kafka Connect, 0 of Weir.'),
    )
    const ours = await startWorkerProcess({ log: ['--bootstrap', bootstrap], groupId, settings: SESSION })
    onTestFinished(() => ours.kill())
    await until('the takeover to be complete', WAIT, async () => (await status('worker', settings)).code === 0)
    const { text } = await status('worker', settings)
    expect(text).toContain('0 workers of Kafka Connect, 1 of Weir.')
    expect(text).toContain('RUNNING, tasks RUNNING, 1 offsets')
    expect(text).toContain('the takeover is complete')
    const back = await status('worker', settings, '--back')
    expect(back).toEqual({ code: 1, text: expect.stringContaining("Next: Stop all of Weir's workers.") })
  })
})

describeOn([kafka], 'weir takeover status of a registry group', () => {
  it('leads from an instance of another registry to Weir, which follows until that one has left', {
    timeout: 300_000,
  }, async () => {
    const { bootstrap } = kafka.address
    const broker = await openBroker(
      { kind: 'kafka', config: { 'bootstrap.servers': bootstrap } },
      { logger: silentLogger() },
    )
    onTestFinished(() => broker.close())
    const id = randomUUID()
    const settings = { 'schema.registry.group.id': `registries-${id}`, 'brokerstore.topic': `_schemas-${id}` }
    // Weir's own registry creates the topic with one schema, as it would be with another registry.
    const first = await startRegistryProcess(['--bootstrap', bootstrap], settings)
    await createRegistryClient({ url: first.url }).register('s', { schema: '"int"' })
    await first.stop()
    const other = await joinAsConfluentRegistry(broker, {
      groupId: settings['schema.registry.group.id'],
      host: 'another.invalid',
      isEligible: true,
    })

    expect(await status('registry', settings)).toMatchObject({
      code: 1,
      text: expect.stringContaining('Next: Start `we'),
    })
    const own = { ...settings, 'leader.eligibility.deferred': 'true' }
    const ours = await startRegistryProcess(['--bootstrap', bootstrap], own)
    onTestFinished(() => ours.kill())
    const following = await status('registry', settings)
    expect(following.text).toContain('http://another.invalid:8081: another registry, leader')
    expect(following.text).toContain(`${ours.url}: Weir, follower, not eligible`)
    expect(following).toMatchObject({ code: 1, text: expect.stringContaining('Next: Move the clients to Weir') })
    const client = createRegistryClient({ url: ours.url })
    expect(await client.subjects()).toEqual(['s'])

    await other.close()
    await until('the takeover to be complete', WAIT, async () => (await status('registry', settings)).code === 0)
    expect(await client.register('t', { schema: '"long"' })).toMatchObject({ id: 2 })
  })
})
