import type { SeededRandom } from '../../../support/seeded-random.ts'
import type { Step } from '../../world.ts'
import { FIRST_IMPORTED, type RegistryRequest } from './registry-request.ts'

export const INSTANCES = ['r1', 'r2', 'r3'] as const
/** The last one is in a context of its own, with its own IDs. No schema of the first one is deleted permanently. */
export const SUBJECTS = ['s0', 's1', 's2', ':.c:s3'] as const
export const KEKS = ['k0', 'k1'] as const

const DURATION_MS = 60_000
const REQUESTS = 34
const FAULTS_MAX = 8

/** Requests of users, and what happens to the registries meanwhile. */
export function planRegistry(random: SeededRandom): readonly Step[] {
  const steps: Step[] = [{ atMs: 0, do: 'set-network', ...random.one(NETWORKS) }]
  for (let number = 0; number < REQUESTS; number += 1) {
    // Half of them come close together.
    const atMs =
      random.below(2) === 0
        ? random.below(DURATION_MS)
        : 1_000 * random.below(DURATION_MS / 5_000) * 5 + random.below(50)
    steps.push({ atMs, do: 'request', to: random.one(INSTANCES), request: planRequest(random, number) })
  }
  for (let left = random.below(FAULTS_MAX + 1); left > 0; left -= 1) steps.push(...planFault(random))
  if (random.below(3) === 0) steps.push({ atMs: DURATION_MS, do: 'forget' })
  return steps.sort((one, other) => one.atMs - other.atMs)
}

const NETWORKS = [
  { requestLost: 0, responseLost: 0, slow: 0, late: 0, transient: 0 },
  { requestLost: 10, responseLost: 10, slow: 20, late: 500, transient: 0 },
  { requestLost: 40, responseLost: 40, slow: 60, late: 800, transient: 30 },
  { requestLost: 0, responseLost: 0, slow: 0, late: 0, transient: 80 },
] as const

function planRequest(random: SeededRandom, number: number): RegistryRequest {
  return random.below(100) < 70 ? planSubjectRequest(random) : planKeyRequest(random, number)
}

function planSubjectRequest(random: SeededRandom): RegistryRequest {
  const subject = random.one(SUBJECTS)
  const permanent = subject !== SUBJECTS[0] && random.below(2) === 0
  const version = random.between(1, 4)
  const choice = random.below(100)
  if (choice < 40) return { kind: 'register', subject, content: random.below(FIRST_IMPORTED) }
  if (choice < 50)
    return { kind: 'delete-version', subject, version: random.below(3) === 0 ? 'latest' : version, permanent }
  if (choice < 60) return { kind: 'delete-subject', subject, permanent }
  if (choice < 65)
    return { kind: 'set-config', subject, level: random.one(['NONE', 'BACKWARD', 'BACKWARD_TRANSITIVE']) }
  if (choice < 67) return { kind: 'delete-config', subject }
  if (choice < 70)
    return {
      kind: 'set-mode',
      subject,
      mode: random.one(['READWRITE', 'READONLY', 'IMPORT']),
      force: random.below(2) === 0 && subject !== SUBJECTS[0],
    }
  if (choice < 74) return { kind: 'delete-mode', subject }
  if (choice < 79) return { kind: 'import', subject, content: random.between(FIRST_IMPORTED, 9), version }
  if (choice < 88) return { kind: 'versions', subject }
  if (choice < 95) return { kind: 'version', subject, version }
  return { kind: 'lookup', subject, content: random.below(FIRST_IMPORTED) }
}

function planKeyRequest(random: SeededRandom, number: number): RegistryRequest {
  const kek = random.one(KEKS)
  const subject = random.one(SUBJECTS)
  const permanent = random.below(2) === 0
  const version = random.between(1, 2)
  const choice = random.below(100)
  if (choice < 25) return { kind: 'create-kek', kek }
  if (choice < 32) return { kind: 'delete-kek', kek, permanent }
  if (choice < 37) return { kind: 'undelete-kek', kek }
  if (choice < 67) return { kind: 'create-dek', kek, subject, version, material: `material${number}` }
  if (choice < 80) return { kind: 'delete-dek', kek, subject, version, permanent }
  if (choice < 85) return { kind: 'undelete-dek', kek, subject, version }
  return { kind: 'dek', kek, subject, version }
}

/** A fault and its end. */
function planFault(random: SeededRandom): readonly Step[] {
  const atMs = random.below(DURATION_MS)
  const untilMs = atMs + random.below(25_000)
  const name = random.one(['leader', 'leader', ...INSTANCES])
  switch (random.below(8)) {
    case 0:
      return [
        { atMs, do: 'crash', name },
        { atMs: untilMs, do: 'start-all' },
      ]
    case 1:
      return [{ atMs, do: 'pause', name, ms: random.one([500, 5_000, 12_000, 25_000]) }]
    case 2:
      return [
        { atMs, do: 'cut', left: name, right: random.one(['broker', 'broker', ...INSTANCES]) },
        { atMs: untilMs, do: 'heal' },
      ]
    case 3:
      return [
        { atMs, do: 'crash-at-write', write: random.between(1, 4) },
        { atMs: untilMs, do: 'start-all' },
      ]
    case 4:
      return [{ atMs, do: 'pause-at-write', write: random.between(1, 4), ms: random.one([5_000, 12_000, 25_000]) }]
    case 5:
      return [{ atMs, do: 'delay-write', write: random.between(1, 4), ms: random.one([1_000, 6_000, 9_000, 20_000]) }]
    case 6:
      return [
        { atMs, do: 'stop', name },
        { atMs: untilMs, do: 'start-all' },
      ]
    default:
      return [{ atMs, do: 'skew', name, ms: random.between(-120_000, 120_000) }]
  }
}
