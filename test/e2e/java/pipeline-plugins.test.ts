import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ProcessPluginHost } from '../../../src/worker/isolation/plugins/process-plugin-host.ts'
import { compileJava } from '../../env/javac.ts'
import { describeOn, real } from '../../env/real.ts'
import { debeziumSettings } from '../../support/debezium.ts'
import { installPlugins } from '../../support/java-plugins.ts'
import { hostProcesses } from '../../support/recording-connectors.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { readRecords } from '../../support/topic.ts'
import { until } from '../../support/until.ts'
import { startTestWorker } from '../../support/worker.ts'

const javaHost = await real('javaHost')
const debezium = await real('debezium')
const icebergTransforms = await real('icebergTransforms')

const SOURCE_FILE = join(import.meta.dirname, '../../support/java/VersionedSteps.java')
const STEPS = 'dev.weir.test.VersionedSteps'
const TRANSFORMS = 'org.apache.kafka.connect.transforms'
const STRING = 'org.apache.kafka.connect.storage.StringConverter'
const WAIT = { everyMs: 50, timeoutMs: 120_000 }
const MANIFESTS = {
  [`${TRANSFORMS}.Transformation`]: 'Stamp',
  [`${TRANSFORMS}.predicates.Predicate`]: 'IsVersion',
  'org.apache.kafka.connect.storage.Converter': 'StampConverter',
  'org.apache.kafka.connect.storage.HeaderConverter': 'StampHeaders',
}

/** A plugin path with a location for each version of the steps. */
async function compileSteps(...versions: readonly string[]): Promise<string> {
  const pluginPath = join(temporaryDirectory(), 'plugins')
  for (const version of versions) {
    const sources = temporaryDirectory()
    const source = join(sources, 'VersionedSteps.java')
    writeFileSync(source, readFileSync(SOURCE_FILE, 'utf8').replace('VERSION = "1.0"', `VERSION = "${version}"`))
    const location = join(pluginPath, `steps-${version}`)
    const services = join(location, 'META-INF/services')
    mkdirSync(services, { recursive: true })
    for (const [service, name] of Object.entries(MANIFESTS))
      writeFileSync(join(services, service), `${STEPS}$${name}\n`)
    await compileJava([source], { classpath: javaHost.address.classpath, directory: location })
  }
  return pluginPath
}

/** A worker in this process, whose connectors read and write files of one directory. */
async function startPipelineWorker(settings: Readonly<Record<string, string>>) {
  const worker = await startTestWorker(
    {
      'java.host.directory': javaHost.address.directory,
      'java.host.heap.max': '96m',
      'worker.threads': '1',
      'offset.flush.interval.ms': '100',
      ...settings,
    },
    { openPlugins: ProcessPluginHost.open },
  )
  const directory = temporaryDirectory()
  const file = (name: string) => join(directory, name)
  const put = async (name: string, config: Readonly<Record<string, string>>) => {
    const response = await fetch(`${worker.url}/connectors/${name}/config`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(config),
    })
    expect([response.status, response.ok ? '' : await response.text()]).toEqual([201, ''])
  }
  /** Creates a source of Weir that writes the lines of a file to a topic of the same name. */
  const putSource = (name: string, config: Readonly<Record<string, string>>) =>
    put(name, { 'connector.class': 'FileStreamSource', file: file(name), topic: name, ...config })
  const read = async (topic: string) =>
    (await readRecords(worker.broker, topic).catch(() => [])).map(({ key, value, headers }) => ({
      key: key && String(key),
      value: value && String(value),
      headers: headers.map(([name, text]) => [name, String(text)]),
    }))
  const task = async (name: string) => {
    const response = await fetch(`${worker.url}/connectors/${name}/status`)
    return ((await response.json()) as { tasks: { state: string; trace?: string }[] }).tasks[0]
  }
  return { file, put, putSource, read, task }
}

describeOn([javaHost], 'Java converters, transforms and predicates', () => {
  it('have the version that plugin.version selects, also as converters of the worker', async () => {
    const { file, put, putSource, read } = await startPipelineWorker({
      'plugin.path': await compileSteps('1.0', '2.0'),
      'key.converter': `${STEPS}$StampConverter`,
      'key.converter.mark': '!',
      'value.converter': `${STEPS}$StampConverter`,
      'value.converter.mark': '?',
      'header.converter': `${STEPS}$StampHeaders`,
    })
    for (const name of ['newest', 'selected']) writeFileSync(file(name), 'one\n')
    const steps = {
      transforms: 'header,a,b',
      'transforms.header.type': `${TRANSFORMS}.InsertHeader`,
      'transforms.header.header': 'h',
      'transforms.header.value.literal': 'v',
      'transforms.a.type': `${STEPS}$Stamp`,
      'transforms.b.type': `${STEPS}$Stamp`,
      'transforms.b.predicate': 'p',
      predicates: 'p',
      'predicates.p.type': `${STEPS}$IsVersion`,
    }
    await putSource('newest', { ...steps, 'predicates.p.is': '2.0' })
    await putSource('selected', {
      ...steps,
      'transforms.a.plugin.version': '1.0',
      'predicates.p.plugin.version': '[1.0,2.0)',
      'predicates.p.is': '1.0',
      'value.converter': `${STEPS}$StampConverter`,
      'value.converter.mark': '.',
      'value.converter.plugin.version': '1.0',
      'header.converter': `${STEPS}$StampHeaders`,
      'header.converter.plugin.version': '(,1.5]',
    })
    await until('the records', WAIT, async () => (await read('newest')).length + (await read('selected')).length === 2)
    expect(await read('newest')).toEqual([
      { key: 'null k2.0!', value: 'one t2.0 t2.0 c2.0?', headers: [['h', 'v h2.0']] },
    ])
    expect(await read('selected')).toEqual([
      { key: 'null k2.0!', value: 'one t1.0 t2.0 c1.0.', headers: [['h', 'v h1.0']] },
    ])

    await put('sink', { 'connector.class': 'FileStreamSink', file: file('sunk'), topics: 'newest' })
    await until('the line', WAIT, async () => existsSync(file('sunk')) && readFileSync(file('sunk'), 'utf8') !== '')
    expect(readFileSync(file('sunk'), 'utf8')).toBe('one t2.0 t2.0 c2.0? c2.0?\n')
  })

  it('restart with their task when their JVM is killed while a record is in it', async () => {
    const pluginPath = await compileSteps('1.0')
    const strings = { 'key.converter': STRING, 'value.converter': STRING }
    const { file, putSource, read, task } = await startPipelineWorker({ 'plugin.path': pluginPath, ...strings })
    const release = file('released')
    writeFileSync(file('chained'), 'one\nhang\ntwo\n')
    writeFileSync(file('neighbour'), 'one\n')
    await putSource('neighbour', {})
    await putSource('chained', {
      transforms: 'a',
      'transforms.a.type': `${STEPS}$Stamp`,
      'transforms.a.hang.until': release,
    })
    await until('the record in the chain', WAIT, async () => existsSync(`${release}.reached`))
    process.kill(hostProcesses(join(pluginPath, 'steps-1.0'))[0]!, 'SIGKILL')
    await until('the failure', WAIT, async () => (await task('chained'))?.state === 'FAILED')
    expect((await task('chained'))?.trace).toBe(
      `task chained-0 failed: the Java host of ${join(pluginPath, 'steps-1.0')} ended by SIGKILL`,
    )
    expect((await task('neighbour'))?.state).toBe('RUNNING')
    writeFileSync(release, '')
    const texts = async (topic: string) => (await read(topic)).map(({ value }) => value)
    await until('the records', WAIT, async () => (await texts('chained')).includes('two t1.0'))
    expect(await texts('chained')).toEqual(['one t1.0', 'hang t1.0', 'two t1.0'])
    expect((await task('chained'))?.state).toBe('RUNNING')
    appendFileSync(file('neighbour'), 'two\n')
    await until('the neighbour', WAIT, async () => (await texts('neighbour')).length === 2)
  })
})

describeOn([javaHost, debezium, icebergTransforms], 'transforms and a converter from Maven Central', () => {
  it('run in the pipelines of connectors of Weir', async () => {
    const { 'plugin.path': converters } = debeziumSettings(javaHost.address, debezium.address, ['postgres'])
    const transforms = await installPlugins(icebergTransforms.address, javaHost.address.directory)
    const { file, put, putSource, read } = await startPipelineWorker({
      'plugin.path': `${transforms},${converters}`,
      'worker.plugin.timeout.ms': '60000',
    })
    writeFileSync(file('lines'), 'one\ntwo\n')
    await putSource('lines', {
      transforms: 'hoist,copy',
      'transforms.hoist.type': `${TRANSFORMS}.HoistField$Value`,
      'transforms.hoist.field': 'line',
      'transforms.copy.type': 'org.apache.iceberg.connect.transforms.CopyValue',
      'transforms.copy.source.field': 'line',
      'transforms.copy.target.field': 'copy',
      'key.converter': STRING,
      'value.converter': 'io.debezium.converters.BinaryDataConverter',
      'value.converter.delegate.converter.type': 'org.apache.kafka.connect.json.JsonConverter',
      'value.converter.delegate.converter.type.schemas.enable': 'false',
    })
    await until('the records', WAIT, async () => (await read('lines')).length === 2)
    expect((await read('lines')).map(({ value }) => value)).toEqual([
      '{"line":"one","copy":"one"}',
      '{"line":"two","copy":"two"}',
    ])

    await put('sink', {
      'connector.class': 'FileStreamSink',
      file: file('sunk'),
      topics: 'lines',
      'key.converter': STRING,
      'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
      'value.converter.schemas.enable': 'false',
      transforms: 'metadata,offset',
      'transforms.metadata.type': 'org.apache.iceberg.connect.transforms.KafkaMetadataTransform',
      'transforms.offset.type': `${TRANSFORMS}.ExtractField$Value`,
      'transforms.offset.field': '_kafka_metadata_offset',
    })
    const sunk = () => readFileSync(file('sunk'), { encoding: 'utf8', flag: 'a+' })
    await until('the offsets', WAIT, async () => sunk().split('\n').length > 2)
    expect(sunk()).toBe('0\n1\n')
  })
})
