import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createRegistryClient } from '../../src/clients/registry-client.ts'
import { createWorkerClient } from '../../src/clients/worker-client.ts'
import { API_VERSION } from '../../src/common/resource-api.ts'
import { runWeir } from '../support/cli.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { until } from '../support/until.ts'
import { startUp } from '../support/up.ts'

const WAIT = { everyMs: 50, timeoutMs: 120_000 }

it('commands find the running weir up of their directory', async () => {
  const directory = temporaryDirectory()
  const weir = (...args: readonly string[]) => runWeir(directory, ...args)
  const answer = async (...args: readonly string[]) => {
    const output = await weir(...args)
    expect(output, args.join(' ')).toMatchObject({ code: 0, stderr: '' })
    return output.stdout
  }

  const manifests = join(directory, 'manifests')
  mkdirSync(manifests)
  writeFileSync(join(directory, 'in.txt'), 'one\ntwo\n')
  writeFileSync(join(manifests, 'subject.yaml'), SUBJECT)
  const up = await startUp({ manifests: 'manifests', directory, log: [] })
  await up.untilLine('Subject', 'orders-value', ({ ready }) => ready === 'True')
  const worker = createWorkerClient({ url: up.workerUrl })
  const string = 'org.apache.kafka.connect.storage.StringConverter'
  await worker.create('lines', {
    'connector.class': 'FileStreamSource',
    file: join(directory, 'in.txt'),
    topic: 'lines',
    'value.converter': string,
  })
  await worker.create('bad', {
    'connector.class': 'FileStreamSink',
    file: join(directory, 'bad.txt'),
    topics: 'lines',
    'value.converter': 'org.apache.kafka.connect.json.JsonConverter',
    'errors.tolerance': 'all',
    'errors.deadletterqueue.topic.name': 'dead',
    'errors.deadletterqueue.context.headers.enable': 'true',
    'errors.deadletterqueue.topic.replication.factor': '1',
  })
  await until(
    'two running connectors',
    WAIT,
    async () =>
      Object.values(await worker.list()).every(({ status }) => status?.tasks[0]?.state === 'RUNNING') &&
      (await worker.names()).length === 2,
  )
  expect((await answer('get', 'connectors')).split('\n')).toEqual([
    'NAME   STATE    TASKS  TYPE    CLASS',
    'bad    RUNNING  1/1    sink    FileStreamSink',
    'lines  RUNNING  1/1    source  FileStreamSource',
    '',
  ])
  expect(await answer('get', 'connectors', '-o', 'name')).toBe('connector/bad\nconnector/lines\n')
  expect(JSON.parse(await answer('get', 'connector/lines', '-o', 'json'))).toMatchObject({
    name: 'lines',
    state: 'RUNNING',
    tasks: { running: 1, total: 1 },
  })
  expect(await answer('get', 'subjects', '-o', 'wide')).toMatch(/orders-value +1 +1 +AVRO +BACKWARD/)
  expect(await answer('describe', 'connector', 'lines')).toMatch(/^State: +RUNNING$/m)
  await until('an offset', WAIT, async () => (await weir('offsets', 'connector/lines')).stdout.includes('position=8'))
  expect((await weir('restart', 'connector/lines')).stdout).toBe('connector/lines restarted\n')
  await until('a line of the log', WAIT, async () => (await weir('logs', 'connector/lines')).stdout !== '')
  await until('the lag of a sink', WAIT, async () =>
    /^bad +lines +0 +2 +2 +0$/m.test((await weir('lag', 'connector/bad')).stdout),
  )
  expect(await answer('lag', 'connector/bad', '--worker', up.workerUrl)).toMatch(/^bad +lines +0 +2 +- +\S+$/m)

  // They pause and resume; a name that does not exist is answered with no.
  {
    expect(await answer('pause', 'connector', 'lines')).toBe('connector/lines paused\n')
    await until('the pause', WAIT, async () => (await weir('get', 'connector/lines')).stdout.includes('PAUSED'))
    expect(await answer('resume', 'connector', 'lines')).toBe('connector/lines resumed\n')
    const output = await weir('pause', 'connector', 'line')
    expect([output.code, output.stderr]).toEqual([1, "weir: connector 'line' does not exist; did you mean lines?\n"])
  }

  // They compare versions of a subject.
  {
    const registry = createRegistryClient({ url: up.registryUrl })
    const schema = (fields: string) => ({ schema: `{"type":"record","name":"R","fields":[${fields}]}` })
    await registry.register('r', schema(''))
    await registry.register('r', schema('{"name":"a","type":"int","default":0}'))
    const output = await weir('diff', 'subject', 'r')
    expect(output.code).toBe(1)
    expect(output.stdout).toContain('+       "name": "a",')
    expect(output.stdout).toContain('compatible at level BACKWARD')
    expect((await answer('versions', 'subject/r')).split('\n')).toHaveLength(4)
  }

  // They show and replay dead letters through the program that has the data.
  {
    await until('dead letters', WAIT, async () =>
      (await weir('dlq', 'show', 'dead')).stdout.includes('VALUE_CONVERTER'),
    )
    const data = ['--data', 'manifests/.weir']
    expect(await answer('dlq', 'replay', 'dead', '--to', 'lines-again', '--dry-run', ...data)).toMatch(/^to replay: 2/)
    expect(
      await answer('topic', 'peek', 'lines', '--from', 'earliest', '--where', "value == 'two'", '-o', 'json'),
    ).toMatch(/"value":"two"/)
    expect(await answer('topic', 'backup', 'lines', '--to', 'lines.jsonl')).toContain('backed up 2 records')
  }

  // They check what it depends on.
  {
    const findings = JSON.parse(await answer('doctor', '-o', 'json')) as readonly { check: string; verdict: string }[]
    expect(findings.map(({ check, verdict }) => `${verdict} ${check}`)).toEqual(
      expect.arrayContaining([
        'ok broker',
        'ok worker',
        'ok registry',
        'ok clock of the worker',
        'ok topic _schemas of the registry',
      ]),
    )
  }
  expect(await answer('stop', 'connector/bad')).toBe('connector/bad stopped\n')
  appendFileSync(join(directory, 'in.txt'), 'three\n')
  await until('the lag of a stopped sink', WAIT, async () =>
    /^bad +lines +0 +2 +3 +1$/m.test((await weir('lag', 'connector/bad')).stdout),
  )

  // They delete what is confirmed only.
  {
    const refused = await weir('delete', 'connector/bad')
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining('add --yes')])
    expect(await answer('delete', 'connector/bad', '--yes')).toBe('connector/bad deleted\n')
    expect(await answer('get', 'connectors', '-o', 'name')).toBe('connector/lines\n')
  }

  // They say what is right when it has ended.
  {
    await up.interrupt()
    const output = await weir('get', 'connectors')
    expect([output.code, output.stderr]).toEqual([2, expect.stringContaining('no running weir up was found')])
  }
})

const SUBJECT = `apiVersion: ${API_VERSION}
kind: Subject
metadata: { name: orders-value }
spec:
  compatibility: BACKWARD
  schema: '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}'
`
