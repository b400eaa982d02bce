import { describe, expect, it } from 'vitest'
import { parseConnectionUrl } from '../../../../src/plugins/connectors/postgres/connection-url.ts'

describe('parseConnectionUrl', () => {
  it.each([
    ['jdbc:postgresql://db:6000/shop', { hosts: [{ host: 'db', port: 6000 }], database: 'shop', sslMode: 'prefer' }],
    ['jdbc:postgresql://db/', { hosts: [{ host: 'db', port: 5432 }], database: undefined }],
    ['jdbc:postgresql:shop', { hosts: [{ host: 'localhost', port: 5432 }], database: 'shop' }],
    [
      'jdbc:postgresql://a,b:1/shop',
      {
        hosts: [
          { host: 'a', port: 5432 },
          { host: 'b', port: 1 },
        ],
      },
    ],
    ['jdbc:postgresql://[::1]:5433/shop', { hosts: [{ host: '::1', port: 5433 }] }],
    ['postgresql://me:a%20b%40c@db/my%20shop', { user: 'me', password: 'a b@c', database: 'my shop' }],
    ['jdbc:postgresql://db/shop?user=me&password=x&ssl=true', { user: 'me', password: 'x', sslMode: 'verify-full' }],
    ['jdbc:postgresql://db/shop?sslmode=require&sslrootcert=/ca.pem', { sslMode: 'require', sslRootCert: '/ca.pem' }],
    [
      'jdbc:postgresql://db/shop?currentSchema=a,b&ApplicationName=x&connectTimeout=3',
      {
        searchPath: 'a,b',
        applicationName: 'x',
        connectTimeoutMs: 3000,
      },
    ],
    ['jdbc:postgresql://db/shop?reWriteBatchedInserts=true', { ignored: ['reWriteBatchedInserts'] }],
  ])('parses %s', (text, expected) => {
    expect(parseConnectionUrl(text)).toMatchObject(expected)
  })

  it.each([
    'jdbc:mysql://u:s3cret@db/shop',
    'u:s3cret@db:5432',
    'jdbc:postgresql://u:s3cret@db:port/x',
    'jdbc:postgresql://u:s3cret@db/x?sslmode=maybe',
    'jdbc:postgresql://u:s3cret@db/x?connectTimeout=soon',
  ])('rejects %s without the password in the error', (text) => {
    expect(() => parseConnectionUrl(text)).toThrow(/^(?!.*s3cret).*connection\.url/)
  })
})
