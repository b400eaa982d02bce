import {
  appendFileSync,
  copyFileSync,
  existsSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'

/** The files of a data directory that hold data or checksums. */
export const DATA_FILES = ['broker.db', 'broker.db-wal', 'broker.check'] as const
const ALL_FILES = [...DATA_FILES, 'holder.json', 'broker.lock'] as const

/** Damage to one file. Positions are fractions of its size. */
export type FileDamage = { readonly file: (typeof ALL_FILES)[number] } & (
  | { readonly kind: 'flip'; readonly at: number; readonly bit: number }
  | { readonly kind: 'overwrite'; readonly at: number; readonly bytes: number; readonly value: number }
  | { readonly kind: 'cut'; readonly at: number }
  | { readonly kind: 'remove' }
  | { readonly kind: 'append'; readonly bytes: number }
  /** Replaces the file by an earlier copy of it. */
  | { readonly kind: 'older'; readonly copy: number }
  /** Replaces the file by another file of the directory. */
  | { readonly kind: 'other'; readonly from: (typeof ALL_FILES)[number] }
)

const place = fc.double({ min: 0, max: 1, noNaN: true, maxExcluded: true })
const file = fc.oneof({ weight: 6, arbitrary: fc.constantFrom(...DATA_FILES) }, fc.constantFrom(...ALL_FILES))

const fileDamage: fc.Arbitrary<FileDamage> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ file, kind: fc.constant('flip' as const), at: place, bit: fc.nat(7) }) },
  fc.record({
    file,
    kind: fc.constant('overwrite' as const),
    at: place,
    bytes: fc.integer({ min: 1, max: 20_000 }),
    value: fc.nat(255),
  }),
  { weight: 2, arbitrary: fc.record({ file, kind: fc.constant('cut' as const), at: place }) },
  fc.record({ file, kind: fc.constant('remove' as const) }),
  fc.record({ file, kind: fc.constant('append' as const), bytes: fc.integer({ min: 1, max: 40_000 }) }),
  { weight: 2, arbitrary: fc.record({ file, kind: fc.constant('older' as const), copy: fc.nat(100) }) },
  fc.record({ file, kind: fc.constant('other' as const), from: fc.constantFrom(...ALL_FILES) }),
)

/**
 * One to three kinds of damage. An older `broker.check` is never combined with others: together with a data file
 * truncated to match it, the result would be a valid earlier state of the directory.
 */
export const anyDamage: fc.Arbitrary<readonly FileDamage[]> = fc
  .array(fileDamage, { minLength: 1, maxLength: 3 })
  .map((damages) => {
    const rollback = damages.find(({ file, kind }) => file === 'broker.check' && kind === 'older')
    return rollback === undefined ? damages : [rollback]
  })

/** `copies`: directories with earlier copies of the same files. */
export function damageFiles(directory: string, damages: readonly FileDamage[], copies: readonly string[]): void {
  for (const damage of damages) damageFile(directory, damage, copies)
}

function damageFile(directory: string, damage: FileDamage, copies: readonly string[]): void {
  const path = join(directory, damage.file)
  const copy = damage.kind === 'older' ? copies[damage.copy % Math.max(1, copies.length)] : undefined
  if (copy !== undefined) replaceFile(path, join(copy, damage.file))
  if (damage.kind === 'other') replaceFile(path, join(directory, damage.from))
  if (damage.kind === 'older' || damage.kind === 'other' || !existsSync(path)) return
  if (damage.kind === 'remove') rmSync(path)
  else if (damage.kind === 'append') appendFileSync(path, Buffer.alloc(damage.bytes, 7))
  else if (damage.kind === 'cut') truncateSync(path, Math.floor(statSync(path).size * damage.at))
  else changeBytes(path, damage)
}

function replaceFile(path: string, from: string): void {
  if (from === path) return
  if (existsSync(from)) copyFileSync(from, path)
  else rmSync(path, { force: true })
}

function changeBytes(path: string, damage: Extract<FileDamage, { kind: 'flip' | 'overwrite' }>): void {
  const bytes = readFileSync(path)
  const at = Math.floor(bytes.length * damage.at)
  if (bytes.length === 0) return
  if (damage.kind === 'flip') bytes[at]! ^= 1 << damage.bit
  else bytes.fill(damage.value, at, Math.min(bytes.length, at + damage.bytes))
  writeFileSync(path, bytes)
}
