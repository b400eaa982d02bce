import { beforeEach, describe, expect, it } from 'vitest'
import { RequestError } from '../../src/clients/http-client.ts'
import { createReconcilerFixture } from '../support/reconciler-fixture.ts'

// An object that the last list of a runtime did not contain is created without reading it first. It may exist by then.

let { cluster, worker, registry, startReconcilers } = createReconcilerFixture()

beforeEach(() => {
  ;({ cluster, worker, registry, startReconcilers } = createReconcilerFixture())
})

const datagen = { class: 'Datagen', config: { topic: 'orders' } }
const ID = { name: 'id', type: 'long' }
const COUPON = { name: 'coupon', type: 'string' }
const NOTE = { name: 'note', type: 'string', default: '' }
const record = (...fields: object[]) => JSON.stringify({ type: 'record', name: 'Order', fields })

/** Records the names of the later calls of these methods. */
function callsOf<T extends object>(thing: T, names: readonly (keyof T & string)[]): string[] {
  const asked: string[] = []
  for (const name of names) {
    const real = thing[name] as (...args: unknown[]) => unknown
    Object.assign(thing, {
      [name]: (...args: unknown[]) => {
        asked.push(name)
        return real.apply(thing, args)
      },
    })
  }
  return asked
}

describe('a Connector that the last list of the worker did not contain', () => {
  it('is created without reading it first', async () => {
    const asked = callsOf(worker, ['get', 'status', 'create'])
    const key = cluster.apply('Connector', 'orders', datagen)
    const { reconcile, settle, readiness } = startReconcilers({ listsAreEmpty: true }).Connector
    await reconcile(key)
    expect(asked).toEqual(['create'])
    await settle(key)
    expect(readiness(key)).toBe('Ready=True/Succeeded')
    expect(worker.writes).toEqual(['create orders'])
  })

  it.each([
    ['Adopt', 'Ready=True/Succeeded'],
    ['AdoptIfIdentical', 'Stalled/AdoptionRefused'],
    ['Never', 'Stalled/AlreadyExists'],
  ])('is handled according to adoptionPolicy %s if it exists by now', async (adoptionPolicy, expected) => {
    await worker.create('orders', { 'connector.class': 'Datagen', topic: 'others' })
    const key = cluster.apply('Connector', 'orders', { ...datagen, adoptionPolicy })
    const { settle, readiness } = startReconcilers({ listsAreEmpty: true }).Connector
    await settle(key)
    expect(readiness(key)).toBe(expected)
  })

  it('is read first if an offsets operation is pending', async () => {
    const asked = callsOf(worker, ['get', 'create'])
    const offsets = { operation: { id: 'a', type: 'Reset' } }
    const { reconcile } = startReconcilers({ listsAreEmpty: true }).Connector
    await reconcile(cluster.apply('Connector', 'orders', { ...datagen, offsets }))
    expect(asked).toEqual(['get'])
  })
})

describe('a Subject that the last list of the registry did not contain', () => {
  it('is registered without reading it first', async () => {
    const asked = callsOf(registry, ['lookup', 'versions', 'version', 'config', 'register'])
    const { reconcile, readiness } = startReconcilers({ listsAreEmpty: true }).Subject
    const key = cluster.apply('Subject', 'orders-value', { schema: record(ID) })
    await reconcile(key)
    expect(asked.sort()).toEqual(['config', 'register'])
    expect(readiness(key)).toBe('Ready=True/Succeeded')
  })

  it.each([
    ['the same schema', [record(ID)], record(ID)],
    ['a newer version', [record(ID), record(ID, NOTE)], record(ID, NOTE)],
    ['a compatible version', [record(ID)], record(ID, NOTE)],
    ['an incompatible version', [record(ID)], record(ID, COUPON)],
  ])('has the same result as with a lookup if %s was registered by now', async (_, there, schema) => {
    const seen = async (listsAreEmpty: boolean) => {
      const fixture = createReconcilerFixture()
      for (const earlier of there) await fixture.registry.register('orders-value', { schema: earlier })
      const { register } = fixture.registry
      fixture.registry.register = async (...asked) => {
        if (asked[1].schema === record(ID, COUPON)) throw new RequestError(409, 409, 'it may not follow')
        return register.apply(fixture.registry, asked)
      }
      const key = fixture.cluster.apply('Subject', 'orders-value', { schema })
      const { reconcile, readiness } = fixture.startReconcilers({ listsAreEmpty }).Subject
      await reconcile(key)
      const { lastRegisteredTime: _, ...status } = fixture.cluster.get(key)!.status
      return { readiness: readiness(key), status }
    }
    expect(await seen(true)).toEqual(await seen(false))
  })

  it.each([
    ['AdoptIfIdentical', record(ID, NOTE), 'Stalled/AdoptionRefused'],
    ['Never', record(ID), 'Stalled/AlreadyExists'],
  ])('is read first with adoptionPolicy %s', async (adoptionPolicy, schema, expected) => {
    await registry.register('orders-value', { schema: record(ID) })
    const key = cluster.apply('Subject', 'orders-value', { schema, adoptionPolicy })
    const { settle, readiness } = startReconcilers({ listsAreEmpty: true }).Subject
    await settle(key)
    expect(readiness(key)).toBe(expected)
  })
})
