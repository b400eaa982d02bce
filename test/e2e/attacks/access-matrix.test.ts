import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Role } from '../../../src/http/users.ts'
import { basicAuthSettings, callAs } from '../../support/basic-auth.ts'
import { startTestRegistry } from '../../support/registry.ts'
import { startTestWorker } from '../../support/worker.ts'

/**
 * What an operation needs, written down here apart from the code that decides: a permission on the object in its path, on
 * all objects, or on any; that somebody is known; or nothing.
 */
type Need = `${string} on ${'it' | 'all' | 'any'}` | `${string} on it, read on its subject` | 'login' | 'nothing'

const RESOURCES: Readonly<Record<string, Need>> = {
  'GET /subjects': 'read on any',
  'POST /subjects/{subject}': 'read on it',
  'DELETE /subjects/{subject}': 'delete on it',
  'GET /subjects/{subject}/metadata': 'read on it',
  'GET /subjects/{subject}/versions': 'read on it',
  'POST /subjects/{subject}/versions': 'write on it',
  'GET /subjects/{subject}/versions/{version}': 'read on it',
  'GET /subjects/{subject}/versions/{version}/schema': 'read on it',
  'GET /subjects/{subject}/versions/{version}/referencedby': 'read on it',
  'POST /subjects/{subject}/versions/{version}/tags': 'write on it',
  'DELETE /subjects/{subject}/versions/{version}': 'delete on it',
  'GET /schemas': 'read on any',
  'GET /schemas/types': 'login',
  'GET /schemas/ids/{id}': 'read on any',
  'GET /schemas/ids/{id}/schema': 'read on any',
  'GET /schemas/ids/{id}/subjects': 'read on any',
  'GET /schemas/ids/{id}/versions': 'read on any',
  'GET /schemas/guids/{guid}': 'read on any',
  'GET /schemas/guids/{guid}/ids': 'read on any',
  'POST /compatibility/subjects/{subject}/versions': 'read on it',
  'POST /compatibility/subjects/{subject}/versions/{version}': 'read on it',
  'GET /config/{subject}': 'read on it',
  'PUT /config/{subject}': 'config on it',
  'DELETE /config/{subject}': 'config on it',
  'GET /mode/{subject}': 'read on it',
  'PUT /mode/{subject}': 'mode on it',
  'DELETE /mode/{subject}': 'mode on it',
  'GET /associations/subjects/{subject}': 'read on it',
  'GET /associations/resources/{resourceId}': 'read on any',
  'GET /associations/resources/{resourceNamespace}/{resourceName}': 'read on any',
  'POST /associations': 'write on it',
  'PUT /associations/resources/{resourceId}': 'write on it',
  'DELETE /associations/resources/{resourceId}': 'delete on any',
  'POST /associations:batchGet': 'read on any',
  'POST /associations:batchMutate': 'write on any',
  'GET /dek-registry/v1/keks': 'read on any',
  'POST /dek-registry/v1/keks': 'write on it',
  'GET /dek-registry/v1/keks/{name}': 'read on it',
  'PUT /dek-registry/v1/keks/{name}': 'write on it',
  'POST /dek-registry/v1/keks/{name}/undelete': 'write on it',
  'POST /dek-registry/v1/keks/{name}/test': 'read on it',
  'GET /dek-registry/v1/keks/{name}/deks': 'read on it',
  'POST /dek-registry/v1/keks/{name}/deks': 'write on it, read on its subject',
  'GET /dek-registry/v1/keks/{name}/deks/{subject}': 'read on it, read on its subject',
  'POST /dek-registry/v1/keks/{name}/deks/{subject}': 'write on it, read on its subject',
  'POST /dek-registry/v1/keks/{name}/deks/{subject}/undelete': 'write on it, read on its subject',
  'GET /dek-registry/v1/keks/{name}/deks/{subject}/versions': 'read on it, read on its subject',
  'GET /dek-registry/v1/keks/{name}/deks/{subject}/versions/{version}': 'read on it, read on its subject',
  'POST /dek-registry/v1/keks/{name}/deks/{subject}/versions/{version}/undelete': 'write on it, read on its subject',
  'DELETE /dek-registry/v1/keks/{name}/deks/{subject}/versions/{version}': 'delete on it, read on its subject',
  'DELETE /dek-registry/v1/keks/{name}/deks/{subject}': 'delete on it, read on its subject',
  'DELETE /dek-registry/v1/keks/{name}': 'delete on it',
}
const SCOPES: readonly (readonly [line: string, everything: Need, context: Need])[] = [
  ['GET /config', 'read on any', 'read on it'],
  ['PUT /config', 'config on all', 'config on it'],
  ['DELETE /config', 'config on all', 'config on it'],
  ['GET /mode', 'read on any', 'read on it'],
  ['PUT /mode', 'mode on all', 'mode on it'],
  ['DELETE /mode', 'mode on all', 'mode on it'],
]
const within = (line: string) => line.replace(' ', ' /contexts/{context}')
const REGISTRY: Readonly<Record<string, Need>> = {
  'GET /': 'login',
  'POST /': 'login',
  'GET /contexts': 'read on any',
  'DELETE /contexts/{context}': 'harddelete on it',
  'GET /v1/metadata/id': 'login',
  'GET /v1/metadata/version': 'login',
  'GET /v1/metadata/deployment': 'login',
  'GET /openapi.json': 'login',
  'GET /metrics': 'read on all',
  'GET /healthz': 'nothing',
  'GET /readyz': 'nothing',
  ...RESOURCES,
  ...Object.fromEntries(Object.entries(RESOURCES).map(([line, need]) => [within(line), need])),
  ...Object.fromEntries(SCOPES.flatMap(([line, all, one]) => [[line, all] as const, [within(line), one] as const])),
  // With `permanent=true`, which is no operation of its own.
  'DELETE /subjects/{subject}?permanent=true': 'harddelete on it',
  'DELETE /subjects/{subject}/versions/{version}?permanent=true': 'harddelete on it',
  'DELETE /dek-registry/v1/keks/{name}/deks/{subject}/versions/{version}?permanent=true':
    'harddelete on it, read on its subject',
  'DELETE /dek-registry/v1/keks/{name}/deks/{subject}?permanent=true': 'harddelete on it, read on its subject',
  'DELETE /dek-registry/v1/keks/{name}?permanent=true': 'harddelete on it',
}
const WORKER: Readonly<Record<string, Need>> = {
  'GET /': 'login',
  'GET /health': 'login',
  'GET /openapi.json': 'login',
  'GET /metrics': 'read on all',
  'GET /healthz': 'nothing',
  'GET /readyz': 'nothing',
  'GET /connector-plugins': 'login',
  'GET /connector-plugins/{plugin}/config': 'login',
  'PUT /connector-plugins/{plugin}/config/validate': 'read on any',
  'GET /connectors': 'read on any',
  'POST /connectors': 'write on it',
  'GET /connectors/{name}': 'read on it',
  'DELETE /connectors/{name}': 'delete on it',
  'GET /connectors/{name}/config': 'read on it',
  'PUT /connectors/{name}/config': 'write on it',
  'PATCH /connectors/{name}/config': 'write on it',
  'GET /connectors/{name}/status': 'read on it',
  'GET /connectors/{name}/topics': 'read on it',
  'PUT /connectors/{name}/topics/reset': 'offsets on it',
  'GET /connectors/{name}/tasks': 'read on it',
  'GET /connectors/{name}/tasks/{task}/status': 'read on it',
  'POST /connectors/{name}/tasks/{task}/restart': 'lifecycle on it',
  'PUT /connectors/{name}/pause': 'lifecycle on it',
  'PUT /connectors/{name}/resume': 'lifecycle on it',
  'PUT /connectors/{name}/stop': 'lifecycle on it',
  'POST /connectors/{name}/restart': 'lifecycle on it',
  'GET /connectors/{name}/offsets': 'read on it',
  'PATCH /connectors/{name}/offsets': 'offsets on it',
  'DELETE /connectors/{name}/offsets': 'offsets on it',
  'GET /admin/loggers': 'read on any',
  'GET /admin/loggers/{logger}': 'read on any',
  'PUT /admin/loggers/{logger}': 'loggers on all',
}
/** The routes of the console that concern objects. The OpenAPI document has the REST API only. */
const WORKER_CONSOLE: Readonly<Record<string, Need>> = {
  'GET /ui/api/connectors/{name}/dead-letters': 'write on it',
  'HEAD /ui/api/connectors/{name}/dead-letters': 'write on it',
  'GET /ui/api/connectors/{name}/dead-letters/0/0': 'write on it',
  'POST /ui/api/connectors/{name}/dead-letters/replay': 'write on it',
  'POST /ui/api/connectors/{name}/preview': 'write on it',
  'GET /ui/api/topics': 'topics: describe on any',
  'HEAD /ui/api/topics': 'topics: describe on any',
  'GET /ui/api/topics/{topic}': 'topics: describe on it',
  'GET /ui/api/topics/{topic}/groups': 'topics: describe on it',
  'GET /ui/api/topics/{topic}/records': 'topics: read on it',
  'HEAD /ui/api/topics/{topic}/records': 'topics: read on it',
  'GET /ui/api/topics/{topic}/records?from=beginning&search=x': 'topics: read on it',
  'GET /ui/api/topics/{topic}/records/0/0': 'topics: read on it',
}

/** Users, and what they may do with objects that are theirs and with others. */
const ROLES: Readonly<Record<string, Role>> = {
  none: 'none',
  readonly: 'readonly',
  developer: 'developer',
  admin: 'admin',
  owner: 'none',
  writer: 'none',
}
const OWN = { subjects: ['own-*', ':.own:*'], keks: ['own-*'], connectors: ['own-*'], topics: ['own-*'] }
const PERMISSIONS = {
  users: {
    owner: [
      { subjects: OWN.subjects, operations: ['*'] },
      { keks: OWN.keks, operations: ['*'] },
      { connectors: OWN.connectors, operations: ['*'] },
      { topics: OWN.topics, operations: ['*'] },
    ],
    writer: [
      { subjects: OWN.subjects, operations: ['write'] },
      { keks: OWN.keks, operations: ['write'] },
      { connectors: OWN.connectors, operations: ['write'] },
    ],
  },
}
const DESCRIBE = 'topics: describe'
const DEVELOPER: readonly string[] = ['read', 'write', DESCRIBE]

function may(user: string, permission: string, object: 'own' | 'other', program: 'registry' | 'worker'): boolean {
  if (user === 'admin') return true
  if (user === 'readonly') return permission === 'read' || permission === DESCRIBE
  if (user === 'developer') {
    return DEVELOPER.includes(permission) || permission === (program === 'registry' ? 'delete' : 'lifecycle')
  }
  return object === 'own' && (user === 'owner' || (user === 'writer' && permission === 'write'))
}

function expected(user: string | undefined, need: Need, object: 'own' | 'other', program: 'registry' | 'worker') {
  if (need === 'nothing') return 'allowed'
  if (user === undefined) return 'unknown'
  if (need === 'login') return 'allowed'
  const isSubjectReadable = !need.includes('its subject') || may(user, 'read', object, program)
  const [permission = '', on] = need.replace(', read on its subject', '').split(' on ')
  const [own, other] = (['own', 'other'] as const).map((one) => may(user, permission, one, program))
  const isAllowed = on === 'it' ? may(user, permission, object, program) : on === 'all' ? own && other : own || other
  return isAllowed && isSubjectReadable ? 'allowed' : 'denied'
}

const outcomeOf = (status: number) => (status === 401 ? 'unknown' : status === 403 ? 'denied' : 'allowed')

async function operationsOf(url: string): Promise<readonly string[]> {
  const { body } = await callAs('admin', url, 'GET /openapi.json')
  const { paths } = body as { paths: Record<string, object> }
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
  )
}

/** Calls every operation as every user about own and other objects; what was answered otherwise than expected. */
async function holesIn(
  program: 'registry' | 'worker',
  url: string,
  needs: Readonly<Record<string, Need>>,
  bodyOf: (line: string, object: string) => unknown,
): Promise<{ readonly holes: readonly string[]; readonly calls: number }> {
  const holes: string[] = []
  let calls = 0
  for (const [line, need] of Object.entries(needs)) {
    for (const object of ['own', 'other'] as const) {
      const filled = line.replace(/\{(\w+)\}/g, (_, name: string) => VALUES(object)[name] ?? '1')
      // Who may not comes first, so that there is something to reach.
      for (const user of [undefined, 'none', 'readonly', 'writer', 'owner', 'developer', 'admin']) {
        const { status } = await callAs(user, url, filled, bodyOf(line, object))
        const [wanted, was] = [expected(user, need, object, program), outcomeOf(status)]
        calls += 1
        if (wanted !== was) holes.push(`${user ?? 'nobody'} ${filled}: ${was} (${status}), expected ${wanted}`)
      }
    }
  }
  return { holes, calls }
}

/** Who may use which endpoint on which objects, as the tests above have checked. */
function accessPage(): string {
  const users = [undefined, ...Object.keys(ROLES)]
  const row = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const tableOf = (program: 'registry' | 'worker', needs: Readonly<Record<string, Need>>) => {
    const cellOf = (user: string | undefined, need: Need) => {
      const [own, other] = (['own', 'other'] as const).map((object) => expected(user, need, object, program))
      return own !== 'allowed' ? '' : other === 'allowed' ? 'all' : 'own'
    }
    const head = ['endpoint', 'needs', 'nobody', ...Object.keys(ROLES).map((user) => `\`${user}\``)]
    const rows = Object.entries(needs).map(([line, need]) =>
      row([`\`${line}\``, need, ...users.map((user) => cellOf(user, need))]),
    )
    return [row(head), row(head.map(() => '---')), ...rows].join('\n')
  }
  return `# Permissions by endpoint, role and object

Generated by \`test/e2e/attacks/access-matrix.test.ts\`, which sends each request as each user, about an object of the user and about another
one. *all*: allowed on all objects; *own*: on own objects only. *topics: read* is the permission \`read\` on a topic. \`owner\` and \`writer\` are users with the role \`none\` who have all
permissions, or \`write\`, on their own objects. What a connector may do with topics is in [another table](connector-topics.md).

## Worker

${tableOf('worker', { ...WORKER, ...WORKER_CONSOLE })}

## Registry

Each endpoint that concerns a subject, the configuration or the mode exists below \`/contexts/{context}\` as well, with the same needs.

${tableOf('registry', Object.fromEntries(Object.entries(REGISTRY).filter(([line]) => !line.includes(' /contexts/{context}/'))))}
`
}

const VALUES = (object: string): Readonly<Record<string, string>> => ({
  subject: `${object}-1`,
  context: `.${object}`,
  version: '1',
  id: '1',
  guid: '00000000-0000-0000-0000-000000000000',
  name: `${object}-1`,
  task: '0',
  plugin: 'FileStreamSource',
  topic: `${object}-1`,
  logger: 'weir.worker.none',
})

/** By what a line begins and ends with. */
const ASSOCIATIONS = {
  resourceName: 'topic',
  resourceNamespace: 'lkc-1',
  resourceId: '1',
  requests: [{ resourceId: 'id' }],
}
const REGISTRY_BODIES: readonly (readonly [line: RegExp, body: (object: string) => object])[] = [
  [/^PUT .*\/config/, () => ({ compatibility: 'NONE' })],
  [/^PUT .*\/mode/, () => ({ mode: 'READWRITE' })],
  [
    /^(POST|PUT) .*\/associations/,
    (object) => ({ ...ASSOCIATIONS, associations: [{ subject: `${object}-1`, lifecycle: 'WEAK' }] }),
  ],
  [/^PUT .*\/keks\//, () => ({ shared: true })],
  [/^POST .*\/keks$/, (object) => ({ name: `${object}-1`, kmsType: 'test-kms', kmsKeyId: 'key' })],
  [/^POST .*\/deks/, (object) => ({ subject: `${object}-1`, encryptedKeyMaterial: 'AQID' })],
  [/^POST /, () => ({ schema: '"int"' })],
]
const registryBody = (line: string, object: string) =>
  REGISTRY_BODIES.find(([pattern]) => pattern.test(line))?.[1](object)

const CONFIG = { 'connector.class': 'FileStreamSource', topic: 'lines', file: 'none.txt' }
const WORKER_BODIES: readonly (readonly [line: RegExp, body: (object: string) => object])[] = [
  [/^POST \/connectors$/, (object) => ({ name: `${object}-1`, config: CONFIG, initial_state: 'STOPPED' })],
  [/^(PUT|PATCH) .*\/(config|validate)$/, () => CONFIG],
  [/^PATCH .*\/offsets$/, () => ({ offsets: [] })],
  [/^PUT \/admin/, () => ({ level: 'INFO' })],
]
const workerBody = (line: string, object: string) => WORKER_BODIES.find(([pattern]) => pattern.test(line))?.[1](object)

describe('the permissions of every operation, for every role, on objects of the user and of others', () => {
  it('are enforced by the registry as documented', async () => {
    const registry = await startTestRegistry(await basicAuthSettings(ROLES, PERMISSIONS))
    onTestFinished(() => registry.stop())
    const { url } = registry
    const written = Object.keys(REGISTRY).filter((line) => !line.includes('?'))
    expect(written.toSorted()).toEqual([...(await operationsOf(url))].toSorted())
    for (const subject of ['own-1', 'other-1', ':.own:own-1', ':.other:other-1']) {
      await callAs('admin', url, `POST /subjects/${subject}/versions`, { schema: '"int"' })
    }
    const { holes, calls } = await holesIn('registry', url, REGISTRY, registryBody)
    expect(holes).toEqual([])
    expect(calls).toBe(Object.keys(REGISTRY).length * 14)
  })

  it('are enforced by the worker as documented', async () => {
    const { url } = await startTestWorker({
      ...(await basicAuthSettings(ROLES, PERMISSIONS)),
      'connector.paths.allowed': '/',
    })
    expect(Object.keys(WORKER).toSorted()).toEqual([...(await operationsOf(url))].toSorted())
    const needs = { ...WORKER, ...WORKER_CONSOLE }
    const { holes, calls } = await holesIn('worker', url, needs, workerBody)
    expect(holes).toEqual([])
    expect(calls).toBe(Object.keys(needs).length * 14)
  })

  it('are listed in docs/access-table.md', async () => {
    await expect(accessPage()).toMatchFileSnapshot(join(import.meta.dirname, '../../../docs/access-table.md'))
  })
})
