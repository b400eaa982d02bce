import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { JsonObject, JsonValue } from '@bufbuild/protobuf'
import fc from 'fast-check'
import { expect, it, onTestFinished } from 'vitest'
import { protobufFormat } from '../../../src/formats/protobuf/protobuf-format.ts'
import { run } from '../../env/process.ts'
import { describeOn, real } from '../../env/real.ts'
import { propertyRuns, SEED } from '../../support/property-seed.ts'
import { BUILT_IN_OPTIONS, fileWithOptions, OPTIONS_FILE } from '../../support/proto-options.ts'

const python = await real('pythonClients')

/** What Google's library reads from the descriptor of protoc, and from Weir's. */
type Resolved = { readonly path: string; readonly protoc: JsonObject | null; readonly ours?: JsonObject }

describeOn([python], 'options, as protoc reads them', () => {
  async function resolved(files: Readonly<Record<string, string>>): Promise<ReadonlyMap<string, Resolved>> {
    const folder = mkdtempSync(join(tmpdir(), 'weir-options-'))
    onTestFinished(() => rmSync(folder, { recursive: true }))
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    const args = [join(import.meta.dirname, 'resolve-options.py'), python.address.packages, folder]
    const { code, stdout, stderr } = await run({ file: 'python3', args, directory: folder })
    expect({ code, stderr }).toMatchObject({ code: 0 })
    const lines = stdout.trim().split('\n')
    return new Map(lines.map((line) => JSON.parse(line) as Resolved).map((one) => [one.path, one]))
  }

  const dependencies = [{ name: 'options.proto', subject: 'options', version: 1, text: OPTIONS_FILE }]
  const parse = (text: string) => protobufFormat.parse({ text, dependencies })

  /** Compiles each text, its canonical and its normalized one, and the descriptor that Weir makes of it. */
  async function expectSameOptions(texts: readonly string[]): Promise<void> {
    const files: Record<string, string> = { 'options.proto': OPTIONS_FILE }
    for (const [at, text] of texts.entries()) {
      const schema = parse(text)
      const serialized = schema.formatted('serialized') ?? ''
      files[`${at}.proto`] = text
      files[`${at}.proto.descriptor`] = serialized
      files[`${at}-canonical.proto`] = schema.canonical
      files[`${at}-normal.proto`] = schema.normalized().canonical
      files[`${at}-read.proto`] = parse(serialized).canonical
    }
    const found = await resolved(files)
    for (const [at, text] of texts.entries()) {
      const { protoc, ours } = found.get(`${at}.proto`) ?? {}
      expect(protoc, text).toBeTruthy()
      const meaning = meaningOf(protoc ?? null)
      expect(meaningOf(ours ?? null), `Weir's descriptor of ${text}`).toEqual(meaning)
      for (const form of ['canonical', 'normal', 'read']) {
        const path = `${at}-${form}.proto`
        expect(meaningOf(found.get(path)?.protoc ?? null), files[path]).toEqual(meaning)
      }
    }
  }

  function expectStable(text: string): void {
    const schema = parse(text)
    const normal = schema.normalized()
    expect(parse(normal.canonical).canonical).toBe(normal.canonical)
    expect(parse(normal.canonical).normalized().canonical).toBe(normal.canonical)
    const compiled = parse(schema.formatted('serialized') ?? '')
    expect(compiled.isEquivalent(schema)).toBe(true)
    expect(compiled.normalized().isEquivalent(normal)).toBe(true)
  }

  it('random custom options of each kind are the same in the canonical and the normalized text and in the descriptor', async () => {
    const texts = fc.sample(fileWithOptions, { numRuns: propertyRuns(20), seed: SEED })
    for (const text of texts) expectStable(text)
    await expectSameOptions(texts)
  })

  it('built-in options that are messages or lists, declarations of extensions and groups are the same', async () => {
    const texts = Object.values(BUILT_IN_OPTIONS)
    for (const text of texts) expectStable(text)
    await expectSameOptions(texts)
  })
})

/** Without the file's name, and without the order of what has a name or a number. */
function meaningOf(file: JsonValue): JsonValue {
  if (file === null || typeof file !== 'object') return file
  const { name: _, ...rest } = inOrder(file) as JsonObject
  return rest
}

function inOrder(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(inOrder)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      // The order of the values of an option has a meaning.
      if (key === 'options') return [key, member]
      const inner = inOrder(member)
      return [key, Array.isArray(inner) ? inner.toSorted(byText) : inner]
    }),
  )
}

function byText(a: JsonValue, b: JsonValue): number {
  const [one, other] = [JSON.stringify(a), JSON.stringify(b)]
  return one < other ? -1 : one > other ? 1 : 0
}
