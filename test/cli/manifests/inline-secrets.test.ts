import { describe, expect, it } from 'vitest'
import { secretReasonOf } from '../../../src/cli/manifests/inline-secrets.ts'
import { isSecretKey } from '../../../src/common/secrets/secret-keys.ts'

const reasonOf = (key: string, value: string) => secretReasonOf(key, value, isSecretKey)

describe('a value of a configuration', () => {
  it.each([
    ['database.password', 'x', 'key'],
    ['sasl.jaas.config', 'LoginModule required password="${file:/a:b}";', undefined],
    ['sasl.jaas.config', 'LoginModule required username="${file:/a:u}" password="pa55word";', 'credentials'],
    ['database.password', '${file:/a:b}', undefined],
    ['database.password', 'prefix${file:/a:b}', 'key'],
    ['database.password', '', undefined],
    ['url', 'jdbc:postgresql://user:pa55word@db/shop', 'credentials'],
    ['url', 'jdbc:postgresql://db/shop?user=u&password=pa55word', 'credentials'],
    ['headers', 'Authorization: Bearer abcdefgh12345678', 'credentials'],
    ['app', 'Zk3vQ9xTb7LmR2wYc8NpH4sDfG6jKa1e', 'entropy'],
    ['app', '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b', 'entropy'],
  ])('of %s, %s, is a secret because of: %3$s', (key, value, reason) => {
    expect(reasonOf(key, value)).toBe(reason)
  })

  it.each([
    'org.apache.kafka.connect.transforms.TimestampConverter$Value',
    'io.confluent.connect.avro.AvroConverter',
    '/var/lib/kafka/connect/plugins/file-stream-source-0.1.0.jar',
    'orders-v1,customers-v2,invoices-v3,shipments-v4',
    'SELECT id, name FROM public.customers WHERE updated_at > ?',
    'yyyy-MM-dd HH:mm:ss.SSSSSS',
    'b-1.cluster.abc123.c2.kafka.us-east-1.amazonaws.com:9092',
    '00000000000000000000000000000000',
    'ABCDEFGHIJKLMNOPQRSTUVWXYZABCDEF',
  ])('that is %s is not a secret', (value) => {
    expect(reasonOf('setting', value)).toBeUndefined()
  })
})
