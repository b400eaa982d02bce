import { describe, expect, it } from 'vitest'
import { kindOfKey, RESOURCE_KINDS, type ResourceKey, resourceKeyOf } from '../../src/operator/resources/resource.ts'
import { createReconcilerFixture, type FaultInjector } from '../support/reconciler-fixture.ts'

// The operator is killed after each of its writes in turn, before it receives the response. A new process without cached
// state continues. The final state must be the same as without a kill.

type Fixture = ReturnType<typeof createReconcilerFixture>
type Scenario = {
  readonly what: string
  /** Actions of users, in order. The operator settles after each one. */
  readonly acts: readonly ((fixture: Fixture) => unknown)[]
  /** Requests to a runtime that a crash may repeat once, because they are idempotent. */
  readonly repeats?: RegExp
}

/** Everything that changes something outside of the process. */
const EFFECTS =
  /^(create|putConfig|delete|pause|resume|stop|restart|restartTask|alterOffsets|resetOffsets|register|deleteConfig|putMode|deleteMode|deleteSubject|writeStatus|setFinalizer|writeConfigMap)$/

/** A process that dies after `effectsMax` effects. */
class Process {
  effects = 0
  readonly #effectsMax: number
  #die: () => void = () => undefined
  readonly death = new Promise<void>((resolve) => {
    this.#die = resolve
  })

  constructor(effectsMax: number) {
    this.#effectsMax = effectsMax
  }

  readonly injectFaults: FaultInjector = (thing) =>
    new Proxy(thing, {
      get: (target, name: string) => {
        const value = Reflect.get(target, name, target) as unknown
        if (typeof value !== 'function') return value
        if (!EFFECTS.test(name)) return value.bind(target)
        return async (...args: unknown[]) => {
          if (this.effects >= this.#effectsMax) return NEVER
          this.effects += 1
          try {
            return await value.apply(target, args)
          } finally {
            // The dead process does not receive errors either.
            if (this.effects >= this.#effectsMax) {
              this.#die()
              await NEVER
            }
          }
        }
      },
    })
}

const NEVER = new Promise<never>(() => undefined)

/** Runs a scenario. The first process dies after `effectsMax` effects. Returns the requests and the final state. */
async function play({ acts }: Scenario, effectsMax: number, listsAreEmpty = false) {
  const fixture = createReconcilerFixture()
  let process = new Process(effectsMax)
  let reconcilers = fixture.startReconcilers({ injectFaults: process.injectFaults, listsAreEmpty })
  for (const act of acts) {
    await act(fixture)
    while (
      (await Promise.race([settle(fixture, reconcilers, () => process.effects), process.death.then(() => 'died')])) ===
      'died'
    ) {
      process = new Process(Number.POSITIVE_INFINITY)
      reconcilers = fixture.startReconcilers({ injectFaults: process.injectFaults, listsAreEmpty })
    }
  }
  return {
    effects: process.effects,
    asked: [...fixture.worker.writes, ...fixture.registry.writes],
    world: worldOf(fixture),
  }
}

/** Reconciles all resources until none is requeued within a second. */
async function settle(
  { cluster, clock }: Fixture,
  reconcilers: ReturnType<Fixture['startReconcilers']>,
  effects: () => number,
): Promise<'settled'> {
  for (let round = 0; round < 60; round++) {
    let isQuiet = true
    const before = effects()
    for (const key of [...cluster.resources.keys()]) {
      const requeue = await reconcilers[kindOfKey(key)].reconcile(key as ResourceKey<never>)
      if (typeof requeue !== 'string' && requeue.afterMs <= 1_000) isQuiet = false
    }
    // A write for one resource may be the input of another.
    if (isQuiet && effects() === before) return 'settled'
    await clock.advance(1_000)
  }
  throw new Error('the resources did not settle within 60 rounds')
}

/** The final state without times, and without restarts that the killed process could not record. */
function worldOf({ cluster, worker, registry }: Fixture) {
  const resources = RESOURCE_KINDS.flatMap((kind) => cluster.list(kind)).map((resource) => {
    const { conditions, observedGeneration, ...statusFields } = resource.status
    return {
      key: resourceKeyOf(resource),
      finalizers: resource.metadata.finalizers,
      conditions: conditions.map(({ type, status, reason, message }) => [
        type,
        status,
        reason,
        message.replace(/\d{4}-\S+Z/g, 'some time'),
      ]),
      observedGeneration,
      statusFields: JSON.parse(
        JSON.stringify(statusFields, (key, value) => (/(Time|At|autoRestart)$/.test(key) ? undefined : value)),
      ),
    }
  })
  const { schemas, levels, modes } = registry
  return {
    resources,
    copies: [...cluster.configMaps],
    connectors: [...worker.connectors],
    schemas: [...schemas],
    levels: [...levels],
    modes: [...modes],
  }
}

const connector =
  (spec: object = {}, annotations = {}) =>
  (fixture: Fixture) =>
    fixture.cluster.apply('Connector', 'c', { class: 'Datagen', config: { topic: 'x' }, ...spec }, annotations)
const subject =
  (spec: object, name = 's') =>
  (fixture: Fixture) =>
    fixture.cluster.apply('Subject', name, spec)
const mode = (spec: object) => (fixture: Fixture) =>
  fixture.cluster.apply('RegistryMode', 'm', { scope: { type: 'Context', context: '.x' }, ...spec })
const remove = (key: ResourceKey) => (fixture: Fixture) => fixture.cluster.remove(key)
const operation = (id: string, type = 'Reset') => ({ offsets: { operation: { id, type } } })
const record = (...fields: string[]) =>
  JSON.stringify({ type: 'record', name: 'R', fields: fields.map((name) => ({ name, type: 'int', default: 0 })) })

const SCENARIOS: readonly Scenario[] = [
  {
    what: 'a connector is created, changed, paused and resumed',
    acts: [
      connector(),
      connector({ tasksMax: 2 }),
      connector({ tasksMax: 2, state: 'Paused' }),
      connector({ tasksMax: 2 }),
    ],
  },
  { what: 'a connector is created in state Stopped', acts: [connector({ state: 'Stopped' })] },
  {
    what: 'a connector is adopted',
    acts: [
      (fixture) =>
        fixture.worker.connectors.set('c', { config: { topic: 'old' }, state: 'RUNNING', tasks: [], offsets: [] }),
      connector(),
    ],
  },
  {
    what: 'drift of a connector is corrected',
    acts: [
      connector(),
      (fixture) =>
        fixture.worker.connectors.set('c', { ...fixture.worker.connectors.get('c')!, config: { topic: 'other' } }),
    ],
  },
  {
    what: 'a restart is requested',
    acts: [connector(), connector({}, { 'weir.dev/restart-requested-at': '1' })],
    repeats: /^restart /,
  },
  {
    what: 'a failed task is restarted',
    acts: [
      connector({ autoRestart: { initialBackoff: '1s' } }),
      (fixture) => fixture.worker.failTask('c', 0, 'boom'),
      (fixture) => fixture.clock.advance(2_000),
    ],
  },
  {
    what: 'offsets are set before a connector first runs',
    acts: [
      connector({
        offsets: {
          operation: { id: 'a', type: 'Alter', offsets: [{ partition: { file: 'f' }, offset: { position: 7 } }] },
        },
      }),
    ],
    repeats: /^alterOffsets /,
  },
  {
    what: 'offsets of a running connector are reset, twice',
    acts: [connector(), connector(operation('a')), connector(operation('b'))],
    repeats: /^resetOffsets /,
  },
  {
    what: 'offsets are exported, and set from the export',
    acts: [
      (fixture) =>
        fixture.worker.connectors.set('c', {
          config: { topic: 'x' },
          state: 'RUNNING',
          tasks: [],
          offsets: [{ partition: { file: 'f' }, offset: { position: 7 } }],
        }),
      connector({ offsets: { export: { configMapRef: { name: 'copy' }, interval: '1h' } } }),
      connector({
        offsets: { operation: { id: 'a', type: 'Alter', offsetsFrom: { configMapKeyRef: { name: 'copy' } } } },
      }),
    ],
    repeats: /^alterOffsets /,
  },
  { what: 'a connector is deleted', acts: [connector(), remove('Connector/default/c')] },
  {
    what: 'a connector is deleted with its offsets',
    acts: [connector({ deletionPolicy: 'DeleteWithOffsets' }), remove('Connector/default/c')],
    repeats: /^resetOffsets /,
  },
  {
    what: 'a connector waits for a subject',
    acts: [connector({ subjectRefs: [{ name: 's' }] }), subject({ schema: '"int"' })],
  },
  {
    what: 'a subject gets a level and three versions',
    acts: [['a'], ['a', 'b'], ['a', 'b', 'c']].map((fields) =>
      subject({ schema: record(...fields), compatibility: 'FULL' }),
    ),
  },
  {
    what: 'a declared level is removed',
    acts: [subject({ schema: '"int"', compatibility: 'FULL' }), subject({ schema: '"int"' })],
  },
  {
    what: 'versions are imported with their ids while a window is open, and another version is registered',
    acts: [
      mode({ mode: 'IMPORT', scope: { type: 'Registry' }, window: { duration: '1h' } }),
      subject({
        imports: [
          { version: 4, id: 40, schema: record('a', 'b') },
          { version: 2, id: 20, schema: record('a') },
        ],
      }),
      (fixture) => fixture.clock.advance(3_600_000),
      subject({
        imports: [
          { version: 4, id: 40, schema: record('a', 'b') },
          { version: 2, id: 20, schema: record('a') },
        ],
        schema: record('a', 'b', 'c'),
      }),
    ],
  },
  {
    what: 'a subject references another one',
    acts: [
      subject({ schema: '"int"', references: [{ name: 'R', subjectRef: { name: 'r' } }] }),
      subject({ schema: record('a') }, 'r'),
      subject({ schema: record('a', 'b') }, 'r'),
    ],
  },
  {
    what: 'a subject is deleted permanently',
    acts: [
      subject({ schema: '"int"', compatibility: 'FULL', deletionPolicy: 'HardDelete' }),
      remove('Subject/default/s'),
    ],
    repeats: /^(deleteSubject|deleteConfig) /,
  },
  {
    what: 'a subject is deleted with SoftDelete',
    acts: [subject({ schema: '"int"', deletionPolicy: 'SoftDelete' }), remove('Subject/default/s')],
    repeats: /^deleteSubject /,
  },
  {
    what: 'a mode and a level are set in a scope that has its own, and restored',
    acts: [
      (fixture) => fixture.registry.modes.set(':.x:', 'FORWARD'),
      (fixture) => fixture.registry.levels.set(':.x:', 'NONE'),
      mode({ mode: 'READONLY', compatibility: 'FULL' }),
      remove('RegistryMode/default/m'),
    ],
  },
  {
    what: 'a mode and a level are set in a scope that inherits them, and restored',
    acts: [mode({ mode: 'READONLY', compatibility: 'FULL' }), remove('RegistryMode/default/m')],
  },
  {
    what: 'a level is declared instead of a mode, and a mode instead of a level',
    acts: [mode({ mode: 'READONLY' }), mode({ compatibility: 'FULL' }), mode({ mode: 'READONLY' })],
  },
  {
    what: 'a window opens and closes',
    acts: [mode({ mode: 'READONLY', window: { duration: '1h' } }), (fixture) => fixture.clock.advance(3_600_000)],
  },
]

describe.each(SCENARIOS)('when $what,', { tags: ['slow'] }, (scenario) => {
  it('a crash of the operator after any write leads to the same final state, without a repeated write', async () => {
    const calm = await play(scenario, Number.POSITIVE_INFINITY)
    expect(calm.effects).toBeGreaterThan(1)
    for (let effects = 1; effects <= calm.effects; effects++) {
      const crashed = await play(scenario, effects)
      const after = `killed after effect ${effects} of ${calm.effects}`
      expect(crashed.world, after).toEqual(calm.world)
      const { repeats } = scenario
      const counted = (asked: readonly string[]) => asked.filter((one) => !repeats?.test(one))
      expect(counted(crashed.asked), after).toEqual(counted(calm.asked))
      // An idempotent request may be repeated once only.
      for (const one of new Set(crashed.asked)) {
        const times = (asked: readonly string[]) => asked.filter((other) => other === one).length
        expect(times(crashed.asked), `${one}, ${after}`).toBeLessThanOrEqual(times(calm.asked) + 1)
      }
    }
  })

  it('a crash leads to the same final state while lists do not show new objects yet', async () => {
    const calm = await play(scenario, Number.POSITIVE_INFINITY)
    for (let effects = 1; effects <= calm.effects; effects++) {
      const crashed = await play(scenario, effects, true)
      expect(crashed.world, `killed after effect ${effects} of ${calm.effects}`).toEqual(calm.world)
    }
  })
})
