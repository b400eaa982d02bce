import { randomUUID } from 'node:crypto'
import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { startJavaConnect } from '../../env/java-connect.ts'
import { compileJava } from '../../env/javac.ts'
import { describeOn, real } from '../../env/real.ts'
import { fetchFromJava } from '../../support/java-requests.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { openDisposableBroker, readRecords } from '../../support/topic.ts'
import { until } from '../../support/until.ts'
import { WAIT, WorkerGroup } from '../../support/worker-group.ts'

const kafka = await real('kafka')
const javaHost = await real('javaHost')
const javaConnect = await real('javaConnect')

const SOURCES = join(import.meta.dirname, '../../support/java')
const STEPS = 'dev.weir.test.steps'
const REVERSING = 'dev.weir.test.converters.Reversing'
const STRING = 'org.apache.kafka.connect.storage.StringConverter'
const TRANSFORMS = 'org.apache.kafka.connect.transforms'

/** A plugin path with two locations: the transform and the predicate, and the converter. */
async function compilePlugins(): Promise<string> {
  const pluginPath = join(temporaryDirectory(), 'plugins')
  const manifests = {
    steps: { Transformation: `${STEPS}.Suffix`, 'predicates.Predicate': `${STEPS}.HasText` },
    converters: { '../storage.Converter': REVERSING },
  }
  for (const [name, classes] of Object.entries(manifests)) {
    const location = join(pluginPath, name)
    const services = join(location, 'META-INF/services')
    mkdirSync(services, { recursive: true })
    for (const [type, className] of Object.entries(classes)) {
      const service = type.startsWith('../') ? `org.apache.kafka.connect.${type.slice(3)}` : `${TRANSFORMS}.${type}`
      writeFileSync(join(services, service), `${className}\n`)
    }
    const files = globSync(`${name}/*.java`, { cwd: SOURCES }).map((file) => join(SOURCES, file))
    await compileJava(files, { classpath: javaHost.address.classpath, directory: location })
  }
  return pluginPath
}

/** Java and Kafka's own steps in turn: a Java predicate of one of ours, one of ours of a Java transform, both of Java. */
const SOURCE = {
  transforms: 'a,b,c,d',
  'transforms.a.type': `${STEPS}.Suffix`,
  'transforms.a.text': '-a',
  'transforms.a.predicate': 'hasX',
  'transforms.b.type': `${TRANSFORMS}.InsertHeader`,
  'transforms.b.header': 'h',
  'transforms.b.value.literal': 'v',
  'transforms.b.predicate': 'hasX',
  'transforms.c.type': `${STEPS}.Suffix`,
  'transforms.c.text': '-c',
  'transforms.c.predicate': 'hasHeader',
  'transforms.c.negate': 'true',
  'transforms.d.type': `${TRANSFORMS}.RegexRouter`,
  'transforms.d.regex': '(.*)',
  'transforms.d.replacement': '$1-routed',
  predicates: 'hasX,hasHeader',
  'predicates.hasX.type': `${STEPS}.HasText`,
  'predicates.hasX.text': 'x',
  'predicates.hasHeader.type': `${TRANSFORMS}.predicates.HasHeaderKey`,
  'predicates.hasHeader.name': 'h',
  'key.converter': STRING,
  'value.converter': REVERSING,
  'value.converter.mark': '!',
  'errors.tolerance': 'all',
  'errors.retry.timeout': '20000',
}
const LINES = ['one', 'two x', 'drop me', 'broken x', 'unwritable', 'flaky x', 'last x']

const SINK = {
  transforms: 'a,b',
  'transforms.a.type': `${TRANSFORMS}.RegexRouter`,
  'transforms.a.regex': '(.*)',
  'transforms.a.replacement': '$1-sunk',
  'transforms.b.type': `${STEPS}.Suffix`,
  'transforms.b.text': '-s',
  'key.converter': STRING,
  'value.converter': REVERSING,
  'value.converter.mark': '!',
  'errors.tolerance': 'all',
  'errors.deadletterqueue.topic.replication.factor': '1',
  'errors.deadletterqueue.context.headers.enable': 'true',
}

/** Runs both pipelines on the worker at this URL. Returns the records of the topic, the file and the dead letters. */
async function runPipelines(url: string, name: string) {
  const directory = temporaryDirectory()
  const input = join(directory, 'input.txt')
  const output = join(directory, 'output.txt')
  const topic = `${name}-lines-routed`
  const dead = `${name}-dead`
  writeFileSync(input, LINES.map((line) => `${line}\n`).join(''))
  const put = async (connector: string, config: object) => {
    const response = await fetchFromJava(`${url}/connectors/${connector}/config`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(config),
    })
    expect([response.status, response.ok ? '' : await response.text()]).toEqual([201, ''])
  }
  await using broker = await openDisposableBroker({
    kind: 'kafka',
    config: { 'bootstrap.servers': kafka.address.bootstrap },
  })
  const read = (from: string) => readRecords(broker, from).catch(() => [])
  const file = 'org.apache.kafka.connect.file.FileStream'
  await put(`${name}-source`, {
    ...SOURCE,
    'connector.class': `${file}SourceConnector`,
    file: input,
    topic: `${name}-lines`,
  })
  await until('the records', WAIT, async () => (await read(topic)).length >= 4)
  const producer = await broker.producer()
  await producer.send(['no mark', '!nekorb', '!dne'].map((value) => ({ topic, key: null, value: Buffer.from(value) })))
  await producer.close()
  await put(`${name}-sink`, {
    ...SINK,
    'connector.class': `${file}SinkConnector`,
    file: output,
    topics: topic,
    'errors.deadletterqueue.topic.name': dead,
  })
  await until('the file', WAIT, () => existsSync(output) && readFileSync(output, 'utf8').includes('end'))
  await until('the dead letters', WAIT, async () => (await read(dead)).length >= 3)
  const text = (bytes: Uint8Array | null | undefined) => (bytes ? Buffer.from(bytes).toString() : null)
  const described = /errors\.(?:stage|class\.name|exception\.class\.name|exception\.message)$/
  return {
    records: (await read(topic)).map(({ key, value, headers }) => [
      text(key),
      text(value),
      Object.fromEntries(headers.map(([header, bytes]) => [header, text(bytes)])),
    ]),
    lines: readFileSync(output, 'utf8').trimEnd().split('\n'),
    dead: (await read(dead)).map(({ value, headers }) => [
      text(value),
      headers.flatMap(([header, bytes]) => (described.test(header) ? [text(bytes)] : [])),
    ]),
  }
}

/** Java steps with an invalid value, without a required one, and of a class that is not installed. */
const INVALID = {
  ...SOURCE,
  transforms: 'a,b,version,time,missing',
  'transforms.a.text': '',
  // A value of a wrong type, and one that a validator rejects, of transforms of Kafka.
  'transforms.version.type': `${TRANSFORMS}.SetSchemaMetadata$Value`,
  'transforms.version.schema.version': 'first',
  'transforms.time.type': `${TRANSFORMS}.TimestampConverter$Value`,
  'transforms.time.target.type': 'string',
  'transforms.time.unix.precision': 'days',
  'transforms.missing.type': `${STEPS}.Missing`,
  'predicates.hasX.text': undefined,
  'connector.class': 'org.apache.kafka.connect.file.FileStreamSourceConnector',
  name: 'invalid',
  topic: 'lines',
}

/**
 * What a worker says about the keys of the Java plugins of a pipeline, without the other plugins that it recommends, and
 * all errors.
 */
async function describePlugins(url: string) {
  const definitions = [`${STEPS}.Suffix`, `${STEPS}.HasText`, REVERSING].map(async (name) =>
    (await fetch(`${url}/connector-plugins/${name}/config`)).json(),
  )
  const response = await fetch(`${url}/connector-plugins/FileStreamSourceConnector/config/validate`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(INVALID),
  })
  const { configs } = (await response.json()) as { readonly configs: readonly Entry[] }
  const own = configs.filter(({ value }) => OF_PIPELINE.test(value.name))
  const ofJava = own.filter(({ value }) => !/\.(?:version|time)\.|\.(?:b|hasHeader)\.plugin\.version$/.test(value.name))
  return {
    definitions: await Promise.all(definitions),
    validated: ofJava.map(({ definition, value }) => [definition, { ...value, recommended_values: [] }]),
    errors: own.flatMap(({ value: { name, errors } }) => (errors.length > 0 ? [[name, errors]] : [])).toSorted(),
  }
}

const OF_PIPELINE = /^(?:transforms|predicates|value\.converter)\./

type Entry = {
  readonly definition: object | null
  readonly value: { readonly name: string; readonly errors: readonly string[] }
}

/** Starts a worker with these plugins, runs the pipelines on it, and stops it. */
async function resultsOfWeir(pluginPath: string) {
  const group = new WorkerGroup(kafka.address.bootstrap, {
    'plugin.path': pluginPath,
    'java.host.directory': javaHost.address.directory,
    'java.host.heap.max': '64m',
    'worker.threads': '1',
    'key.converter': STRING,
    'value.converter': STRING,
  })
  const worker = await group.startOne()
  const described = await describePlugins(worker.url)
  const results = await runPipelines(worker.url, group.id)
  const listed = (await (await fetch(`${worker.url}/connector-plugins`)).json()) as readonly {
    class: string
    version: string
  }[]
  const isJava = listed.find((plugin) => plugin.class.endsWith('.FileStreamSourceConnector'))?.version === '4.3.1'
  await worker.kill()
  return { ...results, described, isJava }
}

describeOn([kafka, javaHost, javaConnect], 'a pipeline of Java plugins and those of Weir', () => {
  it('gives the results of Kafka Connect, with connectors of Weir and of Java', async () => {
    const pluginPath = await compilePlugins()
    const { isJava, described, ...results } = await resultsOfWeir(pluginPath)
    expect(isJava).toBe(false)
    const marked = { h: 'v', converted: 'of a value' }
    expect(results.records).toEqual([
      [null, '!c-eno', { converted: 'of a value' }],
      [null, '!a-x owt', marked],
      [null, '!a-x ykalf', marked],
      [null, '!a-x tsal', marked],
      [null, 'no mark', {}],
      [null, '!nekorb', {}],
      [null, '!dne', {}],
    ])
    expect(results.lines).toEqual(['one-c-s', 'two x-a-s', 'last x-a-s', 'end-s'])
    const data = 'org.apache.kafka.connect.errors.DataException'
    const retriable = 'org.apache.kafka.connect.errors.RetriableException'
    expect(results.dead).toEqual([
      ['!a-x ykalf', ['TRANSFORMATION', `${STEPS}.Suffix`, retriable, 'attempt 1']],
      ['no mark', ['VALUE_CONVERTER', REVERSING, data, 'the bytes do not begin with !']],
      ['!nekorb', ['TRANSFORMATION', `${STEPS}.Suffix`, data, 'the value is broken']],
    ])

    const groupId = `java-pipelines-${randomUUID()}`
    const properties = { 'plugin.path': pluginPath }
    const connect = await startJavaConnect({ bootstrap: kafka.address.bootstrap, groupId, properties })
    onTestFinished(() => connect.stop())
    expect(await runPipelines(connect.url, groupId)).toEqual(results)
    expect(await describePlugins(connect.url)).toEqual(described)

    // The jar replaces the connectors of Weir, which have its class names.
    const location = join(pluginPath, 'connect-file')
    mkdirSync(location)
    copyFileSync(javaHost.address.jars.file, join(location, 'connect-file.jar'))
    expect(await resultsOfWeir(pluginPath)).toEqual({ ...results, described, isJava: true })
  })
})
