import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { createRegistryClient, type RegistryClient } from '../../../src/clients/registry-client.ts'
import { removeDirectory } from '../../env/remove-directory.ts'
import { runWeir } from '../../support/cli.ts'
import { anyDamage, damageFiles } from '../../support/file-damage.ts'
import { SEED } from '../../support/property-seed.ts'
import { startRegistryProcess } from '../../support/registry-process.ts'

const SCHEMAS = 400
/** Whole programs on damaged data; the same damage is tried 500 times by `test/broker/embedded/damaged-data.test.ts`. */
const ROUNDS = Number(process.env['WEIR_DAMAGED_PROGRAMS'] ?? 6)

const schemaOf = (index: number) =>
  JSON.stringify({ type: 'record', name: `R${index}`, fields: [{ name: 'f', type: 'string' }] })

let root: string
/** A registry with 400 schemas: killed while it ran, and ended as it should. */
let [killed, closed, earlier] = ['', '', '']

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), 'weir-damaged-'))
  closed = join(root, 'closed')
  killed = join(root, 'killed')
  earlier = join(root, 'earlier')
  const first = await startRegistryProcess(['--data', closed], {})
  await registerAll(createRegistryClient(first), 0, SCHEMAS / 2)
  cpSync(closed, earlier, { recursive: true })
  await registerAll(createRegistryClient(first), SCHEMAS / 2, SCHEMAS)
  await first.kill()
  cpSync(closed, killed, { recursive: true })
  const second = await startRegistryProcess(['--data', closed], {})
  expect(await idsIn(createRegistryClient(second))).toHaveLength(SCHEMAS)
  await second.stop()
})
afterAll(() => removeDirectory(root))

async function registerAll(registry: RegistryClient, from: number, to: number): Promise<void> {
  for (let index = from; index < to; index++) await registry.register(`s${index}`, { schema: schemaOf(index) })
}

/** The id of every schema, in the order of registration. */
async function idsIn(registry: RegistryClient): Promise<readonly number[]> {
  const subjects = new Set(await registry.subjects())
  const names = Array.from({ length: SCHEMAS }, (_, index) => `s${index}`).filter((name) => subjects.has(name))
  const ids: number[] = []
  for (const name of names) ids.push((await registry.latest(name))!.id)
  return ids
}

function copyOf(origin: string): string {
  const directory = join(mkdtempSync(join(root, 'round-')), 'data')
  cpSync(origin, directory, { recursive: true })
  return directory
}

/** Starts a registry: what it holds, or the last words of one that did not start. */
async function outcomeOf(directory: string): Promise<{ readonly ids?: readonly number[]; readonly refusal?: string }> {
  try {
    const program = await startRegistryProcess(['--data', directory], {})
    try {
      return { ids: await idsIn(createRegistryClient(program)) }
    } finally {
      await program.stop()
    }
  } catch (error) {
    return { refusal: (error as Error).message }
  }
}

const ALL_IDS = Array.from({ length: SCHEMAS }, (_, index) => index + 1)

describe('a registry does not start on damaged data, and reports the place of the damage', () => {
  it('one flipped bit in the last batch', async () => {
    const directory = copyOf(closed)
    const file = join(directory, 'broker.db')
    const bytes = readFileSync(file)
    const text = `"s${SCHEMAS - 1}"`
    for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text)) bytes[at]! ^= 1
    writeFileSync(file, bytes)
    const { refusal } = await outcomeOf(directory)
    expect(refusal).toContain(file)
    expect(refusal).toMatch(/topic '_schemas', partition 0, offsets \d+ to \d+/)
    expect(refusal).toContain(`weir data repair ${directory}`)
  })

  it('a write-ahead log that is missing or truncated', async () => {
    let refusals = 0
    for (const part of [undefined, 0, 0.3, 0.99]) {
      const directory = copyOf(killed)
      const wal = join(directory, 'broker.db-wal')
      if (part === undefined) rmSync(wal)
      else truncateSync(wal, Math.floor(statSync(wal).size * part))
      const { ids, refusal } = await outcomeOf(directory)
      // The end of the log can be from before its last checkpoint: then nothing is missing.
      if (ids !== undefined) expect(ids).toEqual(ALL_IDS)
      else {
        expect(refusal).toContain(wal)
        expect(refusal).toMatch(/topic '_schemas', partition 0, offsets \d+ to \d+/)
        refusals += 1
      }
    }
    expect(refusals).toBeGreaterThan(0)
  })

  it('a copy of broker.db alone', async () => {
    const directory = join(root, 'alone')
    mkdirSync(directory)
    cpSync(join(closed, 'broker.db'), join(directory, 'broker.db'))
    expect((await outcomeOf(directory)).refusal).toContain('broker.check is missing')
  })
})

it('a registry whose files were damaged randomly has all schemas with their ids, or does not start and names the file', async () => {
  const rounds = fc.sample(fc.record({ isKilled: fc.boolean(), damages: anyDamage }), { numRuns: ROUNDS, seed: SEED })
  for (const { isKilled, damages } of rounds) {
    const directory = copyOf(isKilled ? killed : closed)
    damageFiles(directory, damages, [earlier])
    const { ids, refusal } = await outcomeOf(directory)
    const what = JSON.stringify({ isKilled, damages })
    if (refusal === undefined) expect(ids, what).toEqual(ALL_IDS)
    else expect(refusal, what).toMatch(/data directory .* is damaged: .*broker\.(?:db|db-wal|check) /)
  }
})

it('weir data backs up, repairs and restores the data of a registry', async () => {
  const directory = copyOf(killed)
  const backup = join(root, 'backup')
  const program = await startRegistryProcess(['--data', directory], {})
  onTestFinished(() => program.stop())
  const registry = createRegistryClient(program)
  let isWriting = true
  const writing = (async () => {
    for (let index = 0; isWriting; index++) await registry.register('more', { schema: schemaOf(index) }).catch(() => {})
  })()
  expect(await runWeir(root, 'data', 'backup', directory, '--to', backup)).toMatchObject({ code: 0, stderr: '' })
  expect(await runWeir(root, 'data', 'verify', directory)).toMatchObject({ code: 0 })
  expect(await runWeir(root, 'data', 'repair', directory)).toMatchObject({ code: 3 })
  isWriting = false
  await writing
  await program.kill()
  expect((await outcomeOf(backup)).ids).toEqual(ALL_IDS)

  rmSync(join(directory, 'broker.db-wal'))
  expect(await runWeir(root, 'data', 'verify', directory)).toMatchObject({ code: 1 })
  const repaired = await runWeir(root, 'data', 'repair', directory, '--output', 'json')
  expect(repaired.code).toBe(1)
  expect(JSON.parse(repaired.stdout).lost).toContainEqual(expect.objectContaining({ topic: '_schemas', partition: 0 }))
  expect(await runWeir(root, 'data', 'verify', directory)).toMatchObject({ code: 0 })

  expect(await runWeir(root, 'data', 'restore', directory, '--from', backup)).toMatchObject({ code: 1 })
  const restored = await runWeir(root, 'data', 'restore', directory, '--from', backup, '--replace')
  expect(restored).toMatchObject({ code: 0, stderr: '' })
  expect((await outcomeOf(directory)).ids).toEqual(ALL_IDS)
})
