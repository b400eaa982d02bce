import { type AccessRight, BrokerError, type KafkaOperation } from '../../src/broker/broker-error.ts'
import { readClientConfig } from '../../src/broker/kafka/client-config.ts'
import type { KafkaApi } from '../../src/broker/kafka/kafka-api.ts'
import { KafkaCluster } from '../../src/broker/kafka/kafka-cluster.ts'
import { createConnector } from '../../src/broker/kafka/kafka-connection.ts'
import type { ProtocolReader, ProtocolWriter } from '../../src/broker/protocol-primitives.ts'
import { systemClock } from '../../src/common/clock.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { type Kafka, type KafkaOptions, startKafka } from '../env/kafka.ts'
import { authorizer } from './kafka-security.ts'

/** An ACL that permits an operation. `prefixed`: on each resource whose name begins with `resourceName`. */
export type Acl = AccessRight & { readonly prefixed?: boolean }

type Settings = Readonly<Record<string, string>>

/** Settings with which Weir's programs and Java clients log in as a user of `startKafkaWithAcls`. */
export function loginOf(user: string): Settings {
  return {
    'security.protocol': 'SASL_PLAINTEXT',
    'sasl.mechanism': 'PLAIN',
    'sasl.jaas.config': `org.apache.kafka.common.security.plain.PlainLoginModule required username="${user}" password="${user}-secret";`,
  }
}

/** A broker that checks ACLs. `bootstrap` is the listener without login, `restricted` the one on which users log in. */
export type KafkaWithAcls = Kafka & { readonly restricted: string; readonly acls: AclAdmin }

/** Starts a broker whose `users` have no rights until they are granted. */
export async function startKafkaWithAcls(users: readonly string[], options: KafkaOptions = {}): Promise<KafkaWithAcls> {
  const passwords = users.map((user) => `user_${user}="${user}-secret"`).join(' ')
  const module = 'org.apache.kafka.common.security.plain.PlainLoginModule'
  const kafka = await startKafka({
    ...options,
    listeners: { RESTRICTED: 'SASL_PLAINTEXT', ...options.listeners },
    properties: {
      ...authorizer(),
      'listener.name.restricted.sasl.enabled.mechanisms': 'PLAIN',
      'listener.name.restricted.plain.sasl.jaas.config': `${module} required ${passwords};`,
      ...options.properties,
    },
  })
  const acls = openAclAdmin({ 'bootstrap.servers': kafka.bootstrap })
  return {
    ...kafka,
    restricted: kafka.listeners['RESTRICTED']!,
    acls,
    stop: async () => {
      await acls.close()
      await kafka.stop()
    },
  }
}

/** Changes ACLs. Each method resolves when every node applies the change. */
export type AclAdmin = {
  grant(user: string, acls: readonly Acl[]): Promise<void>
  revoke(user: string, acls: readonly Acl[]): Promise<void>
  revokeAll(user: string): Promise<void>
  close(): Promise<void>
}

const POLL_MS = 20

/** `config`: the settings of a client that may change ACLs. */
export function openAclAdmin(config: Settings): AclAdmin {
  const { config: client, tls } = readClientConfig(config)
  const connector = createConnector(client, { logger: silentLogger(), tls })
  const cluster = new KafkaCluster({ connector, config: client, clock: systemClock })
  /** A node responds with the ACLs that its own authorizer has. */
  const untilEverywhere = async (user: string, isApplied: (acls: ReadonlySet<string>) => boolean) => {
    for (;;) {
      const views = await Promise.all(await cluster.onEveryNode(describeAclsApi, user))
      if (views.every((acls) => isApplied(new Set(acls)))) return
      await systemClock.sleep(POLL_MS)
    }
  }
  return {
    async grant(user, acls) {
      if (acls.length === 0) return
      await cluster.onAnyNode(createAclsApi, bindingsOf(user, acls))
      await untilEverywhere(user, (found) => acls.every((acl) => found.has(textOf(bindingOf(user, acl)))))
    },
    async revoke(user, acls) {
      if (acls.length === 0) return
      await cluster.onAnyNode(deleteAclsApi, bindingsOf(user, acls))
      await untilEverywhere(user, (found) => !acls.some((acl) => found.has(textOf(bindingOf(user, acl)))))
    },
    async revokeAll(user) {
      await cluster.onAnyNode(deleteAclsApi, [{ user }])
      await untilEverywhere(user, ({ size }) => size === 0)
    },
    async close() {
      connector.close()
      await cluster.close()
    },
  }
}

// ── the wire ────────────────────────────────────────────────────────────────────────────────────────────────────────

const ANY = 1
const RESOURCE_TYPES = { topic: 2, group: 3, cluster: 4, 'transactional id': 5 } as const
const LITERAL = 3
const PREFIXED = 4
const ALLOW = 3
const CLUSTER_NAME = 'kafka-cluster'
const OPERATIONS: Readonly<Record<KafkaOperation, number>> = {
  READ: 3,
  WRITE: 4,
  CREATE: 5,
  DELETE: 6,
  ALTER: 7,
  DESCRIBE: 8,
  DESCRIBE_CONFIGS: 10,
  ALTER_CONFIGS: 11,
  IDEMPOTENT_WRITE: 12,
}

/** An ACL as on the wire. In a filter, what is absent matches everything. */
type Binding = {
  readonly user: string
  readonly type: number
  readonly name: string
  readonly pattern: number
  readonly operation: number
}
type Filter = Pick<Binding, 'user'> & Partial<Binding>

function bindingOf(user: string, { operation, resourceType, resourceName, prefixed = false }: Acl): Binding {
  return {
    user,
    type: RESOURCE_TYPES[resourceType],
    name: resourceName ?? CLUSTER_NAME,
    pattern: prefixed ? PREFIXED : LITERAL,
    operation: OPERATIONS[operation],
  }
}

function bindingsOf(user: string, acls: readonly Acl[]): readonly Binding[] {
  return acls.map((acl) => bindingOf(user, acl))
}

function textOf({ type, name, pattern, operation }: Omit<Binding, 'user'>): string {
  return `${type} ${pattern} ${operation} ${name}`
}

function check(number: number, message: string | null): void {
  if (number !== 0) throw new BrokerError('unavailable', `changing ACLs: error ${number}: ${message}`)
}

const createAclsApi: KafkaApi<readonly Binding[], void> = {
  key: 30,
  name: 'CreateAcls',
  version: 1,
  rights: () => ({ cluster: 'ALTER' }),
  write: (writer, bindings) =>
    writer.array(bindings, ({ user, type, name, pattern, operation }) =>
      writer.int8(type).string(name).int8(pattern).string(`User:${user}`).string('*').int8(operation).int8(ALLOW),
    ),
  read: (reader) => {
    reader.int32()
    reader.array(() => check(reader.int16(), reader.nullableString()))
  },
}

const deleteAclsApi: KafkaApi<readonly Filter[], void> = {
  key: 31,
  name: 'DeleteAcls',
  version: 1,
  rights: () => ({ cluster: 'ALTER' }),
  write: (writer, filters) => writer.array(filters, (filter) => writeFilter(writer, filter)),
  read: (reader) => {
    reader.int32()
    reader.array(() => {
      check(reader.int16(), reader.nullableString())
      reader.array(() => {
        check(reader.int16(), reader.nullableString())
        readResource(reader)
        readEntry(reader)
      })
    })
  },
}

const describeAclsApi: KafkaApi<string, readonly string[]> = {
  key: 29,
  name: 'DescribeAcls',
  version: 1,
  rights: () => ({ cluster: 'DESCRIBE' }),
  write: (writer, user) => writeFilter(writer, { user }),
  read: (reader) => {
    reader.int32()
    check(reader.int16(), reader.nullableString())
    const acls = reader.array(() => {
      const resource = readResource(reader)
      return reader.array(() => textOf({ ...resource, operation: readEntry(reader) }))
    })
    return acls.flat()
  },
}

function writeFilter(writer: ProtocolWriter, { user, type = ANY, name, pattern = ANY, operation = ANY }: Filter) {
  writer
    .int8(type)
    .string(name ?? null)
    .int8(pattern)
  writer.string(`User:${user}`).string(null).int8(operation).int8(ANY)
}

function readResource(reader: ProtocolReader): Pick<Binding, 'type' | 'name' | 'pattern'> {
  return { type: reader.int8(), name: reader.string(), pattern: reader.int8() }
}

/** The operation of an entry for all hosts. */
function readEntry(reader: ProtocolReader): number {
  reader.string()
  reader.string()
  const operation = reader.int8()
  reader.int8()
  return operation
}
