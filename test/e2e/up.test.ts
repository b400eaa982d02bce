import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createRegistryClient } from '../../src/clients/registry-client.ts'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { API_VERSION } from '../../src/common/resource-api.ts'
import { kafkaTool } from '../env/kafka.ts'
import { itOn, real } from '../env/real.ts'
import { setArgs } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'
import { runUp, startUp, type UpOptions } from '../support/up.ts'

const REPOSITORY = join(import.meta.dirname, '../..')
const QUICKSTART = 'examples/quickstart'
const WAIT = { everyMs: 10, timeoutMs: 120_000 }

const kafka = await real('kafka')

/** The topics of a worker have three replicas by default. */
const onOneBroker = () => {
  const settings = ['config', 'offset', 'status'].map((kind) => [`worker.${kind}.storage.replication.factor`, '1'])
  return ['--bootstrap', kafka.address.bootstrap, ...setArgs(Object.fromEntries(settings))]
}

describe.each([
  { name: 'the embedded broker', needs: [], logOf: (directory: string) => ['--data', join(directory, 'data')] },
  { name: 'Kafka', needs: [kafka], logOf: () => onOneBroker() },
])('the quick start on $name', ({ needs, logOf }) => {
  itOn(needs, 'runs, stops on Ctrl-C, and continues from its offsets', async () => {
    const checkout = quickstart()
    const options = { manifests: QUICKSTART, directory: checkout, log: logOf(checkout) }
    const readme = readFileSync(join(checkout, 'README.md'), 'utf8')
    const copy = join(checkout, QUICKSTART, 'out/README.md')
    const orders = join(checkout, QUICKSTART, 'out/orders.txt')

    const first = await startUp(options)
    await until('the copy of the file', WAIT, () => read(copy) === readme)
    await until('three orders', WAIT, () => linesOf(orders).length >= 3)
    const subject = await first.untilLine('Subject', 'orders-value', ({ ready }) => ready === 'True')
    expect(subject.message).toMatch(/^version 1, id \d+$/)
    const registered = await createRegistryClient({ url: first.registryUrl }).version('orders-value', 'latest')
    expect(JSON.parse(registered.schema)).toMatchObject({ type: 'record', name: 'orders', namespace: 'ksql' })

    expect(await first.interrupt()).toBe(0)

    const before = linesOf(orders).length
    const second = await startUp(options)
    await until('more orders', WAIT, () => linesOf(orders).length > before)
    await second.interrupt()
    expect(new Set(linesOf(orders)).size).toBe(linesOf(orders).length)
    expect(read(copy)).toBe(readme)
  })

  itOn(needs, 'ends by itself with --once when everything is Ready', async () => {
    const checkout = quickstart()
    const { code, line } = await runUp({ manifests: QUICKSTART, directory: checkout, log: logOf(checkout) })
    const names = ['orders-value', 'orders-source', 'orders-file', 'readme-source', 'readme-copy']
    expect(names.map((name) => [name, line(name)?.ready])).toEqual(names.map((name) => [name, 'True']))
    expect(code).toBe(0)
  })
})

it('ends with --once when a connector has nothing to do, and so no tasks', async () => {
  const directory = temporaryDirectory()
  writeFileSync(
    join(directory, 'idle.ts'),
    `import { defineSource, z } from 'weir/sdk'
    const own = { class: 'Idle', version: '1.0.0', summary: 'Idles.', config: z.object({}) }
    export default defineSource({ ...own, tasks: () => [], async *poll() {} })`,
  )
  const manifests = folder({ 'idle.yaml': connector('idle', { class: 'Idle' }) })
  const args = ['--set', `worker.plugin.path=${join(directory, 'idle.ts')}`]
  const log = ['--data', join(directory, 'data')]
  const { code, line } = await runUp({ manifests, directory, log, args })
  const message = 'running without tasks, because the connector generates none: it has nothing to do'
  expect([code, line('idle')]).toEqual([0, expect.objectContaining({ ready: 'True', message })])
})

itOn([kafka], 'writes records to Kafka that the Java tools can read', async () => {
  const directory = temporaryDirectory()
  const topic = `up-lines-${process.pid}`
  writeFileSync(join(directory, 'in.txt'), 'one\ntwo\nthrëe\n')
  const manifests = folder({ 'lines.yaml': connector('lines', { class: 'FileStreamSource', file: 'in.txt', topic }) })
  const up = await startUp({ manifests, directory, log: onOneBroker() })
  await up.untilLine('Connector', 'lines', ({ ready }) => ready === 'True')
  const consumed = await kafkaTool('consumer.ConsoleConsumer', [
    ...['--bootstrap-server', kafka.address.bootstrap, '--topic', topic],
    ...['--from-beginning', '--max-messages', '3', '--timeout-ms', '30000'],
  ])
  expect(consumed.stdout).toBe('one\ntwo\nthrëe\n')
  rmSync(join(manifests, 'lines.yaml'))
  await up.untilLine('Connector', 'lines', ({ gone }) => gone === true)
})

describe('a directory of manifests', () => {
  it('is watched: valid edits are applied, invalid ones are reported, and removed manifests delete their objects', async () => {
    const manifests = folder({ 'user.yaml': subject('user', [{ name: 'id', type: 'long' }]) })
    const up = await startUp(inMemoryOf(manifests))
    const registry = createRegistryClient({ url: up.registryUrl })
    await up.untilLine('Subject', 'user', ({ ready }) => ready === 'True')

    const fields = [
      { name: 'id', type: 'long' },
      { name: 'email', type: 'string' },
    ]
    writeFileSync(join(manifests, 'user.yaml'), subject('user', fields))
    const refused = await up.untilLine('Subject', 'user', ({ reason }) => reason === 'Incompatible')
    expect(refused.message).toContain("'email'")
    expect(await registry.versions('user')).toEqual([1])

    writeFileSync(join(manifests, 'user.yaml'), subject('user', [fields[0]!, { ...fields[1]!, default: '' }]))
    await up.untilLine('Subject', 'user', ({ message }) => message === 'version 2, id 2')
    expect(await registry.versions('user')).toEqual([1, 2])

    mkdirSync(join(manifests, 'more'))
    const config = { class: 'FileStreamSource', file: 'no-such-file', topic: 'lines' }
    writeFileSync(join(manifests, 'more/two.yaml'), `${connector('one', config)}---\n${connector('two', config)}`)
    await up.untilLine('Connector', 'one', ({ ready }) => ready === 'True')
    await up.untilLine('Connector', 'two', ({ ready }) => ready === 'True')
    const worker = createWorkerClient({ url: up.workerUrl })
    expect(Object.keys(await worker.list()).sort()).toEqual(['one', 'two'])

    writeFileSync(join(manifests, 'more/two.yaml'), connector('two', config))
    await up.untilLine('Connector', 'one', ({ gone }) => gone === true)
    expect(Object.keys(await worker.list())).toEqual(['two'])
  })

  it('deletes nothing for a manifest that was removed while the program did not run', async () => {
    const config = { class: 'FileStreamSource', file: 'no-such-file', topic: 'lines' }
    const manifests = folder({ 'a.yaml': connector('a', config), 'b.yaml': connector('b', config) })
    const options = inMemoryOf(manifests)
    const first = await startUp(options)
    await first.untilLine('Connector', 'a', ({ ready }) => ready === 'True')
    await first.untilLine('Connector', 'b', ({ ready }) => ready === 'True')
    await first.interrupt()
    rmSync(join(manifests, 'a.yaml'))
    const second = await startUp(options)
    await second.untilLine('Connector', 'b', ({ ready }) => ready === 'True')
    expect(Object.keys(await createWorkerClient({ url: second.workerUrl }).list()).sort()).toEqual(['a', 'b'])
  })
})

describe('invalid input', () => {
  const good = connector('good', { class: 'FileStreamSource', file: 'no-such-file', topic: 'lines' })
  const cases: readonly { what: string; files: Readonly<Record<string, string>>; name: string; message: RegExp }[] = [
    {
      what: 'a YAML error',
      files: { 'yaml.yaml': 'kind: Connector\nmetadata:\n  name: "x\n' },
      name: 'yaml.yaml',
      message: /yaml\.yaml:4:1: is not YAML: Missing closing "quote/,
    },
    {
      what: 'an unknown kind',
      files: { 'kind.yaml': good.replace('kind: Connector', 'kind: Connectr') },
      name: 'kind.yaml',
      message: /kind\.yaml:2:7: kind: 'Connectr' .*did you mean Connector\?/,
    },
    {
      what: 'an unknown field',
      files: { 'field.yaml': connector('field', { class: 'FileStreamSource' }).replace('class:', 'clas:') },
      name: 'field',
      message: /field\.yaml:6:3: spec\.clas: unknown field; did you mean class\?/,
    },
    {
      what: 'a wrong type',
      files: { 'type.yaml': connector('type', { class: 'FileStreamSource' }, 'tasksMax: many') },
      name: 'type',
      message: /type\.yaml:\d+:\d+: spec\.tasksMax: .*many/,
    },
    {
      what: 'a name that is declared twice',
      files: { 'twice.yaml': good },
      name: 'twice.yaml',
      message: /twice\.yaml:1: Connector good is declared in .*good\.yaml:1 already/,
    },
    {
      what: 'an unknown class',
      files: { 'class.yaml': connector('class', { class: 'FileStreamSorce' }) },
      name: 'class',
      message: /FileStreamSorce/,
    },
    {
      what: 'a value that the connector rejects',
      files: { 'value.yaml': connector('value', { class: 'FileStreamSource', file: 'x' }) },
      name: 'value',
      message: /topic/,
    },
    {
      what: 'an invalid schema',
      files: { 'schema.yaml': subject('schema', [{ name: 'id', type: 'lng' }]) },
      name: 'schema',
      message: /lng/,
    },
  ]

  it.each(cases)('reports $what with a message that names it, and continues with the rest', async (given) => {
    const { code, line } = await runUp(inMemoryOf(folder({ ...given.files, 'good.yaml': good })))
    const row = line(given.name) ?? line(`${inFolder}/${given.name}`)
    expect(row?.ready).toBe('False')
    expect(row?.message).toMatch(given.message)
    expect(line('good')?.ready).toBe('True')
    expect(code).toBe(1)
  })

  it('names a port that is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.1')
    onTestFinished(() => void taken.close())
    await new Promise((resolve) => taken.once('listening', resolve))
    const { port } = taken.address() as { port: number }
    const options = inMemoryOf(folder({ 'good.yaml': good }))
    const { code, stderr } = await runUp({ ...options, args: ['--worker-port', String(port)] })
    expect(stderr).toContain(`port ${port} is in use`)
    expect(code).toBe(1)
  })

  it('names the process that uses the data directory', async () => {
    const options = inMemoryOf(folder({ 'good.yaml': good }))
    await startUp(options)
    const { code, stderr } = await runUp(options)
    expect(stderr).toMatch(/data directory .* is in use by process \d+/)
    expect(code).toBe(1)
  })

  it('rejects a data directory of a newer version without changing it', async () => {
    const options = inMemoryOf(folder({ 'good.yaml': good }))
    await runUp(options)
    const file = join(options.log[1]!, 'broker.db')
    const database = new DatabaseSync(file)
    database.exec('pragma user_version = 99')
    database.close()
    const { code, stderr } = await runUp(options)
    expect(stderr).toMatch(/has format 99, this version of Weir reads formats up to \d+: use a newer version/)
    expect(code).toBe(1)
  })
})

const inFolder = 'manifests'

/** A checkout as far as the quick start sees it. */
function quickstart(): string {
  const directory = temporaryDirectory()
  cpSync(join(REPOSITORY, 'README.md'), join(directory, 'README.md'))
  const filter = (source: string) => !/[/\\](\.weir|out)([/\\]|$)/.test(source)
  cpSync(join(REPOSITORY, QUICKSTART), join(directory, QUICKSTART), { recursive: true, filter })
  mkdirSync(join(directory, QUICKSTART, 'out'))
  return directory
}

function folder(files: Readonly<Record<string, string>>): string {
  const directory = join(temporaryDirectory(), inFolder)
  mkdirSync(directory)
  for (const [name, text] of Object.entries(files)) writeFileSync(join(directory, name), text)
  return directory
}

/** Called beside the folder, with data in there too. */
function inMemoryOf(manifests: string): UpOptions {
  const directory = join(manifests, '..')
  return { manifests: inFolder, directory, log: ['--data', join(directory, 'data')] }
}

function connector(name: string, { class: type, ...config }: Readonly<Record<string, string>>, more?: string): string {
  const value = { 'value.converter': 'StringConverter', ...config }
  const lines = Object.entries(value).map(([key, text]) => `    ${key}: ${JSON.stringify(text)}\n`)
  return `apiVersion: ${API_VERSION}
kind: Connector
metadata:
  name: ${name}
spec:
  class: ${type}
${more === undefined ? '' : `  ${more}\n`}  config:
${lines.join('')}`
}

function subject(name: string, fields: readonly object[]): string {
  return `apiVersion: ${API_VERSION}
kind: Subject
metadata:
  name: ${name}
spec:
  compatibility: BACKWARD
  schema: '${JSON.stringify({ type: 'record', name: 'User', fields })}'
`
}

function read(file: string): string {
  return existsSync(file) ? readFileSync(file, 'utf8') : ''
}

function linesOf(file: string): readonly string[] {
  return read(file).split('\n').filter(Boolean)
}
