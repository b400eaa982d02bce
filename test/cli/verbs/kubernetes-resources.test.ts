import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from 'vitest'
import type { VerbName } from '../../../src/cli/verbs/verb-summaries.ts'
import { commandOfVerb } from '../../../src/cli/verbs/verbs.ts'
import { API_VERSION } from '../../../src/common/resource-api.ts'
import { startHttpServer } from '../../support/http-server.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const PATH = `/apis/${API_VERSION}/namespaces/shop/connectors`
const ORDERS = {
  metadata: { name: 'orders', creationTimestamp: '2026-11-28T00:00:00Z' },
  spec: { class: 'FileStreamSink', state: 'Running', workerRef: { name: 'default' } },
  status: {
    state: 'RUNNING',
    tasks: { summary: '1/1' },
    conditions: [{ type: 'Ready', status: 'True', reason: 'Succeeded', message: 'running, 1 task' }],
  },
}

let stdout: MockInstance
let stderr: MockInstance
beforeEach(() => {
  stdout = vi.spyOn(process.stdout, 'write').mockReturnValue(true)
  stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true)
})
afterEach(() => vi.restoreAllMocks())
const written = (spy: MockInstance) => spy.mock.calls.map(([text]) => text).join('')

/** An API server with one Connector, and a kubeconfig with the context `test` of the namespace `shop`. */
async function startCluster() {
  const { url, seen } = await startHttpServer(({ path }) => {
    if (path === PATH) return { status: 200, body: JSON.stringify({ items: [ORDERS] }) }
    if (path === `${PATH}/orders`) return { status: 200, body: JSON.stringify(ORDERS) }
    return { status: 404, body: JSON.stringify({ reason: 'NotFound', message: 'not found' }) }
  })
  const kubeconfig = join(temporaryDirectory(), 'config')
  const contexts = [{ name: 'test', context: { cluster: 'c', user: 'u', namespace: 'shop' } }]
  const clusters = [{ name: 'c', cluster: { server: url, 'insecure-skip-tls-verify': true } }]
  writeFileSync(
    kubeconfig,
    JSON.stringify({ apiVersion: 'v1', kind: 'Config', clusters, contexts, users: [{ name: 'u', user: {} }] }),
  )
  const weir = (verb: VerbName, ...args: readonly string[]) =>
    commandOfVerb(verb).run([...args, '--kubeconfig', kubeconfig, '--context', 'test'])
  return { weir, seen, kubeconfig }
}

describe('verbs on resources in Kubernetes', () => {
  it('list them with the columns of kubectl', async () => {
    const { weir } = await startCluster()
    expect(await weir('get', 'connectors')).toBe(0)
    expect(written(stdout).split('\n').slice(0, 2)).toEqual([
      'NAME    WORKER   TARGET   STATE    TASKS  READY  REASON     AGE',
      expect.stringMatching(/^orders {2}default {2}Running {2}RUNNING {2}1\/1 {4}True {3}Succeeded {2}\d+[smhd]$/),
    ])
  })

  it.each([
    ['pause', [], 'PATCH', { spec: { state: 'Paused' } }],
    ['resume', [], 'PATCH', { spec: { state: 'Running' } }],
    ['stop', [], 'PATCH', { spec: { state: 'Stopped' } }],
    [
      'restart',
      ['--task', '3'],
      'PATCH',
      {
        metadata: {
          annotations: { 'weir.dev/restart-scope': 'tasks=3', 'weir.dev/restart-requested-at': expect.any(String) },
        },
      },
    ],
    ['delete', ['--yes'], 'DELETE', undefined],
  ] as const)('%s changes the resource', async (verb, args, method, body) => {
    const { weir, seen } = await startCluster()
    expect(await weir(verb, 'connector/orders', ...args)).toBe(0)
    const [request] = seen.filter((one) => one.method !== 'GET')
    expect(request).toMatchObject({ method, path: `${PATH}/orders` })
    expect(request?.body === '' ? undefined : JSON.parse(request?.body ?? '')).toEqual(body)
    expect(written(stderr)).toContain('its operator carries')
  })

  it('say what is missing: a name, a context, a runtime', async () => {
    const { weir, kubeconfig } = await startCluster()
    expect(await weir('describe', 'connector/order')).toBe(1)
    expect(written(stderr)).toContain("connector 'order' does not exist in namespace shop; did you mean orders?")
    await expect(weir('logs', 'connector/orders')).rejects.toThrow(/a log needs the worker itself.+--worker URL/)
    const other = commandOfVerb('get').run(['connectors', '--kubeconfig', kubeconfig, '--context', 'prod'])
    await expect(other).rejects.toThrow("the kubeconfig has no context 'prod': it has test")
  })
})
