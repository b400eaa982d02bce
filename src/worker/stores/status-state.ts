import { parseStatusKey, parseStatusValue, type StatusKey, type StoredStatus } from './status-codec.ts'

type Connector = {
  status: StoredStatus | undefined
  readonly tasks: Map<number, StoredStatus>
  readonly topics: Set<string>
}

/** What the status topic adds up to. */
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

  tasks(name: string): readonly (readonly [task: number, status: StoredStatus])[] {
    return [...(this.#connectors.get(name)?.tasks ?? [])].sort(([a], [b]) => a - b)
  }

  topics(name: string): readonly string[] {
    return [...(this.#connectors.get(name)?.topics ?? [])]
  }

  /** Null: a tombstone. Gives what it is about, if it is anything known. Throws when the value is no status. */
  apply(key: string, value: string | null): StatusKey | undefined {
    const parsed = parseStatusKey(key)
    if (parsed === undefined) return undefined
    const connector = this.#get(parsed.connector)
    switch (parsed.kind) {
      case 'connector':
        connector.status = value === null ? undefined : parseStatusValue(value)
        if (value === null) connector.tasks.clear()
        break
      case 'task':
        if (value === null) connector.tasks.delete(parsed.task)
        else applyTask(connector.tasks, parsed.task, parseStatusValue(value))
        break
      case 'topic':
        if (value === null) connector.topics.delete(parsed.topic)
        else connector.topics.add(parsed.topic)
    }
    const { status, tasks, topics } = connector
    if (status === undefined && tasks.size === 0 && topics.size === 0) this.#connectors.delete(parsed.connector)
    return parsed
  }

  #get(name: string): Connector {
    const found = this.#connectors.get(name)
    if (found) return found
    const made = { status: undefined, tasks: new Map(), topics: new Set<string>() }
    this.#connectors.set(name, made)
    return made
  }
}

/** A worker that gives a task up may say so after the next one has it running. */
function applyTask(tasks: Map<number, StoredStatus>, task: number, next: StoredStatus): void {
  const known = tasks.get(task)
  const late = next.state === 'UNASSIGNED' && known?.state === 'RUNNING' && known.generation >= next.generation
  if (!late) tasks.set(task, next)
}

/** Whether a worker may overwrite what is known, when it can't be sure to be the owner still. */
export function isSafeWrite(known: StoredStatus | undefined, next: StoredStatus): boolean {
  return known === undefined || known.worker_id === next.worker_id || known.generation <= next.generation
}
