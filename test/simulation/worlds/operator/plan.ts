import type { SeededRandom } from '../../../support/seeded-random.ts'
import type { Step } from '../../world.ts'

export const HISTORY_MS = 24_000
export const CONNECTORS = ['c1', 'c2', 'c3']
export const SUBJECTS = ['s1', 's2']
/** RegistryModes have the name of the subject that is their scope. */
export const MODES = ['s1', 's3']
const OPERATORS = ['op1', 'op2']

type Action = Omit<Step, 'atMs'> & { readonly do: string }

/** What users, runtimes and the machine room do to one operator or two. A quarter of the histories has no faults. */
export function planOperatorHistory(random: SeededRandom): readonly Step[] {
  const isCalm = random.below(4) === 0
  const operators = OPERATORS.slice(0, random.between(1, 2))
  const steps: Step[] = []
  const add = (action: Action, atMs = random.below(HISTORY_MS)) => steps.push({ atMs, ...action })
  for (const [number, who] of operators.entries()) add({ do: 'start', who }, number === 0 ? 0 : random.below(10_000))
  if (!isCalm) add(planNetwork(random), 0)
  const count = random.between(4, 10)
  for (let number = 1; number <= count; number++) add(planUser(random, number))
  for (let left = random.below(5); left > 0; left--) add(planRuntime(random))
  if (!isCalm) for (let left = random.below(7); left > 0; left--) add(planFault(random, operators))
  return steps.sort((a, b) => a.atMs - b.atMs)
}

function planNetwork(random: SeededRandom): Action {
  return {
    do: 'faults',
    requestLost: random.below(40),
    responseLost: random.below(40),
    slow: random.below(60),
    late: random.below(400),
    // With a repetition of the request it arrives within its timeout, as the lease presumes.
    lateMsMax: 3_000,
    unavailable: random.below(20),
    afterEffect: random.below(20),
  }
}

function planUser(random: SeededRandom, number: number): Action {
  const kind = random.one(['Connector', 'Connector', 'Connector', 'Subject', 'RegistryMode'])
  const name = random.one(kind === 'Connector' ? CONNECTORS : kind === 'Subject' ? SUBJECTS : MODES)
  if (random.below(5) === 0) return { do: 'delete', kind, name }
  const apply = { do: 'apply', kind, name }
  if (kind === 'Subject') return { ...apply, spec: planSubject(random) }
  if (kind === 'RegistryMode') return { ...apply, spec: planMode(random, name) }
  const annotations = random.below(3) === 0 ? { 'weir.dev/restart-requested-at': `restart-${number}` } : {}
  return { ...apply, spec: planConnector(random, number), annotations }
}

function planConnector(random: SeededRandom, number: number) {
  return {
    workerRef: { name: 'default' },
    class: 'Datagen',
    tasksMax: random.between(1, 2),
    state: random.one(['Running', 'Running', 'Running', 'Paused', 'Stopped']),
    config: { topic: `t${random.below(3)}` },
    autoRestart: { initialBackoff: '2s', maxBackoff: '8s' },
    ...(random.below(5) === 0 && { offsets: { operation: { id: `offsets-${number}`, type: 'Reset' } } }),
    deletionPolicy: random.one(['Delete', 'Delete', 'DeleteWithOffsets', 'Retain']),
    adoptionPolicy: random.one(['Adopt', 'AdoptIfIdentical', 'Never']),
  }
}

function planSubject(random: SeededRandom) {
  return {
    registryRef: { name: 'default' },
    schema: schemaOf(random.below(3)),
    ...(random.below(3) === 0 && { compatibility: random.one(['NONE', 'BACKWARD', 'FULL']) }),
    deletionPolicy: random.one(['Retain', 'SoftDelete', 'HardDelete']),
    adoptionPolicy: random.one(['Adopt', 'AdoptIfIdentical', 'Never']),
  }
}

function planMode(random: SeededRandom, subject: string) {
  return {
    registryRef: { name: 'default' },
    scope: { type: 'Subject', subject },
    mode: random.one(['READONLY', 'READWRITE']),
    deletionPolicy: 'Restore',
  }
}

function schemaOf(version: number): string {
  const fields = Array.from({ length: version + 1 }, (_, at) => ({ name: `f${at}`, type: 'int', default: 0 }))
  return JSON.stringify({ type: 'record', name: 'R', fields })
}

function planRuntime(random: SeededRandom): Action {
  switch (random.below(6)) {
    case 0:
    case 1:
      return { do: 'fail task', connector: random.one(CONNECTORS), task: random.below(2) }
    case 2:
      return { do: 'foreign connector', connector: random.one(CONNECTORS), topic: `t${random.below(3)}` }
    case 3:
      return { do: 'foreign schema', subject: random.one(SUBJECTS), schema: schemaOf(random.below(4)) }
    case 4:
      return { do: 'foreign deletion', connector: random.one(CONNECTORS) }
    default:
      return { do: 'rebalance', ms: random.between(500, 20_000) }
  }
}

function planFault(random: SeededRandom, operators: readonly string[]): Action {
  const who = random.one(operators)
  switch (random.below(9)) {
    case 0:
    case 1:
      return { do: 'crash', who, ms: random.one([1, 2_000, 30_000]) }
    case 2:
      return { do: 'stop', who }
    case 3:
      return {
        do: 'pause',
        who,
        ms: random.between(100, 40_000),
        ...(random.below(2) === 0 && { atWrite: random.between(1, 6) }),
      }
    case 4:
      return { do: 'cut', who, from: random.one(['api', 'connect', 'registry']), ms: random.between(1_000, 60_000) }
    case 5:
      return { do: 'break watches', isSilent: random.below(4) === 0, ...(random.below(2) === 0 && { who }) }
    case 6:
      return { do: 'compact' }
    case 7:
      return { do: 'lag', lagMs: random.one([500, 5_000, 30_000]), ms: random.between(5_000, 60_000) }
    default:
      return { do: 'skew', who, ms: random.between(-60_000, 60_000) }
  }
}
