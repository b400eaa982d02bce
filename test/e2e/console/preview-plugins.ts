import { defineTransform, type Plugin, z } from '../../../src/sdk/index.ts'

// Transformations of an installed module, for previews.

const base = { version: '1.0.0', config: z.object({}) }

export const plugins: readonly Plugin[] = [
  defineTransform({ ...base, class: 'Loops', summary: 'Computes for ever.', create: () => () => spin() }),
  defineTransform({
    ...base,
    class: 'Refuses',
    summary: 'Throws for each record whose value contains bad.',
    create: () => (record) => {
      if (JSON.stringify(record.value).includes('bad')) throw new TypeError('it contains bad')
      return record
    },
  }),
  defineTransform({
    ...base,
    class: 'Strange',
    summary: 'Returns what is no record.',
    create: () => () => 7 as never,
  }),
]

function spin(): never {
  for (;;) {}
}
