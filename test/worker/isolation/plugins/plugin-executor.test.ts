import { describe, expect, it } from 'vitest'
import { createCatalog } from '../../../../src/plugins/plugin-catalog.ts'
import { type ConfigValue, defineSource, type SourceConnector, z } from '../../../../src/sdk/index.ts'
import { ALL_ACCESS } from '../../../../src/worker/host-access/connector-access.ts'
import { findAmong, PluginExecutor } from '../../../../src/worker/isolation/plugins/plugin-executor.ts'
import { toPluginFailure } from '../../../../src/worker/isolation/plugins/plugin-failure.ts'
import type { GeneratedTaskConfigs } from '../../../../src/worker/plugin-host.ts'

const INFO = { class: 'Own', version: '1', summary: 'Does what a test says.', config: z.object({}) }
const PLUGIN = { kind: 'source', class: 'Own', version: '1' } as const
const NO_CATALOG = async () => createCatalog([])

function makeTasks(own: Partial<SourceConnector>): Promise<GeneratedTaskConfigs> {
  const source = defineSource({ ...INFO, async *poll() {}, ...own } as SourceConnector)
  const input = { config: { a: 'b' }, tasksMax: 2 }
  return new PluginExecutor(findAmong([source]), ALL_ACCESS, NO_CATALOG).execute({
    operation: 'make-tasks',
    plugin: PLUGIN,
    input,
  }) as Promise<GeneratedTaskConfigs>
}

describe('the result of tasks()', () => {
  it('is copied as plain data without undefined values', async () => {
    class Special {
      kept = 'yes'
      left = undefined
    }
    const { configs } = await makeTasks({ tasks: () => [new Special() as never] })
    expect(configs).toStrictEqual([{ kept: 'yes' }])
  })

  it('is one task with the configuration of the connector when a source has no tasks()', async () => {
    expect(await makeTasks({})).toEqual({ configs: [{ a: 'b' }], againMs: null })
  })

  it('has the Java class of the tasks that the connector names', async () => {
    const taskClass = 'com.example.OwnSourceTask'
    expect(await makeTasks({ taskClass })).toEqual({ configs: [{ a: 'b' }], againMs: null, taskClass })
    expect(await makeTasks({ taskClass, tasks: () => [] })).toEqual({ configs: [], againMs: null, taskClass })
  })

  const cyclic: Record<string, unknown> = {}
  cyclic['self'] = cyclic
  it.each([
    ['not an array', () => 'tasks', 'tasks() did not return an array of configurations, but a value of type string'],
    ['a cyclic object', () => [cyclic], "tasks() returned task 0, which has a value of type object for 'self'"],
    [
      'an object with a function',
      () => [{ f: () => 1 }],
      "tasks() returned task 0, which has a value of type function for 'f'",
    ],
    ['null', () => [null], 'tasks() returned task 0, which is not an object of strings'],
    ['too many tasks', () => new Array(10_001).fill({}), 'tasks() returned 10001 tasks, at most 10000 are allowed'],
    ['too many characters', () => [{ a: 'x'.repeat(2 ** 24) }], 'exceeds the limit of 16777216 characters'],
  ])('is rejected: %s', async (_, tasks, message) => {
    await expect(makeTasks({ tasks: tasks as never })).rejects.toThrow(message)
  })
})

describe('the result of validate()', () => {
  const config = z.object({ host: z.string() })
  const valuesOf = (validate: unknown) => {
    const source = defineSource({ ...INFO, config, async *poll() {}, validate } as unknown as SourceConnector)
    const input = { config: { host: 'h' }, connects: true }
    return new PluginExecutor(findAmong([source]), ALL_ACCESS, NO_CATALOG).execute({
      operation: 'validate-config',
      plugin: PLUGIN,
      input,
    })
  }

  it('is added to the keys, also to those that the plugin does not define', async () => {
    const problems = [
      { key: 'host', message: 'first' },
      { key: 'other', message: 'second' },
      { key: 'host', message: 'third' },
      { key: 'other', message: 'x'.repeat(20_000) },
    ]
    const [host, other, ...more] = (await valuesOf(async () => problems)) as readonly ConfigValue[]
    expect(host).toEqual({ name: 'host', value: 'h', errors: ['first', 'third'] })
    expect(other).toEqual({ name: 'other', value: null, errors: ['second', 'x'.repeat(10_000)] })
    expect(more).toEqual([])
  })

  it('is copied as text of limited number', async () => {
    const [value] = (await valuesOf(async () => [null, { key: 'host' }, ...new Array(200).fill({ key: 'host' })])) as [
      unknown,
      ConfigValue,
    ]
    expect(value).toMatchObject({ name: 'host', errors: new Array(99).fill('undefined') })
  })

  it('must be a list', async () => {
    await expect(valuesOf(async () => 'all is well')).rejects.toThrow('did not return an array of problems')
  })
})

describe('tasksAgainMs()', () => {
  it('is at least 100 ms', async () => {
    expect((await makeTasks({ tasksAgainMs: () => 1 })).againMs).toBe(100)
  })

  it.each([Number.NaN, 0, -1, 'soon'])('is rejected when it returns %s', async (again) => {
    await expect(makeTasks({ tasksAgainMs: () => again as number })).rejects.toThrow(`tasksAgainMs() returned ${again}`)
  })
})

it('rejects a call to a plugin that its module no longer exports', async () => {
  const call = { operation: 'validate-config', plugin: { ...PLUGIN, version: '2' }, input: { config: {} } } as const
  await expect(new PluginExecutor(findAmong([]), ALL_ACCESS, NO_CATALOG).execute(call)).rejects.toThrow(
    'its module no longer exports Own 2',
  )
})

describe('a value that a plugin throws', () => {
  it.each([
    ['a string', 'text', 'text'],
    ['undefined', undefined, 'undefined'],
    [
      'an object whose toString throws',
      {
        toString: () => {
          throw new Error('x')
        },
      },
      'cannot be shown',
    ],
    [
      'a proxy that throws',
      new Proxy(
        {},
        {
          getPrototypeOf: () => {
            throw new Error('x')
          },
        },
      ),
      'cannot be shown',
    ],
    ['an error whose message is not a string', Object.assign(new Error(''), { message: { a: 1 } }), '[object Object]'],
  ])('is converted to text: %s', (_, thrown, message) => {
    expect(toPluginFailure(thrown).message).toContain(message)
  })

  it('is truncated, and the number of its causes is limited', () => {
    const own: Error & { cause?: unknown } = new Error('x'.repeat(100_000))
    own.cause = own
    const { message, trace } = toPluginFailure(own)
    expect(message.length).toBeLessThan(11_000)
    expect(trace.length).toBeLessThan(51_000)
  })
})
