import { beforeAll, expect, it } from 'vitest'
import type { Mode } from '../../../src/clients/registry-client.ts'
import { describeOn, real } from '../../env/real.ts'
import { type OperatorEnvironment, startOperatorEnvironment } from '../../support/operator-environment.ts'
import { WAIT } from '../../support/test-namespace.ts'
import { until } from '../../support/until.ts'

// Each row of the table of RegistryMode cases, on a real API server and a real registry.

const kubernetes = await real('kubernetes')

describeOn([kubernetes], 'a RegistryMode on a real API server', () => {
  let env: OperatorEnvironment
  let count = 0

  beforeAll(async () => {
    env = await startOperatorEnvironment(kubernetes.address)
    return () => env.stop()
  })

  /** The mode of a subject for one test, with its operations and queries. */
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
      /** The subject's own mode; undefined if it is inherited. */
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

  it('adopts a scope that has the declared mode already', async () => {
    const { name, apply, ready } = mode()
    await env.registry.putMode('READONLY', name)
    await apply({ mode: 'READONLY' })
    await ready('True/Succeeded')
    expect((await env.object('registrymodes', name)).status).toMatchObject({
      previousMode: { explicit: true, value: 'READONLY' },
    })
  })

  it('sets the mode of a scope and records the previous one, whether set or inherited', async () => {
    const { name, apply, ready, own } = mode()
    await apply({ mode: 'READONLY' })
    await ready('True/Succeeded')
    expect(await own()).toBe('READONLY')
    expect((await env.object('registrymodes', name)).status).toMatchObject({ previousMode: { explicit: false } })
  })

  it('reports ScopeNotEmpty for IMPORT in a scope with subjects, and sets it with force', async () => {
    const { name, apply, stalled, ready, own } = mode()
    await env.registry.register(name, { schema: '"int"' })
    await apply({ mode: 'IMPORT' })
    await stalled('ScopeNotEmpty')
    expect(await own()).toBeUndefined()
    await apply({ mode: 'IMPORT', force: true })
    await ready('True/Succeeded')
    expect(await own()).toBe('IMPORT')
  })

  it('closes the window after its duration, and keeps it closed under the same id', async () => {
    const { name, apply, is, becomes } = mode()
    await apply({ mode: 'READONLY', window: { duration: '4s' } })
    await is('WindowOpen', 'True/Open')
    await becomes('READONLY')
    await is('WindowOpen', 'False/Closed')
    await becomes(undefined)
    // Window closed, same id: a mode other than `then` is corrected.
    await env.registry.putMode('READONLY', name)
    await becomes(undefined)
  })

  it('corrects a mode that another client changed with driftPolicy Correct', async () => {
    const { name, apply, ready, becomes } = mode()
    await apply({ mode: 'READONLY' })
    await ready('True/Succeeded')
    await env.registry.putMode('READWRITE', name)
    await becomes('READONLY')
    await env.event(name, 'DriftCorrected')
  })

  it('reports a mode that another client changed with driftPolicy Report', async () => {
    const { name, apply, ready, is, own } = mode()
    await apply({ mode: 'READONLY', driftPolicy: 'Report' })
    await ready('True/Succeeded')
    await env.registry.putMode('READWRITE', name)
    await is('Synced', 'False/Drifted')
    expect(await own()).toBe('READWRITE')
  })

  it('reports AlreadySet with adoptionPolicy Never when the scope has another mode', async () => {
    const { name, apply, stalled, own } = mode()
    await env.registry.putMode('READWRITE', name)
    await apply({ mode: 'READONLY', adoptionPolicy: 'Never' })
    await stalled('AlreadySet')
    expect(await own()).toBe('READWRITE')
  })

  it('reports Conflict while another RegistryMode owns the scope', async () => {
    const { name, apply, ready, stalled } = mode()
    await apply({ mode: 'READONLY' })
    await ready('True/Succeeded')
    await apply({ mode: 'READWRITE' }, `${name}-second`)
    await stalled('Conflict', `${name}-second`)
  })

  it.each([
    ['READWRITE', 'READWRITE'],
    ['(inherited)', undefined],
  ] as const)('restores the previous mode %s when it is deleted with Restore', async (_, before) => {
    const { name, apply, ready, becomes, remove } = mode()
    if (before !== undefined) await env.registry.putMode(before, name)
    await apply({ mode: 'READONLY' })
    await ready('True/Succeeded')
    await becomes('READONLY')
    await remove()
    await becomes(before)
  })

  it('keeps a mode that another client has set since when it is deleted', async () => {
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
