import type { ConnectRecord, ConverterInstance, HeaderConverterInstance } from '../../sdk/index.ts'
import type { LocalStep, PipelineItem } from './pipeline-step.ts'

// The plugins of this thread as steps of a pipeline that has remote steps, too.

type Role = 'key' | 'value'

export function selectionStep(test: (record: ConnectRecord) => boolean, isNegated: boolean): LocalStep {
  return local((item) => {
    item.isSelected = test(item.record) !== isNegated
  })
}

export function transformationStep(
  apply: (record: ConnectRecord) => ConnectRecord | null,
  isConditional: boolean,
): LocalStep {
  return local((item) => {
    if (isConditional && !item.isSelected) return
    const transformed = apply(item.record)
    if (transformed === null) item.outcome = 'dropped'
    else item.record = transformed
  })
}

export function converterStep(kind: 'source' | 'sink', role: Role, converter: ConverterInstance): LocalStep {
  return local(kind === 'source' ? fromConnect(role, converter) : toConnect(role, converter))
}

export function headerConverterStep(kind: 'source' | 'sink', converter: HeaderConverterInstance): LocalStep {
  if (kind === 'source') {
    return local((item) => {
      item.headers = item.record.headers.map((header) => [header.key, converter.fromConnect(header)])
    })
  }
  return local((item) => {
    const headers = item.headers.map(([name, bytes]) => converter.toConnect(name, bytes))
    item.record = { ...item.record, headers }
  })
}

function fromConnect(role: Role, converter: ConverterInstance): LocalStep['apply'] {
  return (item) => {
    const { topic, keySchema, key, valueSchema, value } = item.record
    const bytes =
      role === 'key' ? converter.fromConnect(topic, keySchema, key) : converter.fromConnect(topic, valueSchema, value)
    return bytes instanceof Promise
      ? bytes.then((resolved) => setBytes(item, role, resolved))
      : setBytes(item, role, bytes)
  }
}

function setBytes(item: PipelineItem, role: Role, bytes: Uint8Array | null): void {
  if (role === 'key') item.key = bytes
  else item.value = bytes
}

type Data = Awaited<ReturnType<ConverterInstance['toConnect']>>

function toConnect(role: Role, converter: ConverterInstance): LocalStep['apply'] {
  return (item) => {
    const data = converter.toConnect(item.record.topic, role === 'key' ? item.key : item.value)
    return data instanceof Promise ? data.then((resolved) => setData(item, role, resolved)) : setData(item, role, data)
  }
}

function setData(item: PipelineItem, role: Role, { schema, value }: Data): void {
  item.record =
    role === 'key' ? { ...item.record, keySchema: schema, key: value } : { ...item.record, valueSchema: schema, value }
}

function local(apply: LocalStep['apply']): LocalStep {
  return { where: 'local', apply }
}
