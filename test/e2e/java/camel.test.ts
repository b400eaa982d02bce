import { readFileSync } from 'node:fs'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { freePort } from '../../env/ports.ts'
import { describeOn, real } from '../../env/real.ts'
import { killJavaHost, startJavaWorker } from '../../support/java-plugins.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { openDisposableBroker, readRecords } from '../../support/topic.ts'
import { until } from '../../support/until.ts'
import { clientOf, WAIT } from '../../support/worker-group.ts'

const kafka = await real('kafka')
const javaHost = await real('javaHost')
const camel = await real('camel')

const CAMEL = 'org.apache.camel.kafkaconnector'
const STRINGS = {
  'key.converter': 'org.apache.kafka.connect.storage.StringConverter',
  'value.converter': 'org.apache.kafka.connect.storage.StringConverter',
}

/** A server that collects the lines it receives. */
async function startLineServer() {
  const lines: string[] = []
  const server = createServer((socket) => {
    let rest = ''
    socket.setEncoding('utf8').on('data', (text: string) => {
      const parts = (rest + text).split('\n')
      rest = parts.pop()!
      lines.push(...parts)
    })
    onTestFinished(() => void socket.destroy())
  })
  const port = await freePort()
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return { port, lines }
}

/** Sends a line to a server that may not listen yet. */
function sendLine(port: number, line: string): Promise<void> {
  return until(`a server at ${port}`, WAIT, () => {
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const socket = connect(port, '127.0.0.1', () => socket.end(`${line}\n`, () => resolve(true)))
    socket.on('error', () => resolve(false))
    return promise
  })
}

describeOn([kafka, javaHost, camel], "Apache Camel's connectors on a worker", () => {
  it('carry lines from TCP through a topic into files and to TCP, also after a kill of their JVM', async () => {
    const { bootstrap } = kafka.address
    const { group, worker } = await startJavaWorker({
      bootstrap,
      hostDirectory: javaHost.address.directory,
      plugins: camel.address,
    })
    await using broker = await openDisposableBroker({ kind: 'kafka', config: { 'bootstrap.servers': bootstrap } })
    const client = clientOf(worker)
    const [topic, ticks] = [`${group.id}-lines`, `${group.id}-ticks`]
    for (const name of [topic, ticks]) await broker.topics.create({ name, partitions: 1 })
    const directory = temporaryDirectory()
    const port = await freePort()
    const server = await startLineServer()
    const sink = { ...STRINGS, 'connector.class': `${CAMEL}.CamelSinkConnector`, topics: topic }

    await client.create('ticks', {
      ...STRINGS,
      'connector.class': `${CAMEL}.timer.CamelTimerSourceConnector`,
      topics: ticks,
      'camel.source.path.timerName': 'tick',
      'camel.source.endpoint.period': '200',
    })
    await client.create('tcp-in', {
      ...STRINGS,
      'connector.class': `${CAMEL}.CamelSourceConnector`,
      topics: topic,
      'camel.source.url': `netty:tcp://127.0.0.1:${port}?textline=true&sync=false`,
    })
    await client.create('files', {
      ...sink,
      'camel.sink.url': `file:${directory}?fileName=lines.txt&fileExist=Append&appendChars=%0A`,
    })
    await client.create('tcp-out', {
      ...sink,
      'camel.sink.url': `netty:tcp://127.0.0.1:${server.port}?textline=true&sync=false`,
    })

    const written = () => readFileSync(join(directory, 'lines.txt'), { encoding: 'utf8', flag: 'a+' }).split('\n')
    const hasArrived = (line: string) => written().includes(line) && server.lines.includes(line)
    await sendLine(port, 'one')
    await until('the first line', WAIT, () => hasArrived('one'))
    killJavaHost(worker.pid!, 'camel-kafka-connector')
    await until('the restart', WAIT, async () => (await client.status('tcp-in')).tasks[0]?.state !== 'RUNNING')
    await until('the tasks', WAIT, async () => (await client.status('tcp-in')).tasks[0]?.state === 'RUNNING')
    await sendLine(port, 'two')
    await until('the second line', WAIT, () => hasArrived('two'))

    await until('ticks', WAIT, async () => (await readRecords(broker, ticks)).length >= 3)
    const fired = (await readRecords(broker, ticks)).slice(0, 3).map(({ value, headers }) => {
      const texts = new Map(headers.map(([name, text]) => [name, String(text)]))
      return [value, texts.get('CamelProperty.CamelTimerName'), texts.get('CamelProperty.CamelTimerCounter')]
    })
    expect(fired).toEqual(['1', '2', '3'].map((count) => [null, 'tick', count]))

    await client.create('broken', { ...sink, 'camel.sink.url': 'nonsense:nowhere' })
    await until('the failure', WAIT, async () => {
      return (await client.status('broken').catch(() => undefined))?.tasks[0]?.state === 'FAILED'
    })
    expect((await client.status('broken')).tasks[0]?.trace).toMatch(/nonsense/)
    expect((await client.status('ticks')).tasks[0]?.state).toBe('RUNNING')
  })
})
