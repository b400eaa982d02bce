import { describe, expect, it } from 'vitest'
import { type LabelSelector, matchesSelector } from '../../src/operator/label-selector.ts'

type Expression = LabelSelector['matchExpressions'][number]

const withLabels = (matchLabels: LabelSelector['matchLabels']): LabelSelector => ({ matchLabels, matchExpressions: [] })
const withExpressions = (...matchExpressions: readonly Expression[]): LabelSelector => ({
  matchLabels: {},
  matchExpressions,
})
const labels = { team: 'shop', stage: 'prod' }

describe('a selector of labels', () => {
  it.each<[boolean, string, LabelSelector]>([
    [true, 'its label', withLabels({ team: 'shop' })],
    [true, 'all its labels', withLabels({ team: 'shop', stage: 'prod' })],
    [false, 'one label of several', withLabels({ team: 'shop', stage: 'dev' })],
    [false, 'a label that is not there', withLabels({ region: 'eu' })],
    [false, 'an empty label that is not there', withLabels({ region: '' })],
    [true, 'a value of several', withExpressions({ key: 'stage', operator: 'In', values: ['test', 'prod'] })],
    [false, 'other values', withExpressions({ key: 'stage', operator: 'In', values: ['test'] })],
    [false, 'values of what is not there', withExpressions({ key: 'region', operator: 'In', values: [''] })],
    [false, 'not its value', withExpressions({ key: 'stage', operator: 'NotIn', values: ['prod'] })],
    [true, 'not another value', withExpressions({ key: 'stage', operator: 'NotIn', values: ['dev'] })],
    [true, 'no value of what is not there', withExpressions({ key: 'region', operator: 'NotIn', values: ['eu'] })],
    [true, 'what is there', withExpressions({ key: 'team', operator: 'Exists' })],
    [false, 'what is not there', withExpressions({ key: 'region', operator: 'Exists' })],
    [true, 'that something is not there', withExpressions({ key: 'region', operator: 'DoesNotExist' })],
    [false, 'that something there is not', withExpressions({ key: 'team', operator: 'DoesNotExist' })],
    [
      false,
      'one expression of two',
      withExpressions({ key: 'team', operator: 'Exists' }, { key: 'region', operator: 'Exists' }),
    ],
  ])('selects (%s) by %s', (selected, _, selector) => {
    expect(matchesSelector(selector, labels)).toBe(selected)
  })
})
