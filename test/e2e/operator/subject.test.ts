import { beforeAll, expect, it } from 'vitest'
import { describeOn, real } from '../../env/real.ts'
import { type OperatorEnvironment, startOperatorEnvironment } from '../../support/operator-environment.ts'
import { WAIT } from '../../support/test-namespace.ts'
import { until } from '../../support/until.ts'

// Each row of the table of Subject cases, on a real API server and a real registry.

const kubernetes = await real('kubernetes')

type Field = { readonly name: string; readonly type: string; readonly default?: unknown }
const ID: Field = { name: 'id', type: 'long' }
const NOTE: Field = { name: 'note', type: 'string' }
const record = (...fields: readonly Field[]) => JSON.stringify({ type: 'record', name: 'Order', fields })

describeOn([kubernetes], 'a Subject on a real API server', () => {
  let env: OperatorEnvironment
  let count = 0

  beforeAll(async () => {
    env = await startOperatorEnvironment(kubernetes.address)
    return () => env.stop()
  })

  /** A subject for one test, with its operations and queries. */
  function subject() {
    count += 1
    const name = `s-${count}`
    return {
      name,
      apply: (spec: object) => env.apply('Subject', name, spec),
      ready: (wanted: string) => env.condition('subjects', name, 'Ready', wanted),
      stalled: (reason: string) => env.condition('subjects', name, 'Stalled', `True/${reason}`),
      is: (type: string, wanted: string) => env.condition('subjects', name, type, wanted),
      message: async () => {
        const { status } = await env.object('subjects', name)
        return status?.conditions.find(({ type }) => type === 'Ready')?.message
      },
      versions: (): Promise<readonly number[]> => env.registry.versions(name).catch(() => []),
      level: async () => (await env.registry.config(name).catch(() => undefined))?.compatibility,
    }
  }

  it('reports SchemaInvalid with the error of an invalid schema', async () => {
    const { apply, stalled, message } = subject()
    await apply({ schema: '{"type":"lng"}' })
    await stalled('SchemaInvalid')
    expect(await message()).toContain('lng')
  })

  it('sets the level of a new subject, then registers the schema', async () => {
    const { apply, ready, versions, level, name } = subject()
    await apply({ schema: record(ID), compatibility: 'FULL' })
    await ready('True/Succeeded')
    expect([await versions(), await level()]).toEqual([[1], 'FULL'])
    expect((await env.object('subjects', name)).status).toMatchObject({ version: 1, appliedCompatibility: 'FULL' })
  })

  it('reports Latest=True while its version is the latest', async () => {
    const { apply, ready, is, name, versions } = subject()
    await env.registry.register(name, { schema: record(ID) })
    await apply({ schema: record(ID) })
    await ready('True/Succeeded')
    await is('Latest', 'True/Succeeded')
    expect(await versions()).toEqual([1])
  })

  it('reports Latest=False and writes nothing when another client has registered a newer version', async () => {
    const { apply, ready, is, name, versions } = subject()
    for (const schema of [record(ID), record(ID, { ...NOTE, default: '' })])
      await env.registry.register(name, { schema })
    await apply({ schema: record(ID) })
    await ready('True/Succeeded')
    await is('Latest', 'False/SupersededByVersion')
    expect(await versions()).toEqual([1, 2])
  })

  it('registers a compatible schema as a new version', async () => {
    const { apply, ready, name, versions } = subject()
    await apply({ schema: record(ID) })
    await ready('True/Succeeded')
    await apply({ schema: record(ID, { ...NOTE, default: '' }) })
    await until('version 2', WAIT, async () => (await env.object('subjects', name)).status?.version === 2)
    expect(await versions()).toEqual([1, 2])
  })

  it('reports Incompatible and writes nothing for an incompatible schema', async () => {
    const { apply, ready, stalled, message, versions, level } = subject()
    await apply({ schema: record(ID) })
    await ready('True/Succeeded')
    await apply({ schema: record(ID, NOTE), compatibility: 'FULL' })
    await stalled('Incompatible')
    expect(await message()).toContain("'note'")
    expect([await versions(), await level()]).toEqual([[1], undefined])
  })

  it('sets a new level and registers a schema that is compatible under it', async () => {
    const { apply, ready, name, versions, level } = subject()
    await apply({ schema: record(ID), compatibility: 'FULL' })
    await ready('True/Succeeded')
    await apply({ schema: record(ID, NOTE), compatibility: 'NONE' })
    await until('version 2', WAIT, async () => (await env.object('subjects', name)).status?.version === 2)
    expect([await versions(), await level()]).toEqual([[1, 2], 'NONE'])
  })

  it('sets a level without a schema, and removes it with the field', async () => {
    const { apply, ready, level } = subject()
    await apply({ compatibility: 'FORWARD' })
    await ready('True/Succeeded')
    expect(await level()).toBe('FORWARD')
    await apply({ schema: '"int"' })
    await until('the level to go', WAIT, async () => (await level()) === undefined)
    await ready('True/Succeeded')
  })

  it('registers a deleted version again with driftPolicy Correct', async () => {
    const { apply, ready, name, versions } = subject()
    await apply({ schema: record(ID) })
    await ready('True/Succeeded')
    await env.registry.deleteSubject(name)
    await until('the correction', WAIT, async () => (await versions()).length === 1)
    await env.event(name, 'DriftCorrected')
  })

  it('reports a deleted version with driftPolicy Report', async () => {
    const { apply, ready, is, name, versions } = subject()
    await apply({ schema: record(ID), driftPolicy: 'Report' })
    await ready('True/Succeeded')
    await env.registry.deleteSubject(name)
    await is('Synced', 'False/Drifted')
    expect(await versions()).toEqual([])
  })

  it('reports RegistryReadOnly while the registry is read-only', async () => {
    const { apply, ready, name, versions } = subject()
    await env.registry.putMode('READONLY', name)
    await apply({ schema: record(ID) })
    await ready('False/RegistryReadOnly')
    expect(await versions()).toEqual([])
    await env.registry.deleteMode(name)
    await ready('True/Succeeded')
  })

  it('waits for the mode IMPORT, then registers imports with their ids', async () => {
    const { apply, ready, stalled, name, versions } = subject()
    const imports = [
      { version: 5, id: 9_005, schema: record(ID, { ...NOTE, default: '' }) },
      { version: 2, id: 9_002, schema: record(ID) },
    ]
    await apply({ imports })
    await stalled('WaitingForImportMode')
    const window = { duration: '1h', closeWhenImported: true }
    const scope = { type: 'Subject', subject: name }
    await env.apply('RegistryMode', name, { scope, mode: 'IMPORT', window })
    await ready('True/Succeeded')
    expect(await versions()).toEqual([2, 5])
    expect((await env.registry.version(name, 2)).id).toBe(9_002)
    await env.condition('registrymodes', name, 'WindowOpen', 'False/Closed')
    // After the import, further versions are registered as usual.
    await apply({ imports, schema: record(ID, { ...NOTE, default: '' }, { name: 'more', type: 'int', default: 0 }) })
    await until('version 6', WAIT, async () => (await versions()).includes(6))
  })

  it('reports ImportConflict when another schema has the version or the id', async () => {
    const { apply, stalled, name } = subject()
    await env.registry.register(name, { schema: record(ID) })
    await apply({ imports: [{ version: 1, id: 9_101, schema: record(ID) }] })
    await stalled('ImportConflict')
  })

  it('reports RegistryUnreachable when the registry does not respond', async () => {
    const { apply, ready } = subject()
    await apply({ registryRef: { name: 'away' }, schema: '"int"' })
    await ready('Unknown/RegistryUnreachable')
  })

  it('reports Unauthorized when the registry responds 401', async () => {
    const { apply, stalled } = subject()
    await apply({ registryRef: { name: 'closed' }, schema: '"int"' })
    await stalled('Unauthorized')
  })

  it.each([
    ['none', 'UnknownCluster'],
    ['foreign', 'NotAllowed'],
    ['broken', 'ClusterConfigInvalid'],
  ])('with the registry %s reports %s', async (name, reason) => {
    const { apply, stalled } = subject()
    await apply({ registryRef: { name }, schema: '"int"' })
    await stalled(reason)
  })

  it('waits for referenced Subjects, and reports a cycle of references', async () => {
    const [referring, referred] = [subject(), subject()]
    const to = (name: string) => ({ references: [{ name: 'Order', subjectRef: { name } }] })
    await referring.apply({ schema: '{"type":"array","items":"Order"}', ...to(referred.name) })
    await referring.ready('False/ReferencePending')
    await referred.apply({ schema: record(ID) })
    await referring.ready('True/Succeeded')
    const [a, b] = [subject(), subject()]
    await a.apply({ schema: '"int"', ...to(b.name) })
    await b.apply({ schema: '"int"', ...to(a.name) })
    for (const { stalled } of [a, b]) await stalled('ReferenceCycle')
  })

  it.each([
    ['AlreadyExists', 'Never'],
    ['AdoptionRefused', 'AdoptIfIdentical'],
  ])('reports %s for an existing subject with adoptionPolicy %s', async (reason, adoptionPolicy) => {
    const { apply, stalled, name, versions } = subject()
    await env.registry.register(name, { schema: record(ID) })
    await apply({ schema: record(ID, { ...NOTE, default: '' }), adoptionPolicy })
    await stalled(reason)
    expect(await versions()).toEqual([1])
  })

  it('reports Conflict while another Subject owns the subject', async () => {
    const [first, second] = [subject(), subject()]
    await first.apply({ schema: '"int"' })
    await first.ready('True/Succeeded')
    await second.apply({ subject: first.name, schema: '"long"' })
    await second.stalled('Conflict')
  })

  it('reports DeletionBlocked while other Subjects reference it', async () => {
    const [referred, referring] = [subject(), subject()]
    await referred.apply({ schema: record(ID), deletionPolicy: 'SoftDelete' })
    const references = [{ name: 'Order', subjectRef: { name: referred.name } }]
    await referring.apply({ schema: '{"type":"array","items":"Order"}', references, deletionPolicy: 'HardDelete' })
    await referring.ready('True/Succeeded')
    await env.remove('subjects', referred.name)
    await referred.ready('False/DeletionBlocked')
    expect(await referred.versions()).toEqual([1])
    await env.remove('subjects', referring.name)
    await until(
      'both to go',
      WAIT,
      async () => (await referred.versions()).length + (await referring.versions()).length === 0,
    )
  })
})
