import type { NewTopic, TopicPartition } from '../broker.ts'
import { BrokerError } from '../broker-error.ts'
import { OFFSET_MASK, PARTITION_ID_MAX, rowId } from './database-format.ts'
import { Partition } from './partition.ts'
import type { Storage, WriteTransaction } from './storage.ts'
import { checkConfigs, effectiveConfigs, type TopicConfigs, type TopicPolicy, toPolicy } from './topic-config.ts'

export type Topic = {
  readonly id: number
  readonly name: string
  readonly configs: TopicConfigs
  readonly policy: TopicPolicy
  readonly partitions: readonly Partition[]
}

const PARTITIONS_MAX = 10_000

/** The topics of the broker. Mutating calls run inside a write and throw before they change anything. */
export class TopicCatalog {
  readonly #topics = new Map<string, Topic>()
  readonly #storage: Storage

  constructor(storage: Storage) {
    this.#storage = storage
    for (const row of storage.prepare('select id, name, configs from topics').all()) {
      const name = String(row['name'])
      this.#set({ id: Number(row['id']), name, configs: JSON.parse(String(row['configs'])) }, this.#load(row, name))
    }
  }

  topics(): readonly Topic[] {
    return [...this.#topics.values()]
  }

  find(name: string): Topic | undefined {
    return this.#topics.get(name)
  }

  /** Throws `topic_not_found`. */
  topic(name: string): Topic {
    const topic = this.#topics.get(name)
    if (topic === undefined) throw new BrokerError('topic_not_found', `topic '${name}' does not exist`)
    return topic
  }

  /** Throws `topic_not_found`. */
  partition(at: TopicPartition): Partition {
    const partition = this.topic(at.topic).partitions[at.partition]
    if (partition === undefined) {
      throw new BrokerError('topic_not_found', `topic '${at.topic}' has no partition ${at.partition}`)
    }
    return partition
  }

  configs(name: string): TopicConfigs {
    return effectiveConfigs(this.topic(name).configs)
  }

  create(request: NewTopic, change: WriteTransaction): boolean {
    const { name, configs = {}, partitions = 1 } = request
    checkTopicName(name)
    checkPartitions(name, partitions)
    checkConfigs(name, configs)
    if (this.#topics.has(name)) return false
    change.checkpointTopics()
    const row = this.#storage
      .prepare('insert into topics (name, configs) values (?, ?) returning id')
      .get(name, JSON.stringify(configs))!
    const id = Number(row['id'])
    change.onRollback(() => this.#topics.delete(name))
    this.#set({ id, name, configs }, this.#add(id, name, { from: 0, total: partitions }))
    return true
  }

  /** The records are deleted later in steps: see `LogCleaner`. */
  delete(name: string, change: WriteTransaction): Topic {
    const topic = this.topic(name)
    change.checkpointTopics()
    this.#storage
      .prepare('insert into doomed (partition_id) select id from partitions where topic_id = ?')
      .run(topic.id)
    this.#storage.prepare('delete from partitions where topic_id = ?').run(topic.id)
    this.#storage.prepare('delete from topics where id = ?').run(topic.id)
    this.#storage.prepare('delete from group_offsets where topic = ?').run(name)
    this.#topics.delete(name)
    change.onRollback(() => this.#topics.set(name, topic))
    change.onCommit(() => {
      for (const partition of topic.partitions) partition.notifyListeners()
    })
    return topic
  }

  addPartitions(name: string, total: number, change: WriteTransaction): void {
    const topic = this.topic(name)
    checkPartitions(name, total)
    if (total <= topic.partitions.length) {
      const message = `topic '${name}' has ${topic.partitions.length} partitions: the number can only be increased`
      throw new BrokerError('invalid_request', message)
    }
    change.checkpointTopics()
    const added = this.#add(topic.id, name, { from: topic.partitions.length, total })
    change.onRollback(() => this.#topics.set(name, topic))
    this.#set(topic, [...topic.partitions, ...added])
  }

  /** Null resets a config to its default. */
  setConfigs(name: string, configs: Readonly<Record<string, string | null>>, change: WriteTransaction): void {
    const topic = this.topic(name)
    const entries = Object.entries({ ...topic.configs, ...configs })
    const next = Object.fromEntries(entries.filter((entry): entry is [string, string] => entry[1] !== null))
    checkConfigs(name, next)
    this.#storage.prepare('update topics set configs = ? where id = ?').run(JSON.stringify(next), topic.id)
    change.onRollback(() => this.#topics.set(name, topic))
    this.#set({ ...topic, configs: next }, topic.partitions)
  }

  #set(topic: Pick<Topic, 'id' | 'name' | 'configs'>, partitions: readonly Partition[]): void {
    const { id, name, configs } = topic
    this.#topics.set(name, { id, name, configs, policy: toPolicy(configs), partitions })
  }

  #add(topicId: number, topic: string, range: { readonly from: number; readonly total: number }): Partition[] {
    const insert = this.#storage.prepare('insert into partitions (topic_id, number) values (?, ?) returning id')
    return Array.from({ length: range.total - range.from }, (_, index) => {
      const number = range.from + index
      const id = Number(insert.get(topicId, number)!['id'])
      if (id > PARTITION_ID_MAX)
        throw new Error(
          `the data directory has reached the maximum of ${PARTITION_ID_MAX} partitions ever created: use a new one`,
        )
      return new Partition({ id, topic, number, startOffset: 0, endOffset: 0 })
    })
  }

  #load(topicRow: Record<string, unknown>, topic: string): Partition[] {
    const rows = this.#storage.prepare(
      'select id, number, start_offset, end_floor from partitions where topic_id = ? order by number',
    )
    const last = this.#storage.prepare(
      'select last_offset from batches where id >= ? and id <= ? order by id desc limit 1',
    )
    return rows.all(Number(topicRow['id'])).map((row) => {
      const id = Number(row['id'])
      const lastOffset = last.get(rowId(id, 0), rowId(id, 0) | OFFSET_MASK)?.['last_offset'] ?? -1
      const endOffset = Math.max(Number(row['end_floor']), Number(lastOffset) + 1)
      return new Partition({
        id,
        topic,
        number: Number(row['number']),
        startOffset: Number(row['start_offset']),
        endOffset,
      })
    })
  }
}

export function checkTopicName(name: string): void {
  if (/^[a-zA-Z0-9._-]{1,249}$/.test(name) && name !== '.' && name !== '..') return
  const expected = "1 to 249 of letters, digits, '.', '_' and '-', not '.' or '..'"
  throw new BrokerError('invalid_topic', `'${name}' is not a valid topic name: expected ${expected}`)
}

function checkPartitions(name: string, total: number): void {
  if (Number.isInteger(total) && total >= 1 && total <= PARTITIONS_MAX) return
  throw new BrokerError(
    'invalid_request',
    `topic '${name}': ${total} partitions requested, expected 1 to ${PARTITIONS_MAX}`,
  )
}
