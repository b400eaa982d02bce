import { describe, expect, it } from 'vitest'
import { besideRevision, type Figure, isReached } from './figures.ts'

const figure = (name: string, unit: Figure['unit'], ours: number): Figure => ({
  name,
  unit,
  ours: [ours],
  against: { name: 'Java Connect', values: [100] },
  aim: 1,
})

describe('figures beside another revision', () => {
  it('follow each figure, with the values of all rounds', () => {
    const mine = [[figure('pipe', 'rec/s', 90)], [figure('pipe', 'rec/s', 70)]]
    const theirs = [[figure('pipe', 'rec/s', 100)], [figure('pipe', 'rec/s', 100)]]
    const [own, beside] = besideRevision(mine, theirs, 'commit 1234')
    expect(own).toMatchObject({ ours: [90, 70], against: { name: 'Java Connect', values: [100, 100] }, aim: 1 })
    expect(beside).toMatchObject({ ours: [90, 70], against: { name: 'commit 1234', values: [100, 100] }, aim: 0.8 })
    expect(isReached(beside!)).toBe(true)
  })

  it('allow quantities that should be small to grow by the reciprocal', () => {
    const [, beside] = besideRevision([[figure('memory', 'MB', 126)]], [[figure('memory', 'MB', 100)]], 'before')
    expect(beside!.aim).toBe(1.25)
    expect(isReached(beside!)).toBe(false)
  })

  it('allow tables that are copied to Avro records more', () => {
    const name = 'table → topic, bulk, Avro'
    const [, beside] = besideRevision([[figure(name, 'rec/s', 65)]], [[figure(name, 'rec/s', 100)]], 'before')
    expect(isReached(beside!)).toBe(true)
  })
})
