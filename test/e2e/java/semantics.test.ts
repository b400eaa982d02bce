import { writeFileSync } from 'node:fs'
import pino from 'pino'
import { expect, it } from 'vitest'
import { ProcessPluginHost } from '../../../src/worker/isolation/plugins/process-plugin-host.ts'
import { describeOn, real } from '../../env/real.ts'
import {
  COMMANDS,
  compileRecordingConnectors,
  hostProcesses,
  NUMBERS,
  VAULT,
} from '../../support/recording-connectors.ts'
import { produceTexts, readRecords } from '../../support/topic.ts'
import { until } from '../../support/until.ts'
import { startTestWorker } from '../../support/worker.ts'

const javaHost = await real('javaHost')

const STRINGS = { 'key.converter': 'StringConverter', 'value.converter': 'StringConverter' }
/** Longer than a call into a JVM takes that starts on a busy machine. */
const PLUGIN_TIMEOUT_MS = 10_000
const WAIT = { everyMs: 50, timeoutMs: 120_000 }
const BEYOND_DOUBLES = 2n ** 53n

type Line = {
  readonly level: number
  readonly msg: string
  readonly logger?: string
  readonly stream?: string
  readonly connector?: string
  readonly task?: number
  readonly reason?: string
}

async function startRecordingWorker(own: Readonly<Record<string, string>> = {}) {
  const plugins = await compileRecordingConnectors(javaHost.address.classpath)
  const lines: Line[] = []
  const logger = pino({ level: 'info', base: null }, { write: (line) => void lines.push(JSON.parse(line) as Line) })
  const settings = {
    'plugin.path': plugins.pluginPath,
    'java.host.directory': javaHost.address.directory,
    'java.host.heap.max': '96m',
    'worker.threads': '1',
    'offset.flush.interval.ms': '100',
    'offset.storage.partitions': '1',
    ...own,
  }
  const worker = await startTestWorker(settings, { logger, openPlugins: ProcessPluginHost.open })
  const request = async (method: string, path: string, body?: object | string) => {
    const response = await fetch(`${worker.url}${path}`, {
      method,
      headers: { 'content-type': 'application/json' },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    return { status: response.status, text, message: text.startsWith('{"error') ? JSON.parse(text).message : text }
  }
  const create = async (name: string, config: Readonly<Record<string, string>>) => {
    const given = { ...STRINGS, events: plugins.file(name), ...config }
    expect(await request('PUT', `/connectors/${name}/config`, given)).toMatchObject({ status: 201 })
  }
  const untilEvent = (name: string, event: string | RegExp) =>
    until(`${event} of ${name}`, WAIT, async () =>
      plugins.events(name).some((one) => (typeof event === 'string' ? one === event : event.test(one))),
    )
  /** Stops a connector and waits until its offsets may be changed. */
  const stop = async (name: string) => {
    await request('PUT', `/connectors/${name}/stop`)
    await until(`the stop of ${name}`, WAIT, async () => {
      const { text } = await request('GET', `/connectors/${name}/status`)
      return JSON.parse(text).connector.state === 'STOPPED' && JSON.parse(text).tasks.length === 0
    })
  }
  return { ...worker, plugins, lines, request, create, untilEvent, stop }
}

describeOn([javaHost], 'a Java source', () => {
  it('has the life, the offsets, the logs and the metrics that it has in Kafka Connect', async () => {
    const { broker, plugins, lines, request, create, untilEvent, stop } = await startRecordingWorker()
    const mode = plugins.file('mode')
    writeFileSync(mode, 'one')
    await create('numbers', {
      'connector.class': NUMBERS,
      topic: 'numbers',
      limit: '10',
      base: String(BEYOND_DOUBLES),
      'mode.file': mode,
      alters: 'own',
    })
    await untilEvent('numbers', `commit after ${BEYOND_DOUBLES + 10n}`)
    expect(plugins.events('numbers')).toEqual([
      'connector offset null',
      'task one after 0 transactions false',
      ...Array.from({ length: 10 }, (_, at) => `record ${at + 1} at numbers-0@${at}`),
      `commit after ${BEYOND_DOUBLES + 10n}`,
    ])
    const stored = `{"offsets":[{"partition":{"part":"a"},"offset":{"n":${BEYOND_DOUBLES + 10n}}}]}`
    expect((await request('GET', '/connectors/numbers/offsets')).text).toBe(stored)
    const metrics = (await request('GET', '/metrics')).text
    expect(metrics).toContain('kafka_connect_plugins_next_number{connector="numbers",task="0",kind="test"} 1\n')
    expect(metrics).toContain('kafka_connect_plugins_started_connectors{connector="numbers",kind="test"} 1\n')

    writeFileSync(mode, 'two')
    await untilEvent('numbers', 'task two after 10 transactions false')
    expect(plugins.events('numbers')).toContain('task stop')

    // The level reaches the JVM that runs, and after its end the one that starts.
    const isLogged = () =>
      lines.some(({ logger, msg }) => logger === 'dev.weir.test.numbers' && msg === 'poll after 10')
    expect(isLogged()).toBe(false)
    expect((await request('PUT', '/admin/loggers/dev.weir.test', { level: 'DEBUG' })).text).toBe('["dev.weir.test"]')
    expect((await request('GET', '/admin/loggers')).text).toContain('"dev.weir.test":{"level":"DEBUG"')
    await until('a debug line', WAIT, async () => isLogged())
    const starts = () => plugins.events('numbers').filter((event) => event.startsWith('task two')).length
    const before = starts()
    process.kill(hostProcesses(plugins.location)[0]!, 'SIGKILL')
    await until('the restart', WAIT, async () => starts() > before)
    // Whether the task itself also logs a failure depends on what it learns first: the lost connection, or that it is stopped.
    expect(lines.find(({ msg }) => msg === 'the task was interrupted and is restarted')).toMatchObject({
      connector: 'numbers',
      task: 0,
      reason: `the Java host of ${plugins.location} ended by SIGKILL`,
    })
    lines.length = 0
    await until('a debug line of the new JVM', WAIT, async () => isLogged())
    expect(lines.find(({ msg }) => msg === 'poll after 10')).toMatchObject({ level: 20, connector: 'numbers', task: 0 })
    await request('PUT', '/admin/loggers/dev.weir.test?scope=cluster', { level: 'WARN' })
    await until('no debug lines', WAIT, async () => {
      lines.length = 0
      await new Promise((resolve) => setTimeout(resolve, 200))
      return !isLogged()
    })

    await stop('numbers')
    expect((await request('GET', '/metrics')).text).not.toContain('next_number')
    const changed = stored.replace(String(BEYOND_DOUBLES + 10n), String(BEYOND_DOUBLES + 7n))
    expect(await request('PATCH', '/connectors/numbers/offsets', changed)).toMatchObject({
      text: '{"message":"The offsets for this connector have been altered successfully"}',
    })
    expect(plugins.events('numbers').at(-1)).toBe(`alter [{part=a}={n=${BEYOND_DOUBLES + 7n}}]`)
    await request('PUT', '/connectors/numbers/resume')
    await untilEvent('numbers', 'task two after 7 transactions false')
    expect(plugins.events('numbers')).toContain(`connector offset ${BEYOND_DOUBLES + 7n} Long`)
    await untilEvent('numbers', 'record 8 at numbers-0@10')
    expect((await readRecords(broker, 'numbers')).map(({ value }) => Number(String(value)))).toEqual([
      ...[1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
      ...[8, 9, 10],
    ])

    await stop('numbers')
    for (const [alters, text] of [
      ['', 'The Connect framework-managed offsets for this connector have been reset successfully. However, if this '],
      ['never', "Failed to modify offsets for connector numbers because it doesn't support external modification of "],
    ] as const) {
      await request('PATCH', '/connectors/numbers/config', { alters })
      expect((await request('DELETE', '/connectors/numbers/offsets')).text).toContain(text)
    }
  })

  it('receives the positions and the commit of its last records before it is stopped', async () => {
    const { plugins, create, untilEvent, stop } = await startRecordingWorker({ 'offset.flush.interval.ms': '600000' })
    await create('numbers', { 'connector.class': NUMBERS, topic: 'numbers', limit: '10' })
    await untilEvent('numbers', /^record 10 /)
    await stop('numbers')
    expect(plugins.events('numbers').slice(-3)).toEqual(['record 10 at numbers-0@9', 'commit after 10', 'task stop'])
  })

  it('cannot send records to a topic of a program', async () => {
    const { create, request } = await startRecordingWorker()
    await create('numbers', { 'connector.class': NUMBERS, topic: '_schemas', limit: '1' })
    await until('the task to fail', { everyMs: 50, timeoutMs: 120_000 }, async () =>
      (await request('GET', '/connectors/numbers/status')).text.includes("may not write to the topic '_schemas'"),
    )
  })

  it('may return the same list again, and gets the position of each record', async () => {
    const { plugins, create, untilEvent } = await startRecordingWorker()
    const config = { 'connector.class': NUMBERS, topic: 'numbers', limit: '200', 'reuses.list': 'true' }
    await create('numbers', config)
    await untilEvent('numbers', / at numbers-0@199$/)
    expect(plugins.events('numbers').filter((event) => event.startsWith('record'))).toEqual(
      Array.from({ length: 200 }, (_, at) => `record ${at + 1} at numbers-0@${at}`),
    )
  })

  it('prints lines that the log has with its connector and task', async () => {
    const { lines, create, untilEvent } = await startRecordingWorker()
    // The name of another connector's task, which must not be taken for it.
    await create('numbers-7', { 'connector.class': NUMBERS, topic: 'numbers', limit: '1' })
    await untilEvent('numbers-7', /^record 1 /)
    const printed = () =>
      lines.flatMap(({ stream, connector, task, msg }) => (stream ? [[stream, connector, task, msg]] : []))
    await until('what was printed', WAIT, async () => printed().length >= 3)
    expect(printed()).toEqual([
      ['stdout', 'numbers-7', undefined, 'printed by the connector'],
      ['stdout', 'numbers-7', 0, 'printed by the task'],
      ['stderr', 'numbers-7', 0, 'an error of the task'],
    ])
  })

  it('is asked whether it supports exactly-once delivery, and cannot block that', async () => {
    const { plugins, request, create, untilEvent } = await startRecordingWorker({
      'exactly.once.source.support': 'enabled',
      'worker.plugin.timeout.ms': String(PLUGIN_TIMEOUT_MS),
    })
    const errors = async (config: Readonly<Record<string, string>>) => {
      const given = { ...STRINGS, name: 'n', 'connector.class': NUMBERS, topic: 't', limit: '0', ...config }
      const { status, text, message } = await request('PUT', `/connector-plugins/${NUMBERS}/config/validate`, given)
      if (status !== 200) return message
      const { configs } = JSON.parse(text) as { configs: readonly { value: { errors: readonly string[] } }[] }
      return configs.flatMap(({ value }) => value.errors)
    }
    const required = { 'exactly.once.support': 'required' }
    expect(await errors(required)).toEqual([])
    expect(await errors({ ...required, support: 'unsupported' })).toEqual([
      'The connector does not support exactly-once semantics with the provided configuration.',
    ])
    expect(await errors({ ...required, support: 'unknown' })).toEqual([
      expect.stringMatching(/^The connector does not implement the API required for preflight validation/),
    ])
    expect(await errors({ ...required, support: 'failing' })).toEqual([
      'An unexpected error occurred during validation: nobody knows',
    ])
    const boundary = { 'transaction.boundary': 'connector' }
    expect(await errors({ ...boundary, transactions: 'own' })).toEqual([])
    expect(await errors(boundary)).toEqual([
      expect.stringMatching(/^The connector does not support connector-defined transaction boundaries/),
    ])

    // A call that does not return takes its JVM from new users, and leaves it to the tasks that it has.
    await create('numbers', { 'connector.class': NUMBERS, topic: 'numbers', limit: '10' })
    await untilEvent('numbers', /^record 10 /)
    const [first] = hostProcesses(plugins.location)
    const endless = () => errors({ ...required, support: 'endless' })
    expect(await endless()).toBe(`${NUMBERS} did not return within ${PLUGIN_TIMEOUT_MS} ms`)
    expect(await errors(required)).toEqual([])
    expect(hostProcesses(plugins.location)).toHaveLength(2)
    expect(await endless()).toBe(`${NUMBERS} did not return within ${PLUGIN_TIMEOUT_MS} ms`)
    await until('the end of a JVM', WAIT, async () => hostProcesses(plugins.location).length === 1)
    expect(hostProcesses(plugins.location)).toEqual([first])
    expect(plugins.events('numbers')).not.toContain('task stop')
    await request('DELETE', '/connectors/numbers')
    await until('the end of the first JVM', WAIT, async () => !hostProcesses(plugins.location).includes(first!))
  })
})

describeOn([javaHost], 'a Java sink', () => {
  it('has the life and the context that it has in Kafka Connect', async () => {
    const { broker, plugins, request, create, untilEvent, stop } = await startRecordingWorker({
      'config.providers': 'vault',
      'config.providers.vault.class': VAULT,
      'config.providers.vault.param.prefix': 'topic',
    })
    await broker.topics.create({ name: 'topic-of-the-test', partitions: 1 })
    const put = (...values: string[]) => produceTexts(broker, 'topic-of-the-test', ...values)
    await create('sink', {
      'connector.class': COMMANDS,
      // Resolved by the config provider: prefix, path and key.
      topics: '${vault:-of-the-:test}',
      'errors.tolerance': 'all',
      'errors.deadletterqueue.topic.name': 'dead',
      'errors.deadletterqueue.topic.replication.factor': '1',
      'errors.deadletterqueue.context.headers.enable': 'true',
    })
    const partition = 'topic-of-the-test-0'
    await untilEvent('sink', `open [${partition}] of [${partition}]`)
    const committed = async () => {
      const { text } = await request('GET', '/connectors/sink/offsets')
      return JSON.parse(text).offsets[0]?.offset.kafka_offset
    }

    await put('a', 'pause')
    await untilEvent('sink', 'put pause')
    await put('b')
    await untilEvent('sink', 'put b')
    const events = () => plugins.events('sink').filter((event) => !event.startsWith('preCommit'))
    expect(events().slice(-3)).toEqual(['put pause', `resume ${partition}`, 'put b'])

    await put('hold')
    await untilEvent('sink', `preCommit {${partition}=4}`)
    await put('c')
    await untilEvent('sink', `preCommit {${partition}=5}`)
    await until('the offset that is held', WAIT, async () => (await committed()) === 3)
    await put('release')
    await until('the offset that is released', WAIT, async () => (await committed()) === 6)

    await put('rewind 0')
    await until(
      'all records again',
      WAIT,
      async () => events().filter((event) => event === 'put rewind 0').length === 2,
    )
    const again = ['put a', 'put pause', 'put b', 'put hold', 'put c', 'put release', 'put rewind 0']
    expect(events().slice(-again.length)).toEqual(again)

    await put('retry')
    await until('the retry', WAIT, async () => events().filter((event) => event === 'put retry').length === 2)

    await put('errant')
    await until('the dead letter', WAIT, async () => (await readRecords(broker, 'dead').catch(() => [])).length === 1)
    const [dead] = await readRecords(broker, 'dead')
    const headers = Object.fromEntries(dead!.headers.map(([name, value]) => [name, String(value)]))
    expect(String(dead!.value)).toBe('errant')
    expect(headers).toMatchObject({
      '__connect.errors.exception.class.name': 'java.lang.IllegalArgumentException',
      '__connect.errors.exception.message': 'bad value',
      '__connect.errors.offset': '8',
    })

    await until('the last offset', WAIT, async () => (await committed()) === 9)
    await stop('sink')
    expect(plugins.events('sink').slice(-2)).toEqual([`close [${partition}]`, 'stop'])
    const offsets = (offset: number | null) => ({
      offsets: [
        {
          partition: { kafka_topic: 'topic-of-the-test', kafka_partition: 0 },
          offset: offset === null ? null : { kafka_offset: offset },
        },
      ],
    })
    expect((await request('PATCH', '/connectors/sink/offsets', offsets(0))).message).toContain(
      'the first record is gone',
    )
    expect(await committed()).toBe(9)
    expect((await request('PATCH', '/connectors/sink/offsets', offsets(7))).status).toBe(200)
    expect(plugins.events('sink').at(-1)).toBe(`alter [${partition}=7]`)
    await request('PUT', '/connectors/sink/resume')
    await until('the records from 7', WAIT, async () => events().filter((event) => event === 'put errant').length === 2)
    await stop('sink')
    expect((await request('DELETE', '/connectors/sink/offsets')).status).toBe(200)
    expect(plugins.events('sink').at(-1)).toBe(`alter [${partition}=null]`)
  })

  it('continues when it asks for the offset null, which is ignored', async () => {
    const { broker, plugins, create, untilEvent } = await startRecordingWorker()
    await broker.topics.create({ name: 'nulls', partitions: 1 })
    await create('sink', { 'connector.class': COMMANDS, topics: 'nulls' })
    await produceTexts(broker, 'nulls', 'rewind-to-null')
    await untilEvent('sink', 'put rewind-to-null')
    await produceTexts(broker, 'nulls', 'a')
    await untilEvent('sink', 'put a')
    expect(plugins.events('sink').filter((event) => event.startsWith('put'))).toEqual(['put rewind-to-null', 'put a'])
  })

  it('opens and closes partitions when tasks are added', async () => {
    const { broker, plugins, request, create } = await startRecordingWorker()
    await broker.topics.create({ name: 'two', partitions: 2 })
    const config = { 'connector.class': COMMANDS, topics: 'two' }
    await create('sink', { ...config, 'tasks.max': '1' })
    await until('both partitions', WAIT, async () =>
      plugins.events('sink').includes('open [two-0, two-1] of [two-0, two-1]'),
    )
    const given = { ...STRINGS, ...config, events: plugins.file('sink'), 'tasks.max': '2' }
    await request('PUT', '/connectors/sink/config', given)
    await until('one partition for each task', WAIT, async () => {
      const last = plugins.events('sink').slice(-2)
      return (
        ['open [two-0] of [two-0]', 'open [two-1] of [two-1]'].every((event) =>
          plugins.events('sink').includes(event),
        ) && last.length === 2
      )
    })
    expect(plugins.events('sink')).toContain('close [two-0, two-1]')
  })
})
