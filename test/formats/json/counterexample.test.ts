import { createRequire } from 'node:module'
import { Ajv } from 'ajv'
import { Ajv2019 } from 'ajv/dist/2019.js'
import { Ajv2020 } from 'ajv/dist/2020.js'
import Ajv04Module from 'ajv-draft-04'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { jsonFormat } from '../../../src/formats/json/json-schema-format.ts'
import type { PlainJson, PlainJsonObject } from '../../../src/formats/json/schema-model.ts'
import { anyValue, DRAFTS, type Draft, jsonSchemaPair, jsonValues } from '../../support/json-schemas.ts'
import { propertyRuns } from '../../support/property-seed.ts'

// Every schema was read before, which holds it to its meta-schema.
const OPTIONS = {
  strict: false,
  validateSchema: false,
  logger: false,
  addUsedSchema: false,
  useDefaults: true,
} as const
const MAKERS: Readonly<Record<Draft, () => Pick<Ajv, 'compile'>>> = {
  'draft-04': () => new Ajv04Module.default(OPTIONS) as unknown as Ajv,
  'draft-06': () =>
    new Ajv(OPTIONS).addMetaSchema(createRequire(import.meta.url)('ajv/dist/refs/json-schema-draft-06.json')),
  'draft-07': () => new Ajv(OPTIONS),
  '2019-09': () => new Ajv2019(OPTIONS),
  '2020-12': () => new Ajv2020(OPTIONS),
}

describe('compatible random JSON schemas', { tags: ['slow'] }, () => {
  /**
   * The rules of the original registry let some things pass that have counterexamples, and so do ours. None of these is
   * generated: a schema that does not say its type, `if`, `contains`, `propertyNames`, `patternProperties`, a boolean
   * `exclusiveMinimum` of draft 4, `required` for what is not listed or takes anything, `additionalProperties: true`
   * beside `unevaluatedProperties`, `additionalItems` beside no list of items. A `oneOf` is judged as if no value fitted two of its branches: see below.
   */
  it.each(DRAFTS)('accept all values that are valid for the old schema: %s', (draft) => {
    // Fewer would contain too few pairs that are compatible.
    const runs = Math.max(25, propertyRuns(25))
    const ajv = MAKERS[draft]()
    const seen = { compatible: 0, incompatible: 0, values: 0 }
    const pool = fc.sample(anyValue, 150)
    fc.assert(
      fc.property(jsonSchemaPair(draft), ([before, after]) => {
        if (!isCompatible(before, after)) {
          seen.incompatible += 1
          return
        }
        seen.compatible += 1
        const [fitted, fits] = [before, after].map((schema) => ajv.compile(schema))
        const values = [...pool, ...fc.sample(jsonValues(before, before['definitions'] as PlainJsonObject), 20)]
        for (const value of values.filter((one) => fitted?.(structuredClone(one)))) {
          seen.values += 1
          // Only because it fits two branches of a `oneOf`.
          if (!fits?.(structuredClone(value))) {
            const fitsSome = ajv.compile(withoutOneOf(after))
            expect({ value, fits: fitsSome(structuredClone(value)) }).toEqual({ value, fits: true })
          }
        }
      }),
      { numRuns: runs },
    )
    expect(Math.min(seen.compatible, seen.incompatible)).toBeGreaterThan(runs / 10)
    expect(seen.values).toBeGreaterThan(2 * runs)
  })
})

function isCompatible(before: PlainJsonObject, after: PlainJsonObject): boolean {
  const [old, now] = [before, after].map((schema) => jsonFormat.parse({ text: JSON.stringify(schema) }))
  return old !== undefined && now?.incompatibilities(old, { roles: { reader: 'new', writer: 'old' } }).length === 0
}

function withoutOneOf(schema: PlainJson): PlainJsonObject {
  return JSON.parse(JSON.stringify(schema).replaceAll('"oneOf":', '"anyOf":')) as PlainJsonObject
}
