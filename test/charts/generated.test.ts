import { join } from 'node:path'
import { Ajv } from 'ajv'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { crdFiles } from '../../src/operator/crd-files.ts'
import { parseResource } from '../../src/operator/resources/parse-resource.ts'
import { CHARTS, type ChartValue, chartFile, chartValues, generatedFiles, type Schema } from '../support/charts.ts'

// `npx vitest run -u test/charts/generated.test.ts` regenerates the files.

describe('generated files of the charts', () => {
  it.each(generatedFiles())('$path equals what its source generates', async ({ path, text }) => {
    await expect(text).toMatchFileSnapshot(join(CHARTS, path))
  })
})

describe('values.yaml', () => {
  const schema: Schema = JSON.parse(chartFile('weir/values.schema.json'))
  const values = chartValues()

  it('has a comment for every value', () => {
    expect(values.length).toBeGreaterThan(80)
    expect(values.filter(({ about }) => about === '').map(({ path }) => path)).toEqual([])
  })

  it('has exactly the values of values.schema.json', () => {
    const known = new Set(values.map(({ path }) => path))
    // Helm's global values, and the chart weir-crds, which has no values.
    expect(leavesOf(schema).filter((path) => !known.has(path))).toEqual(['global', 'weir-crds'])
    expect(values.filter(({ takes }) => takes === 'anything').map(({ path }) => path)).toEqual([])
  })

  it('has a schema that rejects unknown keys', () => {
    const open = objectsOf(schema, '#').filter(({ at, schema: { additionalProperties: more } }) => {
      const isOfKubernetes = at.startsWith('#/$defs/kubernetes.')
      return !isOfKubernetes && !(more === false || typeof more === 'object')
    })
    expect(open.map(({ at }) => at)).toEqual(['#/properties/global', '#/properties/weir-crds/properties/global'])
  })

  describe('are checked by values.schema.json', () => {
    const validate = new Ajv({ strict: false }).compile(schema as object)
    const preset = parse(chartFile('weir/values.yaml'))

    it('which accepts the defaults', () => {
      expect(validate(preset), JSON.stringify(validate.errors)).toBe(true)
    })

    it.each(values.flatMap((value) => wrongFor(value).map((wrong) => ({ path: value.path, wrong }))))(
      'which rejects $path=$wrong',
      ({ path, wrong }) => {
        expect(validate(withValue(preset, path.split('.'), wrong))).toBe(false)
      },
    )
  })

  /** Values of other types than the default, and a list with an item that no list takes. */
  function wrongFor({ preset }: ChartValue): readonly unknown[] {
    const own = JSON.parse(preset) as unknown
    if (Array.isArray(own)) return ['text', 7, {}, [null]]
    if (typeof own === 'object') return ['text', 7, ['text']]
    return [typeof own === 'string' ? 7 : 'text', [], {}]
  }

  function withValue(values: Readonly<Record<string, unknown>>, [key = '', ...rest]: string[], value: unknown): object {
    const below = values[key] as Readonly<Record<string, unknown>>
    return { ...values, [key]: rest.length === 0 ? value : withValue(below, rest, value) }
  }

  function leavesOf({ properties = {} }: Schema, prefix = ''): readonly string[] {
    return Object.entries(properties).flatMap(([key, below]) => {
      const path = `${prefix}${key}`
      const isShared = path === 'pods' && schema.$defs?.['pods']
      const own = isShared || below
      return own.properties === undefined || path === 'weir-crds' ? [path] : leavesOf(own, `${path}.`)
    })
  }

  function objectsOf(node: unknown, at: string): readonly { at: string; schema: Schema }[] {
    if (typeof node !== 'object' || node === null) return []
    const own = (node as Schema).type === 'object' ? [{ at, schema: node as Schema }] : []
    return [...own, ...Object.entries(node).flatMap(([key, below]) => objectsOf(below, `${at}/${key}`))]
  }
})

describe('the metadata for Artifact Hub', () => {
  const { annotations } = parse(chartFile('weir/Chart.yaml')) as {
    readonly annotations: Readonly<Record<string, string>>
  }
  type Crd = { readonly kind: string; readonly version: string; readonly name: string }

  it('has every CRD with its served version', () => {
    const listed = parse(annotations['artifacthub.io/crds']!) as readonly Crd[]
    const served = crdFiles().map(({ text }) => {
      const { metadata, spec } = parse(text)
      return { kind: spec.names.kind, version: spec.versions[0].name, name: metadata.name }
    })
    const byName = (a: Crd, b: Crd) => a.name.localeCompare(b.name)
    expect(listed.map(({ kind, version, name }) => ({ kind, version, name })).toSorted(byName)).toEqual(
      served.toSorted(byName),
    )
  })

  it('has a valid example of each kind', () => {
    const parsed = (parse(annotations['artifacthub.io/crdsExamples']!) as readonly unknown[]).map((one) =>
      parseResource(one),
    )
    expect(parsed.flatMap(({ errors }) => errors)).toEqual([])
    expect(parsed.map(({ declared }) => declared?.kind).toSorted()).toEqual(['Connector', 'RegistryMode', 'Subject'])
  })
})
