import { beforeAll, expect, it } from 'vitest'
import type { Mode } from '../../../src/clients/registry.ts'
import { describeOn, real } from '../../env/real.ts'
import { type OperatorEnvironment, startOperatorEnvironment } from '../../support/operator-environment.ts'
import { WAIT } from '../../support/test-namespace.ts'
import { until } from '../../support/until.ts'

// Every row of the RegistryMode's table, by its name, on a real API server and a real registry.

const kubernetes = await real('kubernetes')

describeOn([kubernetes], 'a RegistryMode', () => {
  let env: OperatorEnvironment
  let count = 0

  beforeAll(async () => {
    env = await startOperatorEnvironment(kubernetes.address)
    return () => env.stop()
  })

  /** One mode of a subject of the test's own, and what can be done to it and asked of it. */
  function mode() {
    count += 1
    const name = `m-${count}`
    const scope = { type: 'Subject', subject: name }
    return {
      name,
      apply: (spec: object, called = name) => env.apply('RegistryMode', called, { scope, ...spec }),
      ready: (wanted: string) => env.condition('registrymodes', name, 'Ready', wanted),
      stalled: (reason: string, called = name) => env.condition('registrymodes', called, 'Stalled', `True/${reason}`),
      is: (type: string, wanted: string) => env.condition('registrymodes', name, type, wanted),
      /** Its own; undefined while it is inherited. */
      own: () => env.registry.mode(name).catch(() => undefined),
      becomes: (wanted: Mode | undefined) =>
        until(
          `the mode ${wanted}`,
          WAIT,
          async () => (await env.registry.mode(name).catch(() => undefined)) === wanted,
        ),
      remove: () => env.remove('registrymodes', name),
    }
  }

  it('mode m · m already: is taken as it is', async () => {
    const { name, apply, ready } = mode()
    await env.registry.putMode('READONLY', name)
    await apply({ mode: 'READONLY' })
    await ready('True/Succeeded')
    expect((await env.object('registrymodes', name)).status).toMatchObject({
      previousMode: { explicit: true, value: 'READONLY' },
    })
  })

  it('mode m · another, or inherited: is set, and what was there is remembered', async () => {
    const { name, apply, ready, own } = mode()
    await apply({ mode: 'READONLY' })
    await ready('True/Succeeded')
    expect(await own()).toBe('READONLY')
    expect((await env.object('registrymodes', name)).status).toMatchObject({ previousMode: { explicit: false } })
  })

  it('IMPORT · scope not empty, not forced: ScopeNotEmpty; forced: is set', async () => {
    const { name, apply, stalled, ready, own } = mode()
    await env.registry.register(name, { schema: '"int"' })
    await apply({ mode: 'IMPORT' })
    await stalled('ScopeNotEmpty')
    expect(await own()).toBeUndefined()
    await apply({ mode: 'IMPORT', force: true })
    await ready('True/Succeeded')
    expect(await own()).toBe('IMPORT')
  })

  it('window open, time over: closes, and stays closed under the same id', async () => {
    const { name, apply, is, becomes } = mode()
    await apply({ mode: 'READONLY', window: { duration: '4s' } })
    await is('WindowOpen', 'True/Open')
    await becomes('READONLY')
    await is('WindowOpen', 'False/Closed')
    await becomes(undefined)
    // Window closed, same id · anything but `then`: is put back to it.
    await env.registry.putMode('READONLY', name)
    await becomes(undefined)
  })

  it('m, changed by hand, Correct: is put back', async () => {
    const { name, apply, ready, becomes } = mode()
    await apply({ mode: 'READONLY' })
    await ready('True/Succeeded')
    await env.registry.putMode('READWRITE', name)
    await becomes('READONLY')
    await until('the event', WAIT, async () => (await env.events(name)).some((one) => one.startsWith('DriftCorrected')))
  })

  it('m, changed by hand, Report: is told', async () => {
    const { name, apply, ready, is, own } = mode()
    await apply({ mode: 'READONLY', driftPolicy: 'Report' })
    await ready('True/Succeeded')
    await env.registry.putMode('READWRITE', name)
    await is('Synced', 'False/Drifted')
    expect(await own()).toBe('READWRITE')
  })

  it('Never · another one is set: AlreadySet', async () => {
    const { name, apply, stalled, own } = mode()
    await env.registry.putMode('READWRITE', name)
    await apply({ mode: 'READONLY', adoptionPolicy: 'Never' })
    await stalled('AlreadySet')
    expect(await own()).toBe('READWRITE')
  })

  it('loser of a scope: Conflict', async () => {
    const { name, apply, ready, stalled } = mode()
    await apply({ mode: 'READONLY' })
    await ready('True/Succeeded')
    await apply({ mode: 'READWRITE' }, `${name}-second`)
    await stalled('Conflict', `${name}-second`)
  })

  it.each([
    ['READWRITE', 'READWRITE'],
    ['nothing', undefined],
  ] as const)('deleting, Restore · %s was there: is there again', async (_, before) => {
    const { name, apply, ready, becomes, remove } = mode()
    if (before !== undefined) await env.registry.putMode(before, name)
    await apply({ mode: 'READONLY' })
    await ready('True/Succeeded')
    await becomes('READONLY')
    await remove()
    await becomes(before)
  })

  it('deleting, Restore · somebody has set another one since: stays', async () => {
    const { name, apply, ready, own, remove } = mode()
    await apply({ mode: 'READONLY', driftPolicy: 'Report' })
    await ready('True/Succeeded')
    await env.registry.putMode('READWRITE', name)
    await remove()
    await until(
      'it to go',
      WAIT,
      async () => (await env.object('registrymodes', name)).metadata.resourceVersion === undefined,
    )
    expect(await own()).toBe('READWRITE')
  })
})
