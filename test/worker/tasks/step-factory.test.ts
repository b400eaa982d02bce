import { describe, expect, it } from 'vitest'
import type { StepRole } from '../../../src/worker/tasks/pipeline-step.ts'
import { PluginStep } from '../../../src/worker/tasks/plugin-step.ts'
import type { RemotePlugin } from '../../../src/worker/tasks/remote-step.ts'
import { inSinkOrder, inSourceOrder, joinRemotePlugins } from '../../../src/worker/tasks/step-factory.ts'

const ROLES: Readonly<Record<string, StepRole>> = {
  p: 'predicate',
  t: 'transformation',
  h: 'header_converter',
  k: 'key_converter',
  v: 'value_converter',
}

type Step = PluginStep | RemotePlugin

/** Steps by their letters; a capital letter stands for a remote plugin. */
const steps = (letters: string): readonly Step[] =>
  [...letters].map((letter) => {
    const role = ROLES[letter.toLowerCase()]!
    if (letter === letter.toLowerCase()) return new PluginStep(role, letter, () => true)
    const of = { isConditional: false, isNegated: false, location: 'plugins', version: '1', config: {} }
    return { role, className: letter, class: letter, ...of }
  })

/** The letters of each step behind the other: adjacent remote plugins are one step, and so are adjacent local ones here. */
function segments(all: readonly Step[]): readonly string[] {
  const joined = joinRemotePlugins(all).map((step) =>
    step instanceof PluginStep ? step.className : step.map(({ className }) => className).join(''),
  )
  return joined
    .join(' ')
    .replaceAll(/(?<=[a-z]) (?=[a-z])/g, '')
    .split(' ')
}

const source = (transformations: string, converters: string) => {
  const header = [...converters].find((letter) => letter.toLowerCase() === 'h')!
  return segments(inSourceOrder(steps(transformations), steps(converters.replace(header, '')), steps(header)[0]!))
}
const sink = (transformations: string, converters: string) =>
  segments(inSinkOrder(steps(transformations), steps(converters)))

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
