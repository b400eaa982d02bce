import type { ConnectRecord, ConverterInstance, HeaderConverterInstance, SchemaAndValue } from '../../sdk/index.ts'
import type { ErrorPolicy } from './error-policy.ts'
import { type PipelineItem, type PipelineStep, type StepRole, stepFailure } from './pipeline-step.ts'

/** Applies a plugin to one item. Returns whether the item passes; false drops it. */
type ApplyPlugin = (item: PipelineItem) => boolean | Promise<boolean>

/** A plugin of this process as a step. Synchronous as long as the plugin is. */
export class PluginStep implements PipelineStep {
  readonly role: StepRole
  /** The class name that is reported for a failure. For a predicate it is that of its transformation. */
  readonly className: string
  readonly #apply: ApplyPlugin

  constructor(role: StepRole, className: string, apply: ApplyPlugin) {
    this.role = role
    this.className = className
    this.#apply = apply
  }

  async apply(items: readonly PipelineItem[], policy: ErrorPolicy): Promise<readonly PipelineItem[]> {
    /** Undefined as long as all items pass. */
    let passing: PipelineItem[] | undefined
    for (let index = 0; index < items.length; index++) {
      const item = items[index]!
      let passes: boolean | Promise<boolean>
      try {
        passes = this.#apply(item)
        if (passes instanceof Promise) passes = await passes
      } catch (failed) {
        passes = await this.#retry(item, failed, policy)
      }
      if (passes === true) passing?.push(item)
      else passing ??= items.slice(0, index)
      if (item.failure !== undefined && !policy.isTolerant) break
    }
    return passing ?? items
  }

  async #retry(item: PipelineItem, failed: unknown, policy: ErrorPolicy): Promise<boolean> {
    try {
      return await policy.retry(failed, () => this.#apply(item))
    } catch (error) {
      item.failure = stepFailure(this, error)
      return false
    }
  }
}

export function applyPredicate(test: (record: ConnectRecord) => boolean, isNegated: boolean): ApplyPlugin {
  return (item) => {
    item.isSelected = test(item.record) !== isNegated
    return true
  }
}

/** `isConditional`: the transformation is applied only to records that the predicate before it has selected. */
export function applyTransformation(
  transform: (record: ConnectRecord) => ConnectRecord | null,
  isConditional: boolean,
): ApplyPlugin {
  return (item) => {
    if (isConditional && !item.isSelected) return true
    const transformed = transform(item.record)
    if (transformed === null) return false
    item.record = transformed
    return true
  }
}

/** Converts data of a source to bytes. */
export function applyFromConnect(role: 'key' | 'value', { fromConnect }: ConverterInstance): ApplyPlugin {
  const set = (item: PipelineItem, bytes: Uint8Array | null) => {
    item[role] = bytes
    return true
  }
  const convert =
    role === 'key'
      ? ({ topic, keySchema, key }: ConnectRecord) => fromConnect(topic, keySchema ?? null, key ?? null)
      : ({ topic, valueSchema, value }: ConnectRecord) => fromConnect(topic, valueSchema ?? null, value)
  return (item) => {
    const bytes = convert(item.record)
    return bytes instanceof Promise ? bytes.then((resolved) => set(item, resolved)) : set(item, bytes)
  }
}

type OwnRecord = { -readonly [Member in keyof ConnectRecord]: ConnectRecord[Member] }

/** Converts bytes of a record for a sink to data. No plugin has received the record of the item before, so it is changed in place. */
export function applyToConnect(role: 'key' | 'value', { toConnect }: ConverterInstance): ApplyPlugin {
  const set = (item: PipelineItem, { schema, value }: SchemaAndValue) => {
    const record: OwnRecord = item.record
    if (role === 'key') {
      record.key = value
      record.keySchema = schema
    } else {
      record.value = value
      record.valueSchema = schema
    }
    return true
  }
  return (item) => {
    const data = toConnect(item.record.topic, item[role])
    return data instanceof Promise ? data.then((resolved) => set(item, resolved)) : set(item, data)
  }
}

export function applyHeadersFromConnect({ fromConnect }: HeaderConverterInstance): ApplyPlugin {
  return (item) => {
    const { headers } = item.record
    if (headers?.length > 0) item.headers = headers.map((header) => [header.key, fromConnect(header)])
    return true
  }
}

export function applyHeadersToConnect({ toConnect }: HeaderConverterInstance): ApplyPlugin {
  return (item) => {
    const record: OwnRecord = item.record
    if (item.headers.length > 0) record.headers = item.headers.map(([name, bytes]) => toConnect(name, bytes))
    return true
  }
}
