import { describe, expect, it } from 'vitest'
import { cdcConfig } from '../../../../../src/plugins/connectors/postgres/cdc/config/cdc-config.ts'
import { parseConfig } from '../../../../../src/sdk/index.ts'

const REQUIRED = { 'database.hostname': 'localhost', 'database.user': 'u', 'database.dbname': 'd', 'topic.prefix': 'p' }
const parse = (config: Readonly<Record<string, string>>) => parseConfig(cdcConfig, { ...REQUIRED, ...config })

describe('cdcConfig', () => {
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
