import type { StatusRecord, StatusSubject, StoredStatus } from './status-codec.ts'

type Connector = {
  status: StoredStatus | undefined
  readonly tasks: Map<number, StoredStatus>
  readonly topics: Set<string>
}

/** The state that results from all records of the status topic. */
export class StatusState {
  readonly #connectors = new Map<string, Connector>()

  names(): readonly string[] {
    return [...this.#connectors.keys()]
  }

  connector(name: string): StoredStatus | undefined {
    return this.#connectors.get(name)?.status
  }

  task(name: string, task: number): StoredStatus | undefined {
    return this.#connectors.get(name)?.tasks.get(task)
  }

  of(subject: StatusSubject): StoredStatus | undefined {
    return subject.kind === 'connector' ? this.connector(subject.connector) : this.task(subject.connector, subject.task)
  }

  tasks(name: string): readonly (readonly [task: number, status: StoredStatus])[] {
    return [...(this.#connectors.get(name)?.tasks ?? [])].sort(([a], [b]) => a - b)
  }

  topics(name: string): readonly string[] {
    return [...(this.#connectors.get(name)?.topics ?? [])]
  }

  hasTopic(name: string, topic: string): boolean {
    return this.#connectors.get(name)?.topics.has(topic) === true
  }

  apply(record: StatusRecord): void {
    const connector = this.#get(record.connector)
    switch (record.kind) {
      case 'connector':
        if (record.status === null) {
          connector.status = undefined
          connector.tasks.clear()
        } else if (!isLate(connector.status, record.status)) connector.status = record.status
        break
      case 'task':
        if (record.status === null) connector.tasks.delete(record.task)
        else if (!isLate(connector.tasks.get(record.task), record.status))
          connector.tasks.set(record.task, record.status)
        break
      case 'topic':
        if (record.isActive) connector.topics.add(record.topic)
        else connector.topics.delete(record.topic)
    }
    const { status, tasks, topics } = connector
    if (status === undefined && tasks.size === 0 && topics.size === 0) this.#connectors.delete(record.connector)
  }

  #get(name: string): Connector {
    const found = this.#connectors.get(name)
    if (found) return found
    const created = { status: undefined, tasks: new Map(), topics: new Set<string>() }
    this.#connectors.set(name, created)
    return created
  }
}

/**
 * Whether `next` is a status of a previous owner that arrives after one of the current owner. A previous owner writes UNASSIGNED when it
 * stops the task, RESTARTING when it stops it for a restart, and FAILED or UNASSIGNED with a reason when its successor fences it. The
 * current owner writes UNASSIGNED in the generation of its last status, when it has lost its membership or its task has not started.
 */
export function isLate(known: StoredStatus | undefined, next: StoredStatus): boolean {
  if (known === undefined) return false
  const isOfTask = next.state === 'FAILED' || (next.state === 'UNASSIGNED' && next.trace !== null)
  if (isOfTask) return known.state !== 'UNASSIGNED' && !isSafeWrite(known, next)
  if (next.state !== 'UNASSIGNED' && next.state !== 'RESTARTING') return false
  return known.worker_id === next.worker_id
    ? known.generation > next.generation
    : known.generation >= next.generation && known.state !== 'UNASSIGNED'
}

/** Whether a worker that may have lost the connector or task can overwrite the known status. */
export function isSafeWrite(known: StoredStatus | undefined, next: StoredStatus): boolean {
  return known === undefined || known.worker_id === next.worker_id || known.generation <= next.generation
}
