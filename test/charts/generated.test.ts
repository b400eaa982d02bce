import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { CHARTS, chartFile, chartValues, generatedFiles, type Schema } from '../support/charts.ts'

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
