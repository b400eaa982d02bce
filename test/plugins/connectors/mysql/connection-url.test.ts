import { describe, expect, it } from 'vitest'
import { parseMysqlUrl } from '../../../../src/plugins/connectors/mysql/connection-url.ts'

describe('parseMysqlUrl', () => {
  it('reads hosts, database, login and options of both drivers', () => {
    expect(
      parseMysqlUrl(
        'jdbc:mysql://sales:a%40b@db1:3307,[::1],address=(host=db3)(port=3308)(type=replica)/shop%20a?' +
          'sslMode=VERIFY_IDENTITY&trustCertificateKeyStoreUrl=file:/etc/ca.p12&trustCertificateKeyStorePassword=x' +
          '&connectTimeout=500&socketTimeout=60000&sessionVariables=sql_mode=ANSI&zeroDateTimeBehavior=CONVERT_TO_NULL' +
          '&yearIsDateType=false&allowPublicKeyRetrieval=true&rewriteBatchedStatements=true&serverTimezone=UTC',
      ),
    ).toEqual({
      hosts: [
        { host: 'db1', port: 3307 },
        { host: '::1', port: 3306 },
        { host: 'db3', port: 3308 },
      ],
      socketPath: undefined,
      database: 'shop a',
      user: 'sales',
      password: 'a@b',
      sslMode: 'verify-full',
      certificates: { 'ssl.truststore.location': '/etc/ca.p12', 'ssl.truststore.password': 'x' },
      allowsPublicKeyRetrieval: true,
      connectTimeoutMs: 500,
      queryTimeoutMs: 60_000,
      sessionVariables: 'sql_mode=ANSI',
      zeroDates: 'null',
      isYearDate: false,
      isTinyintBoolean: false,
      ignored: ['rewriteBatchedStatements', 'serverTimezone'],
    })
    expect(parseMysqlUrl('jdbc:mariadb:replication://(host=a,port=3310),b/?localSocket=/run/m.sock')).toMatchObject({
      hosts: [
        { host: 'a', port: 3310 },
        { host: 'b', port: 3306 },
      ],
      socketPath: '/run/m.sock',
      database: undefined,
      zeroDates: 'null',
    })
  })

  it.each([
    ['jdbc:mysql://db/s', 'prefer'],
    ['jdbc:mysql://db/s?useSSL=false', 'disable'],
    ['jdbc:mysql://db/s?useSSL=true&requireSSL=true', 'require'],
    ['jdbc:mysql://db/s?useSSL=true&verifyServerCertificate=true', 'verify-ca'],
    ['jdbc:mysql://db/s?useSSL=false&sslMode=REQUIRED', 'require'],
    ['jdbc:mariadb://db/s', 'disable'],
    ['jdbc:mariadb://db/s?useSsl=true', 'verify-full'],
    ['jdbc:mariadb://db/s?useSSL=true&disableSslHostnameVerification=true', 'verify-ca'],
    ['jdbc:mariadb://db/s?useSSL=true&trustServerCertificate=true', 'require'],
    ['jdbc:mariadb://db/s?sslMode=trust', 'require'],
  ])('has the TLS mode of the driver: %s %s', (url, mode) => {
    expect(parseMysqlUrl(url).sslMode).toBe(mode)
  })

  it.each([
    ['jdbc:postgresql://db/s', 'is not the URL of a MySQL or MariaDB database: expected jdbc:mysql://'],
    ['jdbc:mysql://d b:x:y/s', 'contains an invalid host'],
    ['jdbc:mysql://db/s?sslMode=maybe', 'sslMode=maybe in connection.url is not one of'],
    ['jdbc:mysql://db/s?connectTimeout=soon', 'connectTimeout in connection.url must be a number of milliseconds'],
    ['jdbc:mysql://db/s?useSSL=perhaps', 'useSSL in connection.url must be true or false'],
    ['jdbc:mysql://db/s?socketFactory=a.B', 'the option socketFactory of connection.url is not supported'],
    ['jdbc:mysql://db/s?sessionVariables=time_zone=%27SYSTEM%27', 'sessions use UTC and utf8mb4'],
    ['jdbc:mysql://db/s?zeroDateTimeBehavior=guess', 'is not one of EXCEPTION, CONVERT_TO_NULL and ROUND'],
  ])('rejects %s, without the password', (url, message) => {
    const withPassword = url.replace('//', '//sales:a secret@')
    expect(() => parseMysqlUrl(withPassword)).toThrow(message)
    expect(() => parseMysqlUrl(withPassword)).not.toThrow('a secret')
  })
})
