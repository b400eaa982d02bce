import { expect, it } from 'vitest'
import { postgresSource } from '../../../../src/plugins/connectors/postgres/source/source.ts'
import { warnOfUnknownKeys } from '../../../../src/plugins/connectors/postgres/unknown-keys.ts'

it('names the keys that the connector does not know, and what was meant, but none of the runtime', () => {
  const warned: object[] = []
  const log = { debug() {}, info() {}, error() {}, warn: (fields: object) => void warned.push(fields) }
  const raw = {
    name: 'x',
    'connector.class': 'PostgresSource',
    'tasks.max': '1',
    tables: '',
    'transforms.a.type': 'x',
    'errors.tolerance': 'all',
    'value.converter.schemas.enable': 'true',
    mode: 'bulk',
    'table.whitelst': 'a',
    'oracle.only': 'x',
  }
  warnOfUnknownKeys(postgresSource.config, raw, log)
  expect(warned).toEqual([{ key: 'table.whitelst', meant: 'table.whitelist' }, { key: 'oracle.only' }])
})
