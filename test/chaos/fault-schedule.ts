import { SeededRandom } from '../support/seeded-random.ts'

/** What happens to one broker, to the network before it, and to the partitions on it. */
const BROKER_FAULTS = [
  'broker killed',
  'broker terminated',
  'broker frozen',
  'broker disk full',
  'network slow',
  'connections reset',
  'connections half-open',
  'partitions reassigned',
] as const
/** What happens to one process of Weir. */
const PROGRAM_FAULTS = ['killed', 'terminated', 'frozen', 'clock jumped'] as const
const PROGRAMS = ['worker', 'registry'] as const

export type BrokerFault = {
  readonly kind: (typeof BROKER_FAULTS)[number]
  readonly broker: number
  readonly ms: number
  /** Of `network slow`: how long each piece of data takes, in each direction. */
  readonly delayMs?: number
}
export type ProgramFault = {
  readonly kind: `${(typeof PROGRAMS)[number]} ${(typeof PROGRAM_FAULTS)[number]}`
  readonly instance: number
  readonly ms: number
  /** Of `clock jumped`. */
  readonly jumpMs?: number
}
export type ClusterFault =
  | { readonly kind: 'two brokers killed'; readonly brokers: readonly [number, number]; readonly ms: number }
  /** For each partition, the replica after its leader becomes the leader. */
  | { readonly kind: 'leaders elected'; readonly ms: 0 }
  | { readonly kind: 'ACL revoked'; readonly right: Right; readonly ms: number }
export type Fault = BrokerFault | ProgramFault | ClusterFault
export type FaultKind = Fault['kind']

/** What a program of Weir loses for a time. */
export const RIGHTS = ['write schemas', 'join the workers', 'write lines', 'read lines'] as const
export type Right = (typeof RIGHTS)[number]

/** Faults that begin together. The next step begins when the programs have recovered, and not before its time. */
export type Step = { readonly atMs: number; readonly faults: readonly Fault[] }

export type Schedule = {
  readonly seed: number
  readonly workers: 2 | 3
  /** Whether the sources of the workers deliver exactly once. */
  readonly isExactlyOnce: boolean
  readonly steps: readonly Step[]
}

export const BROKERS = 3
export const REGISTRIES = 2

const PROGRAM_KINDS = PROGRAMS.flatMap((program) => PROGRAM_FAULTS.map((fault) => `${program} ${fault}` as const))
const CLUSTER_KINDS = ['two brokers killed', 'leaders elected', 'ACL revoked'] as const
export const FAULT_KINDS: readonly FaultKind[] = [...BROKER_FAULTS, ...PROGRAM_KINDS, ...CLUSTER_KINDS]

/** Time that the plan leaves for the recovery after each step. */
const RECOVERY_MS = 6_000
/** A broker rejects records from more than an hour ahead (`log.message.timestamp.after.max.ms`), and their task fails. */
const JUMP_MINUTES_MAX = 50
/** So many of four steps have a second fault, of the other side: of a program besides that of the cluster. */
const PAIRED_OF_4 = 1

/**
 * The schedule of a seed. It has each kind of fault once before any kind has a second turn. A longer schedule of the same
 * seed begins with the shorter one.
 */
export function faultSchedule(seed: number, minutes: number): Schedule {
  const random = new SeededRandom(seed)
  const workers = random.one([2, 3] as const)
  const isExactlyOnce = random.below(2) === 0
  const endMs = minutes * 60_000
  const steps: Step[] = []
  let deck: readonly FaultKind[] = []
  for (let atMs = random.between(500, 2_000); ; ) {
    if (deck.length === 0) deck = random.shuffled(FAULT_KINDS)
    const [kind, ...rest] = deck
    const second =
      random.below(4) < PAIRED_OF_4 ? rest.find((other) => isOfProgram(other) !== isOfProgram(kind!)) : undefined
    deck = rest.filter((other) => other !== second)
    const faults = [kind!, ...(second === undefined ? [] : [second])].map((each) => faultOf(each, random, workers))
    const untilMs = atMs + Math.max(...faults.map(({ ms }) => ms))
    if (untilMs > endMs && steps.length > 0) break
    steps.push({ atMs, faults })
    atMs = untilMs + RECOVERY_MS + random.between(0, 2_000)
  }
  return { seed, workers, isExactlyOnce, steps }
}

/** Whether a writer that the group has replaced may write once more: it was frozen, or cut off, but not ended. */
export function leavesReplacedWriters({ steps }: Schedule): boolean {
  const kinds: readonly FaultKind[] = [
    'worker frozen',
    'connections half-open',
    'network slow',
    'broker frozen',
    'two brokers killed',
    'ACL revoked',
  ]
  return steps.some(({ faults }) => faults.some(({ kind }) => kinds.includes(kind)))
}

/** The steps as lines: time, faults and their durations. */
export function timelineOf({ steps }: Schedule): readonly string[] {
  return steps.map(({ atMs, faults }) => `${seconds(atMs).padStart(7)}  ${faults.map(describeFault).join('; ')}`)
}

export function describeFault(fault: Fault): string {
  return fault.ms === 0 ? eventOf(fault) : `${eventOf(fault)} for ${seconds(fault.ms)}`
}

function eventOf(fault: Fault): string {
  if ('instance' in fault) {
    const jump = fault.jumpMs === undefined ? '' : ` by ${fault.jumpMs / 60_000} min`
    return `${fault.kind.replace(' ', ` ${fault.instance} `)}${jump}`
  }
  if ('brokers' in fault) return `brokers ${fault.brokers.join(' and ')} killed`
  if ('right' in fault) return `ACL to ${fault.right} revoked`
  return 'broker' in fault ? brokerEventOf(fault) : fault.kind
}

function brokerEventOf({ kind, broker, delayMs }: BrokerFault): string {
  if (kind.startsWith('broker ')) return kind.replace(' ', ` ${broker} `)
  if (kind === 'partitions reassigned') return `${kind} away from broker ${broker}`
  return `${kind}${delayMs === undefined ? '' : ` (${delayMs} ms)`} before broker ${broker}`
}

function faultOf(kind: FaultKind, random: SeededRandom, workers: number): Fault {
  // What is only frozen or cut off has effects when its sessions expire.
  const ms = random.between(20, /frozen|half-open/.test(kind) ? 150 : 80) * 100
  if (isOfProgram(kind)) {
    const instance = 1 + random.below(kind.startsWith('worker') ? workers : REGISTRIES)
    if (!kind.endsWith('clock jumped')) return { kind, instance, ms }
    return { kind, instance, ms, jumpMs: random.one([-1, 1]) * random.between(1, JUMP_MINUTES_MAX) * 60_000 }
  }
  switch (kind) {
    case 'two brokers killed': {
      const [first, second] = random.shuffled([1, 2, 3])
      return { kind, brokers: [first!, second!], ms }
    }
    case 'leaders elected':
      return { kind, ms: 0 }
    case 'ACL revoked':
      return { kind, right: random.one(RIGHTS), ms }
    case 'network slow':
      return { kind, broker: 1 + random.below(BROKERS), ms, delayMs: random.between(5, 40) * 10 }
    default:
      return { kind, broker: 1 + random.below(BROKERS), ms }
  }
}

function isOfProgram(kind: FaultKind): kind is ProgramFault['kind'] {
  return PROGRAM_KINDS.some((program) => program === kind)
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
