import { describe, expect, it } from 'vitest'
import { restrictConnectors } from '../../../src/worker/host-access/class-rules.ts'
import { ALL_ACCESS, providerUse } from '../../../src/worker/host-access/connector-access.ts'
import { connectorAccess } from '../../../src/worker/host-access/connector-access-settings.ts'
import { workerSettings } from '../../../src/worker/settings.ts'
import { shippedCatalog } from '../../support/shipped-plugins.ts'

const settingsOf = (written: Readonly<Record<string, string>>) =>
  workerSettings(Object.entries(written).map(([key, value]) => ({ key, value, source: 'the test' })))
const LOG_IN = { 'authentication.method': 'BASIC', 'weir.authentication.users.file': '/etc/weir/users' }

describe('the access of connectors', () => {
  it('is unrestricted without authentication', () => {
    expect(connectorAccess(settingsOf({}))).toEqual(ALL_ACCESS)
  })

  it('excludes all paths, and loopback, link-local and metadata addresses, if authentication is required', () => {
    const { host } = connectorAccess(settingsOf(LOG_IN))
    expect(host).toMatchObject({
      paths: { allowed: [] },
      addresses: { allowed: undefined, denied: ['loopback', 'link-local', 'metadata'] },
      listeners: { allowed: undefined, ownPorts: [8083] },
    })
  })

  it('never includes files of the worker itself', () => {
    const written = {
      ...LOG_IN,
      'connector.paths.allowed': '/',
      'listeners.https.ssl.keystore.location': '/etc/weir/tls.pem',
      'plugin.path': '/plugins',
    }
    const { host } = connectorAccess(settingsOf(written), ['/etc/weir/worker.properties', '/data'])
    expect(host?.paths.allowed).toEqual(['/'])
    expect(host?.paths.own).toEqual(
      expect.arrayContaining([
        ...['/etc/weir/users', '/etc/weir/tls.pem', '/plugins', '/etc/weir/worker.properties', '/data', '/proc'],
      ]),
    )
  })

  it('is restricted by each setting also without authentication', () => {
    const { host } = connectorAccess(settingsOf({ 'connector.urls.denied': 'private' }))
    expect(host).toMatchObject({ paths: { allowed: undefined }, addresses: { denied: ['private'] } })
  })

  it('is rejected if a setting is invalid', () => {
    expect(() => connectorAccess(settingsOf({ 'connector.urls.denied': '10.0.0.0/99' }))).toThrow("'10.0.0.0/99'")
    expect(() => settingsOf({ 'connector.paths.allowed': 'data' })).toThrow('expected absolute paths')
  })
})

describe('the access of config providers if authentication is required', () => {
  it('excludes environment variables that configure the worker', () => {
    const settings = { ...settingsOf(LOG_IN), ownVariables: ['KAFKA_PASSWORD'] }
    const { isOwnVariable } = providerUse(connectorAccess(settings))
    const own = ['KAFKA_PASSWORD', 'CONNECT_SASL_PASSWORD', 'WEIR_SET_SASL_PASSWORD', 'SHOP_PASSWORD']
    expect(own.filter((name) => isOwnVariable(name))).toEqual(own.slice(0, 3))
  })
})

describe('allowed connector classes', () => {
  const names = ['FileStreamSink', 'FileStreamSinkConnector', 'org.apache.kafka.connect.file.FileStreamSinkConnector']
  const restricted = (allowed: readonly string[] | undefined, denied: readonly string[]) =>
    restrictConnectors(shippedCatalog(), { allowed, denied })

  it.each([...names, 'FileStream*', 'org.apache.kafka.connect.file.*'])(
    'are denied under all their names when %s is denied',
    (denied) => {
      const catalog = restricted(undefined, [denied])
      expect(names.map((name) => catalog.find('sink', name))).toEqual([undefined, undefined, undefined])
      expect(catalog.refusal('sink', names[0]!)).toContain('connector.classes.denied')
      expect(catalog.list().map(({ class: name }) => name)).not.toContain(names[2])
      expect(catalog.find('sink', 'HttpSink')).toBeDefined()
    },
  )

  it('are those in connector.classes.allowed that are not in connector.classes.denied', () => {
    const catalog = restricted(['Http*', 'Datagen'], ['HttpSource'])
    const found = [...catalog.list('source'), ...catalog.list('sink')].map(({ class: name }) => name)
    expect(found.map((name) => name.replace(/^.*\./, ''))).toEqual([
      ...['HttpSourceConnector', 'DatagenConnector', 'HttpSinkConnector'],
    ])
    expect(catalog.refusal('source', 'HttpSource')).toContain('connector.classes.denied')
    expect(catalog.refusal('source', 'FileStreamSource')).toContain('connector.classes.allowed')
    expect(catalog.find('converter', 'StringConverter')).toBeDefined()
  })
})
