import { BrokerError } from '../../src/broker/broker-error.ts'
import { readClientConfig } from '../../src/broker/kafka/client-config.ts'
import type { KafkaApi } from '../../src/broker/kafka/kafka-api.ts'
import { KafkaCluster, type KafkaClusterOptions } from '../../src/broker/kafka/kafka-cluster.ts'
import type { CallOptions, KafkaConnection } from '../../src/broker/kafka/kafka-connection.ts'
import type { NodeAddress } from '../../src/broker/kafka/resolve-host.ts'
import { FakeClock } from './fake-clock.ts'

export const PING: KafkaApi<void, string> = {
  key: 0,
  name: 'Ping',
  version: 0,
  rights: () => ({}),
  write: () => undefined,
  read: () => '',
}

type Node = {
  address: NodeAddress
  /** Does not respond to anything, as a process that was sent SIGSTOP. */
  isFrozen: boolean
  /** Refuses connections. */
  isDown: boolean
  /** The connections up to this number no longer lead anywhere, as behind a firewall that has forgotten them. */
  deadConnections: number
}

/**
 * A cluster of nodes in memory, `node-1:1`, `node-2:2` and so on, of which the first is the bootstrap server. Calls time out after
 * `request.timeout.ms` of the fake clock.
 */
export function scriptedCluster(
  count: number,
  settings: Readonly<Record<string, string>> = {},
  names: Pick<KafkaClusterOptions, 'resolveHost' | 'nameOf'> = {},
) {
  const clock = new FakeClock()
  const { config } = readClientConfig({ 'bootstrap.servers': 'node-1:1', ...settings })
  const ids = Array.from({ length: count }, (_, at) => at + 1)
  const nodes = new Map<number, Node>(
    ids.map((id) => [
      id,
      { address: { host: `node-${id}`, port: id }, isFrozen: false, isDown: false, deadConnections: 0 },
    ]),
  )
  const members = new Set(ids)
  const script = {
    coordinator: 1,
    /** The node that answers REBOOTSTRAP_REQUIRED. */
    rebootstrapsAt: 0,
    /** Whether metadata has the addresses of the beginning. */
    staleMetadata: false,
    /** Each address that was connected to, with the timeout. */
    connections: [] as string[],
    /** The calls that got no response, each with how long it waited. */
    timeouts: [] as string[],
    lookups: 0,
    /** Answers other calls instead of `pong`, with their name and request. */
    answer: undefined as ((name: string, request: unknown) => unknown) | undefined,
    /** Other addresses of nodes. */
    aliases: new Map<string, number>(),
  }
  const first = new Map([...nodes].map(([id, { address }]) => [id, address]))
  const metadata = (at: number) => ({
    clusterId: 'c',
    controller: [...members][0],
    nodes: [...members].map((id) => ({ id, ...(script.staleMetadata ? first.get(id)! : nodes.get(id)!.address) })),
    topics: [],
    isRebootstrapRequired: script.rebootstrapsAt === at,
  })
  const answer = (name: string, at: number, request: unknown): unknown => {
    if (name === 'Metadata') return metadata(at)
    if (name !== 'FindCoordinator') return script.answer === undefined ? 'pong' : script.answer(name, request)
    script.lookups += 1
    return { errorNumber: 0, message: null, node: script.coordinator, ...nodes.get(script.coordinator)!.address }
  }
  const idAt = ({ host, port }: NodeAddress) =>
    script.aliases.get(`${host}:${port}`) ??
    [...nodes].find(([, { address }]) => address.host === host && address.port === port)?.[0] ??
    0
  const open = async (to: NodeAddress, setupTimeoutMs: number): Promise<KafkaConnection> => {
    const number = script.connections.push(`${to.host}:${to.port} ${setupTimeoutMs}`)
    const id = idAt(to)
    const node = nodes.get(id)
    if (node === undefined || node.isDown) throw new BrokerError('unavailable', `${to.host}:${to.port} refused`)
    const closed = Promise.withResolvers<never>()
    closed.promise.catch(() => undefined)
    const connection = {
      isOpen: true,
      call: async <Request, Response>(
        { name }: KafkaApi<Request, Response>,
        request: Request,
        options: CallOptions = {},
      ) => {
        if (node.isDown) throw new BrokerError('unavailable', 'the node is down')
        if (!node.isFrozen && number > node.deadConnections) return answer(name, id, request) as Response
        const { timeoutMs = config.requestTimeoutMs + (options.waitMs ?? 0) } = options
        const late = clock.sleep(timeoutMs).then(() => {
          connection.isOpen = false
          script.timeouts.push(`${name} after ${timeoutMs} ms`)
          throw new BrokerError('timeout', `${name}: no response`)
        })
        return (await Promise.race([late, closed.promise])) as Response
      },
      close: async (reason = new BrokerError('closed', 'closed')) => {
        connection.isOpen = false
        closed.reject(reason)
      },
    }
    return connection
  }
  return {
    clock,
    nodes,
    script,
    cluster: new KafkaCluster({ connector: { open }, config, clock, ...names }),
    setCoordinator: (id: number) => {
      script.coordinator = id
    },
    /** The cluster reports the node no longer. */
    leave: (id: number) => void members.delete(id),
  }
}
