import { describe, expect, it } from 'vitest'
import type { JavaPluginError } from '../../../src/java/host-error.ts'
import { createCatalog } from '../../../src/plugins/plugin-catalog.ts'
import {
  type Plugin,
  RetriableError,
  type SourceConnector,
  type Transform,
  UNRESTRICTED,
  z,
} from '../../../src/sdk/index.ts'
import { parseTaskConfig } from '../../../src/worker/configuration/task-config.ts'
import { ErrorPolicy } from '../../../src/worker/tasks/error-policy.ts'
import { toRecordFailure } from '../../../src/worker/tasks/failed-source-record.ts'
import type { PipelineItem } from '../../../src/worker/tasks/pipeline-step.ts'
import { type FailedSourceRecord, processSourceRecords } from '../../../src/worker/tasks/process-source-records.ts'
import { RecordPipeline } from '../../../src/worker/tasks/record-pipeline.ts'
import type { RemoteChainOptions, RemotePlugins } from '../../../src/worker/tasks/remote-step.ts'
import { countersIn } from '../../../src/worker/tasks/task-counters.ts'
import { FakeClock } from '../../support/fake-clock.ts'
import { SHIPPED } from '../../support/shipped-plugins.ts'
import { TASK_DEFAULTS } from '../../support/task.ts'

const SILENT_LOG = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} }
const LOCATION = 'java-plugins'

const remote: Transform & { readonly location: string } = {
  kind: 'transformation',
  class: 'Remote',
  version: '1',
  summary: 'Runs elsewhere.',
  config: z.object({}),
  location: LOCATION,
  create: () => {
    throw new Error('it does not run in this thread')
  },
}

const remoteSource: SourceConnector & { readonly location: string } = {
  kind: 'source',
  class: 'RemoteSource',
  version: '1',
  summary: 'Runs elsewhere.',
  config: z.object({}),
  location: LOCATION,
  async *poll() {},
}

/** Fails twice with a retriable error for the value `flaky`. */
function flaky(): Transform {
  let attempts = 0
  return {
    kind: 'transformation',
    class: 'Flaky',
    version: '1',
    summary: 'Fails twice.',
    config: z.object({}),
    create: () => (record) => {
      if (record.value === 'flaky+' && ++attempts < 3) throw new RetriableError(`attempt ${attempts}`)
      if (record.value === 'bad+') throw new Error('bad')
      return record
    },
  }
}

/** Chains that append `+` to the value, as if each were a process of its own. */
class FakeRemotePlugins implements RemotePlugins {
  readonly opened: RemoteChainOptions[] = []
  readonly batches: number[] = []
  closed = 0

  isRemote(location: string | undefined): location is string {
    return location === LOCATION
  }

  async open(options: RemoteChainOptions) {
    if (options.plugins.some(({ config }) => 'fail' in config)) throw new Error('it cannot be created')
    this.opened.push(options)
    return {
      apply: async (items: readonly PipelineItem[]) => {
        this.batches.push(items.length)
        const outcomes = items.map((item) => {
          const { value } = item.record
          if (value === 'drop') return 'dropped' as const
          if (value === 'broken') return { failed: new RetriableError('retried there') as JavaPluginError, step: 0 }
          item.record = { ...item.record, value: `${value}+` }
          return 'passed' as const
        })
        return { outcomes, retries: 2 }
      },
      close: () => {
        this.closed += 1
      },
    }
  }
}

async function convert(config: Readonly<Record<string, string>>, values: readonly string[]) {
  const signal = new AbortController().signal
  const counters = countersIn()
  const clock = new FakeClock()
  const policy = new ErrorPolicy({ config: parseTaskConfig(config).errors, counters, log: SILENT_LOG, clock, signal })
  const steps = new FakeRemotePlugins()
  const plugins: readonly Plugin[] = [...SHIPPED, remote, remoteSource, flaky()]
  const spec = {
    connector: 'lines',
    task: 0,
    kind: 'source' as const,
    config,
    secrets: [],
    worker: TASK_DEFAULTS,
    paused: false,
    offsets: [],
  }
  const pipeline = await RecordPipeline.open({
    spec,
    plugins: createCatalog(plugins),
    access: UNRESTRICTED,
    remote: steps,
    signal,
  })
  const failures: FailedSourceRecord[] = []
  const batch = values.map((value, line) => ({
    topic: 'lines',
    value,
    sourcePartition: { file: 'f' },
    sourceOffset: { line },
  }))
  const converting = processSourceRecords(batch, {
    pipeline,
    policy,
    recordBytesMax: 1_000_000,
    onFailedRecord: (failed) => {
      policy.tolerate(toRecordFailure(failed))
      failures.push(failed)
    },
  })
  let isOver = false
  const end = () => {
    isOver = true
  }
  converting.then(end, end)
  while (!isOver) await clock.advance(1_000)
  pipeline.close()
  return { converted: await converting, failures, steps, counters }
}

const TOLERANT = { 'errors.tolerance': 'all', 'errors.retry.timeout': '60000' }
const transforms = (...classes: readonly string[]) => ({
  transforms: classes.map((_, index) => `t${index}`).join(','),
  ...Object.fromEntries(classes.map((name, index) => [`transforms.t${index}.type`, name])),
})

describe('a pipeline with remote steps', () => {
  it('passes a batch to each remote segment at once, and keeps the order of the records', async () => {
    const { converted, steps } = await convert(transforms('Remote', 'Flaky', 'Remote'), ['a', 'drop', 'b', 'c'])
    expect(converted.records.map(({ value }) => String(value))).toEqual(['a++', 'b++', 'c++'])
    expect([0, 1, 2].map((index) => converted.sources[index]!.sourceOffset['line'])).toEqual([0, 2, 3])
    expect(steps.batches).toEqual([4, 3])
    expect(steps.opened.map(({ host, name }) => [host, name])).toEqual([
      [LOCATION, 'lines-0'],
      [LOCATION, 'lines-0'],
    ])
    expect(steps.closed).toBe(2)
  })

  it('skips only the records that fail, and reports the plugins that failed in the order of the records', async () => {
    const { converted, failures } = await convert({ ...transforms('Remote', 'Flaky'), ...TOLERANT }, [
      'a',
      'bad',
      'broken',
      'b',
    ])
    expect(converted.records.map(({ value }) => String(value))).toEqual(['a+', 'b+'])
    expect(failures.map(({ record, stage, className, error }) => [record.value, stage, className, error])).toEqual([
      ['bad', 'TRANSFORMATION', 'Flaky', new Error('bad')],
      ['broken', 'TRANSFORMATION', 'Remote', new RetriableError('retried there')],
    ])
  })

  it('retries a local step only, and counts the retries of remote steps', async () => {
    const { converted, counters, steps } = await convert({ ...transforms('Remote', 'Flaky'), ...TOLERANT }, ['flaky'])
    expect(converted.records.map(({ value }) => String(value))).toEqual(['flaky+'])
    expect(steps.batches).toEqual([1])
    expect(counters.retries).toBe(4)
  })

  it('fails the task for the first failed record when errors.tolerance is none', async () => {
    await expect(convert(transforms('Remote', 'Flaky'), ['a', 'bad', 'broken'])).rejects.toThrow(
      'Tolerance exceeded in error handler: bad',
    )
  })

  it('has steps beside the connector only if that runs in the same place', async () => {
    const beside = async (own: Readonly<Record<string, string>>) =>
      (await convert({ ...transforms('Remote', 'Flaky', 'Remote'), ...own }, ['a'])).steps.opened.map(
        ({ isBesideConnector }) => isBesideConnector,
      )
    expect(await beside({ 'connector.class': 'FileStreamSource' })).toEqual([false, false])
    expect(await beside({ 'connector.class': 'RemoteSource' })).toEqual([true, false])
  })

  it('is opened only for plugins that run elsewhere', async () => {
    const { steps, converted } = await convert(transforms('Flaky'), ['a'])
    expect(converted.records).toHaveLength(1)
    expect(steps.opened).toEqual([])
  })

  it('rejects when a remote plugin cannot be created', async () => {
    const failing = { ...transforms('Remote'), 'transforms.t0.fail': 'yes' }
    await expect(convert(failing, ['a'])).rejects.toThrow('it cannot be created')
  })
})
