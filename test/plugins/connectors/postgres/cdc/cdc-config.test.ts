import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { cdcConfig } from '../../../../../src/plugins/connectors/postgres/cdc/config/cdc-config.ts'
import { parseConfig } from '../../../../../src/sdk/index.ts'

const REQUIRED = { 'database.hostname': 'localhost', 'database.user': 'u', 'database.dbname': 'd', 'topic.prefix': 'p' }
const parse = (config: Readonly<Record<string, string>>) => parseConfig(cdcConfig, { ...REQUIRED, ...config })

const ROOT = join(import.meta.dirname, '../../../../..')
/** The configuration keys of Debezium 3.4.0.Final, as its jar lists them. */
const DEBEZIUM_KEYS: readonly string[] = JSON.parse(
  readFileSync(join(ROOT, 'test/golden/debezium-postgres/keys.golden.json'), 'utf8'),
)

/** The keys in the first column of the table of keys without effect. */
function keysWithoutEffect(): readonly RegExp[] {
  const page = readFileSync(join(ROOT, 'docs/postgres-cdc-differences.md'), 'utf8')
  const rows = page.slice(page.indexOf('## Keys')).match(/^\| `.*$/gm) ?? []
  const names = rows.flatMap((row) => row.split('|')[1]!.match(/[\w.*]+/g) ?? [])
  return names.map((name) => new RegExp(`^${name.replaceAll('.', '[.]').replaceAll('*', '.*')}$`))
}

describe('cdcConfig', () => {
  it('has each key of Debezium, or refuses it, or the documentation says why it has no effect', () => {
    const isRefused = (key: string) => {
      try {
        return parse({ [key]: 'com.example.Custom' }) === undefined
      } catch {
        return true
      }
    }
    const known = Object.keys(parse({}))
    const others = DEBEZIUM_KEYS.filter((key) => !known.includes(key) && !(key in cdcConfig.shape) && !isRefused(key))
    const documented = keysWithoutEffect()
    expect(others.filter((key) => !documented.some((pattern) => pattern.test(key)))).toEqual(['database.sslpassword'])
    expect(documented.filter((pattern) => !others.some((key) => pattern.test(key)))).toEqual([])
  })

  it.each([
    [{ converters: 'isbn' }, 'converters is isbn, which needs Java code'],
    [{ 'post.processors': 'reselector' }, 'remove the key, or install the jar of Debezium in plugin.path'],
    [{ 'snapshot.query.mode': 'custom' }, 'snapshot.query.mode is custom'],
    [{ 'transaction.metadata.factory': 'com.example.Factory' }, 'transaction.metadata.factory is com.example.Factory'],
    [{ 'topic.naming.strategy': 'io.debezium.schema.SchemaRegexTopicNamingStrategy' }, 'needs topic.regex'],
  ])('rejects a key that would change events in a way that is not supported: %j', (config, message) => {
    expect(() => parse(config)).toThrow(message)
  })

  it('accepts Debezium’s own classes', () => {
    const config = {
      converters: '',
      'sourceinfo.struct.maker': 'io.debezium.connector.postgresql.PostgresSourceInfoStructMaker',
      'topic.naming.strategy': 'io.debezium.schema.SchemaUnicodeTopicNamingStrategy',
    }
    expect(parse(config)).toMatchObject(config)
  })
})
