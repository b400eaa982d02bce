import { describe, expect, it } from 'vitest'
import {
  type PipelineStep,
  type StepRole,
  sinkSteps,
  sourceSteps,
  splitIntoSegments,
} from '../../../src/worker/tasks/pipeline-step.ts'

const ROLES: Readonly<Record<string, StepRole>> = {
  p: 'predicate',
  t: 'transformation',
  h: 'header_converter',
  k: 'key_converter',
  v: 'value_converter',
}

/** Steps by their letters; a capital letter stands for a remote step. */
const steps = (letters: string): readonly PipelineStep[] =>
  [...letters].map((letter) => ({
    role: ROLES[letter.toLowerCase()]!,
    className: letter,
    isConditional: false,
    isNegated: false,
    runs:
      letter === letter.toLowerCase()
        ? { where: 'local', apply: () => undefined }
        : { where: 'remote', location: 'plugins', class: letter, version: '1', config: {} },
  }))
const segments = (all: readonly PipelineStep[]) =>
  splitIntoSegments(all).map((segment) => segment.steps.map(({ className }) => className).join(''))
const source = (transformations: string, converters: string) =>
  segments(sourceSteps(steps(transformations), steps(converters)))
const sink = (transformations: string, converters: string) =>
  segments(sinkSteps(steps(transformations), steps(converters)))

describe('the segments of a pipeline', () => {
  it('of a source put its remote converters behind its last remote transformation', () => {
    expect(source('tT', 'kVH')).toEqual(['t', 'THV', 'k'])
    expect(source('T', 'KVH')).toEqual(['THKV'])
    expect(source('T', 'kvh')).toEqual(['T', 'hkv'])
    expect(source('', 'kVH')).toEqual(['HV', 'k'])
  })

  it('of a source convert its headers first, because other converters receive them', () => {
    expect(source('T', 'KVh')).toEqual(['T', 'h', 'KV'])
  })

  it('of a sink put its remote converters before its first remote transformation', () => {
    expect(sink('Tt', 'Kvh')).toEqual(['vh', 'KT', 't'])
    expect(sink('T', 'KVH')).toEqual(['KVHT'])
    expect(sink('t', 'kvh')).toEqual(['kvht'])
  })

  it('change with each change between local and remote steps, also between a predicate and its transformation', () => {
    expect(source('pTPt', 'kvh')).toEqual(['p', 'TP', 'thkv'])
  })
})
