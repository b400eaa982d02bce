import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import type { Broker } from '../../src/broker/broker.ts'
import { openBroker } from '../../src/broker/open-broker.ts'
import { createRegistryClient, type RegistryClient } from '../../src/clients/registry-client.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { freePort } from '../env/ports.ts'
import { describeOn, real } from '../env/real.ts'
import { responds } from '../support/cli.ts'
import { startOtherRegistry } from '../support/other-registry.ts'
import { RegistrationLoad, schemaOf } from '../support/registry-load.ts'
import { startRegistryProcess } from '../support/registry-process.ts'
import { readRecords } from '../support/topic.ts'
import { until } from '../support/until.ts'

const kafka = await real('kafka')
const WAIT = { everyMs: 100, timeoutMs: 120_000 }

describeOn([kafka], 'a group of another registry', () => {
  it('is taken over and handed back while clients write and read: each acknowledged id keeps its schema', {
    timeout: 300_000,
  }, async () => {
    const { bootstrap } = kafka.address
    const broker = await openBroker(
      { kind: 'kafka', config: { 'bootstrap.servers': bootstrap } },
      { logger: silentLogger() },
    )
    onTestFinished(() => broker.close())
    const id = randomUUID()
    const log = { bootstrap, topic: `_schemas-${id}`, groupId: `registries-${id}` }
    const settings = {
      'schema.registry.group.id': log.groupId,
      'brokerstore.topic': log.topic,
      'brokergroup.session.timeout.ms': '6000',
      'brokergroup.heartbeat.interval.ms': '500',
      'leader.eligibility.deferred': 'true',
    }
    const startOther = async (port: number) => {
      const started = await startOtherRegistry(log, port)
      onTestFinished(() => started.kill())
      return started
    }
    const startWeir = async (url: string) => {
      const started = await startRegistryProcess(['--bootstrap', bootstrap], { ...settings, listeners: url })
      onTestFinished(() => started.kill())
      return started
    }
    const untilLeads = (port: number | string) =>
      until(
        `the registry at port ${port} to lead`,
        WAIT,
        async () => (await leaderPort(broker, log.groupId)) === Number(port),
      )

    // The smallest URL wins an election: those of Weir, if they were eligible.
    const ports = await Promise.all(Array.from({ length: 4 }, freePort))
    const [weirPorts, otherPorts] = [ports.sort((x, y) => x - y).slice(0, 2), ports.slice(2)]
    const weirUrls = weirPorts.map((port) => `http://127.0.0.1:${port}`)
    const others = [await startOther(otherPorts[0]!), await startOther(otherPorts[1]!)]
    const urls = [...others.map(({ url }) => url), ...weirUrls]
    const clientOf = ([url = '', ...otherUrls]: readonly string[]) =>
      createRegistryClient({ url, otherUrls, timeoutMs: 20_000 })
    await untilLeads(others[0]!.port)
    const load = new RegistrationLoad([clientOf(urls), clientOf(urls.toReversed())])
    const written = async (where: string) => {
      const before = load.acknowledged.size
      await until(`writes ${where}`, WAIT, () => load.acknowledged.size > before + 20)
    }
    await written('to the other registries')
    for (const { url } of others)
      await until('a first schema', WAIT, () => responds(`${url}/subjects/s-0-0/versions/latest`))
    // The other registry may respond before it has read its topic.
    const reads = readContinuously(clientOf(urls.toReversed()))

    const weir = [await startWeir(weirUrls[0]!), await startWeir(weirUrls[1]!)]
    expect(await leaderPort(broker, log.groupId)).toBe(others[0]!.port)
    await others[0]!.stop()
    await untilLeads(others[1]!.port)
    await written('to the last of the other registries')
    await others[1]!.kill()
    await until('an instance of Weir to lead', WAIT, async () =>
      weirUrls.includes(`http://127.0.0.1:${await leaderPort(broker, log.groupId)}`),
    )
    await written('to Weir')

    const leading = await leaderPort(broker, log.groupId)
    const [leader, follower] = weir[0]!.url.endsWith(`:${leading}`) ? weir : weir.toReversed()
    await leader!.kill()
    await untilLeads(new URL(follower!.url).port)
    await written('to the other instance of Weir')

    const returned = await startOther(others[0]!.port)
    await written('while an instance of the other registry is back')
    await follower!.stop()
    await untilLeads(returned.port)
    await written('to the other registry again')

    await load.stop()
    expect(await reads.stop()).toEqual([])
    const acknowledged = new Map([...load.acknowledged].map(([subject, { id }]) => [subject, id]))
    expect(new Set(acknowledged.values()).size).toBe(acknowledged.size)
    const verifying = await startWeir(weirUrls[0]!)
    for (const { url } of [verifying, returned]) expect(await unexpected(url, acknowledged)).toEqual([])
    expect(await clashes(broker, log.topic)).toEqual([])
  })
})

/** The port of the leader that the last election of a group decided; undefined during an election. */
async function leaderPort(broker: Broker, groupId: string): Promise<number | undefined> {
  const { members } = await broker.groups.describe(groupId)
  const text = String(members[0]?.assignment ?? '')
  return text === '' ? undefined : JSON.parse(text).master_identity?.port
}

/** Reads a schema again and again. `stop` returns the failures. */
function readContinuously(client: RegistryClient) {
  const failures: unknown[] = []
  let isStopped = false
  const run = async () => {
    while (!isStopped) {
      await client.latest('s-0-0').catch((error: unknown) => failures.push(error))
      await sleep(20)
    }
  }
  const running = run()
  return {
    stop: async () => {
      isStopped = true
      await running
      return failures
    },
  }
}

type Listed = { readonly subject: string; readonly id: number; readonly schema: string }

/** The acknowledged subjects that do not have their id and their text in a registry. */
async function unexpected(url: string, acknowledged: ReadonlyMap<string, number>): Promise<readonly string[]> {
  const found = await listSchemas(url)
  return [...acknowledged].flatMap(([subject, id]) => {
    const one = found.get(subject)
    const { schema } = schemaOf(subject.replaceAll('-', '_'))
    const isSame = one !== undefined && one.id === id && JSON.stringify(JSON.parse(one.schema)) === schema
    return isSame ? [] : [`${subject}: ${id} expected, ${JSON.stringify(one)} found`]
  })
}

/** All schemas by their subject. A registry limits the page; another registry may respond with all of them at once. */
async function listSchemas(url: string): Promise<ReadonlyMap<string, Listed>> {
  const found = new Map<string, Listed>()
  for (let before = -1; before < found.size; ) {
    before = found.size
    const page = (await (await fetch(`${url}/schemas?offset=${before}`)).json()) as readonly Listed[]
    for (const one of page) found.set(one.subject, one)
  }
  return found
}

/** The ids to which records of the topic assign different schemas. */
async function clashes(broker: Broker, topic: string): Promise<readonly number[]> {
  const texts = new Map<number, Set<string>>()
  for (const { key, value } of await readRecords(broker, topic)) {
    if (value === null || JSON.parse(String(key)).keytype !== 'SCHEMA') continue
    const { id, schema } = JSON.parse(String(value)) as Listed
    texts.set(id, (texts.get(id) ?? new Set()).add(schema))
  }
  return [...texts].filter(([, one]) => one.size > 1).map(([id]) => id)
}
