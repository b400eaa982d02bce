import { describe, expect, it } from 'vitest'
import { type LabelSelector, matchesSelector } from '../../src/operator/label-selector.ts'

type Expression = LabelSelector['matchExpressions'][number]

const withLabels = (matchLabels: LabelSelector['matchLabels']): LabelSelector => ({ matchLabels, matchExpressions: [] })
const withExpressions = (...matchExpressions: readonly Expression[]): LabelSelector => ({
  matchLabels: {},
  matchExpressions,
})
const labels = { team: 'shop', stage: 'prod' }

describe('a label selector', () => {
  it.each<[boolean, string, LabelSelector]>([
    [true, 'an equal label', withLabels({ team: 'shop' })],
    [true, 'several equal labels', withLabels({ team: 'shop', stage: 'prod' })],
    [false, 'one of several labels differs', withLabels({ team: 'shop', stage: 'dev' })],
    [false, 'a missing label', withLabels({ region: 'eu' })],
    [false, 'an empty value of a missing label', withLabels({ region: '' })],
    [true, 'In with the value', withExpressions({ key: 'stage', operator: 'In', values: ['test', 'prod'] })],
    [false, 'In without the value', withExpressions({ key: 'stage', operator: 'In', values: ['test'] })],
    [false, 'In for a missing label', withExpressions({ key: 'region', operator: 'In', values: [''] })],
    [false, 'NotIn with the value', withExpressions({ key: 'stage', operator: 'NotIn', values: ['prod'] })],
    [true, 'NotIn without the value', withExpressions({ key: 'stage', operator: 'NotIn', values: ['dev'] })],
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
  ])('matches (%s): %s', (selected, _, selector) => {
    expect(matchesSelector(selector, labels)).toBe(selected)
  })
})
