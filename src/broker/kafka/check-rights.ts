import { type AccessRight, isDenied, type KafkaOperation, type RightState } from '../broker-error.ts'
import type { MetadataOperations } from './produce-fetch-apis.ts'

/** The calls that tell what a client may do. Each resolves with undefined if the brokers do not have it. */
export type RightsCalls = {
  metadata(topics: readonly string[]): Promise<MetadataOperations | undefined>
  /** The permitted operations. Rejects with `not_authorized` if the group is hidden from this client. */
  group(groupId: string): Promise<number | undefined>
  /** Rejects with `not_authorized` if the id is hidden from this client. */
  transactionalId(id: string): Promise<unknown>
}

/** The bit of each operation, by its number in Kafka. */
const BITS: Readonly<Record<KafkaOperation, number>> = {
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
/** Who has one of these may describe the resource. */
const IMPLYING_DESCRIBE: ReadonlySet<KafkaOperation> = new Set(['READ', 'WRITE', 'DELETE', 'ALTER', 'DESCRIBE'])
/** The value of brokers that do not report operations. */
const NOT_REPORTED = -(2 ** 31)

/** What is known of the operations on one resource. Undefined: nothing. */
type Operations = number | 'hidden' | undefined

/**
 * Compares rights with the operations that brokers report with Metadata and DescribeGroups. They report none on a resource that the
 * client may not describe, so that only the rights that imply DESCRIBE are known to be missing there; and none on transactional ids, which
 * are hidden or not.
 */
export async function checkRights(rights: readonly AccessRight[], calls: RightsCalls): Promise<readonly RightState[]> {
  const namesOf = (type: AccessRight['resourceType']) => [
    ...new Set(rights.flatMap(({ resourceType, resourceName = '' }) => (resourceType === type ? [resourceName] : []))),
  ]
  const [metadata, groups, transactionalIds] = await Promise.all([
    calls.metadata(namesOf('topic')),
    operationsBy(namesOf('group'), calls.group),
    operationsBy(namesOf('transactional id'), async (id) => {
      await calls.transactionalId(id)
      return undefined
    }),
  ])
  const topics = new Map<string, Operations>(
    metadata?.topics.map(({ topic, isHidden, operations }) => [topic, isHidden ? 'hidden' : reported(operations)]),
  )
  // Brokers report no operations on the cluster to a client that may not describe it.
  const cluster: Operations = metadata?.cluster === 0 ? 'hidden' : reported(metadata?.cluster)
  const stateOfRight = ({ operation, resourceType, resourceName = '' }: AccessRight): RightState => {
    switch (resourceType) {
      case 'topic': {
        const state = stateOf(operation, topics.get(resourceName))
        // CREATE on the cluster permits it for each topic.
        return operation === 'CREATE' && state !== 'granted' ? eitherOf(state, stateOf('CREATE', cluster)) : state
      }
      case 'group':
        return stateOf(operation, groups.get(resourceName))
      case 'transactional id':
        return stateOf(operation, transactionalIds.get(resourceName))
      case 'cluster': {
        const state = stateOf(operation, cluster)
        // WRITE on any topic permits it as well.
        return operation === 'IDEMPOTENT_WRITE' && state === 'missing' ? 'unknown' : state
      }
    }
  }
  return rights.map(stateOfRight)
}

/** The state of a permission that one of two rights gives. */
function eitherOf(one: RightState, other: RightState): RightState {
  if (one === 'granted' || other === 'granted') return 'granted'
  return one === 'missing' && other === 'missing' ? 'missing' : 'unknown'
}

function stateOf(operation: KafkaOperation, operations: Operations): RightState {
  if (operations === undefined) return 'unknown'
  if (operations === 'hidden') return IMPLYING_DESCRIBE.has(operation) ? 'missing' : 'unknown'
  return (operations & (1 << BITS[operation])) === 0 ? 'missing' : 'granted'
}

function reported(operations: number | undefined): number | undefined {
  return operations === NOT_REPORTED ? undefined : operations
}

async function operationsBy(
  names: readonly string[],
  call: (name: string) => Promise<number | undefined>,
): Promise<ReadonlyMap<string, Operations>> {
  const found = names.map(async (name): Promise<[string, Operations]> => {
    try {
      return [name, reported(await call(name))]
    } catch (error) {
      if (!isDenied(error)) throw error
      return [name, 'hidden']
    }
  })
  return new Map(await Promise.all(found))
}
