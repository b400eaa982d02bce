import { setTimeout as sleep } from 'node:timers/promises'
import { defineSink, defineSource, type Plugin, STRING, z } from '../../../src/sdk/index.ts'
import { SECRET_ENCODINGS } from '../../support/secret-encodings.ts'

// Connectors that put their secrets wherever plugins can put text.

/** The spellings that secrets are leaked in. */
const LEAKED = [
  'plain',
  'trimmed and ended by a newline',
  'URL component',
  'form',
  'JSON in JSON',
  'BASIC credentials',
  'hexadecimal in upper case',
  'upper case',
] as const

export function spellingsOf(secret: string): readonly string[] {
  return LEAKED.map((name) => SECRET_ENCODINGS[name]?.(secret) ?? '')
}

/** No key is named like a secret, and the connector splits the value that has all secrets. */
const config = z
  .object({ hints: z.string(), where: z.string(), topic: z.string().default('leaks') })
  .superRefine(({ hints, where }, context) => {
    if (where !== 'refine') return
    context.addIssue({ code: 'custom', path: ['hints'], message: leaksOf(hints) })
  })

function leaksOf(hints: string): string {
  return hints
    .split('|')
    .flatMap((hint) => spellingsOf(hint))
    .map((text, at) => `${at}: ${text}`)
    .join('\n')
}

const source = defineSource({
  class: 'LeakingSource',
  version: '1',
  summary: 'Leaks its secrets',
  config,
  tasks({ hints, where }, _, raw) {
    if (where === 'tasks') throw new Error(leaksOf(hints))
    return [raw]
  },
  async *poll({ config: { hints, where, topic }, log, signal }) {
    const leaks = leaksOf(hints)
    if (where === 'poll') throw new Error(leaks)
    if (where === 'cause') throw Object.assign(new Error('outer', { cause: new TypeError(leaks) }), { url: leaks })
    if (where === 'later') setTimeout(() => Promise.reject(new Error(leaks)), 1)
    if (where === 'log') log.error({ password: leaks, nested: [{ leaks }], err: new Error(leaks) }, leaks)
    if (where === 'print') for (const line of leaks.split('\n')) console.log(line)
    const [first = ''] = hints.split('|')
    yield [{ topic, value: 'x', valueSchema: STRING, sourcePartition: { url: first }, sourceOffset: { at: first } }]
    while (!signal.aborted) {
      await sleep(50, undefined, { signal }).catch(() => undefined)
      yield []
    }
  },
  alterOffsets({ hints }) {
    throw new Error(leaksOf(hints))
  },
})

const sink = defineSink({
  class: 'LeakingSink',
  version: '1',
  summary: 'Leaks its secrets',
  config,
  start: ({ config: { hints, where }, reject }) => ({
    async put(records) {
      for (const record of records) {
        if (where === 'put') throw new Error(leaksOf(hints))
        await reject(record, new Error(leaksOf(hints)))
      }
    },
  }),
})

export const plugins: readonly Plugin[] = [source, sink]
