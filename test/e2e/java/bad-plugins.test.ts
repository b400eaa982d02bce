import { copyFileSync, existsSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { systemClock } from '../../../src/common/clock.ts'
import { silentLogger } from '../../../src/common/logging/logger.ts'
import { FRAME, frameHeader } from '../../../src/java/frame-splitter.ts'
import { HostConnection } from '../../../src/java/host-connection.ts'
import { hostAddress, JavaHost } from '../../../src/java/java-host.ts'
import { ALL_ACCESS } from '../../../src/worker/host-access/connector-access.ts'
import { pluginLimits } from '../../../src/worker/isolation/plugins/plugin-limits.ts'
import { ProcessPluginHost } from '../../../src/worker/isolation/plugins/process-plugin-host.ts'
import { workerSettings } from '../../../src/worker/settings.ts'
import { compileJava } from '../../env/javac.ts'
import { describeOn, real } from '../../env/real.ts'
import { runWeir } from '../../support/cli.ts'
import { hostProcesses } from '../../support/recording-connectors.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { until } from '../../support/until.ts'
import { startTestWorker } from '../../support/worker.ts'

const javaHost = await real('javaHost')
const LOG = { linesPerSecond: 100, bytesPerSecond: 65_536 }

const SOURCES = ['BadConnectors', 'SingleTaskSource'].map((name) =>
  join(import.meta.dirname, `../../support/java/${name}.java`),
)
const FAULTY = 'dev.weir.test.BadConnectors$FaultyTask'
const STRINGS = { 'key.converter': 'StringConverter', 'value.converter': 'StringConverter' }
/** Much longer than a JVM takes to start a connector, also on a busy machine. */
const PLUGIN_TIMEOUT_MS = 15_000
const WAIT = { everyMs: 50, timeoutMs: 120_000 }

/** A plugin path with one location: a directory of class files. */
async function compilePlugins() {
  const pluginPath = join(temporaryDirectory(), 'plugins')
  const location = join(pluginPath, 'bad')
  mkdirSync(location, { recursive: true })
  await compileJava(SOURCES, { classpath: javaHost.address.classpath, directory: location })
  rmSync(join(location, 'dev/weir/test/BadConnectors$OptionalDependency.class'))
  return { pluginPath, location }
}

const settings = (pluginPath: string) => ({
  'plugin.path': pluginPath,
  'java.host.directory': javaHost.address.directory,
  'java.host.heap.max': '64m',
  'worker.threads': '1',
  'java.host.idle.ms': '600000',
})

function runtime(own: { home?: string; heapMax?: string } = {}) {
  return { home: '', hostDirectory: javaHost.address.directory, heapMax: '64m', options: [], log: LOG, ...own }
}

function startHost(own: { home?: string; heapMax?: string } = {}, directory = temporaryDirectory()) {
  return JavaHost.start({
    runtime: runtime(own),
    location: { path: javaHost.address.jars.file, jars: [] },
    address: hostAddress(directory, '0'),
    startMsMax: 60_000,
    onLog: () => undefined,
  })
}

async function openPlugins(given: Readonly<Record<string, string>>) {
  const written = Object.entries(given).map(([key, value]) => ({ key, value, source: 'the test' }))
  const plugins = await ProcessPluginHost.open({
    ...pluginLimits(workerSettings(written).values),
    access: ALL_ACCESS,
    logger: silentLogger(),
    clock: systemClock,
  })
  onTestFinished(() => plugins.close())
  return plugins
}

describeOn([javaHost], 'bad Java plugins', () => {
  it('fail their tasks with what happened, and nothing else', { timeout: 600_000 }, async () => {
    const { pluginPath, location } = await compilePlugins()
    const { url } = await startTestWorker(
      { ...settings(pluginPath), 'worker.plugin.timeout.ms': String(PLUGIN_TIMEOUT_MS) },
      { openPlugins: ProcessPluginHost.open },
    )
    const put = (name: string, config: Readonly<Record<string, string>>) =>
      fetch(`${url}/connectors/${name}/config`, {
        method: 'PUT',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ ...STRINGS, ...config }),
      })
    type Status = { state: string; trace?: string }
    // Neither exists before the connector has started.
    const status = async (name: string) =>
      (await (await fetch(`${url}/connectors/${name}/status`)).json()) as { connector?: Status; tasks?: Status[] }
    const file = join(temporaryDirectory(), 'lines.txt')
    writeFileSync(file, 'one\n')
    await put('neighbour', { 'connector.class': 'FileStreamSource', file, topic: 'lines' })
    await until('the neighbour', WAIT, async () => (await status('neighbour')).tasks?.[0]?.state === 'RUNNING')

    const failure = async (fault: string, part: (found: Awaited<ReturnType<typeof status>>) => Status | undefined) => {
      expect((await put(fault, { 'connector.class': FAULTY, fault })).status).toBe(201)
      let trace = ''
      await until(`the failure of ${fault}`, WAIT, async () => {
        const found = part(await status(fault))
        trace = found?.trace ?? ''
        return found?.state === 'FAILED'
      })
      await fetch(`${url}/connectors/${fault}`, { method: 'DELETE' })
      return trace
    }
    const ofTask = ({ tasks }: Awaited<ReturnType<typeof status>>) => tasks?.[0]
    const ofConnector = ({ connector }: Awaited<ReturnType<typeof status>>) => connector
    const host = `failed: the Java host of ${location}`
    expect(await failure('throw', ofTask)).toMatch(
      /^java\.lang\.IllegalStateException: the origin is broken\n\tat dev\.weir\.test/,
    )
    expect(await failure('exit', ofTask)).toContain(`task exit-0 ${host} ended with exit code 7, as by System.exit`)
    expect(await failure('memory', ofTask)).toBe(
      `task memory-0 ${host} ran out of memory (Java heap space): java.host.heap.max is 64m`,
    )
    expect(await failure('throw-start', ofConnector)).toMatch(
      /^java\.lang\.IllegalStateException: start does not work\n/,
    )
    // As in Kafka Connect, `start` has no time limit. Its CPU time has one.
    expect(await failure('endless-start', ofConnector)).toMatch(
      new RegExp(
        `^${FAULTY.replaceAll(/[.$]/g, '\\$&')} did not return within ${PLUGIN_TIMEOUT_MS} ms of CPU time; stack of its thread:\\n(?: +at .*\\n)* +at .*dev\\.weir\\.test\\.BadConnectors.*start`,
      ),
    )

    // A task is RUNNING before its first `poll`.
    const looping = join(temporaryDirectory(), 'looping')
    await put('endless', { 'connector.class': FAULTY, fault: 'endless', looping })
    await until('the endless poll', WAIT, () => existsSync(looping) && readFileSync(looping, 'utf8') !== '')
    const jvm = Number(readFileSync(looping, 'utf8'))
    expect(hostProcesses(location)).toContain(jvm)
    expect((await fetch(`${url}/connectors/endless`, { method: 'DELETE' })).status).toBe(204)
    // Its thread never ends, so its JVM does not wait for the next user.
    await until('the end of the JVM', WAIT, () => !hostProcesses(location).includes(jvm))
    expect((await status('neighbour')).tasks?.[0]).toMatchObject({ state: 'RUNNING' })
  })

  it('are reported when they cannot be created, and the others are used', async () => {
    const { pluginPath, location } = await compilePlugins()
    const [newer = ''] = globSync(join(location, '**/BadConnectors$FaultyTask.class'))
    const bytes = readFileSync(newer)
    // The major version of Java 25.
    bytes.writeUInt16BE(69, 6)
    const classes = 'dev/weir/test'
    mkdirSync(join(pluginPath, 'newer', classes), { recursive: true })
    writeFileSync(join(pluginPath, 'newer', classes, 'BadConnectors$FaultyTask.class'), bytes)
    const superclass = join(classes, 'SingleTaskSource.class')
    copyFileSync(join(location, superclass), join(pluginPath, 'newer', superclass))
    const plugins = await openPlugins(settings(pluginPath))
    expect(plugins.catalog.find('source', FAULTY)).toMatchObject({ version: '1', location })
    const reasons = plugins.faults.map(({ reason }) => reason).toSorted()
    expect(reasons).toEqual([
      expect.stringContaining('BadConnectors$FaultyTask is compiled for a newer Java than 17'),
      expect.stringContaining(
        'BadConnectors$LackingDependency: java.lang.NoClassDefFoundError: dev/weir/test/BadConnectors$OptionalDependency',
      ),
      expect.stringContaining(
        'BadConnectors$ThrowingConstructor: java.lang.IllegalStateException: no constructor today',
      ),
      expect.stringContaining('BadConnectors$ThrowingInitializer: java.lang.IllegalStateException: no class today'),
    ])
  })

  it('that lack a class are described once, as long as their files are the same', async () => {
    const { pluginPath, location } = await compilePlugins()
    for (const name of ['Constructor', 'Initializer']) {
      rmSync(join(location, `dev/weir/test/BadConnectors$Throwing${name}.class`))
    }
    const first = await openPlugins(settings(pluginPath))
    expect(first.faults).toEqual([expect.objectContaining({ file: location, isWarning: true })])
    const second = await openPlugins({ ...settings(pluginPath), 'java.home': '/nonexistent' })
    expect(second.faults).toEqual(first.faults)
    expect(second.catalog.find('source', FAULTY)).toMatchObject({ version: '1' })
  })
})

describeOn([javaHost], 'weir plugins list', () => {
  it('warns of Java classes that cannot be loaded, and exits with 0 unless a location cannot be used', async () => {
    const { pluginPath, location } = await compilePlugins()
    const directory = temporaryDirectory()
    const file = join(directory, 'worker.properties')
    const lines = Object.entries(settings(pluginPath)).map(([key, value]) => `${key}=${value}\n`)
    writeFileSync(file, lines.join(''))
    const listed = await runWeir(directory, 'plugins', 'list', '--config', file)
    expect(listed.code).toBe(0)
    expect(listed.stdout).toContain(FAULTY)
    expect(listed.stderr).toContain(`warning: ${location}: dev.weir.test.BadConnectors$LackingDependency: `)
    const damaged = join(pluginPath, 'damaged.jar')
    writeFileSync(damaged, 'no jar')
    const { code, stderr } = await runWeir(directory, 'plugins', 'list', '--config', file)
    expect(code).toBe(1)
    expect(stderr).toMatch(new RegExp(`^${damaged}: `, 'm'))
  })
})

describeOn([javaHost], 'a Java host', () => {
  it('that cannot start is described in a sentence', async () => {
    const location = javaHost.address.jars.file
    await expect(startHost({ heapMax: '1k' })).rejects.toThrow(
      `the Java host of ${location} did not start: it ended with exit code 1: Error occurred during initialization of VM ` +
        'Too small maximum heap (java.host.heap.max is 1k)',
    )
    await expect(startHost({ home: '/nonexistent' })).rejects.toThrow(
      'Java plugins need Java 17 or newer: java.home is /nonexistent, which has no bin/java',
    )
    const deep = join(temporaryDirectory(), 'x'.repeat(100))
    await expect(startHost({}, deep)).rejects.toThrow(/^the socket of a Java host would be .* bytes long; at most 100/)
  })

  it('accepts no connection with another token', async () => {
    const directory = temporaryDirectory()
    const host = await startHost({}, directory)
    onTestFinished(() => host.stop())
    const address = { socketPath: join(directory, '0.sock'), token: 'guessed' }
    const connection = await HostConnection.open(address, { timeoutMs: 60_000 })
    await expect(connection.call('describe', { classes: [] })).rejects.toThrow(
      'the connection to the Java host was lost',
    )
  })

  it('that speaks another version of the protocol is named', async () => {
    const socketPath = join(temporaryDirectory(), 'fake.sock')
    const server = createServer((socket) => {
      socket.write(Buffer.concat([frameHeader(FRAME.hello, 0, 1), Buffer.from([2])]))
      socket.on('error', () => undefined)
    })
    await new Promise<void>((resolve) => server.listen(socketPath, resolve))
    onTestFinished(() => void server.close())
    await expect(HostConnection.open({ socketPath, token: '' }, { timeoutMs: 60_000 })).rejects.toThrow(
      'the Java host speaks version 2 of the protocol, and this worker version 1: ' +
        'java.host.directory must name the host of the same release',
    )
  })
})
