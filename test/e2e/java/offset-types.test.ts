import { randomUUID } from 'node:crypto'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startJavaConnect } from '../../env/java-connect.ts'
import { compileJava } from '../../env/javac.ts'
import { describeOn, real } from '../../env/real.ts'
import { jarOf } from '../../support/jars.ts'
import { fetchFromJava } from '../../support/java-requests.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { openDisposableBroker, readLatestValues } from '../../support/topic.ts'
import { until } from '../../support/until.ts'
import { startWorkerProcess } from '../../support/worker-process.ts'

const [kafka, javaConnect, javaHost] = [await real('kafka'), await real('javaConnect'), await real('javaHost')]

const WAIT = { everyMs: 100, timeoutMs: 180_000 }
const CLASS = 'dev.weir.test.OffsetTypes'
const SETTINGS = { 'offset.flush.interval.ms': '200' }

/** Returns the plugin path and the jar of the connector in it. */
async function compileConnector(): Promise<{ readonly pluginPath: string; readonly jar: string }> {
  const directory = temporaryDirectory()
  const [classes, pluginPath] = [join(directory, 'classes'), join(directory, 'plugins')]
  const sources = ['OffsetTypes', 'SingleTaskSource'].map((name) =>
    join(import.meta.dirname, `../../support/java/${name}.java`),
  )
  await compileJava(sources, { classpath: javaHost.address.classpath, directory: classes })
  const names = readdirSync(classes, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.class'))
  const location = join(pluginPath, 'offset-types')
  mkdirSync(location, { recursive: true })
  const jar = join(location, 'offset-types.jar')
  const manifest = 'META-INF/services/org.apache.kafka.connect.source.SourceConnector'
  const files = names.map((name) => [name, readFileSync(join(classes, name))] as const)
  writeFileSync(jar, jarOf([...files, [manifest, Buffer.from(CLASS)]]))
  return { pluginPath, jar }
}

type Worker = { readonly url: string; readonly groupId: string }

async function request(worker: Worker, method: string, path: string, body?: object | string): Promise<string> {
  const response = await fetchFromJava(`${worker.url}/connectors${path}`, {
    method,
    headers: { 'content-type': 'application/json' },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  })
  return response.text()
}

async function create(worker: Worker, name: string, own: Readonly<Record<string, string>> = {}): Promise<string> {
  const events = join(temporaryDirectory(), 'events')
  const topic = `${worker.groupId}-${name}`
  await request(worker, 'PUT', `/${name}/config`, { 'connector.class': CLASS, topic, events, ...own })
  return events
}

/** What the task found, what is stored, and what a restarted task finds, with an offset that a request altered at last. */
async function runTypes(worker: Worker) {
  const events = await create(worker, 'types')
  const lines = () => readFileSync(events, 'utf8').trim().split('\n')
  await until('the offset', WAIT, async () => (await request(worker, 'GET', '/types/offsets')).includes('whole'))
  // Kafka Connect prints the members in the order of a HashMap.
  const shown = (await request(worker, 'GET', '/types/offsets')).split(/[{,}]/).sort()
  await request(worker, 'POST', '/types/tasks/0/restart')
  await until('the restart', WAIT, () => lines().length === 2)
  await using broker = await openDisposableBroker({
    kind: 'kafka',
    config: { 'bootstrap.servers': kafka.address.bootstrap },
  })
  const stored = [...(await readLatestValues(broker, `${worker.groupId}-offsets`))]
  return { shown, events: lines(), stored: stored.map(([key, value]) => `${key} ${value}`) }
}

describeOn([kafka, javaConnect, javaHost], 'the offsets of a Java source', () => {
  it('are stored and returned with the types that Kafka Connect gives them', async () => {
    const { pluginPath, jar } = await compileConnector()
    const { bootstrap } = kafka.address
    const [theirGroup, ourGroup] = [`theirs-${randomUUID()}`, `ours-${randomUUID()}`]
    const java = await startJavaConnect({
      bootstrap,
      groupId: theirGroup,
      properties: SETTINGS,
      plugins: { 'offset-types': [jar] },
    })
    onTestFinished(() => java.stop())
    const theirs = await runTypes({ url: java.url, groupId: theirGroup })
    const settings = { ...SETTINGS, 'plugin.path': pluginPath, 'java.host.directory': javaHost.address.directory }
    const weir = await startWorkerProcess({ log: ['--bootstrap', bootstrap], groupId: ourGroup, settings })
    onTestFinished(() => weir.kill())
    const worker = { url: weir.url, groupId: ourGroup }
    expect(await runTypes(worker)).toEqual(theirs)

    for (const [wrong, message] of Object.entries({
      keys: 'Offsets may only use String keys',
      list: 'Offsets may only contain primitive types as values, but field list contains ARRAY',
      decimal:
        'Offsets may only contain primitive types as values, but field decimal contains class java.math.BigDecimal',
    })) {
      await create(worker, wrong, { wrong })
      await until(`the failure of ${wrong}`, WAIT, async () => {
        const status = await request(worker, 'GET', `/${wrong}/status`)
        return status.includes(message)
      })
    }
  })
})
