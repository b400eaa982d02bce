import { defineTransform, z } from '../../sdk/index.ts'
import { names } from './key-value-transforms.ts'

export const filter = defineTransform({
  ...names('Filter'),
  summary: 'Drops all records. Use it with a predicate, which selects the records to drop.',
  config: z.object({}),
  create: () => () => null,
})
