import { randomBytes } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { secretReasonOf, withoutSecrets } from '../../../src/cli/manifests/secret-values.ts'
import { isSecretKey } from '../../../src/common/secrets/secret-keys.ts'

const PEM = `-----BEGIN ${'PRIVATE'} KEY-----`

describe('a value of a configuration', () => {
  it.each([
    ['database.password', 'x', 'key'],
    ['database.password', 'prefix${file:/a:b}', 'key'],
    ['sasl.jaas.config', 'PlainLoginModule required username="u" password="pa55word";', 'key'],
    ['sasl.jaas.config', 'LoginModule required username="${file:/a:u}" password="pa55word";', 'credentials'],
    ['database.url', 'jdbc:postgresql://user:pa55word@db/shop', 'credentials'],
    ['database.url', 'jdbc:postgresql://db/shop?user=u&password=pa55word', 'credentials'],
    ['database.url', 'mongodb+srv://app:s3cr3t@cluster0.example.net/?retryWrites=true', 'credentials'],
    [
      'storage',
      'DefaultEndpointsProtocol=https;AccountName=a;AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OU==',
      'credentials',
    ],
    ['http.headers', 'Authorization: Bearer abcdefgh12345678', 'credentials'],
    ['http.headers', 'x-auth: Basic dXNlcjpwYTU1d29yZA==', 'credentials'],
    ['database.note', 'value of the worker: [hidden]', 'masked'],
    ['ssl.keystore', `${PEM}\nMIIEvQIBADANBgkqhkiG\n`, 'format'],
    ['ssl.keystore', `-----BEGIN ENCRYPTED ${'PRIVATE'} KEY-----\nMIIE\n`, 'format'],
    ['aws.id', 'AKIAIOSFODNN7EXAMPLE', 'format'],
    ['aws.value', 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', 'random'],
    ['app', 'Zk3vQ9xTb7LmR2wYc8NpH4sDfG6jKa1e', 'random'],
    ['app', 'https://hooks.example.com/services/T0Ab3dE9f/B7gH2kLm4/Zk3vQ9xTb7LmR2wYc8NpH4sD', 'random'],
    ['app', 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U', 'random'],
    ['app', '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b', 'random'],
    ['app', 'x7k2p9q4m1z8w3v6b5n0c2d4', 'random'],
    // The id of a Kafka cluster, 16 random bytes, cannot be distinguished from a key.
    ['app', 'J8mkZ5QTR3-0xq1v7h2bWA', 'random'],
  ])('of %s, %s, is a secret because of: %s', (key, value, reason) => {
    expect(secretReasonOf(key, value)).toBe(reason)
  })

  it.each([
    ['the name of a class', 'org.apache.kafka.connect.transforms.TimestampConverter$Value'],
    ['the name of a class', 'io.confluent.connect.avro.AvroConverter'],
    ['the name of a class', 'FileStreamSourceConnectorV2WithRetries'],
    ['a path', '/var/lib/kafka/connect/plugins/file-stream-source-0.1.0.jar'],
    ['a path', '/opt/Kafka/Connect-4.3.1/plugins/JdbcSink/Oracle19c'],
    ['a list of topics', 'orders-v1,customers-v2,invoices-v3,shipments-v4'],
    ['a list of topics', 'shop_orders_2024,shop_customers_2024,Shop_Refunds_2025'],
    ['a regular expression', '^(?:orders|customers)-[a-zA-Z0-9_-]{1,64}\\.v[0-9]+$'],
    ['a query', 'SELECT id, name FROM public.customers WHERE updated_at > ?'],
    ['a date format', 'yyyy-MM-dd HH:mm:ss.SSSSSS'],
    ['a cron expression', '0 0/15 8-18 ? * MON-FRI'],
    ['a list of addresses', 'b-1.cluster.abc123.c2.kafka.us-east-1.amazonaws.com:9092,b-2.cluster.abc123:9092'],
    ['a URL', 'https://schema-registry.example.com:8081/subjects/orders-value/versions/12?normalize=true'],
    ['a UUID', '550e8400-e29b-41d4-a716-446655440000'],
    ['a UUID', 'f81d4fae-7dec-11d0-a765-00a0c91e6bf6,F81D4FAE-7DEC-11D0-A765-00A0C91E6BF6'],
    ['a short id in base64', 'AAAAAAAB/g=='],
    ['the name of a pod', 'orders-7d9f8b6c5d-x2x9z'],
    ['an ARN', 'arn:aws:iam::123456789012:role/connect-worker-role'],
    ['one repeated character', '00000000000000000000000000000000'],
    ['an alphabet', 'ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEF'],
    ['a number', '123456789012345678901234567890123456'],
    ['a public certificate', '-----BEGIN CERTIFICATE-----'],
    ['a placeholder', '${vault:secret/data/Zk3vQ9xTb7LmR2wYc8NpH4sDfG6jKa1e:key}'],
    ['nothing', ''],
  ])('that is %s, %s, is not a secret', (_, value) => {
    expect(secretReasonOf('setting', value)).toBeUndefined()
  })

  it.each([
    ['database.password', '${file:/a:b}'],
    ['database.password', ''],
    ['sasl.jaas.config', 'LoginModule required password="${file:/a:b}";'],
  ])('of %s, %s, is not a secret, because it contains a placeholder or nothing', (key, value) => {
    expect(secretReasonOf(key, value)).toBeUndefined()
  })

  it('is a secret if it has 24 random bytes, in whichever encoding', () => {
    const missed = (['base64', 'base64url', 'hex'] as const).map((encoding) => {
      const tokens = Array.from({ length: 500 }, () => randomBytes(24).toString(encoding))
      return tokens.filter((token) => secretReasonOf('setting', token) === undefined).length
    })
    // About one of 80 looks like words by chance.
    expect(Math.max(...missed)).toBeLessThan(40)
  })

  it('is masked where a plan prints it, as far as it is a secret', () => {
    const stored: object = {
      'db.password': 'x',
      url: 'http://u:pa55@h/',
      id: 'AKIAIOSFODNN7EXAMPLE',
      topic: 'orders',
      nothing: null,
    }
    expect(withoutSecrets(stored as Record<string, string>, isSecretKey)).toEqual({
      'db.password': '[hidden]',
      url: 'http://u:[hidden]@h/',
      id: '[hidden]',
      topic: 'orders',
      nothing: 'null',
    })
  })
})
