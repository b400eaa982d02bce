import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { treatmentOf } from '../src/broker/client-settings.ts'
import { API_REQUIREMENTS, neededVersions } from '../src/broker/kafka/api-requirements.ts'
import { readClientConfig } from '../src/broker/kafka/client-config.ts'
import { parseProperties } from '../src/config/properties.ts'
import { KAFKA_VERSIONS } from './env/kafka.ts'

const page = readFileSync(join(import.meta.dirname, '../docs/kafka.md'), 'utf8')

/** As a program reads its file of settings. */
function settingsIn(text: string): Readonly<Record<string, string>> {
  return Object.fromEntries([...parseProperties(text)].map(([key, { value }]) => [key, value]))
}

/** The rows of the table with this header. */
function rowsOf(header: string): readonly string[] {
  const [, rest = ''] = page.split(`${header}\n`)
  const [, ...rows] = (rest.split('\n\n')[0] ?? '').trimEnd().split('\n')
  return rows
}

it('docs/kafka.md lists the versions of Kafka that `npm run versions` tests', () => {
  const rows = KAFKA_VERSIONS.map((version) => `| ${version.replace(/\.\d+$/, '')} | ${version} |`)
  expect(rowsOf('| Kafka | release that is tested |')).toEqual(rows.toSorted().toReversed())
})

it('docs/kafka.md lists the APIs that Weir needs', () => {
  const rows = API_REQUIREMENTS.flatMap(({ apis, without = 'Weir does not start' }) =>
    apis.map((api) => `| ${api.name} | ${neededVersions(api).join(' or ')} | ${without} |`),
  )
  expect(rowsOf('| API | version | without it |')).toEqual(rows)
})

describe('the settings of managed Kafka in docs/kafka.md', () => {
  const examples = [...page.matchAll(/^(.+):\n\n<!-- .+ -->\n```properties\n([\s\S]*?)```$/gm)].map(
    ([, title = '', text = '']) => [title, text],
  )

  it.each(examples)('are those of a client: %s', (_, text) => {
    const keys = settingsIn(text!)
    const { config, protocol, ignored } = readClientConfig(keys)
    // The class with Amazon's callbacks has no effect: the login is built in.
    const unknown = ignored.filter((key) => treatmentOf('admin', key) === 'unknown')
    expect([protocol, unknown]).toEqual(['SASL_SSL', []])
    expect(config.brokers).toEqual([keys['bootstrap.servers']])
  })

  it('log in as the services expect it', () => {
    const sasl = (title: string) => {
      const [, text = ''] = examples.find(([one]) => one === title)!
      return readClientConfig(settingsIn(text)).config.sasl
    }
    expect(examples).toHaveLength(5)
    expect(sasl('Confluent Cloud with an API key')).toMatchObject({ username: 'API-KEY', password: 'API-SECRET' })
    expect(sasl('Azure Event Hubs with a connection string')).toEqual({
      mechanism: 'plain',
      username: '$ConnectionString',
      password: 'Endpoint=sb://example.servicebus.windows.net/;SharedAccessKeyName=weir;SharedAccessKey=KEY=',
    })
    for (const title of [
      'Amazon MSK with IAM',
      'Confluent Cloud with an identity pool',
      'Azure Event Hubs with Microsoft Entra ID',
    ]) {
      expect(sasl(title)?.mechanism).toBe('oauthbearer')
    }
  })
})
