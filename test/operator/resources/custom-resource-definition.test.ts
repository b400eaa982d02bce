import { globSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { crdFiles } from '../../../src/operator/crd-files.ts'
import { crdOf } from '../../../src/operator/resources/custom-resource-definition.ts'
import { RESOURCE_KINDS } from '../../../src/operator/resources/resource.ts'

// `npx vitest run -u test/operator/resources/custom-resource-definition.test.ts` regenerates the files.

const FOLDER = join(import.meta.dirname, '../../../crds')

type Schema = {
  readonly type?: string
  readonly description?: string
  readonly enum?: readonly string[]
  readonly default?: unknown
  readonly properties?: Readonly<Record<string, Schema>>
  readonly additionalProperties?: Schema
  readonly items?: Schema
  readonly maxItems?: number
  readonly pattern?: string
  readonly 'x-kubernetes-list-type'?: string
}

describe('the generated CustomResourceDefinitions', () => {
  it.each(crdFiles())('$name equals what its schema generates', async ({ name, text }) => {
    await expect(text).toMatchFileSnapshot(join(FOLDER, name))
  })

  it('are complete', () => {
    const found = globSync('*', { cwd: FOLDER }).map((file) => basename(file))
    expect(found.sort()).toEqual(
      crdFiles()
        .map(({ name }) => name)
        .sort(),
    )
  })
})

describe.each(RESOURCE_KINDS)('kubectl explain of %s', (kind) => {
  const fields = [...fieldsOf('spec', schemaOf(kind, 'spec')), ...fieldsOf('status', schemaOf(kind, 'status'))]

  it('has a description of every field', () => {
    expect(fields.filter(([, { description = '' }]) => !/^\S.{8,}\.$/.test(description)).map(([path]) => path)).toEqual(
      [],
    )
  })

  it('describes every value of an enum, and every default', () => {
    const silent = fields.flatMap(([path, { description = '', enum: values = [], default: value }]) => {
      const [first = '', ...rest] = path.split('.')
      const isOfCondition = [first, ...rest].join('.').startsWith('status.')
      const unexplained = isOfCondition ? [] : values.filter((word) => !description.includes(`${word}: `))
      const isSilent = value !== undefined && typeof value !== 'object' && !description.includes(`Default: ${value}.`)
      return [...unexplained.map((word) => `${path}: ${word}`), ...(isSilent ? [`${path}: default ${value}`] : [])]
    })
    expect(silent).toEqual([])
  })

  it('has an example of every duration', () => {
    const durations = fields.filter(([, { pattern }]) => pattern?.includes('(h|m|s)'))
    expect(
      durations.filter(([, { description }]) => !description?.includes('Example: ')).map(([path]) => path),
    ).toEqual([])
  })

  it('limits the length of every list and declares how it merges', () => {
    const lists = fields.filter(([, { type }]) => type === 'array')
    const loose = lists.filter(
      ([, list]) => list.maxItems === undefined || list['x-kubernetes-list-type'] === undefined,
    )
    expect(loose.map(([path]) => path)).toEqual([])
  })
})

function schemaOf(kind: (typeof RESOURCE_KINDS)[number], part: 'spec' | 'status'): Schema {
  const definition = crdOf(kind) as { spec: { versions: { schema: { openAPIV3Schema: Schema } }[] } }
  return definition.spec.versions[0]!.schema.openAPIV3Schema.properties![part]!
}

function fieldsOf(path: string, schema: Schema): (readonly [string, Schema])[] {
  const own = Object.entries(schema.properties ?? {})
  const inner = schema.items ?? schema.additionalProperties
  return [
    ...own.map(([name, field]) => [`${path}.${name}`, field] as const),
    ...own.flatMap(([name, field]) => fieldsOf(`${path}.${name}`, field)),
    ...(inner === undefined ? [] : fieldsOf(`${path}[]`, inner)),
  ]
}
