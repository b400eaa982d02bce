import { appendFileSync, copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ProcessPluginHost } from '../../../src/worker/isolation/plugins/process-plugin-host.ts'
import { describeOn, real } from '../../env/real.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { readRecords } from '../../support/topic.ts'
import { until } from '../../support/until.ts'
import { startTestWorker } from '../../support/worker.ts'

const javaHost = await real('javaHost')

const SOURCE = 'org.apache.kafka.connect.file.FileStreamSourceConnector'
const SINK = 'org.apache.kafka.connect.file.FileStreamSinkConnector'
const STRINGS = {
  'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
  'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
}
const WAIT = { everyMs: 50, timeoutMs: 120_000 }

/** A worker with Kafka's own connect-file jar, as an installation of Connect has it: a directory of jars. */
async function startWorkerWithJar() {
  const directory = temporaryDirectory()
  const location = join(directory, 'plugins', 'connect-file')
  mkdirSync(location, { recursive: true })
  copyFileSync(javaHost.address.jars.file, join(location, 'connect-file.jar'))
  const worker = await startTestWorker(
    {
      'plugin.path': join(directory, 'plugins'),
      'java.host.directory': javaHost.address.directory,
      'java.host.heap.max': '128m',
      'offset.flush.interval.ms': '200',
      'worker.threads': '1',
    },
    { openPlugins: ProcessPluginHost.open },
  )
  const request = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(`${worker.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, body: text === '' ? undefined : JSON.parse(text) }
  }
  const status = async (name: string) => (await request('GET', `/connectors/${name}/status`)).body
  const values = async (topic: string) =>
    (await readRecords(worker.broker, topic).catch(() => [])).map(({ value }) => value?.toString())
  return { ...worker, directory, location, request, status, values }
}

describeOn([javaHost], "Kafka's FileStream jar", () => {
  it('is listed, validated, started and resumed as on Connect', async () => {
    const { request, status, values, directory } = await startWorkerWithJar()
    const plugins = (await request('GET', '/connector-plugins')).body
    expect(plugins).toContainEqual(expect.objectContaining({ class: SOURCE, type: 'source', version: '4.3.1' }))

    const invalid = await request('PUT', `/connector-plugins/${SOURCE}/config/validate`, {
      'connector.class': SOURCE,
      name: 'lines',
    })
    const errors = invalid.body.configs.flatMap((one: { value: { errors: string[] } }) => one.value.errors)
    expect(errors).toEqual(['Missing required configuration "topic" which has no default value.'])

    const file = join(directory, 'lines.txt')
    writeFileSync(file, 'one\ntwo\n')
    const config = { ...STRINGS, 'connector.class': SOURCE, file, topic: 'lines', 'tasks.max': '1' }
    expect(await request('PUT', '/connectors/lines/config', config)).toMatchObject({ status: 201 })
    await until('the lines', WAIT, async () => (await values('lines')).length >= 2)
    await until('a running task', WAIT, async () => (await status('lines')).tasks[0]?.state === 'RUNNING')
    const tasks = (await request('GET', '/connectors/lines/tasks')).body
    expect(tasks[0].config).toMatchObject({ 'task.class': 'org.apache.kafka.connect.file.FileStreamSourceTask', file })
    const offset = async () => (await request('GET', '/connectors/lines/offsets')).body.offsets
    await until('the offset', WAIT, async () => (await offset())[0]?.offset.position === 8)
    expect(await offset()).toEqual([{ partition: { filename: file }, offset: { position: 8 } }])

    await request('POST', '/connectors/lines/restart?includeTasks=true')
    appendFileSync(file, 'three\n')
    await until('the third line', WAIT, async () => (await values('lines')).includes('three'))
    expect(await values('lines')).toEqual(['one', 'two', 'three'])

    const output = join(directory, 'output.txt')
    const sink = { ...STRINGS, 'connector.class': SINK, file: output, topics: 'lines' }
    expect(await request('PUT', '/connectors/output/config', sink)).toMatchObject({ status: 201 })
    await until('the output', WAIT, () => readText(output) === 'one\ntwo\nthree\n')
    const read = async () => (await request('GET', '/connectors/output/offsets')).body.offsets[0]?.offset.kafka_offset
    await until('the committed offset', WAIT, async () => (await read()) === 3)
    await request('POST', '/connectors/output/restart?includeTasks=true')
    appendFileSync(file, 'four\n')
    await until('the next line', WAIT, () => readText(output) === 'one\ntwo\nthree\nfour\n')
  })

  it('fails with its JVM, with the reason, and continues in another one', async () => {
    const { request, status, values, directory, location } = await startWorkerWithJar()
    const file = join(directory, 'lines.txt')
    writeFileSync(file, 'one\n')
    const other = join(directory, 'other.txt')
    writeFileSync(other, 'neighbour\n')
    const config = { ...STRINGS, 'connector.class': SOURCE, file, topic: 'lines' }
    await request('PUT', '/connectors/lines/config', config)
    await request('PUT', '/connectors/neighbour/config', {
      ...config,
      'connector.class': 'FileStreamSource',
      file: other,
      topic: 'other',
    })
    await until(
      'the lines',
      WAIT,
      async () => (await values('lines')).length >= 1 && (await values('other')).length >= 1,
    )

    process.kill(hostProcess(location), 'SIGKILL')
    await until('the failure', WAIT, async () => (await status('lines')).tasks[0]?.state === 'FAILED')
    expect((await status('lines')).tasks[0].trace).toBe(
      `task lines-0 failed: the Java host of ${location} ended by SIGKILL`,
    )
    expect((await status('neighbour')).tasks[0].state).toBe('RUNNING')
    await until('the restart', WAIT, async () => (await status('lines')).tasks[0]?.state === 'RUNNING')
    appendFileSync(file, 'two\n')
    await until('the next line', WAIT, async () => (await values('lines')).includes('two'))
    expect((await values('lines')).at(-1)).toBe('two')
  })
})

function readText(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

/** The id of the JVM that serves a location. */
function hostProcess(location: string): number {
  const children = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').trim().split(' ')
  const found = children.find((pid) => readFileSync(`/proc/${pid}/cmdline`, 'utf8').endsWith(`${location}\0`))
  if (found === undefined) throw new Error(`no JVM serves ${location}`)
  return Number(found)
}
