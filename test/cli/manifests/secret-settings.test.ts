import { describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { connectorManifests } from '../../../src/cli/manifests/generate/connector-manifests.ts'
import { isSecretKey } from '../../../src/common/secrets/secret-keys.ts'
import { convertTexts } from '../../support/conversion.ts'

/** Values beside both sides of each threshold. */
const SETTINGS: Readonly<Record<string, string>> = {
  'connection.password': 'hunter2',
  'consumer.override.sasl.jaas.config': 'org.example.LoginModule required username="a" password="hunter2";',
  'database.url': 'jdbc:postgresql://user:hunter2@db/orders',
  'access.id': 'AKIAIOSFODNN7EXAMPLE',
  plain: 'orders',
  'long.name': 'a-service-name-of-many-words-without-a-secret',
  'single.case.23': 'q7w2e9r4t1y6u3i8o5p0a1s',
  'single.case.24': 'q7w2e9r4t1y6u3i8o5p0a1sd',
  hex31: 'a1b2c3d4e5f60718293a4b5c6d7e8f9',
  hex32: 'a1b2c3d4e5f60718293a4b5c6d7e8f90',
  placeholder: '${file:/secrets:token}',
  masked: '[hidden]',
  pin: '1234',
  'value.converter.pin': '1234',
}
const CLASS = 'org.example.Vault'

type Spec = { readonly config?: object; readonly valuesFrom?: readonly { readonly key: string }[] }
const dividedIn = ({ config = {}, valuesFrom = [] }: Spec) => ({
  plain: Object.keys(config).sort(),
  secrets: valuesFrom.map(({ key }) => key).sort(),
})

/** `pin` is a secret of this class by its definition, not by its name. */
const definedBy = (config: Readonly<Record<string, string>>) => (key: string) =>
  isSecretKey(key) || (key === 'pin' && config['connector.class'] === CLASS)

function generated(config: Readonly<Record<string, string>>) {
  const info = { name: 'c', config, tasks: [], type: 'sink' as const }
  const scope = { runtime: 'default', namespace: 'default', otherRuntimes: [] }
  const [file] = connectorManifests({ c: { info } }, scope, definedBy).files
  return dividedIn((parse(file!.text) as { spec: Spec }).spec)
}

describe('what is a secret', () => {
  const expected = generated({ name: 'c', 'connector.class': CLASS, ...SETTINGS })

  it('includes each reason', () => {
    expect(expected.secrets).toEqual(
      expect.arrayContaining(['connection.password', 'database.url', 'access.id', 'single.case.24', 'masked', 'pin']),
    )
    expect(expected.plain).toEqual(
      expect.arrayContaining(['plain', 'long.name', 'single.case.23', 'placeholder', 'value.converter.pin']),
    )
  })

  it.each([
    [
      'the JSON of Kafka Connect',
      'c.json',
      JSON.stringify({ name: 'c', config: { 'connector.class': CLASS, ...SETTINGS } }),
    ],
    [
      'a KafkaConnector of Strimzi, which has the class beside its configuration',
      'c.yaml',
      stringify({
        apiVersion: 'kafka.strimzi.io/v1',
        kind: 'KafkaConnector',
        metadata: { name: 'c' },
        spec: { class: CLASS, config: SETTINGS },
      }),
    ],
  ])('is the same for weir generate and for weir convert of %s', (_, file, text) => {
    const { spec } = convertTexts({ [file]: text }, { secretKeysOf: definedBy })
    expect(dividedIn(spec)).toEqual(expected)
  })
})
