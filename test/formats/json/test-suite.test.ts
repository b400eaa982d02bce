import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import type { SchemaSource } from '../../../src/formats/format.ts'
import { jsonCodec } from '../../../src/formats/json/codec.ts'
import { jsonFormat } from '../../../src/formats/json/json-schema-format.ts'
import type { PlainJson, PlainJsonObject } from '../../../src/formats/json/schema-model.ts'

type Group = {
  readonly draft: string
  readonly description: string
  readonly schema: PlainJson
  readonly tests: readonly { readonly description: string; readonly data: PlainJson; readonly valid: boolean }[]
}
type Suite = { readonly groups: readonly Group[]; readonly remotes: Readonly<Record<string, PlainJson>> }

/** The required tests of the JSON-Schema-Test-Suite, recorded by `record-test-suite.mjs`. */
const { groups, remotes } = JSON.parse(
  gunzipSync(readFileSync(join(import.meta.dirname, 'test-suite.json.gz'))).toString(),
) as Suite

const DRAFTS: readonly (readonly [draft: string, groups: number, tests: number, $schema: string])[] = [
  ['draft4', 160, 618, 'http://json-schema.org/draft-04/schema#'],
  ['draft6', 232, 839, 'http://json-schema.org/draft-06/schema#'],
  ['draft7', 257, 927, 'http://json-schema.org/draft-07/schema#'],
  ['draft2019-09', 372, 1259, 'https://json-schema.org/draft/2019-09/schema'],
  ['draft2020-12', 383, 1299, 'https://json-schema.org/draft/2020-12/schema'],
]

describe('each schema of the public test suite', { tags: ['slow'] }, () => {
  describe.each(DRAFTS)('for %s', (draft, groupCount, testCount, $schema) => {
    const own = groups.filter((group) => group.draft === draft)
    const dependencies = Object.entries(remotes)
      .filter(([uri]) => !uri.includes('/draft') || uri.includes(`/${draft}/`))
      .map(([name, document]) => ({ name, subject: name, version: 1, text: JSON.stringify(document) }))
    const sourceOf = (schema: PlainJson): SchemaSource => {
      const named = typeof schema === 'boolean' ? schema : { $schema, ...(schema as PlainJsonObject) }
      return { text: JSON.stringify(named), dependencies }
    }

    it('is accepted as a new schema, and compatible with itself', () => {
      const problems = own.flatMap(({ description, schema }): readonly object[] => {
        try {
          const parsed = jsonFormat.parse(sourceOf(schema))
          return parsed.incompatibilities(parsed, { roles: { reader: 'new', writer: 'old' } })
        } catch (error) {
          return [{ description, error: (error as Error).message }]
        }
      })
      expect(problems).toEqual([])
      expect(own).toHaveLength(groupCount)
    })

    it('accepts and rejects the values that it must', () => {
      const verdicts = own.flatMap(({ description, schema, tests }) => {
        const { decode } = jsonCodec(sourceOf(schema), { validate: true })
        return tests.map((test) => {
          const problem = problemIn(() => decode(Buffer.from(JSON.stringify(test.data))))
          return { description, test: test.description, isRight: (problem === undefined) === test.valid, problem }
        })
      })
      expect(verdicts.filter(({ isRight }) => !isRight)).toEqual([])
      expect(verdicts).toHaveLength(testCount)
    })
  })
})

function problemIn(decode: () => unknown): string | undefined {
  try {
    decode()
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}
