import { beforeEach, describe, expect, it } from 'vitest'
import { RequestError } from '../../../src/clients/http-client.ts'
import { createReconcilerFixture } from '../../support/reconciler-fixture.ts'

let { clock, cluster, registry, subjects: operator } = createReconcilerFixture()

beforeEach(() => {
  ;({ clock, cluster, registry, subjects: operator } = createReconcilerFixture())
})

type Field = { readonly name: string; readonly type: string; readonly default?: unknown }
const record = (...fields: Field[]) => JSON.stringify({ type: 'record', name: 'Order', fields })
const ID: Field = { name: 'id', type: 'long' }
const COUPON: Field = { name: 'coupon', type: 'string' }

describe('reconciling a Subject', () => {
  it('sets the level, then registers the schema, and reports Ready with version and id', async () => {
    const key = cluster.apply('Subject', 'orders-value', { schema: record(ID), compatibility: 'FULL' })
    const { settle, readiness } = operator()
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
    expect(registry.writes).toEqual(['putConfig orders-value FULL', 'register orders-value'])
    expect(cluster.get(key)?.status).toMatchObject({ version: 1, id: 1, latestVersion: 1, compatibility: 'FULL' })
  })

  it('reports Ready in the same reconcile if the registry returns the version, otherwise in the next one', async () => {
    const { reconcile, readiness } = operator()
    const key = cluster.apply('Subject', 'orders-value', { schema: record(ID), compatibility: 'FULL' })
    await reconcile(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
    expect(cluster.get(key)?.status).toMatchObject({ version: 1, appliedCompatibility: 'FULL' })
    expect(cluster.get(key)?.status.lastRegisteredTime).toBeDefined()

    const { lookup, register } = registry
    registry.register = async (...asked) => ({ id: (await register.call(registry, ...asked)).id }) as never
    registry.lookup = async () => {
      throw new RequestError(404, 40403, 'a replica that is behind')
    }
    const slow = cluster.apply('Subject', 'slow-value', { schema: record(ID) })
    await reconcile(slow)
    expect(readiness(slow)).toBe('Reconciling/Registering')
    registry.lookup = lookup
    await reconcile(slow)
    expect(readiness(slow)).toBe('Ready=True/Succeeded')
  })

  it('sends three requests for a new subject: lookup, effective level, registration', async () => {
    const asked: string[] = []
    for (const name of ['lookup', 'versions', 'version', 'config', 'register'] as const) {
      const real = registry[name] as (...args: unknown[]) => unknown
      Object.assign(registry, {
        [name]: (...args: unknown[]) => {
          asked.push(name)
          return real.apply(registry, args)
        },
      })
    }
    await operator().reconcile(cluster.apply('Subject', 'orders-value', { schema: record(ID) }))
    expect(asked.sort()).toEqual(['config', 'lookup', 'register'])
  })

  it('writes nothing in the second reconcile', async () => {
    const key = cluster.apply('Subject', 'orders-value', { schema: record(ID), compatibility: 'FULL' })
    const { settle, reconcile } = operator()
    await settle(key)
    const writes = registry.writes.length
    const status = cluster.get(key)?.status
    await reconcile(key)
    expect(registry.writes.slice(writes)).toEqual([])
    expect(cluster.get(key)?.status).toBe(status)
  })

  it('reads the own level of the subject only if a level is or was declared', async () => {
    const { settle } = operator()
    let asked = 0
    const config = registry.config.bind(registry)
    registry.config = (subject, options) => {
      if (!options?.effective) asked += 1
      return config(subject, options)
    }
    const key = cluster.apply('Subject', 'orders-value', { schema: record(ID) })
    await settle(key)
    expect(asked).toBe(0)
    cluster.apply('Subject', 'orders-value', { schema: record(ID), compatibility: 'FULL' })
    await settle(key)
    cluster.apply('Subject', 'orders-value', { schema: record(ID) })
    await settle(key)
    expect(asked).toBeGreaterThan(0)
    expect(registry.levels.has('orders-value')).toBe(false)
  })

  it('resolves a reference in the context of the subject that has it', async () => {
    const { settle, readiness } = operator()
    const named = (name: string) => JSON.stringify({ type: 'record', name, fields: [ID] })
    // The default context has another schema under the same name.
    await registry.register('base', { schema: named('Other') })
    await registry.register(':.legacy:base', { schema: named('Base') })
    const schema = JSON.stringify({ type: 'record', name: 'Order', fields: [{ name: 'base', type: 'Base' }] })
    const references = [{ name: 'Base', subject: 'base', version: 1 }]
    const key = cluster.apply('Subject', 'orders', {
      subject: ':.legacy:orders',
      schema,
      references,
      compatibility: 'FULL',
    })
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
  })

  it('registers a compatible change as the next version', async () => {
    const { settle } = operator()
    const key = cluster.apply('Subject', 'orders-value', { schema: record(ID) })
    await settle(key)
    cluster.apply('Subject', 'orders-value', { schema: record(ID, { ...COUPON, default: '' }) })
    await settle(key)
    expect(cluster.get(key)?.status.version).toBe(2)
  })

  it('writes nothing for an incompatible schema, and reports why', async () => {
    const { settle, readiness, condition } = operator()
    const key = cluster.apply('Subject', 'orders-value', { schema: record(ID) })
    await settle(key)
    const writes = registry.writes.length
    cluster.apply('Subject', 'orders-value', { schema: record(ID, COUPON), compatibility: 'FULL' })
    await settle(key)
    expect(readiness(key)).toBe('Stalled/Incompatible')
    expect(condition(key, 'Compatible')).toMatchObject({ status: 'False', reason: 'Incompatible' })
    expect(condition(key, 'Ready')?.message).toContain('\nversion 1: READER_FIELD_MISSING_DEFAULT_VALUE at /fields/1')
    expect(registry.writes.slice(writes)).toEqual([])
  })

  it('applies the compatibility policy of the subject, as the registry does', async () => {
    const { settle, readiness } = operator()
    const schema = (properties: object) => JSON.stringify({ type: 'object', properties })
    const key = cluster.apply('Subject', 'orders-value', { schemaType: 'JSON', schema: schema({ id: {} }) })
    await settle(key)
    const added = schema({ id: {}, coupon: { type: 'string' } })
    cluster.apply('Subject', 'orders-value', { schemaType: 'JSON', schema: added })
    await settle(key)
    expect(readiness(key)).toBe('Stalled/Incompatible')
    registry.rules = { compatibilityPolicy: 'LENIENT' }
    cluster.apply('Subject', 'orders-value', { schemaType: 'JSON', schema: added, normalize: true })
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
    expect(cluster.get(key)?.status.version).toBe(2)
  })

  it('compares only with versions of the same compatibility group', async () => {
    const { settle, readiness } = operator()
    registry.rules = { compatibilityGroup: 'major' }
    const major = (version: string) => ({ metadata: { properties: { major: version } } })
    const key = cluster.apply('Subject', 'orders-value', { schema: record(ID), ...major('1') })
    await settle(key)
    cluster.apply('Subject', 'orders-value', { schema: record(ID, COUPON), ...major('2') })
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
    cluster.apply('Subject', 'orders-value', { schema: record(ID, { name: 'other', type: 'int' }), ...major('1') })
    await settle(key)
    expect(readiness(key)).toBe('Stalled/Incompatible')
  })

  it('checks against the declared level, not the current one', async () => {
    registry.levels.set('orders-value', 'FULL_TRANSITIVE')
    const { settle, readiness } = operator()
    const key = cluster.apply('Subject', 'orders-value', { schema: record(ID) })
    await settle(key)
    cluster.apply('Subject', 'orders-value', { schema: record(ID, COUPON), compatibility: 'NONE' })
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
  })

  it('restores the level when the registry rejects the schema', async () => {
    const { settle, readiness, condition } = operator()
    const key = cluster.apply('Subject', 'orders-value', { schema: record(ID), compatibility: 'FULL' })
    registry.refusal = new RequestError(409, 40901, 'incompatible with an earlier schema')
    await settle(key)
    expect(readiness(key)).toBe('Stalled/Incompatible')
    expect(condition(key, 'Compatible')).toMatchObject({ status: 'False', reason: 'Incompatible' })
    expect(registry.levels.has('orders-value')).toBe(false)
  })

  it('removes its level when the field is removed, but not a level that another client set', async () => {
    const { settle } = operator()
    const key = cluster.apply('Subject', 'orders-value', { schema: record(ID), compatibility: 'FULL' })
    await settle(key)
    cluster.apply('Subject', 'orders-value', { schema: record(ID) })
    await settle(key)
    expect(registry.levels.has('orders-value')).toBe(false)
    registry.levels.set('orders-value', 'NONE')
    await settle(key)
    expect(registry.levels.get('orders-value')).toBe('NONE')
  })

  it('reports a newer version that another client registered, and keeps it', async () => {
    const { settle, readiness, condition } = operator()
    const key = cluster.apply('Subject', 'orders-value', { schema: record(ID) })
    await settle(key)
    await registry.register('orders-value', { schema: record(ID, { ...COUPON, default: '' }) })
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
    expect(condition(key, 'Latest')).toMatchObject({ status: 'False', reason: 'SupersededByVersion' })
  })

  it.each([
    ['Correct', 'Ready=True/Succeeded', 1],
    ['Report', 'Stalled/Missing', 0],
  ])('handles a deleted version according to driftPolicy %s', async (driftPolicy, expected, versions) => {
    const { settle, readiness } = operator()
    const key = cluster.apply('Subject', 'orders-value', { schema: record(ID), driftPolicy })
    await settle(key)
    registry.schemas.delete('orders-value')
    await settle(key)
    expect(readiness(key)).toBe(expected)
    expect(registry.schemas.get('orders-value')?.length ?? 0).toBe(versions)
  })

  it.each([
    ['AdoptIfIdentical', record(ID), 'Ready=True/Succeeded'],
    ['AdoptIfIdentical', record(COUPON), 'Stalled/AdoptionRefused'],
    ['Never', record(ID), 'Stalled/AlreadyExists'],
  ])('handles an existing subject according to adoptionPolicy %s', async (adoptionPolicy, schema, expected) => {
    await registry.register('orders-value', { schema: record(ID) })
    const key = cluster.apply('Subject', 'orders-value', { schema, adoptionPolicy, compatibility: 'NONE' })
    const { settle, readiness } = operator()
    await settle(key)
    expect(readiness(key)).toBe(expected)
  })

  it('waits while the registry is read-only', async () => {
    registry.modes.set('', 'READONLY')
    const key = cluster.apply('Subject', 'orders-value', { schema: record(ID) })
    const { settle, readiness } = operator()
    await settle(key)
    expect(readiness(key)).toBe('Reconciling/RegistryReadOnly')
    registry.modes.delete('')
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
  })

  it('reads its schema from a ConfigMap, and reports if that was deleted until it is back', async () => {
    const schemaFrom = { configMapKeyRef: { name: 'schemas', key: 'order.avsc' } }
    const key = cluster.apply('Subject', 'orders-value', { schemaFrom })
    const { settle, readiness } = operator()
    await settle(key)
    expect(readiness(key)).toBe('Reconciling/WaitingForInput')
    cluster.configMaps.set('default/schemas', { 'order.avsc': record(ID) })
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
    cluster.configMaps.clear()
    await settle(key)
    await settle(key)
    expect(readiness(key)).toBe('Stalled/InputMissing')
  })

  it('waits for the key `constructor`, which all JavaScript objects have, until its ConfigMap contains it', async () => {
    cluster.configMaps.set('default/schemas', { 'order.avsc': record(ID) })
    const schemaFrom = { configMapKeyRef: { name: 'schemas', key: 'constructor' } }
    const key = cluster.apply('Subject', 'orders-value', { schemaFrom })
    const { settle, readiness } = operator()
    await settle(key)
    expect(readiness(key)).toBe('Reconciling/WaitingForInput')
  })
})

describe('the first version of a subject', () => {
  const spec = {
    schema: JSON.stringify({ type: 'record', name: 'Order', fields: [{ name: 'to', type: 'Address' }] }),
    references: [{ name: 'Address', subject: 'address-value', version: 1 }],
  }

  it('is checked by the registry only', async () => {
    const key = cluster.apply('Subject', 'orders-value', spec)
    const asked: string[] = []
    registry.version = async (subject) => {
      asked.push(subject)
      throw new RequestError(404, 40401, 'not found')
    }
    await operator().settle(key)
    expect([registry.writes, asked]).toEqual([['register orders-value'], []])
  })

  it('is checked by the operator after a rejection, to report a missing reference', async () => {
    const key = cluster.apply('Subject', 'orders-value', spec)
    registry.refusal = new RequestError(422, 42201, 'Invalid schema')
    const { reconcile, readiness } = operator()
    await reconcile(key)
    expect(readiness(key)).toBe('Stalled/ReferenceNotFound')
  })

  it('is checked before its level is set', async () => {
    const key = cluster.apply('Subject', 'orders-value', { ...spec, compatibility: 'FULL' })
    const { reconcile, readiness } = operator()
    await reconcile(key)
    expect([readiness(key), registry.writes]).toEqual(['Stalled/ReferenceNotFound', []])
  })
})

describe('a rejection by the registry', () => {
  it.each([
    [413, 413, 'SchemaTooLarge'],
    [422, 42201, 'SchemaInvalid'],
    [409, 409, 'Incompatible'],
    [422, 42209, 'SchemaTooLarge'],
  ])('with status %i and code %i reports %s', async (status, code, reason) => {
    registry.refusal = new RequestError(status, code, 'no')
    const key = cluster.apply('Subject', 'orders-value', { schema: record(ID) })
    const { settle, readiness } = operator()
    await settle(key)
    expect(readiness(key)).toBe(`Stalled/${reason}`)
  })
})

describe('spec.references', () => {
  const follows = (name: string) => ({ name: 'Address', subjectRef: { name } })

  it('wait for the version of the referenced Subject', async () => {
    const order = cluster.apply('Subject', 'order', { schema: record(ID), references: [follows('address')] })
    const { settle, readiness, condition } = operator()
    await settle(order)
    expect(readiness(order)).toBe('Reconciling/ReferencePending')
    expect(condition(order, 'ReferencesResolved')).toMatchObject({ status: 'False', reason: 'ReferencePending' })
    const address = cluster.apply('Subject', 'address', { schema: '"string"' })
    await settle(order)
    expect(readiness(order)).toBe('Reconciling/ReferencePending')
    await settle(address)
    await settle(order)
    expect(readiness(order)).toBe('Ready=True/Succeeded')
    expect(condition(order, 'ReferencesResolved')).toMatchObject({ status: 'True', message: '1 of 1' })
    expect(registry.schemas.get('order')?.[0]?.references).toEqual([
      { name: 'Address', subject: 'address', version: 1 },
    ])
  })

  it('report ReferenceCycle with its path on each member of a cycle', async () => {
    const a = cluster.apply('Subject', 'a', { schema: '"int"', references: [follows('b')] })
    const b = cluster.apply('Subject', 'b', { schema: '"int"', references: [follows('a')] })
    const { settle, readiness, condition } = operator()
    await settle(a)
    await settle(b)
    expect([readiness(a), readiness(b)]).toEqual(['Stalled/ReferenceCycle', 'Stalled/ReferenceCycle'])
    expect(condition(a, 'Ready')?.message).toContain('a → b → a')
    expect(condition(b, 'ReferencesResolved')).toMatchObject({ status: 'False', reason: 'ReferenceCycle' })
  })

  it('to a missing Subject are Stalled after five minutes', async () => {
    const key = cluster.apply('Subject', 'order', { schema: record(ID), references: [follows('address')] })
    const { settle, readiness } = operator()
    await clock.advance(302_000)
    await settle(key)
    expect(readiness(key)).toBe('Stalled/ReferenceNotFound')
  })
})
