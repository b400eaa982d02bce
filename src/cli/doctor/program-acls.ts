import type { AccessRight } from '../../broker/broker-error.ts'

/** An ACL that a program needs, with the default name of the resource. */
export type DeclaredAcl = AccessRight & {
  /** The setting that names the resource, or what else its name follows from. */
  readonly from: string
  readonly purpose: string
  /** What is lost without it. Undefined if the program does not work without it: it then names the right and the resource. */
  readonly without?: string
}

type ProgramAcls = {
  readonly program: string
  /** A sentence or two about when the program needs them. */
  readonly note?: string
  readonly acls: readonly DeclaredAcl[]
}

const schemas = { resourceType: 'topic', resourceName: '_schemas', from: '`brokerstore.topic`' } as const
const keys = { resourceType: 'topic', resourceName: '_dek_registry_keys', from: '`dek.registry.topic`' } as const
const group = { resourceType: 'group', resourceName: 'schema-registry', from: '`schema.registry.group.id`' } as const
const backedUp = { resourceType: 'topic', resourceName: '_schemas', from: 'the argument' } as const
const deadLetters = { resourceType: 'topic', resourceName: 'orders-dead', from: 'the argument' } as const
const workers = { resourceType: 'group', resourceName: 'connect-cluster', from: '`group.id`' } as const
const lines = { resourceType: 'topic', resourceName: 'lines', from: 'the records, or `topics`' } as const
const dead = {
  resourceType: 'topic',
  resourceName: 'dead',
  from: '`errors.deadletterqueue.topic.name`',
} as const
const taskId = {
  resourceType: 'transactional id',
  resourceName: 'connect-cluster-source-0',
  from: '`group.id`, connector and task',
} as const
const ITS_TOPIC = 'the topic has to exist'
const NO_KEYS = 'the DEK registry responds with 503 and names the right; schemas are served and registered'

/**
 * The only list of the ACLs of Weir's programs. `docs/acls.md` shows it, `weir doctor` compares it with the rights of a client, and tests run
 * the programs with exactly these.
 */
export const PROGRAM_ACLS: readonly ProgramAcls[] = [
  {
    program: 'registry',
    note: 'These are the ACLs of Confluent Schema Registry; it needs none on transactional ids or on the cluster.',
    acls: [
      { ...schemas, operation: 'READ', purpose: 'reads schemas' },
      { ...schemas, operation: 'WRITE', purpose: 'writes schemas, if it is elected as leader' },
      {
        ...schemas,
        operation: 'DESCRIBE_CONFIGS',
        purpose: 'checks at start that the topic is compacted; not with `brokerstore.topic.skip.validation=true`',
      },
      {
        ...schemas,
        operation: 'CREATE',
        purpose: 'creates the topic at the first start',
        without: 'somebody has to create the topic, with one partition and `cleanup.policy=compact`',
      },
      { ...group, operation: 'READ', purpose: 'elects the leader' },
      {
        operation: 'WRITE',
        resourceType: 'transactional id',
        resourceName: 'schema-registry-_schemas-leader',
        from: 'group and topic',
        purpose: 'leaves evidence outside of the topic that it had records',
        without:
          'a registry does not notice at start that the topic and the offsets of its group were deleted together',
      },
    ],
  },
  {
    program: 'DEK registry',
    note: 'In addition to those of the registry, unless `weir.dek.registry.enable=false`.',
    acls: [
      { ...keys, operation: 'READ', purpose: 'reads keys', without: NO_KEYS },
      { ...keys, operation: 'WRITE', purpose: 'writes keys, if it is elected as leader', without: NO_KEYS },
      {
        ...keys,
        operation: 'DESCRIBE_CONFIGS',
        purpose: 'checks at start that the topic is compacted',
        without: NO_KEYS,
      },
      { ...keys, operation: 'CREATE', purpose: 'creates the topic at the first start', without: NO_KEYS },
    ],
  },
  {
    program: 'worker',
    note:
      'Those of its connectors are in addition. Like Kafka Connect, but with `exactly.once.source.support=enabled` it needs none on the ' +
      'transactional id `connect-cluster-GROUP`. The console shows topics with the same account, and names what it may not show: it needs ' +
      'DESCRIBE on topics and groups, DESCRIBE_CONFIGS on topics for their configuration, DESCRIBE on the cluster for sizes, and READ on ' +
      'topics for their records.',
    acls: [
      { ...workers, operation: 'READ', purpose: 'is a member of the group of workers' },
      ...workerTopic('config', 'connect-configs', 'connectors'),
      ...workerTopic('offset', 'connect-offsets', 'offsets of sources'),
      ...workerTopic('status', 'connect-status', 'statuses'),
    ],
  },
  {
    program: 'task of a source connector',
    note:
      'With `producer.override.*` and `admin.override.*` the first two are those of these clients; source offsets are written by the client ' +
      'of the worker. With its own `offsets.storage.topic`, the worker needs the same rights on it as on `connect-offsets`.',
    acls: [
      { ...lines, operation: 'WRITE', purpose: 'writes records' },
      { ...lines, operation: 'CREATE', purpose: 'creates missing topics', without: ITS_TOPIC },
    ],
  },
  {
    program: 'task of an exactly-once source connector',
    note:
      'In addition, with `exactly.once.source.support=enabled`. As in Kafka Connect, the client of `admin.override.*` fences the tasks of ' +
      'an earlier configuration, and that of `producer.override.*` its predecessor: it writes the transactions, with WRITE on `connect-offsets`.',
    acls: [{ ...taskId, operation: 'WRITE', purpose: 'fences its predecessors and writes in transactions' }],
  },
  {
    program: 'task of a sink connector',
    note:
      'With `consumer.override.*` these are those of that client. A dead letter queue is written with the client of `producer.override.*`. ' +
      'The client of `admin.override.*` reads and changes the offsets of the group, with READ on it, and DELETE on it for a reset.',
    acls: [
      { ...lines, operation: 'READ', purpose: 'reads records' },
      {
        operation: 'READ',
        resourceType: 'group',
        resourceName: 'connect-sink',
        from: 'the connector, or `consumer.override.group.id`',
        purpose: 'is a member of the consumer group of the connector',
      },
      { ...dead, operation: 'WRITE', purpose: 'writes dead letters' },
      { ...dead, operation: 'CREATE', purpose: 'creates the dead letter queue', without: ITS_TOPIC },
    ],
  },
  {
    program: 'operator',
    note: 'None of its own: it manages registries and workers by their REST APIs. With embedded runtimes, and as `weir up`, its process needs those of the registry, the DEK registry and the worker.',
    acls: [],
  },
  {
    program: 'weir export, weir import',
    note: 'None: they use the REST API of the registry.',
    acls: [],
  },
  {
    program: 'weir topic backup',
    acls: [
      { ...backedUp, operation: 'READ', purpose: 'reads the records' },
      { ...backedUp, operation: 'DESCRIBE_CONFIGS', purpose: 'backs up the configuration' },
    ],
  },
  {
    program: 'weir topic restore',
    acls: [
      { ...backedUp, operation: 'WRITE', purpose: 'writes the records' },
      {
        ...backedUp,
        operation: 'CREATE',
        purpose: 'creates the topic',
        without: 'somebody has to create the topic, with the partitions and the configuration that the file names',
      },
    ],
  },
  {
    program: 'weir dlq show',
    acls: [{ ...deadLetters, operation: 'READ', purpose: 'reads the dead letters' }],
  },
  {
    program: 'weir dlq replay',
    acls: [
      { ...deadLetters, operation: 'READ', purpose: 'reads the dead letters' },
      {
        resourceType: 'topic',
        resourceName: 'orders',
        from: 'where the dead letters came from, or `--to`',
        operation: 'WRITE',
        purpose: 'writes the records',
      },
      {
        resourceType: 'group',
        resourceName: 'weir-dlq-orders-dead',
        from: '`weir-dlq-TOPIC`, with `-CONNECTOR` and `-STAGE` of the options',
        operation: 'READ',
        purpose: 'stores how far the topic was replayed',
      },
      {
        resourceType: 'group',
        resourceName: 'weir-replayed-orders-dead',
        from: '`weir-replayed-TOPIC`',
        operation: 'DESCRIBE',
        purpose: 'leaves out what was replayed in the console',
      },
    ],
  },
]

function workerTopic(kind: string, resourceName: string, content: string): readonly DeclaredAcl[] {
  const topic = { resourceType: 'topic', resourceName, from: `\`${kind}.storage.topic\`` } as const
  return [
    { ...topic, operation: 'READ', purpose: `reads ${content}` },
    { ...topic, operation: 'WRITE', purpose: `writes ${content}` },
    {
      ...topic,
      operation: 'DESCRIBE_CONFIGS',
      purpose: 'checks at start that the topic is compacted; not with `storage.topics.skip.validation=true`',
    },
    {
      ...topic,
      operation: 'CREATE',
      purpose: 'creates the topic at the first start',
      without: 'somebody has to create the topic, with `cleanup.policy=compact`',
    },
  ]
}
