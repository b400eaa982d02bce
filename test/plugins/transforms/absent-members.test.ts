import { expect, it } from 'vitest'
import type { ConnectRecord } from '../../../src/sdk/index.ts'
import { transformNamed } from './transform-named.ts'

const PACKAGE = 'org.apache.kafka.connect.transforms.'

const RECORD: ConnectRecord = {
  topic: 't',
  key: null,
  keySchema: null,
  value: { known: 1 },
  valueSchema: null,
  headers: [],
  timestampMs: null,
}

it.each([
  ['Cast$Value', (name: string) => ({ spec: `${name}:string` })],
  ['ExtractField$Value', (name: string) => ({ field: name })],
  ['HeaderFrom$Value', (name: string) => ({ fields: name, headers: 'h', operation: 'copy' })],
  ['MaskField$Value', (name: string) => ({ fields: name })],
  ['TimestampConverter$Value', (name: string) => ({ field: name, 'target.type': 'string', format: 'yyyy' })],
  ['ValueToKey', (name: string) => ({ fields: name })],
])('%s handles constructor as any other member that a schemaless value does not have', (name, configOf) => {
  const resultOf = (member: string) => transformNamed(PACKAGE + name, configOf(member))(RECORD)
  const renamed = JSON.parse(JSON.stringify(resultOf('absent')).replaceAll('"absent"', '"constructor"')) as object
  expect(resultOf('constructor')).toEqual(renamed)
})
