import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, it } from 'vitest'
import { type Stack, startStack } from '../../src/cli/start-stack.ts'
import { createRegistryClient, type RegistryClient } from '../../src/clients/registry-client.ts'
import { createWorkerClient, type WorkerClient } from '../../src/clients/worker-client.ts'
import { silentLogger } from '../../src/common/logging/logger.ts'
import { API_VERSION } from '../../src/common/resource-api.ts'
import { partDirectory } from '../env/workspace.ts'
import { until } from '../support/until.ts'

// Both runtimes and the operator run in this process. The operator polls them once an hour only, so it learns of changes
// by REST from their events.

const HOUR_MS = 3_600_000
const WAIT = { everyMs: 10, timeoutMs: 120_000 }

describe('an operator with its runtimes in the same process', () => {
  const directory = partDirectory('news')
  const out = join(directory, 'out')
  let stack: Stack
  let worker: WorkerClient
  let registry: RegistryClient

  const manifests = {
    lines: { kind: 'Connector', spec: { class: 'FileStreamSource', config: { file: 'none', topic: 'lines' } } },
    sink: {
      kind: 'Connector',
      spec: {
        class: 'FileStreamSink',
        autoRestart: { enabled: false },
        config: { file: join(out, 'lines.txt'), topics: 'lines' },
      },
    },
    user: { kind: 'Subject', spec: { schema: '"int"', compatibility: 'FULL' } },
    plain: { kind: 'Subject', spec: { schema: '"string"', driftPolicy: 'Report' } },
    others: { kind: 'RegistryMode', spec: { scope: { type: 'Subject', subject: 'others' }, mode: 'READONLY' } },
  }

  const is = (name: string, wanted: string) =>
    until(`${name} to be ${wanted}`, WAIT, () => {
      const { ready, reason } = stack.operator.rows().find((row) => row.name === name) ?? {}
      return `${ready}/${reason}` === wanted
    })

  beforeAll(async () => {
    mkdirSync(out)
    for (const [name, manifest] of Object.entries(manifests)) {
      const whole = { apiVersion: API_VERSION, metadata: { name }, ...manifest }
      writeFileSync(join(directory, `${name}.yaml`), JSON.stringify(whole))
    }
    const settings = [{ key: 'value.converter', value: 'StringConverter', source: 'the test' }]
    stack = await startStack({
      cluster: { kind: 'directory', path: directory },
      brokerAddress: { kind: 'embedded', directory: join(directory, '.weir') },
      registry: { port: 0, settings: [] },
      worker: { port: 0, settings },
      operator: { observeWorkerIntervalMs: HOUR_MS, resyncPeriodMs: HOUR_MS },
      logger: silentLogger(),
    })
    worker = createWorkerClient({ url: stack.workerUrl })
    registry = createRegistryClient({ url: stack.registryUrl })
    for (const name of Object.keys(manifests)) await is(name, 'True/Succeeded')
    return () => stack.stop()
  })

  it('corrects a changed configuration of a connector', async () => {
    const { config } = await worker.get('lines')
    await worker.putConfig('lines', { ...config, topic: 'elsewhere' })
    await until('the topic', WAIT, async () => (await worker.get('lines')).config['topic'] === 'lines')
  })

  it('creates a deleted connector again', async () => {
    await is('lines', 'True/Succeeded')
    await worker.delete('lines')
    await until('the connector', WAIT, async () => Object.hasOwn(await worker.list(), 'lines'))
  })

  it('resumes a stopped connector', async () => {
    await is('lines', 'True/Succeeded')
    await worker.stop('lines')
    await until('it to be stopped', WAIT, async () => (await worker.status('lines')).connector.state === 'STOPPED')
    await until('it to run', WAIT, async () => (await worker.status('lines')).connector.state === 'RUNNING')
  })

  it('reports a failed task', async () => {
    rmSync(out, { recursive: true })
    await worker.restart('sink', { includeTasks: true, onlyFailed: false })
    await is('sink', 'False/TaskFailed')
  })

  it('corrects a changed level and a changed mode', async () => {
    await registry.putConfig({ compatibility: 'NONE' }, 'user')
    await until('the level', WAIT, async () => (await registry.config('user')).compatibility === 'FULL')
    await registry.putMode('READWRITE', 'others')
    await until('the mode', WAIT, async () => (await registry.mode('others')) === 'READONLY')
  })

  it('registers a deleted schema again, or reports it', async () => {
    await registry.deleteSubject('user')
    await until('the schema', WAIT, async () => (await registry.subjects()).includes('user'))
    await registry.deleteSubject('plain')
    await is('plain', 'False/Missing')
  })
})
