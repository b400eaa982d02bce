import { defineProvider, defineSource, field, type Plugin, z } from '../../src/sdk/index.ts'

// Plugins that implement all functions that run outside tasks.
const ticks = defineSource({
  class: 'Ticks',
  aliases: ['com.acme.TicksConnector'],
  version: '2.1.0',
  summary: 'Ticks.',
  config: z.object({
    every: field.int({ doc: 'Pause.', min: 1 }),
    secret: field.password({ doc: 'Login.' }).optional(),
  }),
  tasks: ({ every }, tasksMax, raw) =>
    Array.from({ length: tasksMax }, (_, at) => ({ ...raw, at: String(at * every) })),
  tasksAgainMs: ({ every }) => every * 1000,
  alterOffsets(_, offsets) {
    if (offsets.some(({ offset }) => offset === null)) throw new RangeError('ticks cannot be reset')
  },
  async *poll() {},
})

let opened = 0
const vault = defineProvider({
  class: 'Vault',
  version: '1.0.0',
  summary: 'Reads.',
  config: z.object({ name: field.text({ doc: 'Which.' }) }),
  create({ name }) {
    opened += 1
    return {
      read: async (path, keys) => Object.fromEntries(keys.map((key) => [key, [name, path, key, opened].join(' ')])),
    }
  },
})

export const plugins: readonly Plugin[] = [ticks, vault]
