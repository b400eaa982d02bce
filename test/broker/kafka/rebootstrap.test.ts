import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { resolveAll, resolveCanonical } from '../../../src/broker/kafka/resolve-host.ts'
import { PING, scriptedCluster } from '../../support/scripted-cluster.ts'
import { watched } from '../../support/watched.ts'

const GROUP = { type: 0, key: 'g', rights: {} }

describe('a cluster whose nodes have all moved to other addresses', () => {
  it('is found again by its bootstrap servers (KIP-899)', async () => {
    const { cluster, clock, nodes, script } = scriptedCluster(3, { 'bootstrap.servers': 'kafka:9092' })
    script.aliases.set('kafka:9092', 1)
    await cluster.metadata([])
    for (const [id, node] of nodes) node.address = { host: `moved-${id}`, port: id }
    const call = watched(cluster.withCoordinator(GROUP, (node) => cluster.onNode(node, PING, undefined)))
    await clock.advance(5_000)
    expect(call.outcome).toBe('pong')
    expect(script.connections.some((one) => one.startsWith('moved-1:1 '))).toBe(true)
  })

  it('stays lost with metadata.recovery.strategy=none', async () => {
    const { cluster, clock, nodes, script } = scriptedCluster(3, {
      'bootstrap.servers': 'kafka:9092',
      'metadata.recovery.strategy': 'none',
    })
    script.aliases.set('kafka:9092', 1)
    await cluster.metadata([])
    script.connections.length = 0
    // With some pauses, the time limit ends during an attempt instead of between two.
    vi.spyOn(Math, 'random').mockReturnValue(0.5)
    onTestFinished(() => void vi.restoreAllMocks())
    for (const [id, node] of nodes) node.address = { host: `moved-${id}`, port: id }
    const call = watched(cluster.withCoordinator(GROUP, (node) => cluster.onNode(node, PING, undefined)))
    await clock.advance(61_000)
    expect(call.outcome).toMatchObject({ code: 'unavailable' })
    expect(script.connections.filter((one) => one.startsWith('kafka:9092'))).toEqual([])
  })

  it('is found by a coordinator’s address, which metadata does not have yet', async () => {
    const { cluster, nodes, script } = scriptedCluster(2)
    await cluster.metadata([])
    script.staleMetadata = true
    nodes.get(2)!.address = { host: 'moved', port: 2 }
    script.coordinator = 2
    expect(
      await cluster.withCoordinator(GROUP, async (node) => [node, await cluster.onNode(node, PING, undefined)]),
    ).toEqual([2, 'pong'])
  })
})

it('a broker that answers REBOOTSTRAP_REQUIRED sends the client back to its bootstrap servers', async () => {
  const { cluster, script } = scriptedCluster(2, { 'bootstrap.servers': 'kafka:9092' })
  script.aliases.set('kafka:9092', 2)
  await cluster.metadata([])
  script.rebootstrapsAt = 1
  script.connections.length = 0
  expect(await cluster.metadata([])).toMatchObject({ clusterId: 'c' })
  const strict = scriptedCluster(1, { 'metadata.recovery.strategy': 'none' })
  await strict.cluster.metadata([])
  strict.script.rebootstrapsAt = 1
  await expect(strict.cluster.metadata([])).rejects.toThrow(/bootstrap servers/)
})

it('nodes that accept connections and never answer are forgotten after metadata.recovery.rebootstrap.trigger.ms (KIP-1102)', async () => {
  const { cluster, clock, nodes, script } = scriptedCluster(3, {
    'bootstrap.servers': 'kafka:9092',
    'metadata.recovery.rebootstrap.trigger.ms': '20000',
    'request.timeout.ms': '30000',
  })
  script.aliases.set('kafka:9092', 3)
  await cluster.metadata([])
  for (const id of [1, 2, 3]) nodes.get(id)!.isFrozen = true
  const first = watched(cluster.metadata([]))
  await clock.advance(20_000)
  expect(first.outcome).toBeUndefined()
  nodes.get(3)!.isFrozen = false
  const second = watched(cluster.metadata([]))
  await clock.advance(0)
  expect(second.outcome).toMatchObject({ clusterId: 'c' })
})

describe('connections', () => {
  it('to a node that refuses them are repeated after reconnect.backoff.ms, which doubles up to its maximum', async () => {
    const { cluster, clock, nodes, script } = scriptedCluster(1, {
      'reconnect.backoff.ms': '100',
      'reconnect.backoff.max.ms': '400',
      'retry.backoff.ms': '1',
      'retry.backoff.max.ms': '1',
    })
    nodes.get(1)!.isDown = true
    const call = watched(cluster.withCoordinator(GROUP, (node) => cluster.onNode(node, PING, undefined)))
    const triedMs: number[] = []
    for (let ms = 0; ms < 2_000; ms += 10) {
      const before = script.connections.length
      await clock.advance(10)
      if (script.connections.length > before) triedMs.push(ms)
    }
    expect(call.outcome).toBeUndefined()
    const pauses = triedMs.slice(1).map((ms, at) => ms - triedMs[at]!)
    // With jitter of up to one half.
    expect(pauses.slice(0, 3).every((pause, at) => pause >= 50 * 2 ** at - 10 && pause <= 100 * 2 ** at + 20)).toBe(
      true,
    )
    expect(Math.max(...pauses)).toBeLessThanOrEqual(420)
  })

  it('have more time for their setup with each that fails, up to socket.connection.setup.timeout.max.ms', async () => {
    const { cluster, clock, nodes, script } = scriptedCluster(1, {
      'socket.connection.setup.timeout.ms': '1000',
      'socket.connection.setup.timeout.max.ms': '3000',
    })
    nodes.get(1)!.isDown = true
    watched(cluster.withCoordinator(GROUP, (node) => cluster.onNode(node, PING, undefined)))
    await clock.advance(5_000)
    const timeouts = script.connections.map((one) => Number(one.split(' ')[1]))
    expect(timeouts.slice(0, 4)).toEqual([1_000, 2_000, 3_000, 3_000])
  })
})

describe('client.dns.lookup', () => {
  it('use_all_dns_ips: an address is used as it is, and a restricted client uses its own lookup', async () => {
    expect(await resolveAll('192.0.2.1')).toEqual(['192.0.2.1'])
    const lookup = (
      _: string,
      __: object,
      callback: (error: null, found: { address: string; family: number }[]) => void,
    ) =>
      callback(null, [
        { address: '192.0.2.1', family: 4 },
        { address: '192.0.2.2', family: 4 },
      ])
    expect(await resolveAll('kafka', lookup as never)).toEqual(['192.0.2.1', '192.0.2.2'])
  })

  it('resolve_canonical_bootstrap_servers_only: each bootstrap server is replaced by the names of its addresses, each time', async () => {
    const addresses = new Map([['kafka', ['192.0.2.1', '192.0.2.2']]])
    const names = new Map([
      ['192.0.2.1', 'node-1'],
      ['192.0.2.2', 'node-2'],
      ['192.0.2.3', 'node-3'],
    ])
    const { cluster, nodes, script } = scriptedCluster(
      3,
      { 'bootstrap.servers': 'kafka:1', 'client.dns.lookup': 'resolve_canonical_bootstrap_servers_only' },
      {
        resolveHost: async (host) => addresses.get(host) ?? Promise.reject(new Error(`${host} is unknown`)),
        nameOf: async (address) => names.get(address)!,
      },
    )
    nodes.get(1)!.address = { host: 'node-1', port: 1 }
    await cluster.metadata([])
    expect(script.connections.map((one) => one.split(' ')[0])).toEqual(['node-1:1'])
    // The name resolves to another node now, and all known ones are gone.
    addresses.set('kafka', ['192.0.2.3'])
    for (const id of [1, 2]) nodes.get(id)!.isDown = true
    nodes.get(3)!.address = { host: 'node-3', port: 1 }
    expect(await cluster.metadata([])).toMatchObject({ clusterId: 'c' })
    expect(script.connections.at(-1)).toMatch(/^node-3:1 /)
  })

  it('a name that cannot be resolved does not hide the others', async () => {
    const resolve = async (host: string) => (host === 'gone' ? Promise.reject(new Error('ENOTFOUND')) : ['192.0.2.1'])
    const servers = ['gone', 'kafka'].map((host) => ({ host, port: 9092 }))
    expect(await resolveCanonical(servers, resolve, async () => 'node-1')).toEqual([{ host: 'node-1', port: 9092 }])
  })
})
