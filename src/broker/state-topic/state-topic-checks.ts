import { withTimeout } from '../../common/timeout.ts'
import type { Broker, Isolation, NewTopic, PartitionOffset } from '../broker.ts'
import { BrokerError, isDenied, isMissing, OpenTransactionError, UnreadableBatchError } from '../broker-error.ts'
import { topicPartitionKey } from '../topic-partition.ts'

/** `createdBy`: who creates the topic, as a sentence, if it may not be created here. The error about a missing topic ends with it. */
export type StateTopicDefinition = NewTopic & { readonly createdBy?: string }

export type StateTopicRequirements = StateTopicEvidence & {
  readonly broker: Broker
  /**
   * Created with compaction if it does not exist; otherwise its policy and, with `partitions`, its partition count are
   * checked.
   */
  readonly topic: StateTopicDefinition
  /** Skips all checks of policy, partitions, start offset and emptiness. Default false. */
  readonly skipValidation?: boolean | undefined
  /**
   * Called when the client may not describe the configs of the topic, whose policy is then not checked. By default such a
   * topic is not opened.
   */
  readonly onConfigsDenied?: ((error: BrokerError) => void) | undefined
}

/** Creates the topic if it does not exist, and resolves with whether it did. Rejects if it is not complete, or not as it must be. */
export async function ensureStateTopic(options: StateTopicRequirements): Promise<boolean> {
  const { broker, topic, skipValidation = false, onConfigsDenied } = options
  if (!skipValidation) await checkComplete(broker, topic.name, options)
  const wasChecked = skipValidation || (await checkTopic(broker, topic, onConfigsDenied))
  const isNew = await createUnlessExists(broker, topic)
  if (!isNew && !wasChecked) await checkTopic(broker, topic, onConfigsDenied)
  return isNew
}

/** A client may open an existing topic that it may not create. */
async function createUnlessExists(broker: Broker, { createdBy, ...topic }: StateTopicDefinition): Promise<boolean> {
  if (createdBy !== undefined) {
    if ((await broker.topics.describe(topic.name)) !== undefined) return false
    throw new BrokerError('topic_not_found', `the topic '${topic.name}' does not exist. ${createdBy}`)
  }
  try {
    return await broker.topics.create({ ...topic, configs: { ...topic.configs, 'cleanup.policy': 'compact' } })
  } catch (error) {
    const exists = isDenied(error) && (await broker.topics.describe(topic.name)) !== undefined
    if (exists) return false
    throw error
  }
}

/**
 * Checks before the first read that a state topic is complete: its log starts at offset 0 (compaction never moves the
 * start), it ends at or after the position it was read to, and an empty topic never had records.
 */
async function checkComplete(broker: Broker, topic: string, evidence: StateTopicEvidence): Promise<void> {
  const [starts, progress = []] = await Promise.all([offsetsOf(broker, topic, 'earliest'), evidence.progress?.read()])
  const late = starts?.find(({ offset }) => offset > 0)
  if (late) {
    throw new BrokerError(
      'log_truncated',
      `${topic}-${late.partition} begins at offset ${late.offset}: the records before it were deleted, by a retention time ` +
        `or by kafka-delete-records, so it is no longer complete. ${restore(topic)}`,
    )
  }
  const read = progress.filter((position) => position.topic === topic)
  // Requested after the progress was read, because other instances may write.
  const ends = (await offsetsOf(broker, topic, 'latest')) ?? []
  for (const position of read) {
    const end = ends.find(({ partition }) => partition === position.partition)?.offset ?? 0
    if (end < position.offset) throw truncatedError(position, end)
  }
  if (!isEmpty(ends)) return
  const reason = await evidence.evidenceOfRecords?.()
  // Another instance may have written in the meantime.
  if (reason === undefined || !isEmpty(await offsetsOf(broker, topic, 'latest'))) return
  throw new BrokerError(
    'log_truncated',
    `topic '${topic}' ${starts ? 'is empty' : 'does not exist'}, but ${reason}: it was deleted. ${restore(topic)}`,
  )
}

/** Timeout of offset requests that only make an error message more precise, so that no setting names it. */
const OFFSETS_TIMEOUT_MS = 5_000

/** What is known about a state topic apart from the topic itself. */
export type StateTopicEvidence = {
  /**
   * Called when the topic does not exist or never had a record. Returns a clause that says why it must have had records
   * ("…, but REASON"), or undefined. With a reason, the topic is not opened.
   */
  readonly evidenceOfRecords?: (() => Promise<string | undefined>) | undefined
  /** Stores how far the topic was read. A topic that ends before that position was truncated and is not opened. */
  readonly progress?: StateProgress | undefined
}

/** How far a state topic was read, stored outside of the topic: on Kafka, as committed offsets of the program's group. */
export type StateProgress = {
  read(): Promise<readonly PartitionOffset[]>
  /** Called one at a time, shortly after positions moved. A failure is left to the next call. */
  save(positions: readonly PartitionOffset[]): Promise<void>
}

function isEmpty(ends: readonly PartitionOffset[] = []): boolean {
  return !ends.some(({ offset }) => offset > 0)
}

/** Undefined if the topic does not exist. */
async function offsetsOf(
  broker: Broker,
  topic: string,
  at: 'earliest' | 'latest',
): Promise<readonly PartitionOffset[] | undefined> {
  try {
    return await broker.topics.offsets(topic, at, 'read_uncommitted')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/**
 * Checks the policy and the number of partitions, which retention and the order of records depend on. Resolves with false
 * if the topic does not exist, or not on each node yet. A client that may not describe the configs is rejected in that case as well, because it
 * could create the topic, but not open it again.
 */
async function checkTopic(
  broker: Broker,
  topic: NewTopic,
  onConfigsDenied?: (error: BrokerError) => void,
): Promise<boolean> {
  const found = await broker.topics.describe(topic.name)
  const configs = await configsOf(broker, topic.name).catch((error: unknown): Readonly<Record<string, string>> => {
    if (onConfigsDenied === undefined || !isDenied(error)) throw error
    onConfigsDenied(error)
    return {}
  })
  const policy = configs?.['cleanup.policy']
  if (policy !== undefined && policy !== 'compact') {
    throw new BrokerError(
      'invalid_config',
      `topic '${topic.name}' has cleanup.policy=${policy}: it must be exactly 'compact', otherwise records expire`,
    )
  }
  if (found && topic.partitions === 1 && found.partitions.length !== 1) {
    throw new BrokerError(
      'invalid_config',
      `topic '${topic.name}' has ${found.partitions.length} partitions: it must have 1, because records need a total order`,
    )
  }
  return found !== undefined && configs !== undefined
}

/** Undefined if the topic does not exist. */
async function configsOf(broker: Broker, topic: string): Promise<Readonly<Record<string, string>> | undefined> {
  try {
    return await broker.topics.configs(topic)
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}

/** The log ends before the position it was read to. */
export function truncatedError({ topic, partition, offset }: PartitionOffset, end: number): BrokerError {
  return new BrokerError(
    'log_truncated',
    `${topic}-${partition} was read up to offset ${offset}, but now ends at ${end}: it was truncated, or deleted and recreated. ` +
      restore(topic),
  )
}

/** Explains an offset out of range with the current start and end of the log, if the broker responds. */
export async function outOfRangeError(broker: Broker, positions: readonly PartitionOffset[]): Promise<BrokerError> {
  const topic = positions[0]?.topic ?? ''
  const now = (at: 'earliest' | 'latest') =>
    withTimeout(
      offsetsOf(broker, topic, at).catch(() => undefined),
      OFFSETS_TIMEOUT_MS,
      () => undefined,
    )
  const [starts, ends] = await Promise.all([now('earliest'), now('latest')])
  for (const position of positions) {
    const isSame = ({ partition }: PartitionOffset) => partition === position.partition
    const end = ends?.find(isSame)
    if (end && position.offset > end.offset) return truncatedError(position, end.offset)
    const start = starts?.find(isSame)
    if (start && position.offset < start.offset) return startLost(position, start.offset)
  }
  return new BrokerError(
    'log_truncated',
    `topic '${topic}' no longer contains what was read from it. ${restore(topic)}`,
  )
}

/** Records were deleted before this program read them. */
function startLost({ topic, partition, offset }: PartitionOffset, start: number): BrokerError {
  return new BrokerError(
    'log_truncated',
    `${topic}-${partition} was read up to offset ${offset}, but now begins at ${start}: records were deleted before they ` +
      `were read. ${restore(topic)}`,
  )
}

export function recreatedError(topic: string): BrokerError {
  return new BrokerError('log_truncated', `topic '${topic}' was deleted and recreated. ${restore(topic)}`)
}

/** Adds the remedy to the error that stopped the view. */
export function readFailedError(topic: string, error: Error): Error {
  if (!(error instanceof BrokerError)) return error
  if (error.code === 'topic_not_found') {
    return new BrokerError(error.code, `topic '${topic}' was deleted. ${restore(topic)}`, { cause: error })
  }
  const isLost = error instanceof UnreadableBatchError || error.code === 'log_truncated'
  const remedy = isLost ? restore(topic) : 'Restart the program when this is fixed.'
  return new BrokerError(error.code, `${error.message}. ${remedy}`, { cause: error })
}

function restore(topic: string): string {
  return `Restore topic '${topic}' from a replica or a backup, then restart the program: see "When the log is damaged" in docs/operate.md.`
}

export function lateError(topic: string, timeoutMs: number): BrokerError {
  return new BrokerError('timeout', `topic '${topic}' was not read to its end within ${timeoutMs} ms without progress`)
}

/** Explains a timeout: a `read_committed` view stops at the first open transaction. */
export async function explainLate(
  { broker, topic, isolation }: { readonly broker: Broker; readonly topic: NewTopic; readonly isolation?: Isolation },
  positions: ReadonlyMap<string, PartitionOffset>,
  until: ReadonlyMap<string, number>,
  timeoutMs: number,
): Promise<BrokerError> {
  const late = lateError(topic.name, timeoutMs)
  const asked = broker.topics.offsets(topic.name, 'latest', 'read_committed').catch(() => [])
  const stable = await withTimeout(asked, OFFSETS_TIMEOUT_MS, () => [])
  const held = stable.filter((end) => {
    const position = positions.get(topicPartitionKey(end))?.offset ?? 0
    return position >= end.offset && position < (until.get(topicPartitionKey(end)) ?? 0)
  })
  const [first] = held
  if (isolation === 'read_uncommitted' || first === undefined) return late
  return new OpenTransactionError(
    `${late.message}: partition ${first.partition} cannot be read past offset ${first.offset}, where an open transaction begins; ` +
      'if its producer no longer exists, abort it with: kafka-transactions.sh ' +
      `--bootstrap-server HOST:PORT abort --topic ${topic.name} --partition ${first.partition} --start-offset ${first.offset}`,
    held,
  )
}
